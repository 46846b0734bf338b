package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// check is the verification of a backup: it is restored into a separate folder
// from the bytes that are written, while they are written, and then compared with the
// files that they were read from. So it works for a pipe as for a file.
type check struct {
	ctx   context.Context // of the whole backup
	b     *backingUp
	stage *staged
	pipe  *io.PipeWriter
	done  chan error    // of the unpacking
	items []writtenItem // what was written
}

// writtenItem is an entry that was written. Of a file that isn't sealed, which may have
// changed since, it has the digest.
type writtenItem struct {
	item
	sum [sha256.Size]byte
}

// readBack starts to unpack what is written to the pipe. The folder is within that of
// the copies, so that it is removed with them, after a kill too.
func (b *backingUp) readBack(ctx context.Context) *check {
	in, out := io.Pipe()
	v := &check{ctx: ctx, b: b, pipe: out, done: make(chan error, 1)}
	var quiet Options
	quiet.complete()
	quiet.Damaged = true // damage of the store is reported, and is not an error of the backup
	v.stage = &staged{e: b.e, o: quiet, scratch: true, dir: filepath.Join(b.frozen, store.StagePrefix+"check")}
	go func() {
		err := v.stage.unpack(ctx, in)
		v.done <- err
		_ = in.CloseWithError(err) // what is written from now on fails with it
	}()
	return v
}

// end waits for the unpacking, which ends with the writing, and compares. failed is
// the error of the writing.
func (v *check) end(failed error) error {
	if failed != nil {
		select {
		case err := <-v.done: // the unpacking failed first
			return v.explain(errors.Join(err, failed))
		default:
			_ = v.pipe.CloseWithError(failed)
			<-v.done
			return failed
		}
	}
	_ = v.pipe.Close()
	if err := <-v.done; err != nil {
		return v.explain(err)
	}
	if err := v.compare(); err != nil {
		return v.explain(err)
	}
	v.stage.o.Stage, v.stage.o.Moved = v.b.o.Stage, v.b.o.Moved
	if err := v.stage.verify(v.ctx); err != nil {
		return v.explain(err)
	}
	v.b.report.Verified, v.b.report.Problems = true, v.stage.report.Problems
	return nil
}

// explain makes a fault of why a backup could not be restored.
func (v *check) explain(err error) error {
	var full *cas.SpaceError
	switch {
	case v.ctx.Err() != nil:
		return context.Cause(v.ctx)
	case errors.As(err, &full):
		return fault.Wrap(fault.Failed, "there is no backup: its verification needs as much free space as the data", full, store.MoveData())
	}
	return fault.Wrap(fault.Store, "there is no backup: what was written could not be restored", err)
}

// compare compares what was unpacked with what it was read from.
func (v *check) compare() error {
	v.b.o.Stage("comparing", v.b.report.Bytes)
	for i := range v.items {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		n := &v.items[i]
		if err := v.same(n, filepath.Join(v.stage.dir, filepath.FromSlash(n.Name))); err != nil {
			return fmt.Errorf("compare %s: %w", cas.EscapePath(n.Name), err)
		}
	}
	if !maps.Equal(v.b.folders, v.stage.folders) {
		return errors.New("the list of the chats' folders differs")
	}
	return nil
}

var errDiffers = errors.New("it is not what was backed up")

// same compares one entry.
func (v *check) same(n *writtenItem, at string) error {
	info, err := os.Lstat(at)
	if err != nil {
		return err
	}
	switch n.Kind {
	case archive.Folder:
		if !info.IsDir() {
			return errDiffers
		}
		return nil
	case archive.Link:
		if target, err := os.Readlink(at); err != nil || target != n.Target {
			return errors.Join(errDiffers, err)
		}
		return nil
	}
	if !info.Mode().IsRegular() || info.Size() != n.Size {
		return errDiffers
	}
	got, err := v.open(at)
	if err != nil {
		return err
	}
	defer got.Close()
	if !n.sealed {
		sum := sha256.New()
		if _, err := io.Copy(sum, got); err != nil {
			return err
		}
		if [sha256.Size]byte(sum.Sum(nil)) != n.sum {
			return errDiffers
		}
		return nil
	}
	want, err := os.Open(n.from)
	if err != nil {
		return err
	}
	defer func() { _ = want.Close() }() // it was only read
	return sameBytes(got, want)
}

// open opens an unpacked file; reading it is progress, and stops with the context.
func (v *check) open(at string) (io.ReadCloser, error) {
	f, err := os.Open(at)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{moving{store.ReaderUntil(v.ctx, f), v.b.o.Moved}, f}, nil
}

// sameBytes compares what two readers have.
func sameBytes(a, b io.Reader) error {
	x, y := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, x)
		m, berr := io.ReadFull(b, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return errDiffers
		}
		for _, err := range []error{err, berr} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
		}
		if err != nil || berr != nil {
			return nil
		}
	}
}
