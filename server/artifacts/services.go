package artifacts

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/server/weborigin"
)

const (
	// maxServiceBody bounds what one request sends to a service.
	maxServiceBody = 64 << 20
	// maxServiceConns bounds the requests that one service serves at once; a page
	// with live parts has a dozen.
	maxServiceConns = 64
	// maxServiceHeader bounds the header of a service's answer.
	maxServiceHeader = 64 << 10
	// serviceAnswer is how long a service may think about a request: as long as the
	// longest polls of pages.
	serviceAnswer = 2 * time.Minute
	// serviceStall is how long a browser may take nothing of an answer.
	serviceStall = time.Minute
	// serviceIdleConn is how long a connection to a service is kept for the next
	// request.
	serviceIdleConn = 30 * time.Second
	// serviceLabel begins the host names of services.
	serviceLabel = "s-"
	// localSuffix is what browsers take for this machine whatever stands before it.
	localSuffix = ".localhost"
)

// ServiceSandbox is what the frame of a service may do. It has an origin of its own,
// so that it may have what belongs to one.
const ServiceSandbox = "allow-scripts allow-same-origin allow-forms allow-modals allow-downloads"

// Services pass on what browsers ask of tools that live on (document 004's frame).
// Each is an origin of its own on the listener of artifacts: a host name that nobody
// can guess, below localhost, which is never used again. So a service shares neither
// storage nor cookies with another one, and nothing with this server.
type Services struct {
	dial  func(ctx context.Context, id string, port int) (net.Conn, error)
	alive func(id string) bool
	// isToken tells fettle's own token, which no service ever gets.
	isToken func(string) bool
	life    context.Context // ends with the server

	mu     sync.Mutex
	suffix string // of their hosts, with the port; empty where there are none
	known  map[string]*forward
}

// forward is one port of a service.
type forward struct {
	id    string
	port  int
	label string
	hosts []string // of the network, that its page may reach as well
	room  chan struct{}
	proxy *httputil.ReverseProxy
	way   *http.Transport

	mu    sync.Mutex
	pages []string // the origins that may show it
}

// ServicesOptions make a Services.
type ServicesOptions struct {
	Dial  func(ctx context.Context, id string, port int) (net.Conn, error)
	Alive func(id string) bool
	// IsToken reports whether a text is fettle's own token, which no service gets.
	IsToken func(string) bool
	Life    context.Context // ends with the server
}

// NewServices makes a Services that has no origin yet.
func NewServices(o ServicesOptions) *Services {
	return &Services{dial: o.Dial, alive: o.Alive, isToken: o.IsToken, life: o.Life, known: map[string]*forward{}}
}

// SetOrigin says by which origin browsers reach the listener of artifacts. Only without a
// certificate and on this machine every name below localhost leads there.
func (s *Services) SetOrigin(origin string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suffix = ""
	if u, ok := weborigin.Read(origin); ok && u.Scheme == "http" && weborigin.IsLoopback(u.Hostname()) {
		s.suffix = localSuffix + ":" + weborigin.Port(u)
	}
}

// Pattern is what the page's policy names them by; empty where there are none.
func (s *Services) Pattern() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suffix == "" {
		return ""
	}
	return "http://*" + s.suffix
}

// Open gives the origin of a service's port, which page may show; empty where there
// can be none.
func (s *Services) Open(to Target, page string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suffix == "" {
		return ""
	}
	s.sweep()
	var f *forward
	for _, have := range s.known {
		if have.id == to.ID && have.port == to.Port {
			f = have
		}
	}
	if f == nil {
		f = s.add(to)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.pages, page) {
		f.pages = append(f.pages, page)
	}
	return "http://" + f.label + s.suffix
}

// Target is what is forwarded to: a port of a service.
type Target struct {
	ID    string
	Port  int
	Hosts []string // of the network, that its page may reach as well
}

