package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// thinks is a response with a signed thought.
func thinks(sign string, rest ...provider.Delta) []provider.Delta {
	return append([]provider.Delta{
		{Kind: provider.Reasoning, Text: "Hm."},
		{Kind: provider.ReasoningDetails, Details: json.RawMessage(`[{"type":"thinking","thinking":"Hm.","signature":"` + sign + `"}]`)},
	}, rest...)
}

// signatures are those of a request, in their order, and how many thoughts came
// without one.
func signatures(req *provider.Request) (signed []string, plain int) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			var d []struct{ Signature string }
			switch {
			case p.Kind != provider.ReasoningPart:
			case json.Unmarshal(p.Details, &d) == nil && len(d) == 1:
				signed = append(signed, d[0].Signature)
			default:
				plain++
			}
		}
	}
	return signed, plain
}

// A model gets its signed thoughts back, from the store as well: within the
// turn, in later turns and in forks. Another model gets none, and when the
// first one is asked again it gets its own.
func TestSignedThoughtsGoBackToTheirModel(t *testing.T) {
	t.Parallel()
	plays := [][]provider.Delta{
		thinks("one", calls("c1", "list_files", `{}`), stops(provider.StopToolUse)),
		thinks("two", says("done"), stops(provider.StopEnd)),
		{says("again"), stops(provider.StopEnd)},
		thinks("other", says("from another"), stops(provider.StopEnd)),
		{says("back"), stops(provider.StopEnd)},
		{says("forked"), stops(provider.StopEnd)},
	}
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		yield(plays[min(step, len(plays)-1)], nil)
	})
	turn := func(req TurnRequest) { last[event.Complete](t, b.run(req)) }
	turn(ask("first"))
	more := ask("second")
	more.Chat = store.ChatRef{Number: 1}
	turn(more)
	more.Model = "rogue/other"
	turn(more)
	more.Model = "rogue/m"
	turn(more)
	fork := ask("fork")
	fork.Chat, fork.Model = store.ChatRef{Number: 1, Fork: true}, "rogue/m"
	turn(fork)

	for i, want := range []struct {
		signed string
		plain  int
	}{
		{"", 0}, {"one", 1}, {"one two", 0}, {"", 0}, {"one two", 0}, {"one two", 0},
	} {
		signed, plain := signatures(r.requests()[i])
		if got := strings.Join(signed, " "); got != want.signed || plain != want.plain {
			t.Errorf("request %d has the signatures %q and %d other thoughts, want %q and %d", i, got, plain, want.signed, want.plain)
		}
	}
}

// A response that was cut off has no model's signature, and its thoughts are
// never sent again.
func TestThoughtsOfABrokenResponseStayOut(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			if yield(thinks("broken", says("Half")), nil) {
				yield(nil, &provider.Error{Kind: provider.Broken, Err: provider.ErrCut})
			}
			return
		}
		yield([]provider.Delta{says("whole"), stops(provider.StopEnd)}, nil)
	})
	last[event.Error](t, b.run(ask("first")))
	more := ask("second")
	more.Chat = store.ChatRef{Number: 1}
	last[event.Complete](t, b.run(more))
	if signed, plain := signatures(r.requests()[1]); len(signed)+plain > 0 {
		t.Errorf("it sent %q and %d other thoughts", signed, plain)
	}
}
