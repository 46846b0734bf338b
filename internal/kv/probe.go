package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dgraph-io/badger/v4"
)

// Health is what [Probe] found of a store that isn't damaged.
type Health struct {
	Exists bool
	// Busy tells that another process has the store, PID where it is known.
	// Nothing else is known then.
	Busy bool
	PID  int
	// Clean tells that the last session closed in order. After a crash the next
	// operation mends the store; Probe leaves that to it and looks no further.
	Clean bool
	// Opened tells that the database was opened, for reading alone, and Schema
	// the version of its records.
	Opened bool
	Schema int
}

// Probe looks at a store without changing it, waiting for it, or making it. It
// checks what every open checks, and opens the database for reading where that
// writes nothing. Damage is a CorruptError, a newer program's store a
// VersionError. The store's lock is held meanwhile.
func Probe(ctx context.Context, dir string) (Health, error) {
	if err := ctx.Err(); err != nil {
		return Health{}, fmt.Errorf("look at store %s: %w", dir, err)
	}
	s := Open(dir, Options{})
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Health{}, nil
	}
	if err != nil {
		return Health{}, &DirError{Dir: s.dir, Err: err}
	}
	release, free, err := s.try(s.lockPath())
	if err != nil {
		return Health{Exists: true}, err
	}
	if !free {
		return Health{Exists: true, Busy: true, PID: s.holder()}, nil
	}
	defer s.giveBack(release)
	return s.probe(entries, release)
}

func (s *Store) probe(entries []fs.DirEntry, release func()) (Health, error) {
	h := Health{Exists: true}
	h.Clean = closed(entries)
	p := plan{clean: h.Clean}
	exists, err := s.checkTables(&p)
	if err == nil && !exists {
		return h, s.mustBeNew(entries)
	}
	if err != nil {
		return h, err
	}
	if !h.Clean || windows { // an open for reading would write, or isn't there
		return h, nil
	}
	sess := &session{
		store: s, access: reading, log: &dbLog{}, release: release,
		gone: make(chan struct{}), full: make(chan struct{}), tables: map[string]tableMeta{},
	}
	if sess.db, err = badger.Open(s.badgerOptions(p, sess.log).WithReadOnly(true)); err != nil {
		if heldByBadger(err) {
			return Health{Exists: true, Busy: true, PID: s.foreignPID()}, nil
		}
		return h, errors.Join(s.distrust(&p), s.openFault(err))
	}
	if err = sess.whole(); err == nil {
		err = sess.load()
	}
	if err == nil {
		h.Opened = true
		h.Schema, err = sess.storedSchema()
	}
	return h, errors.Join(err, sess.closeNow())
}

// storedSchema is the version of the records; 0 in a store without any.
func (sess *session) storedSchema() (int, error) {
	tx := &Tx{store: sess.store, sess: sess, ctx: context.Background(), txn: sess.db.NewTransaction(false)}
	defer tx.end()
	var f format
	err := tx.getJSON(metaKey(metaFormat), &f)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return f.Schema, err
}

// Free is how many bytes this user may still write where dir is, and what a
// store needs of them to take a write.
func Free(dir string) (free, need int64, err error) {
	free, err = freeSpace(dir)
	return free, roomWrite, err
}
