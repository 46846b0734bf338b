package wholefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// lockWait bounds how long a change waits for another process; a change takes
// a few milliseconds.
const lockWait = 5 * time.Second

// ErrBusy says that another process held the lock for too long.
var ErrBusy = errors.New("another process is changing it")

// maxLinks is how many links a path may lead through; systems allow 32 to 63.
const maxLinks = 40

// Lock keeps other processes from changing the file until release is called. The
// lock is that of the file which a link leads to, so that all names of a file
// have one lock. The folder of path is made where it is missing, for the user
// alone. If the wait takes more than a second, notice is called with a line that names
// the process that holds the lock; it may be nil.
func Lock(ctx context.Context, path string, notice func(string)) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", path, err)
	}
	file, err := resolve(path)
	if err != nil {
		return nil, fmt.Errorf("change %s: %w", path, err)
	}
	release, err = lockfile.Wait(ctx, file+".lock", lockfile.Patience{Bound: lockWait, Quiet: lockfile.Soon, OnWait: func(owner string) {
		if notice != nil {
			notice("waiting for " + cmp.Or(owner, "another process") + ", which is changing " + path)
		}
	}})
	var busy *lockfile.BusyError
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &busy):
		return nil, fmt.Errorf("change %s: %w: %s; try again when it has ended", path, ErrBusy, busy.Owner)
	case err != nil:
		return nil, fmt.Errorf("change %s: %w", path, err)
	}
	return release, nil
}

// resolve returns the file that a path leads to, through all links. The file
// itself needn't exist, and its folder has to.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for i := range maxLinks {
		dir, base := filepath.Split(path)
		real, err := filepath.EvalSymlinks(dir)
		if errors.Is(err, fs.ErrNotExist) && i > 0 {
			return "", errors.New("this link leads to no file")
		}
		if err != nil {
			return "", err
		}
		path = filepath.Join(real, base)
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // it is not a link, or does not exist
		}
		if !filepath.IsAbs(to) {
			to = real + string(filepath.Separator) + to // not cleaned: a folder of it may be a link
		}
		path = to
	}
	return "", errors.New("too many links")
}

// Read reads a file of at most limit bytes. A missing one is nil without an
// error; an empty one isn't nil.
func Read(path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("read %s: this is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > limit {
		return nil, nil, fmt.Errorf("read %s: the file has more than %d bytes, the limit", path, limit)
	}
	if data == nil {
		data = []byte{}
	}
	return data, info, nil
}

// Replace writes the file. It keeps the mode of the one that is there; a new
// one can be read by its owner alone.
func Replace(path string, data []byte) error { return replace(path, data, false) }

// ReplacePrivate writes the file so that its owner alone can read it, whatever
// it was before.
func ReplacePrivate(path string, data []byte) error { return replace(path, data, true) }

func replace(path string, data []byte, private bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	file, err := resolve(path)
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	old, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = nil, nil
		if _, lerr := os.Lstat(path); lerr == nil {
			err = errors.New("this link leads to no file")
		}
	}
	if err == nil {
		err = write(file, data, old, private)
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// write puts the data into a file next to path, and that in its place. old is
// the file that is replaced, or nil.
func write(path string, data []byte, old fs.FileInfo, private bool) error {
	tmp, err := atomicfile.Create(path)
	if err != nil {
		return err
	}
	if err := fill(tmp, data, old, private); err != nil {
		return errors.Join(err, tmp.Discard())
	}
	return tmp.Commit(atomicfile.Synced)
}

func fill(tmp *atomicfile.File, data []byte, old fs.FileInfo, private bool) error {
	if private {
		if err := restrict(tmp.Name()); err != nil {
			return err
		}
	}
	if old != nil && !private {
		if err := tmp.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if old != nil {
		keepOwner(tmp.File, old)
	}
	_, err := tmp.Write(data)
	return err
}
