package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/server/dialect"
)

// anyType is the entry of takes that lets every content type in.
const anyType = "application/octet-stream"

// The bounds of bodies. A question may bring files, so a turn's is larger.
const (
	maxJSON   = 1 << 20
	maxTurn   = 64 << 20
	maxBundle = 64 << 20
	maxUpload = 1 << 30
)

// handler answers a request, or says why not. An error after the answer has
// begun is for the log.
type handler func(s *Server, w http.ResponseWriter, r *http.Request) error

// route is one operation: how it is reached, what it takes and gives, and who
// may use it.
type route struct {
	op      string // the operation's name, as document 004 has it where it does
	method  string
	path    string // as net/http's mux has it
	tag     string
	summary string
	do      handler

	query []param
	// body is a value of the type that the body is JSON of; nil takes none.
	body any
	// takes are the content types of a body; of JSON where body is set.
	takes []string
	// max bounds the body; 0 is maxJSON. chunks lets it come without its length.
	max    int64
	chunks bool

	// status is that of a success; 0 is 200. gives is a value of the type of its
	// JSON, media the content type where it is none. maybe are the other
	// statuses that are no failures.
	status int
	gives  any
	media  string
	maybe  []int

	public  bool // needs no token
	hidden  bool // without a token, there is nothing
	linked  bool // may be read by a link, without a token
	trusted bool // may be used from the origin that is trusted, without a token
	slow    bool // reads or writes files: longer time limits
	owner   bool // for the Unix socket alone; elsewhere it is forbidden
	// speaks is the dialect of the failures; empty is this API's own.
	speaks dialect.Name
}

// param is a parameter of a query.
type param struct {
	name, about string
	kind        string // of JSON Schema; empty is string
}

func (r *route) limit() int64 {
	if r.max > 0 {
		return r.max
	}
	return maxJSON
}

func (r *route) pattern() string { return r.method + " " + r.path }

// table finds routes; the mux of net/http does so by their patterns.
type table struct {
	mux    *http.ServeMux
	routes map[string]*route // by pattern
}

// newTable makes the mux of a list of routes. A pattern that is there twice, or
// means what another does, is a mistake in the list, on which net/http panics;
// a test makes the table.
func newTable(list []route, serve func(*route) http.Handler) *table {
	t := &table{mux: http.NewServeMux(), routes: map[string]*route{}}
	for i := range list {
		r := &list[i]
		t.routes[r.pattern()] = r
		t.mux.Handle(r.pattern(), serve(r))
	}
	return t
}

// find gives the route of a request; nil where there is none.
func (t *table) find(r *http.Request) *route {
	_, pattern := t.mux.Handler(r)
	return t.routes[pattern]
}

// asked gives the route that a browser asks permission for before it sends the
// request itself; nil where r is no such question.
func (t *table) asked(r *http.Request) *route {
	if r.Method != http.MethodOptions {
		return nil
	}
	probe := *r
	probe.Method = r.Header.Get("Access-Control-Request-Method")
	return t.find(&probe)
}

// missing tells a path that nothing has from a method that it doesn't take.
func (t *table) missing(r *http.Request) error {
	var other []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := *r
		probe.Method = method
		if t.find(&probe) != nil {
			other = append(other, method)
		}
	}
	if len(other) == 0 {
		return notFound()
	}
	return &methodError{allow: strings.Join(other, ", ")}
}

// methodError is a path that exists, but not for this method.
type methodError struct{ allow string }

func (m *methodError) Error() string { return "this address takes " + m.allow }

// Operations are the names of all operations, sorted.
func Operations() []string {
	var out []string
	for _, r := range routes() {
		out = append(out, r.op)
	}
	slices.Sort(out)
	return out
}
