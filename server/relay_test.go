package server

import (
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// A delta is encoded once, when the first follower of the chat dialect reads it; the window is
// bounded by the estimate of its size until then.
func TestARelayEncodesDeltasForTheFollowersThatReadThem(t *testing.T) {
	t.Parallel()
	l := newRelay()
	events := []event.Event{{Seq: 1, Body: event.TextDelta{Text: "one"}}, {Seq: 2, Body: event.Status{Message: "two"}}}
	if err := l.show(events); err != nil {
		t.Fatal(err)
	}
	h := l.after(0)
	if len(h.events) != 2 || h.events[0].data != nil || h.events[1].data == nil {
		t.Fatalf("the relay has %+v", h.events)
	}
	var wg sync.WaitGroup
	frames := make([][]byte, 4)
	for i := range frames {
		wg.Go(func() { frames[i] = h.events[0].chat(func(err error) { t.Error(err) }) })
	}
	wg.Wait()
	for _, f := range frames {
		if len(f) == 0 || &f[0] != &frames[0][0] || !strings.Contains(string(f), "one") {
			t.Errorf("a follower reads %q", f)
		}
	}
	large := strings.Repeat("x", relayBytes)
	for i := range 4 {
		if err := l.show([]event.Event{{Seq: event.Seq(3 + i), Body: event.TextDelta{Text: large}}}); err != nil {
			t.Fatal(err)
		}
	}
	if l.has(0) || len(l.window) > 2 {
		t.Errorf("the relay keeps %d events of %d bytes", len(l.window), l.size)
	}
}
