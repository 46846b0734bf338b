package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

// link is one server for one workspace: connected when a call first needs it,
// connected again when it ended, with pauses where it fails.
type link struct {
	m         *Manager
	key       linkKey
	server    Server
	workspace *toolset.Workspace

	mu       sync.Mutex
	pinned   []toolset.Tool
	known    pins // of pinned
	conn     *conn
	starting chan struct{} // closed when the start that runs is over
	last     error         // why the last start failed
	failures int           // one after the other
	next     time.Time     // no start before this
	calls    int           // that use it now
	used     time.Time     // when the last one ended
	closed   bool
}

// pin sets the tools that were approved, which a person may have changed since
// the server was started. A list that is the same one as before was looked at
// already: those who call bring the turn's.
func (l *link) pin(pinned []toolset.Tool) {
	l.mu.Lock()
	same := sameList(l.pinned, pinned)
	l.mu.Unlock()
	if same {
		return
	}
	known := pinsOf(pinned)
	l.mu.Lock()
	defer l.mu.Unlock() // until the connection has them: two callers may bring two lists
	l.pinned, l.known = pinned, known
	if l.conn != nil {
		l.conn.hold(known)
	}
}

// sameList tells whether two lists are one.
func sameList(a, b []toolset.Tool) bool {
	if (a == nil) != (b == nil) || len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0]
}

// pins are the tools that were approved.
func (l *link) pins() pins {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
}

// idleSince tells whether no call uses it, and since when.
func (l *link) idleSince() (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used, l.calls == 0 && l.starting == nil
}

func (l *link) lastUse() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}

func (l *link) up() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn != nil && l.conn.alive()
}

// reserve counts a call that uses it; release takes it back.
func (l *link) reserve() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
}

func (l *link) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls--
	l.used = l.m.o.Now()
}

// PauseError says that a server failed, and is not tried again yet.
type PauseError struct {
	Failures int
	Wait     time.Duration
	Err      error
}

// Error says how often it failed, when it is tried again, and why it failed.
func (e *PauseError) Error() string {
	return fmt.Sprintf("it failed %d times and is tried again in %s: %v", e.Failures, e.Wait.Round(time.Second), e.Err)
}

// Unwrap gives why it failed.
func (e *PauseError) Unwrap() error { return e.Err }

// ready gives the connection, and makes it where there is none. A caller whose
// ctx ends waits no longer; the start goes on, and helps the next.
func (l *link) ready(ctx context.Context) (*conn, error) {
	l.mu.Lock()
	switch {
	case l.closed:
		l.mu.Unlock()
		return nil, ErrClosed
	case l.conn != nil && l.conn.alive():
		defer l.mu.Unlock()
		return l.conn, nil
	}
	l.noteEnd()
	wait := l.starting
	first := wait == nil
	if first {
		if left := l.next.Sub(l.m.o.Now()); left > 0 {
			defer l.mu.Unlock()
			return nil, &PauseError{Failures: l.failures, Wait: left, Err: l.last}
		}
		wait = make(chan struct{})
		l.starting = wait
	}
	l.mu.Unlock()
	if first {
		l.begin(wait)
	}
	select {
	case <-wait:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil, l.last
	}
	return l.conn, nil
}

// noteEnd notes the end of a connection that was there: one that lived for long
// is started again at once, one that didn't after a pause. The caller holds mu.
func (l *link) noteEnd() {
	if l.conn == nil {
		return
	}
	steadily := l.conn.lived() >= steady || errors.Is(context.Cause(l.conn.life), errSessionLost)
	l.last = l.conn.ended()
	l.conn = nil
	if steadily {
		l.failures, l.next = 0, time.Time{}
		return
	}
	l.failed()
}

// failed counts a failure and sets the pause after it. The first end of a server
// that did work costs no pause. The caller holds mu.
func (l *link) failed() {
	l.failures++
	pause := min(firstPause<<min(l.failures-1, 10), longestPause)
	l.next = l.m.o.Now().Add(pause)
}

// begin starts the server in a goroutine of the manager's.
func (l *link) begin(over chan struct{}) {
	finish := func(c *conn, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		defer close(over)
		l.starting = nil
		if l.closed && c != nil {
			l.m.work.Go(c.close)
			c, err = nil, ErrClosed
		}
		l.conn, l.last = c, err
		if c != nil {
			c.hold(l.known) // which may be others than when it was started
		}
		if err != nil && !errors.Is(err, ErrClosed) {
			l.failed()
		}
	}
	if !l.m.begin(func() { finish(l.connect(l.m.life)) }) {
		finish(nil, ErrClosed)
	}
}

// close ends the connection for good.
func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	c := l.conn
	l.mu.Unlock()
	if c != nil {
		c.close()
	}
}
