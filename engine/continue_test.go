package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/toolset"
)

// A turn goes on with another response exactly where document 002's four
// conditions hold: agent mode is on, the response came to its end, it stopped
// for tools, and its calls have settled.
func TestATurnGoesOn(t *testing.T) {
	t.Parallel()
	for i := range 16 {
		c := continuation{agentMode: i&1 != 0, completed: i&2 != 0, toolUse: i&4 != 0, settled: i&8 != 0}
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			ran := make(chan struct{}, 2)
			work := tool("work", func(context.Context, toolset.Call) (toolset.Result, error) {
				ran <- struct{}{}
				if !c.settled {
					<-release // it doesn't look at its context
				}
				return toolset.Result{Text: "done"}, nil
			})
			if !c.settled {
				work.Tool.Timeout = toolset.Duration(20 * time.Millisecond)
			}
			b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
				reason := provider.StopLength
				if c.toolUse {
					reason = provider.StopToolUse
				}
				switch {
				case step > 0:
					yield([]provider.Delta{says("Done."), stops("stop")}, nil)
				case c.completed:
					yield([]provider.Delta{says("I look."), calls("1", "work", `{}`), stops(reason)}, nil)
				default:
					if yield([]provider.Delta{says("I look."), calls("1", "work", `{}`)}, nil) {
						yield(nil, &provider.Error{Kind: provider.Rejected, Provider: "rogue", Message: "no"})
					}
				}
			}, work)
			b.grace = 20 * time.Millisecond
			req := ask("go")
			req.AgentMode = &c.agentMode
			events := b.run(req)
			wantRequests := 1
			if c.goesOn() {
				wantRequests = 2
			}
			if n := len(r.requests()); n != wantRequests {
				t.Errorf("%d requests, want %d:\n%s", n, wantRequests, outline(events))
			}
			if declared := len(r.requests()[0].Tools) > 0; declared != c.agentMode {
				t.Errorf("tools declared: %v", declared)
			}
			if c.agentMode && c.completed && c.toolUse {
				until(t, "the tool", func() bool { return len(ran) == 1 }) // one that is left behind may begin late
			} else if len(ran) > 0 {
				t.Errorf("the tool ran %d times", len(ran))
			}
			whole := c.completed && (c.settled || !c.agentMode || !c.toolUse)
			if _, ok := events[len(events)-1].Body.(event.Complete); ok != whole {
				t.Errorf("it ended so:\n%s", outline(events))
			}
		})
	}
}

// What doesn't run has a result that says why, so that the history is valid.
func TestCallsThatCameToNothing(t *testing.T) {
	t.Parallel()
	off := false
	for name, c := range map[string]struct {
		mode   *bool
		reason string
		want   string
	}{
		"agent mode is off":  {&off, provider.StopToolUse, "it did not run: agent mode is off"},
		"the end is another": {nil, provider.StopLength, "it did not run: the response ended with length, and not for a tool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
				if step > 0 {
					yield([]provider.Delta{says("Again."), stops("stop")}, nil)
					return
				}
				yield([]provider.Delta{says("I look."), calls("1", "echo", `{}`), stops(c.reason)}, nil)
			}, echo())
			req := ask("go")
			req.AgentMode = c.mode
			events := b.run(req)
			wanted := []string{`"I look."`, "meta " + c.reason, "tool_start echo", "tool_complete echo error", "complete"}
			if c.reason == provider.StopLength {
				wanted = slices.Insert(wanted, 4, "footnote") // how the answer ended
			}
			want(t, events, wanted...)
			if e := find[event.ToolComplete](events); e.Error != c.want {
				t.Errorf("the call has %q", e.Error)
			}
			on := true
			again := ask("and now?")
			again.Chat.Last, again.AgentMode = true, &on
			b.run(again)
			checkRequest(t, r.requests()[1])
		})
	}
}

// Agent mode is the chat's until a request says otherwise, and a fork's too.
func TestAgentModeIsKept(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, oneAnswer, echo())
	on, off := true, false
	declared := func(change func(*TurnRequest)) (bool, []event.Event) {
		t.Helper()
		req := ask("go")
		req.Chat.Last = len(r.requests()) > 0
		change(&req)
		events := b.run(req)
		all := r.requests()
		return len(all[len(all)-1].Tools) > 0, events
	}
	keep := func(*TurnRequest) {}
	for i, step := range []struct {
		change func(*TurnRequest)
		want   bool
	}{
		{keep, true},
		{func(r *TurnRequest) { r.AgentMode = &off }, false},
		{keep, false},
		{func(r *TurnRequest) { r.Chat.Fork = true }, false},
		{func(r *TurnRequest) { r.AgentMode = &on }, true},
		{func(r *TurnRequest) { r.Tools = []string{} }, false},
		{keep, true},
	} {
		if got, _ := declared(step.change); got != step.want {
			t.Errorf("turn %d: tools declared: %v", i, got)
		}
	}
	if mode := b.chat(1).Chat.AgentMode; mode == nil || *mode {
		t.Errorf("the first chat has agent mode %v", mode)
	}
	_, events := declared(func(r *TurnRequest) { r.AgentMode, r.Tools = &off, []string{"echo"} })
	if note := find[event.Footnote](events); !strings.Contains(note.Text, "agent mode is off") {
		t.Errorf("tools that were named are left out in silence: %s", outline(events))
	}
}

// Agents hand over by tools, so without agent mode the entry agent answers.
func TestAgentsWithoutAgentMode(t *testing.T) {
	t.Parallel()
	b, c := newCast(t, theChain())
	off := false
	req := ask("what does the library say?")
	req.Agent, req.AgentMode = "interface", &off
	events := b.run(req)
	last[event.Complete](t, events)
	if n := len(c.requests()); n != 1 || len(c.requests()[0].Tools) > 0 {
		t.Errorf("%d requests:\n%s", n, outline(events))
	}
}
