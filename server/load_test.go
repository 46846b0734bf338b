package server_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/server"
)

// loadEnv is how many clients TestLoad has, where sixty are too few: a tenth as
// many turns, of the clients a fiftieth reads nothing and a tenth comes and goes.
const loadEnv = "FETTLE_TEST_FOLLOWERS"

// loadScript says in small pieces more than a connection holds.
func loadScript() string {
	var b strings.Builder
	b.WriteString("pace: 3ms\nresponses:\n  - when: \"\"\n    deltas:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "      - content: \"%d %s\"\n", i, strings.Repeat("word ", 500))
	}
	return b.String()
}

// Many clients of many turns, of whom some read nothing and some come and go: the
// others have every event once and in order while it comes, those that read
// nothing are dropped and come back for the rest, and nothing of them is left.
func TestLoad(t *testing.T) {
	t.Parallel()
	clients := 60
	if text := os.Getenv(loadEnv); text != "" {
		var err error
		clients, err = strconv.Atoi(text)
		must(t, err)
	}
	h := open(t, plan{script: loadScript(), change: func(o *server.Options) { o.StallTime = 2 * time.Second }})
	turns := make([]string, max(clients/10, 1))
	for i := range turns {
		turns[i], _ = h.start(doc{"message": "go", "tools": []string{}})
	}
	var all sync.WaitGroup
	for i := range clients {
		turn, place := turns[i%len(turns)], i/len(turns)
		all.Go(func() {
			var err error
			switch {
			case place == 0 && i < clients/50:
				err = h.stalling(t.Context(), turn, clients/50)
			case place == 1:
				err = h.restless(turn, true, rand.New(rand.NewPCG(uint64(i), 1)))
			default:
				err = h.restless(turn, false, nil)
			}
			if err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	all.Wait()
	eventually(t, "all followers are gone", func() bool { return h.metric("fettle_followers") == 0 })
	if n := h.metric("fettle_followers_stalled_total"); n < clients/50 {
		t.Errorf("%d clients were dropped, of %d that read nothing", n, clients/50)
	}
}

// metric reads one of the counters; -1 where there is none.
func (h *house) metric(name string) int {
	h.t.Helper()
	for line := range strings.Lines(string(h.call("GET", "/metrics", nil).body)) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(rest))
			must(h.t, err)
			return n
		}
	}
	return -1
}

// stalling reads nothing until as many are dropped as read nothing, then what had
// been sent, and comes back for the rest. Where one that reads was dropped, too, it
// may be that this one is not, and reads on.
func (h *house) stalling(ctx context.Context, turn string, slow int) error {
	path, host := "/api/turns/"+turn+"/events", strings.TrimPrefix(h.url, "http://")
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, host, h.token); err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); h.metric("fettle_followers_stalled_total") < slow; {
		if time.Now().After(end) {
			return fmt.Errorf("who reads nothing is not dropped")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	seen, last := readBroken(res, func() {})
	_ = res.Body.Close()
	for i, e := range seen {
		if int(e["seq"].(float64)) != i+1 {
			return fmt.Errorf("seq %v, want %d", e["seq"], i+1)
		}
		if e["type"] == "complete" {
			return nil
		}
	}
	return h.rest(path, len(seen), last)
}

// rest reads what comes behind the events that a client has, to the turn's end.
func (h *house) rest(path string, have int, last string) error {
	for range 200 { // on a busy machine it may be dropped again
		res, err := h.client.Do(h.request("GET", path, nil, "Last-Event-ID", last))
		if err != nil {
			return err
		}
		seen, id := readBroken(res, func() {})
		_ = res.Body.Close()
		for _, e := range seen {
			if have++; int(e["seq"].(float64)) != have {
				return fmt.Errorf("seq %v, want %d", e["seq"], have)
			}
			if e["type"] == "complete" {
				return nil
			}
		}
		if len(seen) > 0 {
			last = id
		}
	}
	return fmt.Errorf("no end after %d events", have)
}
