package kv

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// A session is the time between opening the database and letting it go.
type session struct {
	store      *Store
	access     access // what it was opened for
	db         *badger.DB
	log        *dbLog
	plan       plan
	release    func()        // the store's lock
	gone       chan struct{} // closed when the session is over
	full       chan struct{} // closed when the close waits for room on the disk
	generation uint64        // see [Tx.Generation]
	dead       []string      // value logs to remove after the close

	// bigWrites counts the Updates that are in the value log, from 1 on, bigSynced
	// those of them that are on the disk; writes and written do so for all Updates.
	bigWrites, bigSynced atomic.Int64
	writes, written      atomic.Int64

	// Only touched by the one Update that runs.
	room    int64 // what the memtable has taken, at most
	stamped bool
	next    stamp // what this session writes as its stamp

	mu     sync.Mutex
	tables map[string]tableMeta // as committed; a table without records has version 0

	aheadMu   sync.Mutex
	ahead     map[string]ahead // by log, see makeAhead
	preparing sync.WaitGroup   // who makes blocks for a later sync

	// faulty is set after reading a value has encountered a fault of its file, over which
	// Badger keeps that file locked: it can't close the database any more.
	faulty atomic.Bool

	// Touched by the Update that runs, and by the close: see reserve.go.
	memory, values blocks
	spare          string // the log that is made for the memtable to come, or ""
}

// ahead is how far a log has blocks, and how many of them were made at last.
type ahead struct{ to, made int64 }

// A stamp is what a writing session leaves: one more than the last one's
// number, and random bytes, so that a store put back from a copy is not taken
// for the one that this process knew.
type stamp [16]byte

func (t stamp) following() stamp {
	var next stamp
	binary.BigEndian.PutUint64(next[:8], binary.BigEndian.Uint64(t[:8])+1)
	_, _ = rand.Read(next[8:]) // never fails: crypto/rand ends the program instead
	return next
}

// Names of the store's own records.
const (
	metaStamp  = "stamp"
	metaFormat = "format"
	metaTable  = "table/"
)

// format is what the record "format" holds.
type format struct {
	Layout int `json:"layout"` // of keys and envelopes, this package's own
	Schema int `json:"schema"` // of the program's records, see Options.Schema
}

// layout is the version of how this package stores things.
const layout = 1

// openSession opens the database. The caller has got the store's lock; the
// session gives it back when it closes, and the caller if there is none.
func (s *Store) openSession(release func(), need access) (*session, error) {
	sess := &session{
		store: s, access: need, log: &dbLog{merging: s.waitToMerge}, release: release,
		gone: make(chan struct{}), full: make(chan struct{}), tables: map[string]tableMeta{}, ahead: map[string]ahead{},
	}
	sess.bigWrites.Store(1) // what the log's own header is
	sess.room = emptyRoom
	if err := sess.openDB(); err != nil {
		return nil, err
	}
	err := sess.whole()
	if err == nil {
		err = sess.load()
	}
	if err != nil {
		return nil, errors.Join(err, sess.closeNow())
	}
	if s.opts.Hold {
		sess.prepare()
	}
	return sess, nil
}

func (sess *session) openDB() (err error) {
	s := sess.store
	if sess.plan, err = s.inspect(sess.access); err != nil {
		return err
	}
	o := s.badgerOptions(sess.plan, sess.log)
	if sess.access == reading && sess.plan.clean && !s.opts.Hold && !windows {
		// Opening for reading makes no files, so it takes a tenth of the time.
		err = sess.openBadger(o.WithReadOnly(true))
		if err == nil || heldByBadger(err) {
			return err
		}
		if errors.Is(err, errMapped) {
			return s.openFault(err)
		}
		if err := s.distrust(&sess.plan); err != nil {
			return err
		}
	}
	sess.access = max(sess.access, writing)
	if err := s.roomToOpen(sess.plan.unflushed); err != nil {
		return err
	}
	if err := s.reserveDiscards(len(sess.plan.logs)); err != nil {
		return err
	}
	if err := s.unseal(); err != nil {
		return err
	}
	if err := s.mendLogs(sess.plan); err != nil {
		return err
	}
	if err := s.skipLastLog(sess.plan); err != nil {
		return err
	}
	if err = sess.openBadger(o); err != nil {
		if err := s.distrust(&sess.plan); err != nil {
			return err
		}
		return s.openFault(err)
	}
	return nil
}

// openBadger opens the database. After a fault during which Badger may continue to
// write, this process can't open it any more.
func (sess *session) openBadger(o badger.Options) error {
	s := sess.store
	ended, err := guardOpen(func() (err error) {
		if s.opening != nil {
			s.opening()
		}
		sess.db, err = badger.Open(o)
		return err
	})
	if err != nil && !ended && !o.ReadOnly {
		return s.breaks(s.fault("open", err))
	}
	return err
}

