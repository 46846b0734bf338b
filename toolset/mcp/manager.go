package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// startTime bounds getting a server ready: npx may fetch a package first.
	startTime = 60 * time.Second
	// probeTime bounds the question which era a server speaks. One of the legacy
	// era should refuse it at once; some never answer.
	probeTime = 10 * time.Second
	// idleEnd is how long a connection lives that no call uses, and sweepEvery
	// how often connections are checked for that and for servers that were disabled.
	idleEnd    = 10 * time.Minute
	sweepEvery = 2 * time.Second
	// MaxConnections bounds how many there are at once; the one that has been
	// idle the longest gives way.
	MaxConnections = 32
	// firstPause and longestPause are between tries to start a server that
	// fails; each is twice the one before.
	firstPause   = time.Second
	longestPause = time.Minute
	// steady is how long a server lives that counts as one that works, so that
	// its end is followed by a start without a pause.
	steady = 30 * time.Second
)

// Options make a Manager.
type Options struct {
	// Launcher starts the processes of servers.
	Launcher toolset.Launcher
	// Dir holds a folder for each server's process to work in, and what was
	// learnt of servers; it is made when it is needed.
	Dir string
	// Version is fettle's, told to servers.
	Version string
	// Lookup gives the values of variables; nil has none.
	Lookup Lookup
	// Log hears what servers say of themselves; nil hears nothing. It may be
	// called from several goroutines at once.
	Log func(server, text string)
	// LogLevel gives the least level of what servers are asked to log, such as info,
	// when they are connected; nil or empty asks for nothing, and one of the legacy
	// era may log all the same.
	LogLevel func() string
	// Changed hears that a server has other tools than those that are pinned,
	// which it has now; nil isn't told. It is called before the calls that the
	// change holds back are refused.
	Changed func(ctx context.Context, serverID string, now []toolset.Tool)
	// Unusable returns which of some servers may not be used any more, such as those of a
	// toolset that another process has disabled. Their connections end. Nil means that
	// all may be used.
	Unusable func(ids []string) []string
	// Ask asks a person for a server where no call runs that could, by the Asker
	// that it brings; nil means that nobody can be asked.
	Ask func(context.Context, Question) (Answer, error)
	// Tokens keeps what servers gave at sign-in; nil keeps nothing, and no
	// server is signed in at.
	Tokens Tokens
	// SignIn lets a person sign in at servers that want it. Nil means that nobody
	// can now: such a server is a [*SignInError].
	SignIn *SignIn
	// Probe bounds the question which era a server speaks; zero is ten seconds.
	Probe time.Duration
	// Write bounds how long a process may take nothing of a message; zero is half a
	// minute.
	Write time.Duration
	// List bounds getting a whole list of a server; zero is half a minute.
	List time.Duration
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Manager owns the connections to all MCP servers.
type Manager struct {
	o    Options
	life context.Context // of starts; ends with Close
	end  context.CancelFunc
	// force is of connections, which end one by one: it ends where Close can wait
	// for them no longer.
	force  context.Context
	forced context.CancelFunc

	mu       sync.Mutex
	closed   bool
	sweeping bool
	links    map[linkKey]*link
	sessions map[string][]toolset.Tool // of servers that aren't pinned, by key
	work     sync.WaitGroup            // all goroutines
}

// begin runs a goroutine that Close waits for, unless that was called.
func (m *Manager) begin(fn func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.work.Go(fn)
	return true
}

// linkKey names a link: one server as it is configured, for one workspace, and
// apart from those that clients bring.
type linkKey struct {
	session               bool
	id, config, workspace string
}

// ErrClosed says that a manager was closed.
var ErrClosed = errors.New("the MCP servers are closed")

// New makes a Manager. Nothing is started or touched before it is needed.
func New(o Options) *Manager {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Probe, o.Write, o.List = cmp.Or(o.Probe, probeTime), cmp.Or(o.Write, writeTime), cmp.Or(o.List, listTime)
	m := &Manager{o: o, links: map[linkKey]*link{}, sessions: map[string][]toolset.Tool{}}
	m.life, m.end = context.WithCancel(context.Background())
	m.force, m.forced = context.WithCancel(context.Background())
	return m
}

// use gives the connection of a server for a workspace to one call, and takes it
// back. From the first look at the link until done it counts as used, so that
// nothing that makes room takes it away between.
func (m *Manager) use(ctx context.Context, s Server, ws *toolset.Workspace) (c *conn, done func(), err error) {
	l, err := m.link(s, ws)
	if err != nil {
		return nil, nil, err
	}
	l.pin(s.Pinned)
	if c, err = l.ready(ctx); err != nil {
		l.release()
		return nil, nil, err
	}
	return c, l.release, nil
}

// link gives the link of a server for a workspace, which is in use until it is
// released. Links of the same server as it was configured before are ended: a
// change reconnects. Of the servers of sessions nobody can tell whether that is
// what another one is; they end when they are idle.
func (m *Manager) link(s Server, ws *toolset.Workspace) (*link, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	key := linkKey{s.Session, s.ID, s.Key(), ""}
	if s.URL != "" {
		ws = nil // it is elsewhere, and folders of this machine are none of its business
	}
	if ws != nil {
		key.workspace = ws.Path
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	l := m.links[key]
	if l == nil {
		l = &link{m: m, key: key, server: s, workspace: copyWorkspace(ws), used: m.o.Now()}
		m.links[key] = l
		m.makeRoom(l)
	}
	l.reserve()
	for other, old := range m.links {
		if !key.session && !other.session && other.id == key.id && other.config != key.config {
			delete(m.links, other)
			m.work.Go(func() { old.close() })
		}
	}
	if !m.sweeping {
		m.sweeping = true
		m.work.Go(m.sweep)
	}
	return l, nil
}

// copyWorkspace keeps what a server needs of a call's workspace, whose root is
// closed with the turn.
func copyWorkspace(ws *toolset.Workspace) *toolset.Workspace {
	if ws == nil {
		return nil
	}
	return &toolset.Workspace{Path: ws.Path, Bound: ws.Bound, Outlive: ws.Outlive}
}

// makeRoom ends the connections that have been idle the longest where there are
// too many, but not the one that is new. The caller holds mu.
func (m *Manager) makeRoom(fresh *link) {
	for len(m.links) > MaxConnections {
		var oldest *link
		for _, l := range m.links {
			if at, idle := l.idleSince(); l != fresh && idle && (oldest == nil || at.Before(oldest.lastUse())) {
				oldest = l
			}
		}
		if oldest == nil {
			return
		}
		delete(m.links, oldest.key)
		m.work.Go(func() { oldest.close() })
	}
}

// sweep ends connections that are idle for long, or whose server may not be used any more,
// until the manager is closed.
func (m *Manager) sweep() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-m.life.Done():
			return
		case <-ticker.C:
		}
		m.endUnusable()
		m.mu.Lock()
		for key, l := range m.links {
			if at, idle := l.idleSince(); idle && m.o.Now().Sub(at) > idleEnd {
				delete(m.links, key)
				m.work.Go(func() { l.close() })
			}
		}
		m.mu.Unlock()
	}
}

