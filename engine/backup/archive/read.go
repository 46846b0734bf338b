package archive

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that reading takes, whatever a file asks for.
const maxWindow = 64 << 20

// Visitor is what Read tells of a backup.
type Visitor struct {
	// Head is told what the backup says of itself; an error of it ends the
	// reading. It may be nil.
	Head func(Head) error
	// Entry is given each entry, and the content of a file. What it doesn't read
	// is read all the same.
	Entry func(e Entry, content io.Reader) error
}

// Read reads a backup to its end. What it has visited is to be believed only if
// it returns without an error.
func Read(ctx context.Context, r io.Reader, v Visitor) (Head, error) {
	var head Head
	zip, err := zstd.NewReader(stopped{ctx, r}, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return head, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	defer zip.Close()
	in := &reader{ctx: ctx, tar: tar.NewReader(zip), sum: newSum()}
	if head, err = in.head(); err != nil {
		return head, err
	}
	if v.Head != nil {
		if err := v.Head(head); err != nil {
			return head, err
		}
	}
	for {
		done, err := in.next(v.Entry)
		if err != nil {
			return head, err
		}
		if done {
			return head, in.nothingBehind(zip)
		}
	}
}

type reader struct {
	ctx  context.Context
	tar  *tar.Reader
	sum  *sum
	last string // the name of the last entry, for messages
}

// damage is the error of something that can't have been written.
func (r *reader) damage(what error) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if errors.Is(what, io.EOF) || errors.Is(what, io.ErrUnexpectedEOF) {
		what = errors.New("it breaks off")
	}
	if r.last == "" {
		return fmt.Errorf("%w: %w", ErrDamaged, what)
	}
	return fmt.Errorf("%w: after %s: %w", ErrDamaged, shown(r.last), what)
}

func (r *reader) head() (Head, error) {
	var head Head
	h, err := r.tar.Next()
	if err != nil || h.Name != headName || h.Typeflag != tar.TypeReg || h.Size > maxJSON {
		if r.ctx.Err() != nil {
			return head, context.Cause(r.ctx)
		}
		return head, ErrFormat
	}
	if err := json.NewDecoder(r.tar).Decode(&head); err != nil || head.Format != formatName {
		return head, ErrFormat
	}
	if head.Version != version {
		return head, fmt.Errorf("%w: it has version %d", ErrFormat, head.Version)
	}
	return head, nil
}

// next reads an entry, or the end.
func (r *reader) next(visit func(Entry, io.Reader) error) (done bool, err error) {
	h, err := r.tar.Next()
	if err != nil {
		return false, r.damage(err)
	}
	if h.Name == endName {
		return true, r.end(h)
	}
	e, ok := entryOf(h)
	if !ok {
		return false, r.damage(fmt.Errorf("an entry that can't be: %s", shown(h.Name)))
	}
	r.sum.entry(e)
	content := &faulty{r: r.sum.content(r.tar)}
	if err := visit(e, content); err != nil {
		if content.err != nil {
			return false, r.damage(content.err)
		}
		return false, err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return false, r.damage(err)
	}
	r.last = e.Name
	return false, nil
}

func entryOf(h *tar.Header) (Entry, bool) {
	e := Entry{Name: h.Name, Mode: fs.FileMode(h.Mode).Perm(), Target: h.Linkname}
	switch h.Typeflag {
	case tar.TypeReg:
		e.Kind, e.Size = File, h.Size
	case tar.TypeDir:
		e.Kind, e.Name = Folder, strings.TrimSuffix(h.Name, "/")
	case tar.TypeSymlink:
		e.Kind = Link
	default:
		return e, false
	}
	return e, goodName(e.Name) && e.Size >= 0 && len(e.Target) <= maxName && (e.Kind == Link) == (e.Target != "")
}

func (r *reader) end(h *tar.Header) error {
	var want end
	if h.Typeflag != tar.TypeReg || h.Size > maxJSON {
		return r.damage(errors.New("its end can't be read"))
	}
	if err := json.NewDecoder(r.tar).Decode(&want); err != nil {
		return r.damage(fmt.Errorf("its end can't be read: %w", err))
	}
	if got := r.sum.result(); got != want {
		return r.damage(errors.New("its content isn't what was written"))
	}
	return nil
}

// nothingBehind makes sure that the file ends here, so that every byte of it was
// summed or checked.
func (r *reader) nothingBehind(zip io.Reader) error {
	if _, err := r.tar.Next(); !errors.Is(err, io.EOF) {
		return r.damage(errors.New("something stands behind its end"))
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(zip, 1)); err != nil || n > 0 {
		return r.damage(errors.New("something stands behind its end"))
	}
	return nil
}

// faulty notes the error of a reader, to tell it from one of who reads.
type faulty struct {
	r   io.Reader
	err error
}

func (f *faulty) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// stopped is a reader that ends with its context.
type stopped struct {
	ctx context.Context
	r   io.Reader
}

func (s stopped) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(p)
}