// add makes a name. The caller has mu.
func (s *Services) add(to Target) *forward {
	f := &forward{
		id: to.ID, port: to.Port, hosts: to.Hosts, label: serviceLabel + strings.ToLower(rand.Text()), // 130 bits
		room: make(chan struct{}, maxServiceConns),
	}
	f.way = &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx, to.ID, to.Port) },
		DisableCompression: true, MaxIdleConns: maxServiceConns, MaxIdleConnsPerHost: maxServiceConns, IdleConnTimeout: serviceIdleConn,
		ResponseHeaderTimeout: serviceAnswer, MaxResponseHeaderBytes: maxServiceHeader,
	}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: s.rewrite, Transport: f.way, FlushInterval: -1,
		ModifyResponse: func(res *http.Response) error { f.settle(res); return nil },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			f.refuse(w, http.StatusBadGateway, "the service doesn't answer")
		},
	}
	s.known[f.label] = f
	return f
}

// sweep forgets the names of services that have ended. The caller has mu.
func (s *Services) sweep() {
	for label, f := range s.known {
		if !s.alive(f.id) {
			f.way.CloseIdleConnections()
			delete(s.known, label)
		}
	}
}

// owns tells whether a request is for a service, by its host.
func (s *Services) owns(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.suffix != "" && strings.HasSuffix(strings.ToLower(r.Host), s.suffix)
}

// find gives what a request is for: the host has to be the whole name.
func (s *Services) find(r *http.Request) *forward {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	label, _ := strings.CutSuffix(strings.ToLower(r.Host), s.suffix)
	return s.known[label]
}

// ServeHTTP forwards one request.
func (s *Services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := s.find(r)
	switch {
	case f == nil:
		(&forward{}).refuse(w, http.StatusNotFound, "the service has ended, or never was")
		return
	case r.Method == http.MethodConnect || r.Method == http.MethodTrace || !strings.HasPrefix(r.URL.Path, "/"):
		f.refuse(w, http.StatusMethodNotAllowed, "this is no request to a service")
		return
	case r.Header.Get("Service-Worker") != "" || r.Header.Get("Sec-Fetch-Dest") == "serviceworker":
		// It would answer in place of the service, with pages that have no policy.
		f.refuse(w, http.StatusForbidden, "a service can't install a service worker")
		return
	case !ownRequest(r):
		f.refuse(w, http.StatusForbidden, "the request was made for another site than the service's own")
		return
	}
	select {
	case f.room <- struct{}{}:
		defer func() { <-f.room }()
	default:
		f.refuse(w, http.StatusServiceUnavailable, "the service has too many requests at once")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	r = r.WithContext(ctx)
	if r.Body != nil {
		r.Body = http.MaxBytesReader(w, r.Body, maxServiceBody)
	}
	f.proxy.ServeHTTP(&stalling{ResponseWriter: w}, r)
}

// ownRequest tells whether a browser made a request for the service's own page, or
// to show it: neither a form nor a script of another site gets through.
func ownRequest(r *http.Request) bool {
	sent := r.Header["Origin"]
	if len(sent) > 0 {
		return len(sent) == 1 && strings.EqualFold(sent[0], "http://"+r.Host)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// rewrite is what a service gets of a request: all of it but what is this server's.
func (s *Services) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.Scheme, p.Out.URL.Host = "http", "service" // which dial knows by itself
	p.Out.Host = p.In.Host
	p.Out.Header.Set("X-Forwarded-Host", p.In.Host)
	p.Out.Header.Set("X-Forwarded-Proto", "http")
	if kind, token, _ := strings.Cut(p.In.Header.Get("Authorization"), " "); strings.EqualFold(kind, "bearer") && s.isToken(strings.TrimSpace(token)) {
		p.Out.Header.Del("Authorization")
	}
}

// passedHeaders are the headers of a service's answers that reach the browser. All
// others are dropped: browsers act on many headers, and new ones appear.
var passedHeaders = sync.OnceValue(func() map[string]bool {
	passed := map[string]bool{}
	for _, name := range []string{
		"Content-Type", "Content-Length", "Content-Encoding", "Content-Disposition", "Content-Language", "Content-Range", "Accept-Ranges",
		"Cache-Control", "Expires", "Pragma", "Last-Modified", "Etag", "Age", "Date", "Vary", "Retry-After",
		"Set-Cookie", "Location", // which settle changes
	} {
		passed[name] = true
	}
	return passed
})

// upgradeHeaders are those that an answer has besides, where the connection becomes
// one of another protocol.
var upgradeHeaders = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"Connection": true, "Upgrade": true, "Sec-Websocket-Accept": true, "Sec-Websocket-Protocol": true, "Sec-Websocket-Extensions": true,
	}
})

