//go:build linux || darwin

package commands_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// slowServer is askingServer, which keeps who asks for its resources waiting while it
// is held.
type slowServer struct {
	t    *testing.T
	url  string
	held atomic.Bool
	on   chan struct{} // each value lets one request go on
	came chan struct{} // each request that waits
	left chan struct{} // each that nobody waits for any more
}

func newSlowServer(t *testing.T) *slowServer {
	t.Helper()
	behind, err := url.Parse(commandtest.AskingMCP(t))
	if err != nil {
		t.Fatal(err)
	}
	const most = 16
	s := &slowServer{t: t, on: make(chan struct{}, most), came: make(chan struct{}, most), left: make(chan struct{}, most)}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if s.held.Load() && bytes.Contains(raw, []byte(`"resources/list"`)) {
			s.came <- struct{}{}
			select {
			case <-s.on:
			case <-r.Context().Done():
				s.left <- struct{}{}
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// sees waits for what a server has seen.
func (s *slowServer) sees(what string, seen chan struct{}) {
	s.t.Helper()
	select {
	case <-seen:
	case <-time.After(commandtest.Wait):
		s.t.Fatalf("the server has seen no request that %s", what)
	}
}

// A server that takes its time keeps nobody from typing: keys show meanwhile, the list
// comes for the word as it is by then, and nobody waits for it once the word is left.
func TestChatCompletesBesideTyping(t *testing.T) {
	t.Parallel()
	slow := newSlowServer(t)
	w := newWorld(t, `{responses: [{when: "", text: So it is.}]}`)
	w.Run(0, "mcp", "add", "trip", "--url", slow.url)
	slow.held.Store(true)
	s := w.chatOn(80, 24, nil)
	s.idle()

	for _, c := range []struct{ how, keys, shown, clear string }{
		{"another word", " and", "› by @trip: and", "\x03"},
		{"Ctrl-C", "\x03", "›", ""},
		{"Escape", "\x1b", "› by @trip:", "\x03"},
	} {
		t.Log(c.how)
		s.typed("by @trip:\t")
		slow.sees("waits", slow.came)
		s.typed(c.keys)
		slow.sees("was given up", slow.left)
		s.shows(c.shown)
		s.typed(c.clear)
		s.idle()
	}

	s.typed("by @trip:\t")
	slow.sees("waits", slow.came)
	s.shows("waiting for the MCP server trip · Esc leaves it")
	s.typed("mem") // while the server says nothing
	s.shows("› by @trip:mem")
	slow.on <- struct{}{}
	s.shows("> @trip:mem://notes  notes")
	s.typed("\t")
	s.shows("› by @trip:mem://notes")
	s.typed("\r")
	s.shows("So it is.")
	s.idle()
	s.quiet()

	s = w.chatOn(80, 24, nil)
	s.idle()
	s.typed("by @trip:\t")
	slow.sees("waits", slow.came)
	s.typed("\x03\x03") // empties the line, and leaves
	s.ends(0)
	slow.sees("was given up", slow.left)
}

// The menu of /agent has the agents that the user made.
func TestChatCompletesAgentsOfTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{when: "^agent", step: 0, calls: [{name: propose, args: {id: planner}}]}, {when: "", text: So it is.}]}`)
	w.ownAgents("planner")
	s := w.chatOn(80, 24, nil)
	s.idle()
	s.typed("/agent pl")
	s.shows("> planner  Shows examples")
	s.typed("\t")
	s.shows("› /agent planner")
	s.typed("\r")
	s.shows("the next question enters by planner")
	s.idle()
	s.quiet()
}
