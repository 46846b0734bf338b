package kv

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// A plan is what the files of a closed store say before Badger opens them, and
// what a session is to do about it.
type plan struct {
	clean     bool       // the last session closed in order: nothing is in a memtable's log alone
	tables    []tableSum // all of them
	unflushed int64      // the length of the memtables' logs, at most
	trusted   bool       // the index of at least one table was not read, see sealName
	level0    int        // tables that sessions left and no session has merged
	middle    int64      // bytes in the levels between those and the last one
	logs      []valueLog // smallest first
	merge     bool       // merge the tables of level 0 at the close
	push      bool       // empty the levels between
}

// inspect reads a closed store's manifest and checks its tables. Badger itself
// ends the program, or goes on without the table, for some of the damage that
// is found here. The caller holds the store's lock.
func (s *Store) inspect(need access) (plan, error) {
	var p plan
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return p, &DirError{Dir: s.dir, Err: err}
	}
	if entries, p.logs, err = s.sweep(entries); err != nil {
		return p, err
	}
	p.clean = closed(entries)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".mem" {
			p.unflushed += s.memtable // Badger makes the file twice as long
		}
	}
	exists, err := s.checkTables(&p)
	if err == nil && !exists {
		return p, s.mustBeNew(entries)
	}
	if err == nil {
		err = s.mendRegistry()
	}
	if err != nil {
		return p, err
	}
	return p, s.planTables(&p, need)
}

// planTables decides which tables are to be merged. Those are read whole first: a merge
// would carry damage on, or drop what it can't read.
func (s *Store) planTables(p *plan, need access) error {
	var last int64
	for _, t := range p.tables {
		switch t.level {
		case 0:
			p.level0++
		case lastLevel:
			last += t.size
		default:
			p.middle += t.size
		}
	}
	p.merge = need == compacting || (need == writing && p.level0 >= mergeAfter(p.middle, last))
	p.push = need == compacting || (need == writing && p.middle > pushAfter(last))
	if p.merge || p.push {
		if err := s.roomToMerge(); need == compacting && err != nil {
			return err
		} else if err != nil {
			p.merge, p.push = false, false
		}
	}
	for _, t := range p.tables {
		if !p.push && (!p.merge || t.level == lastLevel) {
			continue
		}
		if _, err := s.checkTable(t.id, true); err != nil {
			return err
		}
	}
	return nil
}

// mergeAfter is how many unmerged tables are worth a merge. It rewrites the
// first level that isn't empty, if that is not the last one at its full size.
func mergeAfter(middle, last int64) int {
	rewritten := middle
	if middle == 0 && last <= middleLimit {
		rewritten = last
	}
	return min(mergeTables+int(rewritten/mergeWorth), mostTables)
}

// pushAfter returns how many bytes between level 0 and the last level are worth a push,
// which rewrites the last level.
func pushAfter(last int64) int64 { return max(middleLimit, last/middleShare) }

// sweep removes empty logs. Badger makes and removes its logs in two steps, so a
// process that is killed in between leaves an empty one, and no later open
// accepts it. There is nothing in it to lose. It also gives the value logs, the
// smallest first.
func (s *Store) sweep(entries []fs.DirEntry) (kept []fs.DirEntry, logs []valueLog, err error) {
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if ext != ".mem" && ext != ".vlog" {
			kept = append(kept, e)
			continue
		}
		info, err := e.Info()
		if err == nil && info.Size() == 0 {
			err = os.Remove(s.file(e.Name()))
		} else if err == nil {
			kept = append(kept, e)
		}
		if err != nil {
			return nil, nil, &DirError{Dir: s.dir, Err: err}
		}
		if ext == ".vlog" && info.Size() > 0 {
			logs = append(logs, valueLog{path: s.file(e.Name()), size: info.Size()})
		}
	}
	slices.SortFunc(logs, func(a, b valueLog) int { return cmp.Compare(a.size, b.size) })
	return kept, logs, nil
}

// mustBeNew accepts a folder without a manifest only if it holds no data:
// Badger would take the store for a new one and delete what it doesn't know.
func (s *Store) mustBeNew(entries []fs.DirEntry) error {
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".sst", ".vlog", ".mem":
			return &CorruptError{
				Dir: s.dir, File: s.file(badger.ManifestFilename),
				Err: fmt.Errorf("it is missing beside %s", e.Name()),
			}
		}
	}
	return nil
}

// mendRegistry removes a damaged list of encryption keys. It holds 16 random
// bytes and a fixed text, since nothing here is encrypted; Badger refuses a
// damaged one and makes a missing one anew.
func (s *Store) mendRegistry() error {
	const skip, text = 16, "Hello Badger"
	path := s.file(badger.KeyRegistryFileName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(content) == skip+len(text) && string(content[skip:]) == text) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return &DirError{Dir: s.dir, Err: err}
	}
	return nil
}

// file is the path of one of the store's files.
func (s *Store) file(name string) string { return filepath.Join(s.dir, name) }
