package cas

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/fettle-cli/fettle/internal/kv"
)

// A landing needs the records of the folders that its call has changed and of those above
// them. Where the index is not in memory it reads these alone, so that the first call of a
// process costs what it changes. A snapshot needs all records.

// unread reads the records of a workspace's folders from the store when they are asked for.
type unread struct {
	s   *Store
	ctx context.Context
	ws  string

	mu   sync.Mutex
	recs map[string]*dirRec // those that were read; nil where the store has none
	open map[string]*openRec
	all  bool
	err  error // why a record could not be read, or does not belong to the others
}

// indexTotals is what is stored of an index as a whole, so that its records need not be read for it.
type indexTotals struct {
	tree Digest // of the root
	n    int
	sum  sums
}

func (ix *index) totals() indexTotals {
	t := indexTotals{n: ix.dirs.n, sum: ix.dirs.sum}
	if r := ix.dirs.get(""); r != nil {
		t.tree = r.tree
	}
	return t
}

func (t *indexTotals) append(b []byte) []byte {
	b = append(b, t.tree[:]...)
	for _, n := range []int64{int64(t.n), int64(t.sum.files), t.sum.bytes, int64(t.sum.failed), int64(t.sum.others), int64(t.sum.linked)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func (t *indexTotals) read(f *fields) {
	f.digest(&t.tree)
	t.n, t.sum.files, t.sum.bytes = int(f.size()), int(f.size()), f.size()
	t.sum.failed, t.sum.others, t.sum.linked = int(f.size()), int(f.size()), int(f.size())
}

// openIndex is loadIndex that leaves the records of folders unread, if the store has totals
// that belong to its root.
func (s *Store) openIndex(ctx context.Context, ws string) (*index, error) {
	ix, ok := new(index), false
	err := s.kv.View(ctx, func(tx *kv.Tx) error {
		for item, err := range s.cache.Scan(tx, kv.Range{Prefix: kv.Str(ws).Str(headDir)}) {
			if err != nil {
				return err
			}
			ok = ix.readHead(item.Value)
		}
		return nil
	})
	var corrupt *kv.CorruptError
	if err != nil && !errors.As(err, &corrupt) {
		return nil, err
	}
	u := &unread{s: s, ctx: context.WithoutCancel(ctx), ws: ws, recs: make(map[string]*dirRec), open: make(map[string]*openRec)}
	if root := u.get(""); err != nil || !ok || root == nil || root.tree != ix.head.tree {
		return s.loadIndex(ctx, ws)
	}
	ix.dirs = folders{base: &folderMap{rest: u}, n: ix.head.n, sum: ix.head.sum}
	return ix, nil
}

// get returns the record of a folder, or nil.
func (u *unread) get(path string) *dirRec {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.load(path)
}

// load is get with the lock held. A record has to be what the one above has: the two may be
// of different moments if a process was killed between their writes.
func (u *unread) load(path string) *dirRec {
	r, ok := u.recs[path]
	if ok || u.all {
		return r
	}
	above, known := u.above(path)
	if known && above.Kind != Folder {
		return nil
	}
	r, err := u.s.loadFolder(u.ctx, u.ws, path)
	if err == nil && r != nil && known && r.tree != above.Digest {
		err = fmt.Errorf("the record of %s does not belong to the one above", EscapePath(path))
	}
	if err != nil {
		r = nil
		u.err = errors.Join(u.err, err)
	}
	u.recs[path] = r
	return r
}

// above returns what the folder of a path has under its name, which may be nothing, and false
// if that folder has no record.
func (u *unread) above(path string) (e Entry, known bool) {
	if path == "" {
		return Entry{}, false
	}
	dir, name := split(path)
	up := u.load(dir)
	if up == nil {
		return Entry{}, false
	}
	o := u.open[dir]
	if o == nil {
		o = &openRec{rec: up}
		u.open[dir] = o
	}
	if i, ok := o.find(name); ok {
		e = up.ents[i].Entry
	}
	return e, true
}

// every returns the records of all folders.
func (u *unread) every() map[string]*dirRec {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all {
		return u.recs
	}
	_, recs, err := u.s.readRecords(u.ctx, u.ws)
	if err != nil {
		u.err = errors.Join(u.err, err)
		return u.recs
	}
	for path, r := range recs {
		if _, read := u.recs[path]; !read {
			u.recs[path] = r
		}
	}
	u.all = true
	return u.recs
}

// fault returns why a record of the index could not be read when it was needed: what was
// made of the index is wrong then.
func (ix *index) fault() error {
	if ix.dirs.base == nil || ix.dirs.base.rest == nil {
		return nil
	}
	u := ix.dirs.base.rest
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// complete reads all records that are still to be read.
func (ix *index) complete() error {
	if ix.dirs.base != nil && ix.dirs.base.rest != nil {
		ix.dirs.base.rest.every()
	}
	return ix.fault()
}

// loadFolder reads the record of one folder; it is nil where there is none.
func (s *Store) loadFolder(ctx context.Context, ws, dir string) (r *dirRec, err error) {
	recs := make(map[string]*dirRec)
	err = s.kv.View(ctx, func(tx *kv.Tx) error {
		for item, err := range s.cache.Scan(tx, kv.Range{Prefix: kv.Str(ws).Str(dir)}) {
			if err != nil {
				return err
			}
			if !new(index).add(item, recs) {
				return errTree
			}
		}
		return nil
	})
	if r = recs[dir]; err != nil || r == nil {
		return nil, err
	}
	if len(r.ents) != r.base.entries {
		return nil, errTree // a piece is missing
	}
	r.count()
	return r, nil
}
