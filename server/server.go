package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/artifacts"
	"github.com/fettle-cli/fettle/server/web"
	"github.com/fettle-cli/fettle/toolset"
)

// Models lists what models there are.
type Models interface {
	// List asks the providers of a query, each with a deadline of its own.
	List(context.Context, models.Query) ([]models.List, error)
}

// Options make a Server.
type Options struct {
	Engine *engine.Engine
	Models Models
	// Prepare fills in what the configuration says of a turn: the model of a new
	// chat, limits, and which tools are offered. nil leaves a request as it is.
	Prepare func(*engine.TurnRequest)
	// Token is what every request over TCP has to bring.
	Token string
	// DataDir is where uploads wait to be looked at.
	DataDir string
	// TrustOrigin is an origin of this machine that may ask agents without a
	// token; empty is none.
	TrustOrigin string
	// AllowOrigins are origins whose pages may use the API with the token, as
	// <fettle-chat> on them does; nil are none.
	AllowOrigins []string
	// Demo tells the page that all of this is a demonstration, Model and Agent what
	// answers where a request names none, and Suggestions what it may offer to ask.
	Demo         bool
	Model, Agent string
	Suggestions  []Suggestion
	// Effective is the configuration in force without its secrets; nil has none.
	Effective func() Effective
	// Version is fettle's own, for /openapi.json.
	Version string
	// Build tells builds of a version apart, for other processes of fettle's;
	// empty is Version.
	Build string
	// Log hears of every request; nil hears nothing.
	Log *slog.Logger
	// Spans counts those that were sent and those that are lost, for /metrics; nil
	// where none are made.
	Spans func() (sent, dropped int64)
	// MCP makes what serves clients of the Model Context Protocol at /mcp, with
	// what begins its turns; nil serves none.
	MCP func(start func(context.Context, engine.TurnRequest) (store.TurnID, error)) MCP
	// Settings stands for what decides a turn beside its request, see Info; nil
	// is like nobody's.
	Settings func() string
	// Env looks up the variables that a bundle may want; nil has none.
	Env func(string) (string, bool)
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// ApprovalTime is how long an approval waits for an answer; 0 is ten
	// minutes. StallTime is how long a stream's client may take nothing; 0 is ten
	// seconds. KeepAlive is how long a stream may be silent; 0 is fifteen
	// seconds.
	ApprovalTime, StallTime, KeepAlive time.Duration
}

// The times that Options leave out.
const (
	// approvalTime is long enough to read a diff, and short enough that a page
	// which was closed doesn't hold a chat for ever.
	approvalTime = 10 * time.Minute
	// stallTime is far more than any network needs for a few kilobytes.
	stallTime = 10 * time.Second
	// keepAlive is less than what proxies commonly wait, which is 30 s or 60 s.
	keepAlive = 15 * time.Second
)

// Server answers requests. Make it with New, and serve it with Run.
type Server struct {
	o     Options
	log   *slog.Logger
	now   func() time.Time
	since time.Time // when the server was made
	gate  *gate
	table *table

	eng       *engine.Engine
	runs      func(store.TurnID) bool // Live of eng; tests replace it
	models    Models
	forwards  *artifacts.Services
	asks      *appAsks
	address   string // that browsers have, once it runs
	naming    naming
	mcp       MCP // nil where there is none
	live      *liveTurns
	artifacts *artifacts.Pages
	page      *web.Page
	openings  openings
	count     counters
	beat      *beat
	pieces    sync.Pool // of buffers that frames are put together in
	lines     openLines
	draining  atomic.Bool
	uploading sync.WaitGroup // of bundles: those that run have files to remove

	// streams ends all followers; watching are the goroutines that look after
	// turns.
	streams    context.Context
	endStreams context.CancelFunc
	watching   sync.WaitGroup
	openapi    func() []byte
}

