//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func openNew(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// claimed makes this process the owner of a file that it has just made, and reports
// whether the name still is that file. On a file system without locks a file has no
// owner, and is not swept.
func claimed(f *os.File, name string) bool {
	switch err := lock(f); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false // a sweep has it, and is about to remove it
	case err != nil:
		return true
	}
	return names(f, name)
}

// ifStale calls use if the file has no living owner, and locks out other sweeps
// meanwhile.
func ifStale(name string, use func() error) (bool, error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	if lock(f) != nil || !names(f, name) {
		return false, nil
	}
	return true, use()
}

// lock takes the kernel's lock on an open file, if it is free.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// names reports whether name is the open file.
func names(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(open, there)
}

func move(f *os.File, to string) error { return os.Rename(f.Name(), to) }

func rename(from, to string) error { return os.Rename(from, to) }

func remove(name string) error { return os.Remove(name) }

// unlinkOpen removes a file before it is closed: the name is this process's own
// as long as it has the lock.
func unlinkOpen(f *os.File) error { return ignoreMissing(os.Remove(f.Name())) }

func removeClosed(string) error { return nil }

func open(name string) (*os.File, error) { return os.Open(name) }

func readFile(name string) ([]byte, error) { return os.ReadFile(name) }

func openForSync(name string) (*os.File, error) { return os.Open(name) }

// ephemeral reports whether an error is transient. On Unix none is.
func ephemeral(error) bool { return false }

// SyncDir makes the names in a folder durable. Some file systems can't sync a folder;
// that is not an error.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
