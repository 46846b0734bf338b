package kv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Two locks stand beside the store's folder. `<store>.lock` is held with the
// database. `wait.lock` is held by the process whose turn is next: a holder
// that sees it lets go after the operation that runs, and may not come back
// before it has queued for wait.lock itself. So processes take turns, however
// busy one of them is.
const (
	lockSuffix = ".lock"
	waitName   = "wait.lock"
)

const (
	// pollNext is how often the next in turn tries the store's lock. Only one
	// process does, so it can be often.
	pollNext = time.Millisecond
	// pollQueue is how often one tries that has just begun to wait for its
	// turn. It grows more eager with time, down to pollEager after a tenth of
	// DefaultWait, so that those who came first tend to be served first. Fifty
	// processes at pollEager take a few hundredths of a processor.
	pollQueue = 20 * time.Millisecond
	pollEager = 5 * time.Millisecond
	// noticeAfter is how long an operation waits before it says so: turns are
	// mostly shorter, and a notice that comes and goes helps nobody.
	noticeAfter = 300 * time.Millisecond
	// pollForeign is how often the database is tried where a program that
	// doesn't know our lock has it open.
	pollForeign = 50 * time.Millisecond
)

func (s *Store) lockPath() string { return s.dir + lockSuffix }
func (s *Store) waitPath() string { return filepath.Join(filepath.Dir(s.dir), waitName) }

// access is what an operation needs of a session.
type access int

const (
	reading access = iota
	writing
)

// enter joins the open session or opens one, waiting for another process if it
// must. Who enters must leave. A session that was opened for reading is closed
// first where one for writing is needed.
func (s *Store) enter(ctx context.Context, need access) (*session, error) {
	start := time.Now()
	limit := time.NewTimer(s.opts.Wait)
	defer limit.Stop()
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, ErrClosed
		case s.sess == nil && !s.moving:
			s.moving = true
			s.mu.Unlock()
			return s.begin(ctx, need, start)
		case s.sess != nil && !s.draining && !s.moving && need <= s.sess.access:
			s.running++
			sess := s.sess
			s.mu.Unlock()
			return sess, nil
		case s.sess != nil && !s.moving && s.running == 0:
			s.finish(s.sess) // it is draining, or for reading only
			continue
		case s.sess != nil && need > s.sess.access:
			s.draining = true
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("open store %s: %w", s.dir, ctx.Err())
		case <-limit.C:
			return nil, &BusyError{Dir: s.dir, PID: os.Getpid(), Waited: time.Since(start)}
		}
	}
}

// begin opens a session for an operation that began to wait at start.
func (s *Store) begin(ctx context.Context, need access, start time.Time) (*session, error) {
	sess, err := s.acquire(ctx, need, start)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moving = false
	s.signal()
	if err != nil {
		return nil, err
	}
	s.sess, s.running, s.draining = sess, 1, false
	if !s.opts.Hold {
		s.watchers.Add(1)
		go s.watch(sess)
	}
	return sess, nil
}

// signal wakes everyone who waits for a change. The caller has s.mu.
func (s *Store) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// leave ends an operation, and the session if another process waits for it.
func (s *Store) leave(sess *session) {
	wanted := !s.opts.Hold && s.awaited()
	s.mu.Lock()
	s.running--
	s.draining = s.draining || wanted
	if s.running > 0 {
		s.mu.Unlock()
		return
	}
	s.idleSince = time.Now()
	if s.draining && !s.moving {
		s.finish(sess)
		return
	}
	s.signal()
	s.mu.Unlock()
}

// finish closes the session. The caller has s.mu, which finish gives back.
func (s *Store) finish(sess *session) {
	s.moving = true
	s.mu.Unlock()
	err := sess.close()
	s.mu.Lock()
	s.sess, s.draining, s.moving = nil, false, false
	s.lost = errors.Join(s.lost, err)
	s.signal()
	s.mu.Unlock()
}

// watch lets an idle session go, and one that another process waits for.
func (s *Store) watch(sess *session) {
	defer s.watchers.Done()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-sess.gone:
			return
		case <-tick.C:
		}
		wanted := s.awaited()
		s.mu.Lock()
		s.draining = s.draining || wanted
		idle := s.running == 0 && time.Since(s.idleSince) >= idleAfter
		if s.sess == sess && !s.moving && s.running == 0 && (s.draining || idle) {
			s.finish(sess)
			return
		}
		s.mu.Unlock()
	}
}

