package wholefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// lockWait bounds how long a change waits for another process; a change takes
// a few milliseconds.
const lockWait = 5 * time.Second

// ErrBusy says that another process held the lock for too long.
var ErrBusy = errors.New("another process is changing it")

// Lock keeps other processes from changing the file until release is called.
// The file's folder is made where it is missing, for the user alone.
func Lock(ctx context.Context, path string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of %s: %w", path, err)
	}
	release, err = lockfile.Wait(ctx, path+".lock", lockfile.Patience{Bound: lockWait})
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
	old, err := os.Stat(path)
	switch {
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("replace %s: %w", path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("replace %s: %w", path, err)
	default:
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("replace %s: this link leads to no file", path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("make the folder of %s: %w", path, err)
		}
	}
	if err := write(path, data, old, private); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// write puts the data into a file beside path, and that in its place. old is
// what is there now, or nil.
func write(path string, data []byte, old fs.FileInfo, private bool) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
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
		keepOwner(tmp, old)
	}
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	done = true
	return syncFolder(filepath.Dir(path))
}
