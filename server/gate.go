package server

import (
	"context"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/server/dialect"
)

// The bounds of a request. A body's own bound is its route's.
const (
	// maxHeader bounds all header lines of a request: browsers and clients send
	// some kilobytes.
	maxHeader = 32 << 10
	// maxPath bounds a path; the longest are names of files, which systems bound
	// by 4 KB.
	maxPath = 8 << 10
	// headerTime bounds the reading of a header, jsonTime that of a body which
	// is JSON, fileTime that of a file and of an answer that is one.
	headerTime = 10 * time.Second
	jsonTime   = 30 * time.Second
	fileTime   = 30 * time.Minute
	// idleTime is how long a connection may wait for its next request.
	idleTime = 2 * time.Minute
)

// tokenPrefix begins a path that carries the token, for clients that can't send
// a header: /t/TOKEN/v1/models.
const tokenPrefix = "/t/"

// caller is what the gate learnt of who sent a request.
type caller struct {
	route *route // nil where no route has the path
	// owner came by the Unix socket.
	owner bool
	// trusted came from the one origin that needs no token.
	trusted bool
	// allowed is the other origin that the answer may be read by; empty for the
	// server's own, and for what is no browser.
	allowed string
	token   string
	// leave is that of a link; who comes by one brings no token.
	leave string
}

type ownerKey struct{}

// gate is what all requests pass. It knows nothing of what they are for.
type gate struct {
	token   secret
	hosts   map[string]bool // what the Host header may be, in lower case
	origins map[string]bool // what Origin may be
	trust   string          // the origin of --trust-origin; empty without one
	allow   map[string]bool // the origins of --allow-origin, which need the token
	rate    *bucket         // of all requests
	wrong   *bucket         // of wrong tokens
	links   *links
}

// addHost allows an address under which the server is reached.
func (g *gate) addHost(scheme, host string) {
	host = strings.ToLower(host)
	g.hosts[host] = true
	g.origins[scheme+"://"+host] = true
}

// admit lets a request through, or says why not. It takes the prefix of a token or
// a link off the path.
func (g *gate) admit(r *http.Request, t *table) (caller, error) {
	c := caller{owner: r.Context().Value(ownerKey{}) != nil}
	if err := g.plainPath(r); err != nil {
		return c, err
	}
	if c.leave = takeLeave(r); c.leave == "" {
		c.token = takeToken(r)
	}
	c.route = t.find(r)
	if to := t.asked(r); c.route == nil && to != nil && (to.trusted && g.fromTrusted(r) || g.fromAllowed(r) != "" && !to.owner) {
		c.route = to
	}
	if err := framing(r, c.route); err != nil {
		return c, err
	}
	if err := g.sameOrigin(r, &c); err != nil {
		return c, err
	}
	if c.route != nil && r.ContentLength > c.route.limit() {
		return c, tooLarge(c.route.limit())
	}
	if !g.rate.take() {
		return c, slowDown("there are more requests than are taken at once")
	}
	if c.route == nil {
		return c, t.missing(r)
	}
	if c.allowed != "" && r.Method == http.MethodOptions { // which brings no token, and changes nothing
		return c, nil
	}
	if err := g.authorise(r, c); err != nil {
		return c, err
	}
	return c, contentType(r, c.route)
}

// plainPath refuses paths that are written so that one reader takes them for
// another than the next one does.
func (g *gate) plainPath(r *http.Request) error {
	p := r.URL.EscapedPath()
	switch {
	case r.Method == http.MethodConnect, !strings.HasPrefix(p, "/"):
		return refuse(http.StatusBadRequest, "bad_request", "the request names no path of this server")
	case len(p) > maxPath:
		return refuse(http.StatusRequestURITooLong, "too_large", "the path is too long")
	case path.Clean(p) != p && path.Clean(p)+"/" != p, strings.ContainsAny(r.URL.Path, "\\\x00"):
		return notFound()
	}
	for part := range strings.SplitSeq(r.URL.Path, "/") {
		if part == ".." || part == "." {
			return notFound()
		}
	}
	return nil
}

func notFound() error {
	return refuse(http.StatusNotFound, "not_found", "there is nothing at this address", "GET /openapi.json lists what there is")
}