// settle makes an answer one that this server answers for.
func (f *forward) settle(res *http.Response) {
	upgrade := res.StatusCode == http.StatusSwitchingProtocols
	for name := range res.Header {
		if !passedHeaders()[name] && !(upgrade && upgradeHeaders()[name]) {
			res.Header.Del(name)
		}
	}
	cookies := res.Header["Set-Cookie"]
	res.Header.Del("Set-Cookie")
	for _, line := range cookies {
		if c, err := http.ParseSetCookie(line); err == nil {
			c.Domain = "" // for its own name alone
			res.Header.Add("Set-Cookie", c.String())
		}
	}
	if to := res.Header["Location"]; len(to) > 0 {
		res.Header.Del("Location")
		if own, ok := f.ownLocation(to[0], res.Request.Host); ok {
			res.Header.Set("Location", own)
		}
	}
	f.guard(res.Header)
}

// ownLocation returns a redirection within the service; ok is false for one that leads
// elsewhere. host is the name that browsers have for the service.
func (f *forward) ownLocation(location, host string) (own string, ok bool) {
	to, err := url.Parse(location)
	if err != nil || to.Opaque != "" || to.Scheme != "" && to.Host == "" {
		return "", false
	}
	itself := weborigin.IsLoopback(to.Hostname()) && to.Port() == strconv.Itoa(f.port)
	if to.Host != "" && !itself && !strings.EqualFold(to.Host, host) {
		return "", false
	}
	to.Scheme, to.Host, to.User = "", "", nil
	if strings.HasPrefix(to.Path, "//") {
		to.Path = "/" + strings.TrimLeft(to.Path, "/") // browsers would read a host
		to.RawPath = ""
	}
	return to.String(), true
}

// guard sets what a service's page may do: be shown by the pages that asked for it,
// run its own scripts, and reach itself and what its toolset was granted.
func (f *forward) guard(h http.Header) {
	f.mu.Lock()
	pages := make([]string, len(f.pages))
	for i, page := range f.pages {
		pages[i] = AncestorOf(page)
	}
	f.mu.Unlock()
	own := strings.TrimSpace("'self' " + strings.Join(GrantOrigins(f.hosts, false), " "))
	h.Set("Content-Security-Policy", strings.Join([]string{
		"sandbox " + ServiceSandbox, // also where its address is opened by itself
		"default-src " + own + " data: blob: 'unsafe-inline' 'unsafe-eval'",
		"frame-src 'self' data: blob:",
		"object-src 'none'",
		"base-uri 'self'",
		"form-action 'self'",
		"frame-ancestors " + OrNoneOf(pages),
	}, "; "))
	h.Set("Permissions-Policy", permissions)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Origin-Agent-Cluster", "?1")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Dns-Prefetch-Control", "off")
	h.Set("X-Robots-Tag", "noindex")
}

// refuse says why nothing is forwarded.
func (f *forward) refuse(w http.ResponseWriter, status int, why string) {
	h := w.Header()
	f.guard(h)
	h.Set("Cache-Control", "no-store")
	http.Error(w, "fettle: "+why, status)
}

// stalling bounds how long a browser may take nothing of an answer.
type stalling struct{ http.ResponseWriter }

// Unwrap lets a ResponseController find the connection.
func (w *stalling) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader passes the status on. Interim answers are dropped: their headers, such as
// Link, are the service's own.
func (w *stalling) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write writes, for so long.
func (w *stalling) Write(p []byte) (int, error) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(serviceStall)) // a server that can't has none to set
	return w.ResponseWriter.Write(p)
}
