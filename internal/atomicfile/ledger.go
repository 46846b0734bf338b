package atomicfile

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Ledger records temporary files and folders with random names, which may be
// anywhere, so that those of killed processes can be found. Its folder is made
// with the first record, in a data directory that exists. The nil Ledger records nothing.
//
// A record is a file that is named after the random part of the temporary name. It is
// written and claimed before the temporary file is made, and removed after the temporary
// file was removed or has its final name. Records aren't synced: they are about processes
// that were killed, and a power cut may lose them.
type Ledger struct{ dir string }

// LedgerName is the folder of records in a data directory.
const LedgerName = "temporaries"

// OpenLedger returns the Ledger of a data directory, and nil for "".
func OpenLedger(dataDir string) *Ledger {
	if dataDir == "" {
		return nil
	}
	return &Ledger{filepath.Join(dataDir, LedgerName)}
}

// unmountedKept is how long the record of a missing folder is kept: the folder may be
// on a drive that is mounted again. Nothing else is decided by age.
const unmountedKept = 30 * 24 * time.Hour

// record is the content of a record.
type record struct {
	Path string `json:"path"`
}

// Reserve records a temporary name in a folder, or in the system's folder of temporary files
// for "": prefix, a random part and suffix. The caller makes the file or folder itself and
// calls done when it was removed or renamed. A Ledger that can't be written to doesn't prevent
// the caller from working.
func (l *Ledger) Reserve(dir, prefix, suffix string) (path string, done func()) {
	if dir == "" {
		dir = os.TempDir()
	}
	token := rand.Text()
	path = filepath.Join(dir, prefix+token+suffix)
	abs, err := filepath.Abs(path)
	if l == nil || err != nil {
		return path, func() {}
	}
	f, err := l.note(token, abs)
	if err != nil {
		return path, func() {}
	}
	return path, func() {
		_ = (&File{File: f, record: func() {}}).Discard() // a sweep tries again
	}
}

// note writes a record and leaves it open, which shows that its owner is alive.
func (l *Ledger) note(token, path string) (*os.File, error) {
	if err := os.Mkdir(l.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err // there is no data directory, and a record must not create one
	}
	f, err := create(filepath.Join(l.dir, token))
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(record{path})
	if err == nil {
		_, err = f.Write(data)
	}
	if err != nil {
		return nil, errors.Join(err, unlinkOpen(f), f.Close())
	}
	return f, nil
}

// Names of temporary files next to targets that the user has chosen.
const (
	besidePrefix = ".fettle-"
	besideSuffix = ".tmp"
)

// ReserveBeside is Reserve for a file in a folder of the user's.
func (l *Ledger) ReserveBeside(dir string) (path string, done func()) {
	return l.Reserve(dir, besidePrefix, besideSuffix)
}

// Create makes a temporary file for a target in a folder of the user's. Unlike
// that of the function Create its name is random, so that it isn't taken for
// anything of the user's.
func (l *Ledger) Create(target string) (*File, error) {
	path, done := l.ReserveBeside(filepath.Dir(target))
	f, err := openNew(path)
	if err != nil {
		done()
		return nil, err
	}
	return &File{File: f, target: target, record: done}, nil
}

// TempFile makes a temporary file that never gets another name. remove closes
// and removes it.
func (l *Ledger) TempFile(dir, prefix, suffix string) (f *os.File, remove func() error, err error) {
	path, done := l.Reserve(dir, prefix, suffix)
	if f, err = openNew(path); err != nil {
		done()
		return nil, nil, err
	}
	out := &File{File: f, target: path, record: done}
	return f, out.Discard, nil
}

// TempDir makes a temporary folder with mode 0700. remove removes it with all
// that is in it.
func (l *Ledger) TempDir(parent, prefix string) (dir string, remove func() error, err error) {
	dir, done := l.Reserve(parent, prefix, "")
	if err := os.Mkdir(dir, 0o700); err != nil {
		done()
		return "", nil, err
	}
	return dir, func() error {
		err := RemoveAll(dir)
		if err == nil {
			done()
		}
		return err
	}, nil
}

// Leftover is a temporary file or folder of a dead process.
type Leftover struct {
	Path string
	Size int64 // of all files in it
}

// Leftovers lists the temporary files and folders of dead processes. It removes
// nothing.
func (l *Ledger) Leftovers() ([]Leftover, error) {
	return l.visit(nil)
}

// Sweep removes the temporary files and folders of dead processes, with their records.
// It returns those that it removed, and continues if one can't be removed. It only
// reads the Ledger's folder if there is no record.
func (l *Ledger) Sweep() ([]Leftover, error) {
	return l.visit(RemoveAll)
}

func (l *Ledger) visit(use func(path string) error) ([]Leftover, error) {
	if l == nil {
		return nil, nil
	}
	f, err := os.Open(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tokens, err := f.Readdirnames(-1)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	var out []Leftover
	var errs []error
	for _, token := range tokens {
		left, err := l.visitOne(token, use)
		if err != nil {
			errs = append(errs, err)
		}
		if left != nil {
			out = append(out, *left)
		}
	}
	return out, errors.Join(errs...)
}

// visitOne calls use with the leftover of one record, if its owner is dead. If use is
// nil, nothing is changed.
func (l *Ledger) visitOne(token string, use func(path string) error) (left *Leftover, err error) {
	name := filepath.Join(l.dir, token)
	over := false // the record is of no use any more
	_, err = ifStale(name, func() error {
		path, err := readRecord(name, token)
		over = err == nil && !awaited(name, path)
		if err != nil || path == "" {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return ignoreMissing(err) // it has its final name by now
		}
		left = &Leftover{Path: path, Size: SizeOf(path)}
		if use == nil {
			return nil
		}
		return use(path)
	})
	if err != nil {
		return nil, fmt.Errorf("look after the temporary file of %s: %w", name, err)
	}
	if use != nil && over && (left == nil || gone(left.Path)) {
		_, err = RemoveStale(name)
	}
	return left, err
}

// awaited reports whether a record is kept because the folder of its path is missing at
// the moment.
func awaited(name, path string) bool {
	if path == "" || !gone(filepath.Dir(path)) {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && time.Since(info.ModTime()) < unmountedKept
}

// readRecord returns the path of a record, or "" for a record that was cut off
// or that names something else than a temporary file with the record's random
// part: nothing was made for the one, and the other is not the Ledger's.
func readRecord(name, token string) (string, error) {
	data, err := ReadFile(name)
	if err != nil {
		return "", ignoreMissing(err)
	}
	var r record
	if json.Unmarshal(data, &r) != nil || !filepath.IsAbs(r.Path) {
		return "", nil
	}
	if len(token) < len(rand.Text()) || !strings.Contains(filepath.Base(r.Path), token) {
		return "", nil
	}
	return r.Path, nil
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// SizeOf adds up the sizes of all files below a path; one that can't be read
// counts nothing.
func SizeOf(path string) int64 {
	var total int64
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
