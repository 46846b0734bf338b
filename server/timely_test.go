package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A body that doesn't come holds no connection, whether anybody wanted it or not;
// one that has come leaves the answer its time.
func TestABodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	const most = 50 * time.Millisecond
	s, err := New(Options{Token: strings.Repeat("t", 40)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.endStreams)
	late := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
			http.Error(w, "cut off", http.StatusInternalServerError)
		case <-time.After(4 * most):
		}
	})
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.Handle("/late", late)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.gate.addHost("http", l.Addr().String())
	srv := s.httpServer(nil)
	srv.Handler = timely{mux, most}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close(); <-served })
	for name, c := range map[string]struct {
		head, sent string
		status     int
	}{
		"that nobody wants":   {"GET /healthz", "", 200},
		"of a stranger":       {"POST /api/turns", "{", 401},
		"to nowhere":          {"POST /nothing", "", 404},
		"that is read":        {"POST /api/open", `{"code"`, 400},
		"of a stranger, file": {"PUT /api/chats/1/workspace/files/a", "a", 401},
		"that has come":       {"POST /late", strings.Repeat("x", 100), 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n%s", c.head, l.Addr(), c.sent)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			defer res.Body.Close()
			if res.StatusCode != c.status {
				t.Errorf("status %d, want %d", res.StatusCode, c.status)
			}
			if len(c.sent) == 100 {
				return
			}
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Errorf("the connection is kept: %v", err)
			}
		})
	}
}