// takeToken takes the token off the path or out of the header.
func takeToken(r *http.Request) string {
	if rest, ok := strings.CutPrefix(r.URL.Path, tokenPrefix); ok {
		token, _, _ := strings.Cut(rest, "/")
		if isToken(token) {
			stripPrefix(r, tokenPrefix+token)
		}
		return token
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(kind, "bearer") {
		return strings.TrimSpace(token)
	}
	return strings.TrimSpace(r.Header.Get("X-Api-Key")) // Anthropic's clients
}

// stripPrefix takes the beginning of a path off. What is taken has no characters that
// are escaped, so the escaped form has the same beginning; a path that hasn't is left
// as it is, and matches no route.
func stripPrefix(r *http.Request, prefix string) {
	raw, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	if !ok {
		return
	}
	u := *r.URL
	u.Path, u.RawPath = "/"+strings.TrimPrefix(strings.TrimPrefix(u.Path, prefix), "/"), "/"+strings.TrimPrefix(raw, "/")
	if u.RawPath == u.Path {
		u.RawPath = ""
	}
	r.URL, r.RequestURI = &u, u.RequestURI()
}

// framing refuses bodies whose length isn't told, where a route doesn't take
// streams: what two readers could cut at different places is no JSON of ours.
func framing(r *http.Request, to *route) error {
	if len(r.TransferEncoding) > 0 && (to == nil || !to.chunks) {
		return refuse(http.StatusBadRequest, "bad_request", "the body has no Content-Length")
	}
	if r.Header.Get("Upgrade") != "" {
		return refuse(http.StatusBadRequest, "bad_request", "there is no protocol to upgrade to here")
	}
	return nil
}

// sameOrigin refuses what a browser sent for another site, whatever the method:
// DNS rebinding by the Host, forms and scripts by Origin and Sec-Fetch-Site.
func (g *gate) sameOrigin(r *http.Request, c *caller) error {
	if c.owner { // no browser reaches the socket
		return nil
	}
	if !g.hosts[strings.ToLower(r.Host)] {
		return refuse(http.StatusForbidden, "forbidden", "the server doesn't go by the name "+quoted(r.Host))
	}
	origin, sent := r.Header.Get("Origin"), len(r.Header["Origin"]) > 0
	if c.route != nil && c.route.trusted && g.fromTrusted(r) {
		c.trusted = true
		return nil
	}
	if c.allowed = g.fromAllowed(r); c.allowed != "" {
		return nil
	}
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case sent && !g.origins[origin], len(r.Header["Origin"]) > 1,
		site != "" && site != "same-origin" && site != "none":
		return refuse(http.StatusForbidden, "forbidden", "the request was made for another site than this server's own")
	case r.Method == http.MethodOptions && sent:
		return refuse(http.StatusForbidden, "forbidden", "other origins get no permission here")
	}
	return nil
}

// fromTrusted tells whether a request comes from the one origin that is trusted.
func (g *gate) fromTrusted(r *http.Request) bool {
	sent := r.Header["Origin"]
	return g.trust != "" && len(sent) == 1 && sent[0] == g.trust
}

// fromAllowed is the origin that a request comes from, where it is one of those that
// were named; they bring the token like everybody else.
func (g *gate) fromAllowed(r *http.Request) string {
	if sent := r.Header["Origin"]; len(sent) == 1 && g.allow[sent[0]] {
		return sent[0]
	}
	return ""
}

// authorise looks at the token, or at the leave of a link.
func (g *gate) authorise(r *http.Request, c caller) error {
	if c.route.owner && !c.owner { // whoever has the token may be far away, and not the user
		return refuse(http.StatusForbidden, "forbidden", "this is for programs of the user on the same machine, by the Unix socket")
	}
	if c.owner || c.trusted || c.route.public {
		return nil
	}
	if c.leave != "" {
		return g.byLink(r, c)
	}
	if c.token != "" && g.token.is(c.token) {
		return nil
	}
	if c.token != "" && !g.wrong.take() {
		return slowDown("there were too many wrong tokens")
	}
	if c.route.hidden { // who has no token learns nothing of what there is
		return notFound()
	}
	if c.token != "" {
		return refuse(http.StatusUnauthorized, "unauthorized", "the token is not this server's")
	}
	return refuse(http.StatusUnauthorized, "unauthorized", "the request has no token",
		"send the header Authorization: Bearer TOKEN, with what is in "+TokenFile+" of the data directory")
}

// byLink lets through what a link is for, and nothing else.
func (g *gate) byLink(r *http.Request, c caller) error {
	found := leaveWrong
	if c.route.linked {
		found = g.links.look(c.leave, linkedTo(r.URL))
	}
	switch {
	case found == leaveGiven:
		return nil
	case found == leaveWrong && !g.wrong.take():
		return slowDown("there were too many wrong links")
	case c.route.hidden:
		return notFound()
	case found == leaveOver:
		return refuse(http.StatusUnauthorized, "unauthorized", "the link has run out", "open the file on the page again")
	}
	return refuse(http.StatusUnauthorized, "unauthorized", "the link is none that this server has made for this address since it was started", "open the file on the page again")
}

// contentType refuses a body of another type than the route takes.
func contentType(r *http.Request, to *route) error {
	if to.takes == nil || r.Body == nil || r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if to.speaks == dialect.Ollama { // its documentation has requests without the header
		return nil
	}
	for _, want := range to.takes {
		if err == nil && kind == want || want == anyType {
			return nil
		}
	}
	return refuse(http.StatusUnsupportedMediaType, "unsupported_media_type",
		"the body has to be "+strings.Join(to.takes, " or ")+", and the header Content-Type to say so")
}

func tooLarge(limit int64) error {
	return &http.MaxBytesError{Limit: limit}
}

func slowDown(why string) error {
	return &refusal{status: http.StatusTooManyRequests, code: "overloaded", msg: why, retry: time.Second}
}

func quoted(s string) string { return `"` + clean(s) + `"` }

// withOwner marks the requests of a connection as the owner's.
func withOwner(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownerKey{}, true)
}
