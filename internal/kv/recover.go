package kv

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// A power cut leaves of what wasn't synced any pages of any log. A memtable's log is
// read up to the first entry that isn't whole, which makes a prefix of it; but it may
// have come to the disk with a pointer whose value, in the value log, has not. So after
// a power cut the logs of memtables are cut before the first Update of which a value is
// missing, before Badger sees them. A sync has both logs, so what it covered stays.
//
// Only the last of these logs can be so: the one before it was synced, with its values,
// before anything was written to the next (see memtable_sync.go), and what a killed process has
// left is synced here.

// mendLogs cuts off what a power cut has left half written, and makes sure that what is
// there outlives the next one. The caller has the store's lock; Badger hasn't opened it.
func (s *Store) mendLogs(p plan) error {
	if p.clean {
		return s.noteBoot()
	}
	logs, err := s.logs(".mem")
	if err != nil {
		return err
	}
	memtables := logs[0]
	if !s.sameBoot() {
		if memtables, err = s.cutLogs(p, memtables); err != nil {
			return err
		}
	}
	if last := p.lastLog().path; last != "" {
		memtables = append(memtables, last)
	}
	for _, path := range memtables {
		if err := syncFile(path); err != nil {
			return &DirError{Dir: s.dir, Err: err}
		}
		if s.synced != nil {
			s.synced(path)
		}
	}
	return s.noteBoot()
}

// cutLogs looks for the first Update whose values aren't all there, and cuts off that
// and what follows it. It gives the logs of memtables that stay.
func (s *Store) cutLogs(p plan, memtables []string) ([]string, error) {
	c, err := newChecker(s.dir, p.lastLog())
	if err != nil {
		return nil, &DirError{Dir: s.dir, Err: err}
	}
	defer c.close()
	for i, path := range memtables {
		end, whole, err := c.check(path)
		if err == nil && !whole {
			return memtables[:i+1], s.cutAt(memtables[i:], end)
		}
		if err != nil {
			return nil, &DirError{Dir: s.dir, Err: err}
		}
	}
	return memtables, nil
}

// cutAt cuts the first of some logs at end and removes those behind it. The last one
// goes first, so that a crash in between leaves a prefix, which is cut the next time.
func (s *Store) cutAt(logs []string, end int64) error {
	err := func() error {
		for _, path := range slices.Backward(logs[1:]) {
			if err := os.Remove(path); err != nil {
				return err
			}
			if err := s.syncNames(); err != nil {
				return err
			}
			s.mended(path)
		}
		if err := os.Truncate(logs[0], end); err != nil {
			return err
		}
		s.mended(logs[0])
		return syncFile(logs[0])
	}()
	if err != nil {
		return &DirError{Dir: s.dir, Err: fmt.Errorf("cut off what a power cut has left: %w", err)}
	}
	return nil
}

// syncNames makes the names in the store's folder durable.
func (s *Store) syncNames() error { return atomicfile.SyncDir(s.dir) }

// syncFile brings a file to the disk that nobody has open.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// logs lists the store's logs of some kinds, each in the order in which they were
// written. What has no number is left out: Badger names it when it opens. So is the log
// of a memtable that is still to come (see reserveNext).
func (s *Store) logs(kinds ...string) ([][]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, &DirError{Dir: s.dir, Err: err}
	}
	paths := make([][]string, len(kinds))
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		k := slices.Index(kinds, ext)
		if k < 0 {
			continue
		}
		if ext == ".mem" && isEmpty(e) {
			continue
		}
		if _, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), ext), 10, 32); err == nil {
			paths[k] = append(paths[k], s.file(e.Name()))
		}
	}
	for _, list := range paths {
		slices.SortFunc(list, func(a, b string) int { // a number has five digits or more
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		})
	}
	return paths, nil
}

// isEmpty reports whether a file has length zero.
func isEmpty(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && info.Size() == 0
}

// checker looks up what the log of a memtable points to.
type checker struct {
	dir  string
	last string // the value log that Badger cuts off at the first entry that isn't whole,
	end  int64  // which is here
	logs map[uint32]*os.File
}

func newChecker(dir string, last valueLog) (*checker, error) {
	c := &checker{dir: dir, last: last.path, logs: make(map[uint32]*os.File)}
	if last.path == "" {
		return c, nil
	}
	var err error
	c.end, err = wholeUpTo(last.path)
	return c, err
}

func (c *checker) close() {
	for _, f := range c.logs {
		if f != nil {
			_ = f.Close() // it was only read
		}
	}
}

// check reads the log of a memtable. It gives where the first Update begins of which a
// value is missing, and whether there is none.
func (c *checker) check(path string) (end int64, whole bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false, err
	}
	defer func() { _ = f.Close() }()
	for p, err := range pointers(f) {
		if err != nil {
			return 0, false, fmt.Errorf("read %s: %w", path, err)
		}
		if ok, err := c.has(p); !ok || err != nil {
			return p.begin, false, err
		}
	}
	return 0, true, nil
}

// has tells whether a value is there whole, and is the one that is meant.
func (c *checker) has(p *pointer) (bool, error) {
	f, err := c.log(p.log)
	if f == nil || err != nil {
		return false, err
	}
	if f.Name() == c.last && p.at+p.size > c.end {
		return false, nil
	}
	e, err := readEntry(f, p.at, p.size)
	switch {
	case err == nil:
		return e.length == p.size && string(e.stored) == string(p.key), nil
	case errors.Is(err, errLog):
		return false, nil
	}
	return false, fmt.Errorf("read %s: %w", f.Name(), err)
}

// log opens a value log by its number; it is nil where there is none.
func (c *checker) log(number uint32) (*os.File, error) {
	if f, ok := c.logs[number]; ok {
		return f, nil
	}
	f, err := os.Open(filepath.Join(c.dir, fmt.Sprintf("%06d.vlog", number)))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = nil, nil
	}
	if err == nil {
		c.logs[number] = f
	}
	return f, err
}
