package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/toolset"
)

func jsonUnmarshal(text string, v any) error { return json.Unmarshal([]byte(text), v) }

func TestATurnIsStartedAndFollowed(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	turn, number := h.start(doc{
		"message": "hi", "context": doc{"tab": "one", "own": 1}, "interaction_type": "text_input", "action_metadata": nil,
	})
	s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
	if kind := s.res.Header.Get("Content-Type"); kind != "text/event-stream; charset=utf-8" {
		t.Errorf("content type %q", kind)
	}
	events := s.all()
	if k := kinds(events); !strings.HasSuffix(k, "complete") || !strings.Contains(k, "text_delta") {
		t.Errorf("events %s", k)
	}
	payload := events[len(events)-1]["payload"].(doc)
	if payload["message"] != "Hello there." || int(payload["conversation_id"].(float64)) != number {
		t.Errorf("payload %v", payload)
	}
	for i, e := range events {
		if int(e["seq"].(float64)) != i+1 || e["turn_id"] != turn {
			t.Errorf("event %d: %v", i, e)
		}
	}
	// The chat goes on by its number, in one request.
	next := h.follow("POST", "/api/stream", doc{"message": "write", "conversation_id": number})
	if next.res.Header.Get("X-Fettle-Turn") == "" {
		t.Error("the stream doesn't name its turn")
	}
	if k := kinds(next.all()); !strings.Contains(k, "tool_start tool_complete") || !strings.HasSuffix(k, "complete") {
		t.Errorf("events %s", k)
	}
}

// Whoever comes back gets what it missed, and is told when there is nothing.
func TestStreamsAreResumed(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	turn, _ := h.start(doc{"message": "write"})
	path := "/api/turns/" + turn + "/events"
	all := h.follow("GET", path, nil)
	events := all.all()
	for i := range events {
		rest := h.follow("GET", path, nil, "Last-Event-ID", fmt.Sprint(i+1))
		want := http.StatusOK
		if i == len(events)-1 {
			want = http.StatusNoContent
		}
		if rest.res.StatusCode != want {
			t.Fatalf("after %d of %d: status %d", i+1, len(events), rest.res.StatusCode)
		}
		if got := rest.all(); len(got) != len(events)-i-1 {
			t.Errorf("after %d: %d events of %d", i+1, len(got), len(events))
		}
	}
	if got := h.follow("GET", path+"?after=1", nil).all(); len(got) != len(events)-1 {
		t.Errorf("by the query: %d events", len(got))
	}
	for _, bad := range []string{"-1", "x", "1.5", turn + ".1.2", "01ARZ3NDEKTSV4RRFFQ69G5FAV.1"} {
		h.call("GET", path, nil, "Last-Event-ID", bad).is(400, nil)
	}
	h.call("GET", "/api/turns/01ARZ3NDEKTSV4RRFFQ69G5FAV/events", nil).is(404, nil)
	h.call("GET", "/api/turns/..%2fx/events", nil).is(404, nil)
	// As an EventSource has it after the server began anew.
	must(t, h.stop())
	again := open(t, plan{dir: h.dir})
	again.call("GET", path, nil, "Last-Event-ID", fmt.Sprint(len(events))).is(204, nil)
	if got := again.follow("GET", path, nil).all(); kinds(got) != kinds(events) {
		t.Errorf("from the store: %s, not %s", kinds(got), kinds(events))
	}
}

// A client that goes away ends its stream, and nothing else; cancel_turn ends the
// turn.
func TestOnlyACancelEndsATurn(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	turn, number := h.start(doc{"message": "slow"})
	path := "/api/turns/" + turn + "/events"
	s := h.follow("GET", path, nil)
	s.until("text_delta")
	s.close()
	h.call("GET", "/api/chats/"+fmt.Sprint(number)+"/events?after=x", nil).is(400, nil)
	live := h.follow("GET", "/api/chats/"+fmt.Sprint(number)+"/events", nil)
	live.until("text_delta")
	h.call("POST", "/api/turns", doc{"message": "hi", "conversation_id": number}).is(409, nil)
	other := h.follow("GET", path, nil, "Last-Event-ID", s.last)
	h.call("POST", "/api/turns/"+turn+"/cancel", nil).is(204, nil)
	for _, f := range []*stream{live, other} {
		if k := kinds(f.all()); !strings.HasSuffix(k, "cancelled") {
			t.Errorf("ended with %s", k)
		}
	}
	// What names the turn leads back to it when it has ended.
	h.call("GET", "/api/chats/"+fmt.Sprint(number)+"/events", nil, "Last-Event-ID", live.last).is(204, nil)
	eventually(t, "a chat in which nothing runs", func() bool {
		return h.call("GET", "/api/chats/"+fmt.Sprint(number)+"/events", nil).status == 204
	})
	h.call("POST", "/api/turns/01ARZ3NDEKTSV4RRFFQ69G5FAV/cancel", nil).is(404, nil)
}

func TestAStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	h := open(t, plan{change: func(o *server.Options) { o.KeepAlive = 5 * time.Millisecond }})
	turn, _ := h.start(doc{"message": "slow"})
	res, err := h.client.Do(h.request("GET", "/api/turns/"+turn+"/events", nil))
	must(t, err)
	defer res.Body.Close()
	var got strings.Builder
	buf := make([]byte, 512)
	for strings.Count(got.String(), ": ping\n") < 3 {
		n, err := res.Body.Read(buf)
		got.Write(buf[:n])
		if err != nil {
			t.Fatalf("%v after %q", err, got.String())
		}
	}
	if strings.Contains(got.String(), ": ping\n\n") || strings.Contains(got.String(), "\r") {
		t.Errorf("%q", got.String())
	}
	h.call("POST", "/api/turns/"+turn+"/cancel", nil).is(204, nil)
}

// floodScript gives far more than the buffers of a connection hold, in some
// large events.
func floodScript() string {
	var b strings.Builder
	b.WriteString("responses:\n  - when: flood\n    deltas:\n")
	for range 40 {
		b.WriteString("      - content: \"" + strings.Repeat("x", 20_000) + "\"\n")
	}
	b.WriteString("  - {when: \"\", text: Hello.}\n")
	return b.String()
}

// narrowListener gives connections that hold little, so that a test needs to send
// little until they are full.
type narrowListener struct{ net.Listener }

func (l narrowListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(16 << 10)
	}
	return c, err
}

// A client that takes nothing is dropped; meanwhile the turn and others go on,
// and it can come back for the rest.
func TestASlowReaderHoldsUpNobody(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: floodScript(), narrow: true, change: func(o *server.Options) { o.StallTime = time.Second }})
	turn, _ := h.start(doc{"message": "flood", "tools": []string{}})
	path := "/api/turns/" + turn + "/events"
	var d net.Dialer
	slow, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
	must(t, err)
	defer slow.Close()
	must(t, slow.(*net.TCPConn).SetReadBuffer(4096))
	_, err = fmt.Fprintf(slow, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, strings.TrimPrefix(h.url, "http://"), h.token)
	must(t, err)
	// On a busy machine this one may be dropped too, and comes back.
	if err := h.restless(turn, false, nil); err != nil {
		t.Error(err)
	}
	eventually(t, "the slow one is dropped", func() bool {
		return !strings.Contains(string(h.call("GET", "/metrics", nil).body), "fettle_followers_stalled_total 0")
	})
	got, err := io.ReadAll(slow)
	if err == nil && strings.Contains(string(got), `"type":"complete"`) {
		t.Error("the slow one got everything, so it was not slow")
	}
	seen, _ := readBroken(&http.Response{Body: io.NopCloser(strings.NewReader(string(got)))}, func() {})
	rest := h.follow("GET", path, nil, "Last-Event-ID", fmt.Sprint(len(seen)))
	if e, ok := rest.next(); !ok || int(e["seq"].(float64)) != len(seen)+1 {
		t.Errorf("after %d events comes %v", len(seen), e["seq"])
	}
}

// Many clients of many turns, of whom some come and go: each has every event
// once, in order.
func TestManyFollowers(t *testing.T) {
	t.Parallel()
	const turns, each = 8, 12
	h := open(t, plan{script: manyScript})
	var all sync.WaitGroup
	for i := range turns {
		turn, _ := h.start(doc{"message": "count", "tools": []string{}})
		for j := range each {
			all.Add(1)
			go func() {
				defer all.Done()
				if err := h.restless(turn, j%3 == 0, rand.New(rand.NewPCG(uint64(i), uint64(j)))); err != nil {
					t.Errorf("turn %d, client %d: %v", i, j, err)
				}
			}()
		}
	}
	all.Wait()
	eventually(t, "all followers are gone", func() bool {
		return strings.Contains(string(h.call("GET", "/metrics", nil).body), "\nfettle_followers 0\n")
	})
}