// distrust finds what Badger could not open in tables that were not read whole, and
// returns the damage. From then on this Store reads every table's index before Badger
// does, which does not free all that it took for a table that it can't open.
func (s *Store) distrust(p *plan) error {
	if !p.trusted {
		return nil
	}
	s.wary = true
	var again plan
	_, err := s.checkTables(&again)
	return err
}

// openFault types the error of an open.
func (s *Store) openFault(err error) error {
	typed := s.fault("open", err)
	var corrupt *CorruptError
	var full *FullError
	if errors.As(typed, &corrupt) || errors.As(typed, &full) {
		return typed
	}
	return &DirError{Dir: s.dir, Err: err}
}

// whole tells whether Badger opened without leaving anything out.
func (sess *session) whole() error {
	line := sess.log.damaged()
	if line == "" {
		return nil
	}
	err := errors.New(line)
	return &CorruptError{Dir: sess.store.dir, File: fileIn(err, "a table"), Err: err}
}

// load reads what the store says about itself.
func (sess *session) load() error {
	s := sess.store
	txn := sess.db.NewTransaction(false)
	tx := &Tx{store: s, sess: sess, ctx: context.Background(), txn: txn}
	defer tx.end()

	var f format
	err := tx.getJSON(metaKey(metaFormat), &f)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if f.Layout > layout {
		return &VersionError{Dir: s.dir, Have: f.Layout, Want: layout}
	}
	if f.Schema > s.opts.Schema {
		return &VersionError{Dir: s.dir, Have: f.Schema, Want: s.opts.Schema}
	}
	var found stamp
	err = tx.get(metaKey(metaStamp), func(v value) error { copy(found[:], v.content); return nil })
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	sess.next = found.following()
	sess.generation = s.met(found)
	return nil
}

// stamp marks the store before the first write of a session: that it was
// written to, by what version, and its lowest and highest key. The two keys
// make the tables of all sessions overlap, without which Badger never merges
// them: 300 sessions that wrote one key each left 305 tables. A transaction
// that fails takes its stamp with it.
func (tx *Tx) stamp() error {
	tx.dirty = true
	if tx.stamped || tx.sess.stamped {
		return nil
	}
	tx.stamped = true
	about, err := json.Marshal(format{Layout: layout, Schema: tx.store.opts.Schema})
	if err != nil {
		return fmt.Errorf("encode store format: %w", err)
	}
	for _, e := range []struct{ key, content []byte }{
		{lowestKey(), nil},
		{highestKey(), nil},
		{metaKey(metaStamp), tx.sess.next[:]},
		{metaKey(metaFormat), about},
	} {
		tx.size.add(len(e.key), envelopeSize+len(e.content))
		if err := tx.txn.Set(e.key, seal(e.key, e.content)); err != nil {
			return tx.store.fault("write", err)
		}
	}
	return nil
}

// sync makes everything written so far survive a power cut.
func (sess *session) sync(ctx context.Context) error {
	full, err := sess.syncNow()
	if err != nil {
		return err
	}
	return sess.flushed(ctx, full)
}

// syncNow brings the logs that are written to to the disk. It gives those of memtables
// that are full.
func (sess *session) syncNow() (full []string, err error) {
	// Whatever is counted by now is in the log (see [session.commit]), and in those that
	// are listed behind it: a log that is begun meanwhile has only what comes later.
	big, written := sess.bigWrites.Load(), sess.writes.Load()
	logs, err := sess.store.logs(".mem", ".vlog")
	if err != nil {
		return nil, err
	}
	if sess.store.listed != nil {
		sess.store.listed()
	}
	memtables, values := logs[0], ""
	if n := len(logs[1]); n > 0 {
		values = logs[1][n-1]
	}
	if len(memtables) == 0 { // of a session that only reads
		return nil, nil
	}
	current := len(memtables) - 1
	if err := sess.syncLogs(memtables[current], values, big); err != nil {
		return nil, sess.store.fault("sync", err)
	}
	sess.written.Store(written) // too few, where another was quicker, costs a sync
	return memtables[:current], nil
}

// flushed waits until the memtables that filled up before the one that was synced
// are tables on the disk: no sync of logs has them.
func (sess *session) flushed(ctx context.Context, full []string) error {
	const poll = 2 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	for {
		full = slices.DeleteFunc(full, func(path string) bool { return !exists(path) })
		if len(full) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("sync store %s: %w: %s", sess.store.dir, ctx.Err(), sess.log.last())
		case <-time.After(poll):
		}
	}
}

// makeDir makes the store's folder, and brings its name to the disk.
func (s *Store) makeDir() error {
	if exists(s.dir) {
		return nil // what it is shows itself
	}
	err := os.MkdirAll(s.dir, 0o700)
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(s.dir))
	}
	return s.fileFault(err)
}
