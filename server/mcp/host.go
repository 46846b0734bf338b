package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/prompts"
	"github.com/fettle-cli/fettle/engine/store"
)

// Options say what is served, and how.
type Options struct {
	Engine *engine.Engine
	// Start begins turns, where somebody else counts them; nil is the engine's.
	Start func(context.Context, engine.TurnRequest) (store.TurnID, error)
	// Prepare fills in what the configuration says of a turn. It may be nil.
	Prepare func(*engine.TurnRequest)
	// Toolsets are the groups whose tools and agents are offered: ids of toolsets
	// and of MCP servers, and builtin. Empty offers all but those of MCP servers,
	// which a client can have by itself.
	Toolsets []string
	// Library returns the user's named prompts, as they are now; nil offers none. Where
	// Toolsets are named, none are offered.
	Library func() (*prompts.Library, error)
	// Workspace is the absolute path of a folder in which all sessions work; empty
	// gives each a folder of its own.
	Workspace string
	// Policy has the rules that hold for all calls, beside the engine's.
	Policy  permission.Policy
	Version string
	// Log hears of what goes wrong; nil hears nothing.
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// extend adds to the options of each server that is made, and then to the
	// server, for tests of what the protocol itself asks for.
	extend func(*sdk.ServerOptions) func(*sdk.Server)
}

const (
	// closeTime bounds the wait for calls at the end: a cancelled turn ends within
	// 3.5 s, and its last snapshot takes moments.
	closeTime = 5 * time.Second
	// approvalTime is how long an approval waits: long enough to read a diff, and
	// short enough that a client which is gone doesn't hold a session for ever.
	approvalTime = 10 * time.Minute
	// maxParked bounds the turns that wait for a client to come back.
	maxParked = 64
)

var (
	errEnding = errors.New("fettle ends")
	errGone   = errors.New("the client is gone")
)

// Host serves clients.
type Host struct {
	o     Options
	eng   *engine.Engine
	log   *slog.Logger
	base  context.Context // of all calls
	stop  context.CancelCauseFunc
	calls sync.WaitGroup // handlers of calls, and what looks after sessions

	legacy, modern http.Handler

	mu       sync.Mutex
	closed   bool
	offers   map[string]*offer          // by filter
	shared   map[string]*served         // of modern clients over HTTP, by filter
	open     map[*served]struct{}       // of legacy clients over HTTP
	sessions map[string]*session        // of modern clients over HTTP
	requests map[string]context.Context // of legacy clients over HTTP, by name
	uses     int64
	parked   map[string]*parked // by request state
	// watched are the servers whose clients receive changes to the prompts, each with the
	// stamp that its prompts were last refreshed at; watching is set once the goroutine
	// runs that looks for changes.
	watched  map[*served]string
	watching bool
}

// New makes a Host. Close ends it.
func New(o Options) *Host {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Prepare == nil {
		o.Prepare = func(*engine.TurnRequest) {}
	}
	if o.Start == nil {
		o.Start = o.Engine.Start
	}
	h := &Host{
		o: o, eng: o.Engine, log: o.Log, offers: map[string]*offer{}, shared: map[string]*served{},
		open: map[*served]struct{}{}, sessions: map[string]*session{}, requests: map[string]context.Context{}, parked: map[string]*parked{},
		watched: map[*served]string{},
	}
	h.base, h.stop = context.WithCancelCause(context.Background())
	h.legacy, h.modern = h.handlers()
	return h
}

// Close cancels what runs, ends all sessions, and waits for both.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	var open []*served
	for sv := range h.open {
		open = append(open, sv)
	}
	for _, sv := range h.shared {
		open = append(open, sv)
	}
	var waiting []*parked
	for _, p := range h.parked {
		waiting = append(waiting, p)
	}
	h.mu.Unlock()
	h.stop(errEnding)
	for _, p := range waiting {
		h.calls.Go(func() { h.drop(p) })
	}
	for _, sv := range open {
		sv.close()
	}
	h.wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		s.end()
	}
}

// wait waits for calls, and not for ever.
func (h *Host) wait() {
	ended := make(chan struct{})
	go func() {
		h.calls.Wait()
		close(ended)
	}()
	t := time.NewTimer(closeTime)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
		h.log.Error("calls did not end in time; they are interrupted")
	}
}

// begin lets a call run, unless the host has ended. done gives it back.
func (h *Host) begin() (done func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, false
	}
	h.calls.Add(1)
	return h.calls.Done, true
}