// New makes a Server that no address names yet: Run gives it some.
func New(o Options) (*Server, error) {
	page, err := web.New()
	if err != nil {
		return nil, err
	}
	s := &Server{
		page: page,
		o:    o, log: o.Log, now: o.Now,
		eng: o.Engine, runs: o.Engine.Live, models: o.Models, naming: naming{names: map[string]bool{}},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.since = s.now()
	s.o.ApprovalTime = cmp.Or(o.ApprovalTime, approvalTime)
	s.o.StallTime = cmp.Or(o.StallTime, stallTime)
	s.o.KeepAlive = cmp.Or(o.KeepAlive, keepAlive)
	if s.o.Prepare == nil {
		s.o.Prepare = func(*engine.TurnRequest) {}
	}
	s.gate = &gate{
		token: newSecret(o.Token), hosts: map[string]bool{}, origins: map[string]bool{},
		rate: newBucket(requestsAtOnce, requestsPerSecond, s.now), wrong: newBucket(wrongAtOnce, wrongPerSecond, s.now),
		links: newLinks(s.now),
	}
	if s.gate.allow, err = originsOf(o.AllowOrigins); err != nil {
		return nil, err
	}
	if o.TrustOrigin != "" {
		if s.gate.trust, err = originOf(o.TrustOrigin); err != nil {
			return nil, err
		}
	}
	s.openings.now = s.now
	s.live, s.artifacts, s.beat = newLiveTurns(s.questions), artifacts.NewPages(s.now), newBeat()
	s.asks = newAppAsks(s.now)
	s.streams, s.endStreams = context.WithCancel(context.Background())
	s.forwards = artifacts.NewServices(artifacts.ServicesOptions{
		Dial: func(ctx context.Context, id string, port int) (net.Conn, error) {
			return s.eng.DialService(ctx, id, port)
		},
		IsToken: s.gate.token.is, Life: s.streams,
		Alive: func(id string) bool {
			return slices.ContainsFunc(s.eng.Running(""), func(have toolset.Service) bool { return have.ID == id })
		},
	})
	s.artifacts.Show(s.forwards)
	if o.MCP != nil {
		s.mcp = o.MCP(s.startMCP)
	}
	list := routes()
	s.openapi = sync.OnceValue(func() []byte { return openAPI(list, o.Version) })
	s.table = newTable(list, func(to *route) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := to.do(s, w, r); err != nil {
				s.failed(w, r, err)
			}
		})
	})
	return s, nil
}

// HasPage tells whether this build has the page.
func (s *Server) HasPage() bool { return s.page.Built() }

// state is what is known of a request while it is answered.
type state struct {
	id    string
	route *route
	begun time.Time
	err   error
	// taken says that the answer goes on without its handler, whose method that is.
	taken  bool
	method string
}

type stateKey struct{}

func stateOf(r *http.Request) *state {
	if st, ok := r.Context().Value(stateKey{}).(*state); ok {
		return st
	}
	return &state{}
}

func requestID(r *http.Request) string { return stateOf(r).id }

// ServeHTTP answers one request: the gate, the route, and what is told of it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	st := &state{id: idFor(r), begun: s.now()}
	answer := &recorder{ResponseWriter: w}
	// A copy: the gate takes a token off the path.
	ctx := engine.WithTraceParent(r.Context(), r.Header.Get("Traceparent"))
	r = r.WithContext(context.WithValue(ctx, stateKey{}, st))
	setSafety(answer.Header())
	answer.Header().Set("X-Request-Id", st.id)
	defer s.finish(answer, r, st)
	c, err := s.gate.admit(r, s.table)
	st.route = c.route
	s.allowOrigin(answer.Header(), r, c)
	if err != nil {
		s.failed(answer, r, err)
		return
	}
	if (c.trusted || c.allowed != "") && r.Method == http.MethodOptions {
		answer.WriteHeader(http.StatusNoContent)
		return
	}
	s.bound(answer, r, c.route)
	s.table.mux.ServeHTTP(answer, r)
}

// bound sets the limits of body and time.
func (s *Server) bound(w http.ResponseWriter, r *http.Request, to *route) {
	r.Body = http.MaxBytesReader(w, r.Body, to.limit())
	limit := jsonTime
	if to.slow {
		limit = fileTime
	}
	// Streams set their own. A server that can't has none to set.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit + requestTime))
}

// requestTime is what the engine may take before it is answered, such as a first
// snapshot of a folder.
const requestTime = 5 * time.Minute

// setSafety sets the headers that keep an answer from being taken for anything
// else than what it is.
func setSafety(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cache-Control", "no-store")
}

// idFor is the request's id: the client's own, where it is a plain word.
func idFor(r *http.Request) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 64 && strings.Trim(id, plain) == "" {
		return id
	}
	return rand.Text()
}

// recorder knows what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap lets a ResponseController find the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader notes the status.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write notes how much was written.
func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// failed answers with an error, or notes it where the answer has begun.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	st := stateOf(r)
	st.err = err
	if answer, ok := w.(*recorder); ok && answer.status != 0 {
		cutOff(w)
		return
	}
	s.fail(w, r, err)
}

// cutOff makes the rest of an answer fail, so that half of one doesn't look
// whole: what ends it can't be written any more.
func cutOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) // a server that can't has nothing to cut
}