// restless follows a turn to its end, going away and coming back now and then.
func (h *house) restless(turn string, leaves bool, dice *rand.Rand) error {
	seq, last := 0, ""
	for tries := 0; ; tries++ {
		if tries > 200 {
			return fmt.Errorf("no end after %d events", seq)
		}
		ctx, cancel := context.WithCancel(context.Background())
		req := h.request("GET", "/api/turns/"+turn+"/events", nil, "Last-Event-ID", last).WithContext(ctx)
		res, err := h.client.Do(req)
		if err != nil { // dropped before it had anything, on a machine that is busy
			cancel()
			continue
		}
		stay := 1 << 30
		if leaves {
			stay = 1 + dice.IntN(4)
		}
		ended := false
		seen, _ := readSome(res, stay)
		for _, e := range seen {
			if seq++; int(e["seq"].(float64)) != seq {
				res.Body.Close()
				cancel()
				return fmt.Errorf("seq %v, want %d", e["seq"], seq)
			}
			ended = e["type"] == "complete"
		}
		last = fmt.Sprint(seq)
		cancel()
		res.Body.Close()
		if ended {
			return nil
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d after %d events", res.StatusCode, seq)
		}
	}
}

// readSome reads some events of a stream.
func readSome(res *http.Response, most int) (seen []doc, last string) {
	n := 0
	return readBrokenUntil(res, func() bool { n++; return n >= most })
}

func TestTurnsEndWhenTheServerDoes(t *testing.T) {
	t.Parallel()
	h := open(t, plan{run: server.RunOptions{Drain: -1}})
	turn, number := h.start(doc{"message": "slow"})
	s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
	s.until("text_delta")
	must(t, h.stop())
	last := s.all()
	if k := kinds(last); k != "error" || last[0]["code"] != "interrupted" {
		t.Errorf("the follower saw %v", last)
	}
	again := open(t, plan{dir: h.dir})
	var out struct {
		Messages []struct {
			Status string
			Parts  []struct{ Text string }
		}
	}
	again.call("GET", "/api/chats/"+fmt.Sprint(number)+"/messages", nil).is(200, &out)
	if len(out.Messages) != 2 || out.Messages[1].Status != "interrupted" || out.Messages[1].Parts[0].Text != "Half" {
		t.Errorf("kept %+v", out.Messages)
	}
}

// A turn that ends in time is let to; a request that would begin another is told
// to come back later.
func TestTurnsMayEndWhileTheServerDoes(t *testing.T) {
	t.Parallel()
	release, running := make(chan struct{}), make(chan struct{}, 1)
	wait := toolset.Entry{
		Tool: toolset.Tool{ID: "wait", Name: "Wait", Description: "waits", Enabled: true, InputSchema: json.RawMessage(`{"type":"object"}`)},
		Runner: toolset.RunnerFunc(func(ctx context.Context, _ toolset.Call) (toolset.Result, error) {
			running <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return toolset.Result{Text: "done"}, nil
		}),
	}
	h := open(t, plan{
		script: "responses:\n  - {when: go, step: 0, calls: [{name: wait, args: {}}]}\n  - {when: \"\", text: All done.}\n",
		tools:  []toolset.Entry{wait}, run: server.RunOptions{Drain: time.Minute},
	})
	turn, _ := h.start(doc{"message": "go"})
	<-running
	s := h.follow("GET", "/api/turns/"+turn+"/events", nil)
	ended := make(chan error, 1)
	go func() { ended <- h.stop() }()
	eventually(t, "it drains", func() bool { return h.call("GET", "/readyz", nil).status == 503 })
	a := h.call("POST", "/api/turns", doc{"message": "hi"}).is(503, nil)
	if a.header.Get("Retry-After") == "" {
		t.Error("it doesn't say when to come back")
	}
	close(release)
	if k := kinds(s.all()); !strings.HasSuffix(k, "complete") {
		t.Errorf("ended with %s", k)
	}
	must(t, <-ended)
}
