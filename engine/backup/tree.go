package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/store"
)

// tree writes a file, or a folder with all that is in it, from where it is.
func (b *backingUp) tree(ctx context.Context, from, name string) error {
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		to := path.Join(name, filepath.ToSlash(rel))
		if d.IsDir() && b.passing(to) {
			return filepath.SkipDir
		}
		it, err := entryOf(at, to, d)
		if errors.Is(err, fs.ErrNotExist) || it.Kind == 0 {
			return nil // it was removed meanwhile, or is a socket, which has no content
		}
		if err != nil {
			return err
		}
		it.sealed = b.stays(to)
		return b.item(ctx, &it)
	})
}

// passing reports whether a folder may change or go while the backup is written,
// and no record of the store needs it.
func (b *backingUp) passing(name string) bool {
	if name == "blobs/tmp" {
		return true
	}
	parts := strings.Split(name, "/")
	return len(parts) == 3 && parts[0] == "toolsets" && b.pinned[parts[1]] != parts[2]
}

// stays reports whether a lock keeps a file as it is until the backup is done: the
// contents of states, and the files of the toolsets that the store names.
func (b *backingUp) stays(name string) bool {
	parts := strings.SplitN(name, "/", 4)
	return parts[0] == "blobs" || len(parts) == 4 && parts[0] == "toolsets"
}

// item writes one entry. Among files that are not sealed, one that no longer exists is
// left out, and one that became shorter is filled up, with a notice.
func (b *backingUp) item(ctx context.Context, it *item) error {
	if it.Kind != archive.File {
		return b.put(it, nil)
	}
	f, err := os.Open(it.from)
	if errors.Is(err, fs.ErrNotExist) && !it.sealed {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if it.sealed && info.Size() != it.Size {
		return &changedError{it.Name, it.Size, info.Size()}
	}
	it.Size = info.Size()
	b.report.Files++
	b.report.Bytes += it.Size
	return b.put(it, moving{store.ReaderUntil(ctx, f), b.o.Moved})
}

// put writes an entry, and notes it for the verification.
func (b *backingUp) put(it *item, content io.Reader) error {
	sum := sha256.New()
	large, isLarge := largeContent(it.Name)
	if content != nil && (isLarge || b.check != nil && !it.sealed) {
		content = io.TeeReader(content, sum)
	}
	full, err := b.out.Put(it.Entry, content)
	if err != nil {
		return err
	}
	if !full && it.sealed {
		return &changedError{it.Name, it.Size, -1}
	}
	if !full {
		b.e.Options.Notice(fmt.Sprintf("%s became shorter while it was backed up", cas.EscapePath(it.Name)))
		return nil
	}
	if isLarge && cas.Digest(sum.Sum(nil)) != large {
		b.damagedContent(large)
	}
	if b.check != nil {
		b.check.items = append(b.check.items, writtenItem{*it, [sha256.Size]byte(sum.Sum(nil))})
	}
	return nil
}

// largeContent returns the digest that names the file of a large content.
func largeContent(name string) (d cas.Digest, ok bool) {
	if !strings.HasPrefix(name, "blobs/") {
		return d, false
	}
	d, err := cas.ParseDigest(path.Base(name))
	return d, err == nil
}

// damagedContent reports a content that is not what was stored, unless it is known.
func (b *backingUp) damagedContent(d cas.Digest) {
	known := func(p cas.Problem) bool { return p.Digest == d }
	if !slices.ContainsFunc(b.report.Problems, known) {
		b.report.Problems = append(b.report.Problems, cas.Problem{What: "blob", Digest: d, Reason: "its content is not what was stored"})
	}
}

// wholeLines is how many bytes of a file's first size are lines with their ends.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for size > 0 {
		n := min(size, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], size-n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return size - n + int64(i) + 1, nil
		}
		size -= n
	}
	return 0, nil
}

// moving tells of what is read.
type moving struct {
	io.Reader
	moved func(int, int64)
}

func (m moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.moved(0, int64(n))
	return n, err
}
