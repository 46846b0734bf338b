package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/toolset"
)

// What leads nowhere ends by itself, long before the step limit, and says why.
func TestAModelThatGetsNowhere(t *testing.T) {
	t.Parallel()
	n := 0
	counter := tool("count", func(context.Context, toolset.Call) (toolset.Result, error) {
		n++
		return toolset.Result{Text: fmt.Sprint(n)}, nil
	})
	broken := tool("broken", func(context.Context, toolset.Call) (toolset.Result, error) {
		return toolset.Result{}, toolset.Errorf("the disk is on fire")
	})
	steady := tool("steady", func(context.Context, toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: "waiting"}, nil
	})
	for name, c := range map[string]struct {
		call     func(step int) provider.Delta
		change   func(*TurnRequest)
		code     fault.Code
		says     string
		requests int
	}{
		"one call for ever": {
			call: func(int) provider.Delta { return calls("c", "echo", `{"a":1}`) },
			code: fault.NoProgress, says: "called echo 5 times in a row with the same result", requests: 5,
		},
		"one call for ever, written in other ways": {
			call: func(step int) provider.Delta {
				return calls("c", "steady", []string{`{"a":1,"b":2}`, `{"b": 2, "a": 1}`}[step%2])
			},
			code: fault.NoProgress, says: "same result", requests: 5,
		},
		"two calls in turn": {
			call: func(step int) provider.Delta { return calls("c", "echo", fmt.Sprintf(`{"a":%d}`, step%2)) },
			code: fault.NoProgress, says: "5 times in a row", requests: 10,
		},
		"a bound of its own": {
			call:   func(int) provider.Delta { return calls("c", "echo", `{}`) },
			change: func(r *TurnRequest) { r.MaxRepeats = 2 },
			code:   fault.NoProgress, says: "2 times", requests: 2,
		},
		"a tool that always fails": {
			call: func(step int) provider.Delta { return calls("c", "broken", fmt.Sprintf(`{"a":%d}`, step)) },
			code: fault.NoProgress, says: "12 calls in a row failed, the last one of broken", requests: 12,
		},
		"a tool that isn't there": {
			call:   func(step int) provider.Delta { return calls("c", "nowhere", fmt.Sprintf(`{"a":%d}`, step)) },
			change: func(r *TurnRequest) { r.MaxFailures = 3 },
			code:   fault.NoProgress, says: "3 calls in a row failed", requests: 3,
		},
		"calls that nobody can approve": {
			call:   func(step int) provider.Delta { return calls("c", "count", fmt.Sprintf(`{"a":%d}`, step)) },
			change: func(r *TurnRequest) { r.Policy.Ask = []string{"count"} },
			code:   fault.Approval, says: "12 calls in a row needed an approval that nobody could give, the last one of count", requests: 12,
		},
		"one call for ever that nobody can approve": {
			call:   func(int) provider.Delta { return calls("c", "count", `{}`) },
			change: func(r *TurnRequest) { r.Policy.Ask = []string{"count"} },
			code:   fault.Approval, says: "5 calls in a row needed an approval", requests: 5,
		},
		"a call that is forbidden, for ever": {
			call:   func(int) provider.Delta { return calls("c", "count", `{}`) },
			change: func(r *TurnRequest) { r.Policy.Deny = []string{"count"} },
			code:   fault.NoProgress, says: "5 times in a row", requests: 5,
		},
		"failures among those that nobody can approve": {
			call: func(step int) provider.Delta {
				return calls("c", []string{"count", "broken"}[step%2], fmt.Sprintf(`{"a":%d}`, step))
			},
			change: func(r *TurnRequest) { r.Policy.Ask = []string{"count"} },
			code:   fault.NoProgress, says: "12 calls in a row failed", requests: 12,
		},
		"a call whose result changes": {
			call: func(int) provider.Delta { return calls("c", "count", `{}`) },
			code: fault.TurnLimit, says: "25 responses", requests: 25,
		},
		"failures between successes": {
			call: func(step int) provider.Delta {
				return calls("c", []string{"broken", "broken", "count"}[step%3], fmt.Sprintf(`{"a":%d}`, step))
			},
			code: fault.TurnLimit, says: "25 responses", requests: 25,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
				yield([]provider.Delta{c.call(step), stops("tool_use")}, nil)
			}, echo(), broken, counter, steady)
			req := ask("go")
			if c.change != nil {
				c.change(&req)
			}
			e := ends(t, b.run(req), c.code, c.says)
			if got := len(r.requests()); got != c.requests {
				t.Errorf("%d requests, want %d", got, c.requests)
			}
			if c.says == "12 calls in a row failed, the last one of broken" && !strings.Contains(strings.Join(e.Detail, ""), "on fire") {
				t.Errorf("it doesn't say how: %q", e.Detail)
			}
			// The chat goes on from there.
			for _, m := range b.chat(1).Messages {
				if m.Role == provider.Assistant && m.Status != chat.Failed {
					t.Errorf("the answer is %s", m.Status)
				}
			}
		})
	}
}

// Two agents that hand off to each other for ever, and call the same tool on the
// way, end at the limit of handoffs.
func TestAgentsThatGetNowhere(t *testing.T) {
	t.Parallel()
	play := theChain()
	for _, who := range []string{"interface", "scavenger", "synthesizer"} {
		next := map[string]string{"interface": "scavenger", "scavenger": "synthesizer", "synthesizer": "interface"}[who]
		play[who] = func(*provider.Request) []provider.Delta { return handsTo(next) }
	}
	b, c := newCast(t, play)
	req := ask("go")
	req.Agent = "interface"
	events := b.run(req)
	ends(t, events, fault.TurnLimit, "handed over 16 times and found no end")
	if got := len(c.requests()); got != maxHandoffs+1 {
		t.Errorf("%d requests", got)
	}
	if got := last[event.Error](t, events); got.Code != string(fault.TurnLimit) {
		t.Errorf("ended with %+v", got)
	}
}
