package kv

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// access is what an operation needs of a session.
type access int

const (
	reading access = iota
	writing
	compacting // merge all tables at the close
)

// enter joins the open session or opens one, waiting for another process if it
// must. Who enters must leave. A session that was opened for less than what is
// needed is closed first.
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
		case s.broken != nil:
			err := s.broken
			s.mu.Unlock()
			return nil, err
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
			s.finish(s.sess) // it is draining, or for less
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
			more, err := s.mayWait(start)
			if err != nil {
				return nil, err
			}
			limit.Reset(more)
		}
	}
}

// mayWait returns how much longer an operation that started to wait at start may
// wait for the store, or the error with which it gives up. While this process itself
// opens or closes the database, the operation does not wait for another process: then
// closeLimit is the bound, and a store that is held by its own pid is not an error.
func (s *Store) mayWait(start time.Time) (more time.Duration, err error) {
	s.mu.Lock()
	since, late := s.changing, s.late
	nearer := start
	if s.nearer.After(start) {
		nearer = s.nearer
	}
	s.mu.Unlock()
	switch more = s.opts.Wait - time.Since(nearer); {
	case late != nil:
		return 0, late
	case !since.IsZero():
		return max(closeLimit-time.Since(since), s.opts.Wait), nil
	case more > 0:
		return more, nil
	case lockfile.Stopped(s.holder()) && time.Since(start) < lockfile.StoppedBound:
		return s.opts.Wait, nil // another operation has reported it
	}
	return 0, &BusyError{Dir: s.dir, PID: s.holder(), Waited: time.Since(start)}
}

// begin opens a session for an operation that began to wait at start.
func (s *Store) begin(ctx context.Context, need access, start time.Time) (*session, error) {
	sess, err := s.acquire(ctx, need, start)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moving, s.changing = s.broken != nil, time.Time{}
	s.signal()
	if err != nil {
		return nil, err
	}
	s.sess, s.running, s.draining = sess, 1, false
	s.work.opens.Add(1)
	s.watched = false
	s.beginWatch()
	return sess, nil
}

// beginWatch has the session watched that is open, unless the store is held. The
// caller has s.mu.
func (s *Store) beginWatch() {
	if s.sess == nil || s.watched || s.closed || s.holds() {
		return
	}
	s.watched = true
	s.watchers.Add(1)
	go s.watch(s.sess)
}

// holds tells whether the database stays open between operations. The caller has
// s.mu.
func (s *Store) holds() bool { return s.opts.Hold && s.sharing == 0 }

// Share makes a Store with Hold take turns with other processes, as one without
// does, until end is called. An idle database is closed at once, since the process that
// asks for it waits; another one as soon as its operations have ended. Without Hold Share
// changes nothing. It may be called many times; the store is held again when all have
// ended, from its next operation on.
func (s *Store) Share() (end func()) {
	s.mu.Lock()
	s.sharing++
	if s.opts.Hold && s.sess != nil && s.running == 0 && !s.moving && !s.closed {
		s.watchers.Go(s.closeIdle())
	}
	s.beginWatch()
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sharing--
	})
}

// KeepOpen lets the database stay open between operations, however long they are apart,
// until end is called. It is still released to another process that waits for it. A bulk
// write uses it: each close of a session may rewrite much of a large store, see tidy.go.
func (s *Store) KeepOpen() (end func()) {
	s.mu.Lock()
	s.kept++
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kept--
	})
}

// closeIdle keeps operations from the open session, which is idle, and returns what
// closes it. The caller has s.mu.
func (s *Store) closeIdle() func() {
	sess := s.sess
	s.moving = true
	return func() {
		s.mu.Lock()
		s.finish(sess)
	}
}

// signal wakes everyone who waits for a change. The caller has s.mu.
func (s *Store) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// leave ends an operation, and the session if another process waits for it.
func (s *Store) leave(sess *session) {
	s.mu.Lock()
	held := s.holds()
	s.mu.Unlock()
	wanted := !held && s.awaited()
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
		if s.sess != sess { // it has closed, and draining is about another one
			s.mu.Unlock()
			return
		}
		if s.holds() { // nothing is shared any more
			s.watched = false
			s.mu.Unlock()
			return
		}
		s.draining = s.draining || wanted
		idle := s.running == 0 && s.kept == 0 && time.Since(s.idleSince) >= idleAfter
		if !s.moving && s.running == 0 && (s.draining || idle) {
			s.finish(sess)
			return
		}
		s.mu.Unlock()
	}
}

// acquire takes the store's lock and opens the database.
func (s *Store) acquire(ctx context.Context, need access, start time.Time) (*session, error) {
	if err := s.makeDir(); err != nil {
		return nil, err
	}
	w := &waiting{store: s, start: start, since: start, onWait: s.opts.OnWait}
	release, err := w.lock(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.changing = time.Now()
	s.mu.Unlock()
	for pause := pollNext; ; pause = min(2*pause, pollForeign) {
		sess, err := s.openSession(release, need)
		if err == nil {
			return sess, nil
		}
		if heldByBadger(err) {
			err = w.pause(ctx, pause, s.foreignPID)
		}
		if err != nil {
			s.giveBack(release)
			return nil, err
		}
	}
}

// heldByBadger tells that Badger's own lock is taken, though we have ours. Most
// often a process that had both is just starting another, which has its files
// until it is another program; Badger, unlike us, relies on closing the file.
// Else it is a program that doesn't know our lock.
func heldByBadger(err error) bool {
	return strings.Contains(err.Error(), "Another process is using this Badger database")
}

// foreignPID reads the pid that Badger keeps in its folder.
func (s *Store) foreignPID() int {
	text, err := os.ReadFile(s.file("LOCK"))
	if err != nil {
		return 0
	}
	var pid int
	if _, err := fmt.Sscanf(string(text), "%d", &pid); err != nil || pid < 0 {
		return 0
	}
	return pid
}
