package kv

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// DefaultWait is how long an operation waits while its turn comes no nearer. A
// holder keeps the store for two seconds at the very most, so after ten it is
// one that never lets go, or hangs.
const DefaultWait = 10 * time.Second

const (
	// idleAfter is how long a session without operations stays open, since
	// the next operation of a command usually follows within milliseconds.
	idleAfter = 100 * time.Millisecond
	// watchEvery is how often an idle session looks whether somebody waits.
	watchEvery = 10 * time.Millisecond
)

// Options configure a Store. The zero value is what a command uses.
type Options struct {
	// Hold keeps the database open from the first operation to Close.
	Hold bool
	// Wait bounds how long an operation waits for the store while its turn
	// comes no nearer, so that a long queue which moves is no failure; 0 means
	// DefaultWait. For the whole wait there is the operation's context.
	Wait time.Duration
	// Schema is the version of the program's records as a whole; 0 means 1.
	// It is noted in the store by whatever is written, and a program with a
	// lower one refuses that store from then on.
	Schema int
	// OnWait is called when an operation has waited for another process, once an
	// operation, with that process as [lockfile.Process] describes it, or "": after a
	// second where that one is stopped, and else after three without progress. A
	// stopped one is waited for beyond Wait. It may be called from several goroutines.
	OnWait func(owner string)
	// Writing is called before each operation that writes, with its context, and
	// acquires the locks for that; release is called when the operation is over. Its
	// error is returned by the operation. It may be nil, and is called from several
	// goroutines.
	Writing func(context.Context) (release func(), err error)
	// Taken is called when an operation finds the database with another
	// process, before it waits and now and then while it does: it may ask that process to let go. An error is
	// why that one will not, and ends the operation.
	Taken func(ctx context.Context) error
}

// Store is one database, shared with other processes by holding it only while
// operations run. It may be used by many goroutines.
type Store struct {
	dir    string
	opts   Options
	writer chan struct{}     // holds one token: the Update that runs
	synced func(path string) // told of each log that was synced; set by tests alone
	listed func()            // called when a sync has listed the logs; set by tests alone
	small  int64             // bounds a value log in the place of logSize; set by tests alone
	// The rest is set by tests alone, too: the size of a memtable in the place of
	// memTableSize, what names the run of the system, and what is called after each
	// step of mending the logs.
	memtable int64
	boot     func() string
	mended   func(path string)
	reads    func(tableFile) tableFile // replaces each table's file that is checked
	// allocating is called before blocks are reserved, opening before Badger opens the
	// database, merging before it makes the file of a merged table, and closing, which
	// s.mu guards, before it closes the database. The errors count.
	allocating       func(path string, at, n int64) error
	opening, merging func()
	closing          func() error

	wary bool // check each index, even of sealed tables; used by the goroutine that opens

	work workCount

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced when anything below changes
	sess       *session      // nil when the database is let go
	running    int           // operations on sess
	draining   bool          // sess takes no further operation, it is to close
	moving     bool          // somebody is opening or closing sess
	sharing    int           // how many want a held store shared, see Share
	kept       int           // how many want an idle session to stay open, see KeepOpen
	watched    bool          // a goroutine watches sess
	closed     bool
	idleSince  time.Time
	nearer     time.Time // when an operation that waits last came nearer to its turn
	changing   time.Time // since when this process opens or closes the database, holding its lock; else zero
	late       error     // that a close has not ended within closeLimit, until it ends
	broken     error     // why this process can't open the database any more, see breaks
	lost       lost      // what closing a session could not bring to the disk
	seen       stamp     // the last one met or written
	generation uint64

	watchers sync.WaitGroup
}

// Open names a store; it does nothing else. The folder is made, and the
// database opened, by the first operation.
func Open(dir string, opts Options) *Store {
	if opts.Wait <= 0 {
		opts.Wait = DefaultWait
	}
	opts.Schema = max(opts.Schema, 1)
	return &Store{
		dir: filepath.Clean(dir), opts: opts,
		writer: make(chan struct{}, 1), changed: make(chan struct{}),
		memtable: memTableSize, boot: bootID, mended: func(string) {},
	}
}

// Dir is the folder that the store is in.
func (s *Store) Dir() string { return s.dir }

// View runs fn on the store as it is at one moment. fn must not start another
// operation of s.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	sess, err := s.enter(ctx, reading)
	if err != nil {
		return err
	}
	defer s.leave(sess)
	return sess.run(ctx, reading, fn)
}

// Update runs fn, and keeps what it wrote if it returns nil. What is kept
// survives the death of this process, and a power cut after the next Sync. A power
// cut before that loses it whole, with all that came later.
// Updates run one after the other, so fn runs once and sees the work of every
// Update before it. fn must not start another operation of s.
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.update(ctx, fn, false)
}

// UpdateSync is Update followed by Sync, within one holding of the store.
func (s *Store) UpdateSync(ctx context.Context, fn func(*Tx) error) error {
	return s.update(ctx, fn, true)
}

func (s *Store) update(ctx context.Context, fn func(*Tx) error, durable bool) error {
	release, err := s.beforeWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	sess, err := s.enter(ctx, writing)
	if err != nil {
		return err
	}
	defer s.leave(sess)
	if err := s.write(ctx, sess, fn); err != nil {
		return err
	}
	if durable {
		return sess.sync(ctx)
	}
	return nil
}

// beforeWrite acquires what Options.Writing requires for a write.
func (s *Store) beforeWrite(ctx context.Context) (release func(), err error) {
	if s.opts.Writing == nil {
		return func() {}, nil
	}
	if release, err = s.opts.Writing(ctx); err != nil {
		return nil, fmt.Errorf("write store %s: %w", s.dir, err)
	}
	return release, nil
}

// write runs fn as the only Update.
func (s *Store) write(ctx context.Context, sess *session, fn func(*Tx) error) error {
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("write store %s: %w", s.dir, ctx.Err())
	}
	defer func() { <-s.writer }()
	return sess.run(ctx, writing, fn)
}

// run runs fn in one transaction.
func (sess *session) run(ctx context.Context, need access, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx := &Tx{
		store: sess.store, sess: sess, ctx: ctx, write: need == writing,
		txn: sess.db.NewTransaction(need == writing),
	}
	defer tx.end()
	if err := fn(tx); err != nil || !tx.write {
		return err
	}
	return tx.commit()
}

// Generation is that of [Tx.Generation] as of the last opening.
func (s *Store) Generation() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// met notes the stamp that an opening found, and gives the generation.
func (s *Store) met(found stamp) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation == 0 || found != s.seen {
		s.generation++
		s.seen = found
	}
	return s.generation
}

// wrote notes the stamp that this process has written itself.
func (s *Store) wrote(own stamp) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = own
}
