package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// Some servers refuse a request that is too long without a reason. A long
// conversation is then asked once more in a shorter form.
func TestALongConversationRefusedWithoutAReason(t *testing.T) {
	t.Parallel()
	refusals := map[string]*provider.Error{
		"nothing":        {Kind: provider.Rejected, Status: 400, Message: "Bad Request"},
		"a web page":     {Kind: provider.Rejected, Status: 413, Message: "a web page: 413 Request Entity Too Large"},
		"an odd body":    {Kind: provider.Rejected, Status: 422, Message: `{"ok":false}`},
		"a server error": {Kind: provider.Overloaded, Status: 500, Message: "Internal Server Error"},
	}
	for name, why := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &narrow{limit: 3000, summary: "NOTES: the bird is blue."}
			n.answer = func(int, *provider.Request) []provider.Delta {
				return []provider.Delta{says("yes. " + strings.Repeat("words of it ", 60))}
			}
			n.refuse = func(int) error { e := *why; e.Provider, e.NoReason = "rogue", true; return &e }
			b := newNarrow(t, n, false)
			first := goesOn("the bird is blue")
			first.Chat = store.ChatRef{}
			b.run(first)
			summed := 0
			for i := range 30 {
				events := b.run(goesOn(fmt.Sprintf("question %d ", i) + strings.Repeat("and more ", 20)))
				last[event.Complete](t, events)
				for _, e := range events {
					if _, ok := e.Body.(event.Summary); ok {
						summed++
					}
				}
			}
			if summed == 0 || n.refused == 0 {
				t.Errorf("%d summaries after %d refusals", summed, n.refused)
			}
		})
	}
}

// What the shorter form doesn't help ends the turn as a conversation that
// doesn't fit, and a short one is not changed at all.
func TestARefusalWithoutAReasonThatStays(t *testing.T) {
	t.Parallel()
	n := &narrow{limit: 1 << 30, summary: "NOTES: the bird is blue."}
	n.answer = func(int, *provider.Request) []provider.Delta {
		return []provider.Delta{says(strings.Repeat("words of it ", 300))}
	}
	n.refuse = func(int) error {
		return &provider.Error{Kind: provider.Rejected, Provider: "rogue", Status: 400, Message: "Bad Request", NoReason: true}
	}
	b := newNarrow(t, n, false)
	first := goesOn("the bird is blue")
	first.Chat = store.ChatRef{}
	b.run(first)
	n.limit = 0
	if e := last[event.Error](t, b.run(goesOn("short"))); e.Code != string(fault.Failed) || n.refused != 1 {
		t.Errorf("a short conversation ended with %+v after %d refusals", e, n.refused)
	}
	n.limit = 1 << 30
	for range 8 {
		b.run(goesOn("and more"))
	}
	n.limit, n.refused = 200, 0 // too little for any request, and for a summary
	e := last[event.Error](t, b.run(goesOn("go on")))
	if e.Code != string(fault.Context) {
		t.Errorf("it ended with %+v", e)
	}
	n.limit = 1 << 30
	last[event.Complete](t, b.run(goesOn("go on"))) // the chat can go on
}
