package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

// dialer connects to a host; it refuses what no tool may reach.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

const (
	// proxyHeaders bounds a request's headers, and the time for them: a tool
	// sends its own at once.
	proxyHeaders    = 64 << 10
	proxyHeaderTime = 10 * time.Second
	// proxyDialTime bounds a connection to a host, name lookup included.
	proxyDialTime = 30 * time.Second
)

// proxy lets a process reach its policy's hosts, by HTTP's two ways of using a
// proxy. It is no protection: that is the network namespace without a way out.
type proxy struct {
	policy toolset.Policy
	dial   dialer
	ctx    context.Context // ends with the process
	server *http.Server
	open   sync.WaitGroup // connections, those that became tunnels included
}

// openProxy serves on the socket that came from the supervisor, until the process
// is over.
func (p *process) openProxy() {
	f := p.control.file()
	if f == nil {
		return // then there is no way out, which is safe
	}
	l, err := net.FileListener(f)
	f.Close() // the listener has its own
	if err != nil {
		return
	}
	p.work.Go(func() { serveProxy(l, p.policy, p.dial, p.over) })
}

// serveProxy serves until over is closed, and then waits for all connections.
func serveProxy(l net.Listener, policy toolset.Policy, dial dialer, over <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background()) // of the process, which has none of its own
	px := &proxy{policy: policy, dial: dial, ctx: ctx}
	px.server = &http.Server{
		Handler: px, ReadHeaderTimeout: proxyHeaderTime, MaxHeaderBytes: proxyHeaders,
		BaseContext: func(net.Listener) context.Context { return ctx },
		Protocols:   onlyHTTP1(),
		ConnState:   px.count,
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		px.server.Serve(l) // until Close
	}()
	<-over
	cancel()
	px.server.Close()
	<-ended
	px.open.Wait()
}

// count keeps account of the server's connections. It hears of a new one from
// Serve itself, so that none begins after that has ended.
func (px *proxy) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		px.open.Add(1)
	case http.StateClosed, http.StateHijacked:
		px.open.Done()
	}
}

func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// errHost is the answer to a host that isn't granted.
var errHost = errors.New("this host isn't among those that the tool may reach")

// connect reaches one of the policy's hosts.
func (px *proxy) connect(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connect to %q: %w", address, err)
	}
	number, err := strconv.Atoi(port)
	if err != nil || !px.policy.AllowsHost(host, number) {
		return nil, fmt.Errorf("connect to %s: %w", net.JoinHostPort(host, port), errHost)
	}
	ctx, cancel := context.WithTimeout(ctx, proxyDialTime)
	defer cancel()
	return px.dial(ctx, network, address)
}

// ServeHTTP serves one request of the process.
func (px *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		px.serveTunnel(w, r)
	case r.URL.IsAbs() && r.URL.Scheme == "http":
		px.forward(w, r)
	default:
		http.Error(w, "fettle: this is a proxy", http.StatusBadRequest)
	}
}

// fail answers what couldn't be reached.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, errHost) {
		status = http.StatusForbidden
	}
	http.Error(w, "fettle: "+err.Error(), status)
}

// forward passes one plain request on. Each has a connection of its own, so
// that none is kept beyond its answer.
func (px *proxy) forward(w http.ResponseWriter, r *http.Request) {
	transport := &http.Transport{DialContext: px.connect, DisableKeepAlives: true, DisableCompression: true}
	defer transport.CloseIdleConnections()
	pass := &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // the address is absolute already
		Transport:     transport,
		FlushInterval: -1, // at once
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) },
	}
	pass.ServeHTTP(w, r)
}

// serveTunnel joins two connections until both directions have ended.
func (px *proxy) serveTunnel(w http.ResponseWriter, r *http.Request) {
	there, err := px.connect(r.Context(), "tcp", r.Host)
	if err != nil {
		fail(w, err)
		return
	}
	defer there.Close()
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, "fettle: no tunnel here", http.StatusInternalServerError)
		return
	}
	px.open.Add(1) // the server forgets a connection that is taken over
	defer px.open.Done()
	here, buffered, err := hijacker.Hijack()
	if err != nil {
		return // the connection is gone
	}
	defer here.Close()
	stop := context.AfterFunc(px.ctx, func() { here.Close(); there.Close() })
	defer stop()
	if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { pump(there, io.MultiReader(io.LimitReader(buffered, int64(buffered.Reader.Buffered())), here)) })
	both.Go(func() { pump(here, there) })
	both.Wait()
}

// pump copies one direction and passes its end on.
func pump(to net.Conn, from io.Reader) {
	io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
		return
	}
	to.Close()
}