func (m *Manager) endUnusable() {
	if m.o.Unusable == nil {
		return
	}
	m.mu.Lock()
	ids := map[string]bool{}
	for key := range m.links {
		if !key.session {
			ids[key.id] = true
		}
	}
	m.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	for _, id := range m.o.Unusable(slices.Sorted(maps.Keys(ids))) {
		m.Forget(id)
	}
}

// Forget ends all connections of a server that is no session's, whose calls fail.
func (m *Manager) Forget(serverID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	for key, l := range m.links {
		if key.id == serverID && !key.session {
			delete(m.links, key)
			m.work.Go(func() { l.close() })
		}
	}
}

// Close ends every connection and process, and waits for them, but not longer
// than ctx: what is left then is ended by force. Nothing starts after it. The
// input of each process ends, then it has a moment, then it is asked, then killed.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	left := m.links
	m.links = map[linkKey]*link{}
	for _, l := range left {
		m.work.Go(func() { l.close() })
	}
	m.mu.Unlock()
	m.end()
	done := make(chan struct{})
	go func() { // outlives Close only where a server outlives ctx
		defer close(done)
		m.work.Wait()
	}()
	select {
	case <-done:
		m.forced()
		return nil
	case <-ctx.Done():
		m.forced()
		return fmt.Errorf("end the MCP servers: %w", context.Cause(ctx))
	}
}

// Running are the ids of the servers that are connected now, for tests and for
// people.
func (m *Manager) Running() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for key, l := range m.links {
		if l.up() && !slices.Contains(out, key.id) {
			out = append(out, key.id)
		}
	}
	slices.Sort(out)
	return out
}

// logLevel is what servers are asked to log.
func (m *Manager) logLevel() string {
	if m.o.LogLevel == nil {
		return ""
	}
	return m.o.LogLevel()
}

func (m *Manager) log(server, text string) {
	if m.o.Log != nil {
		if text = plain(text, maxLogLine); text != "" {
			m.o.Log(server, text)
		}
	}
}