// LetGo closes the database now, unless an operation runs: before a long wait,
// or at the end of a command that still has other things to do. The next
// operation opens it again. It gives what could not be brought to the disk.
func (s *Store) LetGo() error {
	s.mu.Lock()
	if s.sess == nil || s.running > 0 || s.moving {
		s.mu.Unlock()
		return nil
	}
	s.finish(s.sess)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// Close waits for the operations that run, closes the database and stops what
// the Store has started. Operations that begin later give ErrClosed. It gives
// what could not be brought to the disk.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.signal()
	for s.running > 0 || s.moving {
		changed := s.changed
		s.mu.Unlock()
		<-changed
		s.mu.Lock()
	}
	if s.sess != nil {
		s.finish(s.sess)
	} else {
		s.mu.Unlock()
	}
	s.watchers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// awaited tells whether another process holds wait.lock. Most often the file
// isn't there, which costs a microsecond to learn.
func (s *Store) awaited() bool {
	if _, err := os.Lstat(s.waitPath()); err != nil {
		return false
	}
	release, free, err := lockfile.Try(s.waitPath())
	if free {
		release() // left behind by a process that was killed
	}
	return err == nil && !free
}

// acquire takes the store's lock and opens the database.
func (s *Store) acquire(ctx context.Context, need access, start time.Time) (*session, error) {
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	w := &waiting{store: s, start: start, onWait: s.opts.OnWait}
	for {
		release, err := w.lock(ctx)
		if err != nil {
			return nil, err
		}
		sess, err := s.openSession(release, need)
		if err == nil {
			return sess, nil
		}
		if !heldByBadger(err) {
			return nil, err
		}
		if err := w.pause(ctx, pollForeign, s.foreignPID); err != nil {
			return nil, err
		}
	}
}

// heldByBadger tells that Badger's own lock is taken. Ours was free, so it is
// by a program that doesn't know ours, or by a close that has not ended.
func heldByBadger(err error) bool {
	return strings.Contains(err.Error(), "Another process is using this Badger database")
}

// foreignPID reads the pid that Badger keeps in its folder.
func (s *Store) foreignPID() int {
	text, err := os.ReadFile(filepath.Join(s.dir, "LOCK"))
	if err != nil {
		return 0
	}
	var pid int
	if _, err := fmt.Sscanf(string(text), "%d", &pid); err != nil || pid < 0 {
		return 0
	}
	return pid
}

// waiting is one operation's way to the store's lock.
type waiting struct {
	store  *Store
	start  time.Time
	onWait func(owner string)
}

// lock takes the store's lock: at once where it is free and nobody queues, else
// after its turn at wait.lock.
func (w *waiting) lock(ctx context.Context) (release func(), err error) {
	s := w.store
	if !s.awaited() {
		release, free, err := lockfile.Try(s.lockPath())
		if err != nil {
			return nil, &DirError{Dir: s.dir, Err: err}
		}
		if free {
			return release, nil
		}
	}
	turn, err := w.poll(ctx, s.waitPath(), w.queueing)
	if err != nil {
		return nil, err
	}
	defer turn()
	return w.poll(ctx, s.lockPath(), func() time.Duration { return pollNext })
}

// queueing is the pause of one who waits for its turn.
func (w *waiting) queueing() time.Duration {
	eager := time.Since(w.start) * 10 * (pollQueue - pollEager) / DefaultWait
	return max(pollQueue-eager, pollEager)
}

// poll tries a lock until it is free.
func (w *waiting) poll(ctx context.Context, path string, pause func() time.Duration) (func(), error) {
	for {
		release, free, err := lockfile.Try(path)
		if err != nil {
			return nil, &DirError{Dir: w.store.dir, Err: err}
		}
		if free {
			return release, nil
		}
		holder := func() int { return lockfile.OwnerPID(w.store.lockPath()) }
		if err := w.pause(ctx, pause(), holder); err != nil {
			return nil, err
		}
	}
}

// pause waits about d, or says that there is no more time. holder tells the pid
// of who has the store.
func (w *waiting) pause(ctx context.Context, d time.Duration, holder func() int) error {
	s := w.store
	waited := time.Since(w.start)
	if waited >= s.opts.Wait {
		return &BusyError{Dir: s.dir, PID: holder(), Waited: waited}
	}
	if w.onWait != nil && waited >= noticeAfter {
		owner := ""
		if pid := holder(); pid > 0 {
			owner = fmt.Sprintf("pid %d", pid)
		}
		w.onWait(owner)
		w.onWait = nil
	}
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("open store %s: %w", s.dir, ctx.Err())
	}
}
