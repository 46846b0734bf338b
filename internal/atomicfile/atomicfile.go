package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// retryTime bounds all retries of one operation: the go command uses the
	// same limit against virus scanners and indexers.
	retryTime = 2 * time.Second
	// firstWait is the first pause between two tries. The pauses grow, and they
	// are random, so that two processes don't retry in step.
	firstWait = time.Millisecond
)

// ErrBusy reports that another process was writing the same file for longer
// than a writer waits.
var ErrBusy = errors.New("another process is writing this file")

// Durability is what a written file survives.
type Durability int

const (
	// Synced means that the content and the name survive a power cut.
	Synced Durability = iota
	// Cached means that a power cut may lose the file or empty it. It is for
	// content that is checked when it is read and can be made again.
	Cached
)

// File is a temporary file that takes the place of its target by Commit.
// Exactly one of Commit and Discard has an effect; defer Discard.
type File struct {
	*os.File
	target string
	record func() // removes the record of a Ledger
	done   bool
}

// Write replaces the target, which only its owner can read, by the data.
func Write(target string, data []byte, d Durability) error {
	f, err := Create(target)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit(d)
}

// Create makes the target's temporary file with mode 0600. Where another living
// process is writing one, Create waits for about two seconds and then returns
// [ErrBusy]. The target's folder has to exist.
func Create(target string) (*File, error) {
	f, err := create(TempName(target))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", target, err)
	}
	return &File{File: f, target: target, record: func() {}}, nil
}

// Commit renames the file to its target and closes it. If that fails, the target is
// unchanged and the temporary file is removed.
func (f *File) Commit(d Durability) error {
	if f.done {
		return fmt.Errorf("write %s: %w", f.target, fs.ErrClosed)
	}
	if d == Synced {
		if err := f.Sync(); err != nil {
			return errors.Join(err, f.Discard())
		}
	}
	// The owner still has the file open here: closed, it would be a leftover
	// that another writer may remove.
	if err := retry(func() error { return move(f.File, f.target) }); err != nil {
		return errors.Join(err, f.Discard())
	}
	f.done = true
	err := f.Close()
	f.record()
	if d == Synced {
		err = errors.Join(err, SyncDir(filepath.Dir(f.target)))
	}
	return err
}

// Discard closes and removes the temporary file. It does nothing after Commit,
// and the caller may have closed the file.
func (f *File) Discard() error {
	if f.done {
		return nil
	}
	f.done = true
	err := unlinkOpen(f.File)
	if cerr := f.Close(); !errors.Is(cerr, fs.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	if err == nil {
		err = removeClosed(f.Name())
	}
	if err == nil {
		f.record()
	}
	return err
}

const (
	tempPrefix = "."
	tempSuffix = ".fettle-new"
)

// TempName returns the name of a target's temporary file.
func TempName(target string) string {
	dir, base := filepath.Split(target)
	return dir + tempPrefix + base + tempSuffix
}

// IsTempName reports whether the last element of a path is the name of a
// target's temporary file.
func IsTempName(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, tempPrefix) && strings.HasSuffix(base, tempSuffix) && len(base) > len(tempPrefix+tempSuffix)
}

// create makes a temporary file and claims it. A leftover of a dead owner is
// removed first.
func create(name string) (*os.File, error) {
	for p := newPause(); ; {
		f, err := openNew(name)
		if err == nil {
			if claimed(f, name) {
				return f, nil
			}
			_ = f.Close() // a sweep came between; its removal took the name
			continue
		}
		if !errors.Is(err, fs.ErrExist) && !ephemeral(err) {
			return nil, err
		}
		removed, rerr := RemoveStale(name)
		switch {
		case rerr != nil:
			return nil, rerr
		case !removed && !p.wait():
			return nil, fmt.Errorf("%w, by way of %s", ErrBusy, name)
		}
	}
}

// RemoveLeftover removes the target's temporary file if its owner is dead, and reports
// whether it did. It costs one system call if there is no such file.
func RemoveLeftover(target string) (removed bool, err error) {
	return RemoveStale(TempName(target))
}

// RemoveStale removes a temporary file whose owner is dead, and reports whether it did.
// A missing file is not an error, but anything other than a regular file is.
func RemoveStale(name string) (removed bool, err error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s: this is not a regular file", name)
	}
	_, err = ifStale(name, func() error {
		err := os.Remove(name)
		removed = err == nil
		return ignoreMissing(err)
	})
	return removed, err
}

// Stale reports whether name is a temporary file whose owner is dead.
func Stale(name string) (bool, error) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, ignoreMissing(err)
	}
	return ifStale(name, func() error { return nil })
}

// Rename renames a file or folder, and replaces a file of the new name.
func Rename(from, to string) error {
	return retry(func() error {
		err := rename(from, to)
		if errors.Is(err, fs.ErrNotExist) {
			if _, lerr := os.Lstat(from); errors.Is(lerr, fs.ErrNotExist) {
				return final{err}
			}
		}
		return err
	})
}

// Remove removes a file or an empty folder.
func Remove(name string) error {
	return retry(func() error {
		err := remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			return final{err}
		}
		return err
	})
}

// RemoveAll removes a path and all below it, also from the user's own folders that were
// made read-only. A missing path is not an error.
func RemoveAll(path string) error {
	return retry(func() error {
		err := os.RemoveAll(path)
		if err == nil {
			return nil
		}
		_ = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
			if e != nil && e.IsDir() {
				_ = os.Chmod(p, 0o700) // the second try returns what remains wrong
			}
			return nil
		})
		return os.RemoveAll(path)
	})
}

// Retry calls f as often as the other functions do, for work in an [os.Root]. If
// Windows returned a transient error, f is called again.
func Retry(f func() error) error { return retry(f) }

// Open opens a file for reading. Other processes may replace and remove it meanwhile;
// the reader keeps what it has opened.
func Open(name string) (f *os.File, err error) {
	err = retry(func() error {
		f, err = open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return final{err}
		}
		return err
	})
	return f, err
}

// ReadFile reads a whole file, as [Open] opens it.
func ReadFile(name string) (data []byte, err error) {
	err = retry(func() error {
		data, err = readFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return final{err}
		}
		return err
	})
	return data, err
}

// SyncFile makes the content of a file durable that this process or another one
// has written and closed, and the names in its folder too.
func SyncFile(name string) error {
	f, err := openForSync(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close(), SyncDir(filepath.Dir(name)))
}

// final is an error that isn't worth another try.
type final struct{ error }

// retry calls f again while Windows returns one of the transient errors, for about two
// seconds.
func retry(f func() error) error {
	for p := newPause(); ; {
		err := f()
		if end, ok := err.(final); ok {
			return end.error
		}
		if err == nil || !ephemeral(err) || !p.wait() {
			return err
		}
	}
}

// pause is a bounded row of growing waits.
type pause struct {
	begun time.Time
	next  time.Duration
}

func newPause() *pause { return &pause{next: firstWait} }

// wait sleeps, and reports false when the time is over.
func (p *pause) wait() bool {
	if p.begun.IsZero() {
		p.begun = time.Now()
	}
	if time.Since(p.begun)+p.next >= retryTime {
		return false
	}
	time.Sleep(p.next)
	p.next += rand.N(p.next)
	return true
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
