package mcp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/internal/netguard"
)

const (
	// dialTime bounds connecting, headerTime the wait for an answer's
	// beginning: a call whose answer is one JSON text begins it when it is done,
	// and its own bound ends it before.
	dialTime   = 15 * time.Second
	headerTime = 15 * time.Minute
	// idleTime is how long an unused connection stays open.
	idleTime = 90 * time.Second
	// maxBody bounds an answer that is no stream of events.
	maxBody = maxMessage
	// maxHeaders bounds an answer's headers.
	maxHeaders = 256 << 10
)

// newHTTP returns a client for one server: with its headers and its bounds, and without
// access to the user's own network for a server that isn't in it. c notes what the
// answers mean for a connection; nil is for requests outside of one.
func newHTTP(s Server, g *guard, c *conn) (*http.Client, func()) {
	t := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialFor(s),
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  headerTime,
		MaxResponseHeaderBytes: maxHeaders,
		IdleConnTimeout:        idleTime,
		ForceAttemptHTTP2:      true,
	}
	return &http.Client{
		Transport: &bounded{next: t, server: s, guard: g, conn: c},
		// What was sent to one address holds keys, and isn't sent on to another.
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
				return fmt.Errorf("it leads to another address, %s", plain(r.URL.Host, maxLogLine))
			}
			if len(via) >= 5 {
				return fmt.Errorf("it leads round in circles")
			}
			return nil
		},
	}, t.CloseIdleConnections
}

// dialFor reaches any address for what the user configured or was shown, and
// public ones for what a public server leads to.
func dialFor(s Server) func(context.Context, string, string) (net.Conn, error) {
	direct := (&net.Dialer{Timeout: dialTime}).DialContext
	u, err := url.Parse(s.URL)
	if err != nil || netguard.CheckHost(u.Hostname()) != nil {
		return direct // it is on this machine or in this network, as was shown
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && proxy != nil {
		return direct // the proxy decides
	}
	return netguard.Dial
}

// bounded adds a server's headers to requests to it, and bounds answers.
type bounded struct {
	next   http.RoundTripper
	server Server
	guard  *guard
	conn   *conn // nil outside of a connection
}

// RoundTrip sends one request.
func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if u, err := url.Parse(b.server.URL); err == nil && u.Host == r.URL.Host && u.Scheme == r.URL.Scheme {
		for name, value := range b.server.Headers {
			if r.Header.Get(name) == "" || !strings.EqualFold(name, "Authorization") {
				r.Header.Set(name, value)
			}
		}
	}
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	left := int64(maxBody)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		left = -1
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, guard: b.guard, left: left}
	if b.conn != nil {
		b.noteRefusal(r, resp)
		b.decodableBody(resp)
	}
	return resp, nil
}

// boundedBody counts what is read. left is what may still come; negative is no
// bound, for streams, which have a rate.
type boundedBody struct {
	io.ReadCloser
	guard *guard
	left  int64
}

// Read reads within the bounds.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if counted := b.guard.read(n); counted != nil {
		return n, counted
	}
	if b.left >= 0 {
		if b.left -= int64(n); b.left < 0 {
			return n, b.guard.broken(&FloodError{fmt.Sprintf("an answer of more than %d MB", maxBody>>20)})
		}
	}
	return n, err
}

// httpTransport is the SDK's transport for a server at an address.
func (m *Manager) httpTransport(s Server, client *http.Client) (sdk.Transport, error) {
	if s.SSE {
		return &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
	}
	t := &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}
	if s.Headers["Authorization"] == "" {
		signIn, err := m.signIn(s, client)
		if err != nil {
			return nil, err
		}
		t.OAuthHandler = signIn
	}
	return t, nil
}
