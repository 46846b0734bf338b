package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup"
)

// journals puts in the journals that wait or live, and those that were set aside.
// Of one that grows it takes whole lines.
func (b *backingUp) journals(ctx context.Context) error {
	dir := filepath.Join(b.e.o.DataDir, "journal")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if name := entry.Name(); isJournal(name) {
			err = errors.Join(err, b.file(ctx, filepath.Join(dir, name), "journal/"+name))
		}
	}
	return err
}

// tree puts in a file or a folder with all that is in it.
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
		if to == "blobs/tmp" {
			return filepath.SkipDir
		}
		switch {
		case d.IsDir():
			info, err := d.Info()
			if err != nil {
				return nil
			}
			_, err = b.out.Put(backup.Entry{Name: to, Kind: backup.Folder, Mode: info.Mode().Perm() | 0o700}, nil)
			return err
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(at)
			if err != nil {
				return nil
			}
			_, err = b.out.Put(backup.Entry{Name: to, Kind: backup.Link, Mode: 0o777, Target: target}, nil)
			return err
		case d.Type().IsRegular():
			return b.file(ctx, at, to)
		}
		return nil // a socket has no content
	})
}

// file puts in one file; one that isn't there is left out.
func (b *backingUp) file(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
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
	size := info.Size()
	if path.Dir(to) == "journal" {
		if size, err = wholeLines(f, size); err != nil {
			return err
		}
	}
	b.report.Files++
	b.report.Bytes += size
	full, err := b.out.Put(backup.Entry{Name: to, Kind: backup.File, Mode: info.Mode().Perm() | 0o600, Size: size},
		moving{stopped{ctx, f}, b.o.Moved})
	if err == nil && !full {
		b.e.o.Notice(fmt.Sprintf("%s became shorter while it was backed up", cas.EscapePath(to)))
	}
	return err
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
