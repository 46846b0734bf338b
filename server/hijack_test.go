package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
)

// asked sends the head of a request for a turn's events over a connection of its
// own, in a version of HTTP, and gives what is answered.
func (h *house) asked(version, path string) (net.Conn, *bufio.Reader) {
	h.t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), "tcp", strings.TrimPrefix(h.url, "http://"))
	must(h.t, err)
	h.t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET %s HTTP/%s\r\nHost: %s\r\nAuthorization: Bearer %s\r\nX-Request-Id: mine\r\n\r\n",
		path, version, strings.TrimPrefix(h.url, "http://"), h.token)
	must(h.t, err)
	return conn, bufio.NewReader(conn)
}

// The stream of a live turn is an answer like any other: with the headers of all,
// whole by its own account, the last one on its connection.
func TestALiveStreamIsAWholeAnswer(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]struct {
		chunked bool
		close   bool
	}{"1.1": {true, true}, "1.0": {false, true}} {
		t.Run("HTTP "+version, func(t *testing.T) {
			t.Parallel()
			h := open(t, plan{})
			turn, _ := h.start(doc{"message": "slow"})
			_, in := h.asked(version, "/api/turns/"+turn+"/events")
			res, err := http.ReadResponse(in, nil)
			must(t, err)
			defer res.Body.Close()
			if res.StatusCode != 200 || (len(res.TransferEncoding) == 1) != want.chunked || res.Close != want.close {
				t.Errorf("%s, transfer encoding %v, close %t", res.Status, res.TransferEncoding, res.Close)
			}
			for name, value := range map[string]string{
				"Content-Type": "text/event-stream; charset=utf-8", "X-Request-Id": "mine", "Cache-Control": "no-cache, no-transform", "X-Content-Type-Options": "nosniff",
			} {
				if got := res.Header.Get(name); got != value {
					t.Errorf("%s is %q, not %q", name, got, value)
				}
			}
			if _, err := http.ParseTime(res.Header.Get("Date")); err != nil {
				t.Error(err)
			}
			h.call("POST", "/api/turns/"+turn+"/cancel", nil).is(204, nil)
			raw, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(raw), `"type":"cancelled"`) {
				t.Errorf("%v after %s", err, raw)
			}
			if n, err := in.ReadByte(); err != io.EOF {
				t.Errorf("behind the answer are %v, %v", n, err)
			}
			eventually(t, "the log tells of the request", func() bool {
				return strings.Count(h.log.String(), `"op":"follow_turn","status":200`) == 1
			})
			if n := h.metric(`fettle_requests_total{op="follow_turn",status="200"}`); n != 1 {
				t.Errorf("%d requests are counted", n)
			}
		})
	}
}

// A turn that ends while its connection is taken for it is answered like one that
// runs, whether or not there is anything to tell of it.
func TestATurnThatEndsAsItIsFollowedHasAnAnswer(t *testing.T) {
	t.Parallel()
	var ending atomic.Pointer[store.TurnID]
	var eng *engine.Engine
	// The turn ends when it is first asked whether it runs, and the answer is that it does.
	h := open(t, plan{change: func(o *server.Options) { eng = o.Engine }, built: func(s *server.Server) {
		s.ReplaceRuns(func(live func(store.TurnID) bool) func(store.TurnID) bool {
			return func(id store.TurnID) bool {
				turn := ending.Load()
				if turn == nil || *turn != id || !ending.CompareAndSwap(turn, nil) {
					return live(id)
				}
				_ = eng.Cancel(context.Background(), id)                      // where it has ended already, it has
				for _, err := range eng.Follow(context.Background(), id, 0) { // to its end
					if err != nil {
						break
					}
				}
				return true
			}
		})
	}})
	turn, _ := h.start(doc{"message": "slow"})
	id := store.TurnID(turn)
	ending.Store(&id)
	_, in := h.asked("1.1", "/api/turns/"+turn+"/events?after=1000")
	res, err := http.ReadResponse(in, nil)
	must(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Errorf("%s, %q, %v", res.Status, raw, err)
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("behind the answer are %q, %v", rest, err)
	}
}

// A client that goes away is noticed while nothing is written, also where it only
// says that it will send no more; what it sends meanwhile changes nothing.
func TestWhoGoesAwayIsNoticed(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	turn, _ := h.start(doc{"message": "slow"})
	followers := func(want int) func() bool { return func() bool { return h.metric("fettle_followers") == want } }
	var conns []net.Conn
	for range 3 {
		conn, in := h.asked("1.1", "/api/turns/"+turn+"/events")
		res, err := http.ReadResponse(in, nil)
		must(t, err)
		_, err = bufio.NewReader(res.Body).ReadString('\n')
		must(t, err)
		conns = append(conns, conn)
	}
	for range 40 { // more than is read at once
		_, err := io.WriteString(conns[2], "GET / HTTP/1.1\r\n\r\n")
		must(t, err)
	}
	if !followers(3)() {
		t.Error("there are not three followers")
	}
	must(t, conns[0].Close())
	eventually(t, "one is gone", followers(2))
	must(t, conns[1].(*net.TCPConn).CloseWrite())
	eventually(t, "two are gone", followers(1))
	h.call("POST", "/api/turns/"+turn+"/cancel", nil).is(204, nil)
	raw, err := io.ReadAll(conns[2])
	if err != nil || !strings.HasSuffix(string(raw), "\r\n0\r\n\r\n") {
		t.Errorf("%v after %q", err, raw)
	}
}

// A server that ends gives followers the end of their turn. What takes nothing
// holds it up no longer than it says.
func TestLiveStreamsEndWithTheServer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the ten seconds that a server takes to end at most")
	}
	script := strings.Replace(floodScript(), "when: flood\n", "when: hang\n    hang: true\n", 1)
	h := open(t, plan{script: script, narrow: true, run: server.RunOptions{Drain: -1}, change: func(o *server.Options) {
		o.StallTime = time.Minute
	}})
	turn, _ := h.start(doc{"message": "hang"})
	path := "/api/turns/" + turn + "/events"
	_, in := h.asked("1.1", path)
	res, err := http.ReadResponse(in, nil)
	must(t, err)
	stalled, _ := h.asked("1.1", path)
	must(t, stalled.(*net.TCPConn).SetReadBuffer(1<<10))
	eventually(t, "two follow", func() bool { return h.metric("fettle_followers") == 2 })
	_, err = io.CopyN(io.Discard, res.Body, 700_000) // nearly everything: what takes nothing is full
	must(t, err)
	ended := make(chan error, 1)
	go func() { ended <- h.stop() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(raw), `"interrupted"`) {
		t.Errorf("%v after %d bytes", err, len(raw))
	}
	select {
	case err := <-ended:
		must(t, err)
	case <-time.After(50 * time.Second): // far less than the stalled one's minute, far more than the ten seconds of an end
		t.Error("the server waits for a client that takes nothing")
	}
}
