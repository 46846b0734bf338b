package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// castOf makes an engine with agents of the test's own, played by prompt.
func castOf(t *testing.T, play map[string]func(req *provider.Request) []provider.Delta, agents ...store.Agent) (*bench, *cast) {
	t.Helper()
	b, c := newCast(t, play)
	all, err := catalog.NewAgents(agents...)
	if err != nil {
		t.Fatal(err)
	}
	b.o.Agents = all
	return b, c
}

// pair is an agent that hands every question over to another, which answers.
func pair(answers store.Agent) []store.Agent {
	answers.ID, answers.Prompt = "b", "b:"
	return []store.Agent{{ID: "a", Prompt: "a:", Handoffs: []string{"b"}}, answers}
}

func playPair() map[string]func(req *provider.Request) []provider.Delta {
	return map[string]func(*provider.Request) []provider.Delta{
		"a": func(*provider.Request) []provider.Delta { return handsTo("b") },
		"b": func(*provider.Request) []provider.Delta { return []provider.Delta{says("an answer"), stops("stop")} },
	}
}

// An agent sees the whole conversation or the question alone, and in both cases
// what was done before it in this turn.
func TestWhatAnAgentSees(t *testing.T) {
	t.Parallel()
	for history, remembers := range map[string]bool{"": true, catalog.HistoryFull: true, catalog.HistoryTurn: false} {
		b, c := castOf(t, playPair(), pair(store.Agent{History: history})...)
		first := ask("the first question")
		first.Agent = "a"
		b.run(first)
		second := ask("the second question")
		second.Chat.Number = 1
		b.run(second)
		all := c.requests()
		text := textOf(all[3])
		if !strings.Contains(text, "the second question") || !strings.Contains(text, "a handed over to b") {
			t.Errorf("history %q: the agent is told\n%s", history, text)
		}
		if got := strings.Contains(text, "the first question") && strings.Contains(text, "an answer"); got != remembers {
			t.Errorf("history %q: the agent is told\n%s", history, text)
		}
		if !strings.Contains(textOf(all[2]), "the first question") {
			t.Errorf("history %q: the entry agent forgot", history)
		}
	}
}

// Each agent asks its own model and is offered its own tools and handoffs.
func TestWhatAnAgentHas(t *testing.T) {
	t.Parallel()
	agents := pair(store.Agent{Model: "rogue/large", Tools: []string{"chaos:read_slack_*"}, Handoffs: []string{"a"}})
	play := playPair()
	play["a"] = func(req *provider.Request) []provider.Delta {
		if strings.Contains(textOf(req), "b said:\nan answer") {
			return []provider.Delta{says("told"), stops("stop")}
		}
		return handsTo("b")
	}
	play["b"] = func(*provider.Request) []provider.Delta {
		return append([]provider.Delta{says("an answer")}, handsTo("a")...)
	}
	b, c := castOf(t, play, agents...)
	req := ask("which?")
	req.Agent = "a"
	events := b.run(req)
	var got []string
	for _, r := range c.requests() {
		line := r.Model + ":"
		for _, s := range r.Tools {
			line += " " + s.Name
		}
		got = append(got, line)
	}
	want := []string{"m: handoff_to_b", "large: read_slack_mock handoff_to_a", "m: handoff_to_b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the requests:\n%s", diff)
	}
	if conv := b.chat(1); conv.Chat.Model != "rogue/m" || conv.Messages[1].Text() != "told" {
		t.Errorf("the chat has %s and answered %q", conv.Chat.Model, conv.Messages[1].Text())
	}
	var models []string
	for _, e := range events {
		if m, ok := e.Body.(event.Meta); ok {
			models = append(models, m.Model)
		}
	}
	if diff := cmp.Diff([]string{"rogue/m", "rogue/large", "rogue/m"}, models); diff != "" {
		t.Errorf("the events' models:\n%s", diff)
	}
}

// Two agents that hand over to each other for ever end without a bound of the
// request's, and so do one that hands over to itself and one that says nothing.
func TestAgentsForEver(t *testing.T) {
	t.Parallel()
	no := false
	silent := func(*provider.Request) []provider.Delta { return []provider.Delta{stops("stop")} }
	for name, c := range map[string]struct {
		agents []store.Agent
		play   map[string]func(*provider.Request) []provider.Delta
	}{
		"two": {
			[]store.Agent{{ID: "a", Prompt: "a:", Handoffs: []string{"b"}}, {ID: "b", Prompt: "b:", Handoffs: []string{"a"}}},
			map[string]func(*provider.Request) []provider.Delta{
				"a": func(*provider.Request) []provider.Delta { return handsTo("b") },
				"b": func(*provider.Request) []provider.Delta { return handsTo("a") },
			},
		},
		"one to itself": {
			[]store.Agent{{ID: "a", Prompt: "a:", Handoffs: []string{"a"}}},
			map[string]func(*provider.Request) []provider.Delta{"a": func(*provider.Request) []provider.Delta { return handsTo("a") }},
		},
		"one that never answers": {
			[]store.Agent{{ID: "a", Prompt: "a:", Answers: &no}}, map[string]func(*provider.Request) []provider.Delta{"a": silent},
		},
	} {
		b, cast := castOf(t, c.play, c.agents...)
		req := ask("round")
		req.Agent = "a"
		got := last[event.Error](t, b.run(req))
		if got.Code != string(fault.TurnLimit) || !strings.Contains(got.Message, "the agents handed over 16 times and found no end") {
			t.Errorf("%s: %+v", name, got)
		}
		if n := len(cast.requests()); n != maxHandoffs+1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// A fork goes on with the agent of its chat, with a question and without; a
// question in the place of another and one again do, too.
func TestAgentsInBranches(t *testing.T) {
	t.Parallel()
	b, c := castOf(t, playPair(), pair(store.Agent{})...)
	req := ask("first")
	req.Agent = "a"
	b.run(req)
	forked, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil || forked.Agent != "a" {
		t.Fatalf("the fork enters by %q, %v", forked.Agent, err)
	}
	want := []string{"agent_start a", "handoff a b", "agent_start b", "token b an answer", "done"}
	for name, ref := range map[string]store.ChatRef{
		"in a fork": {Number: forked.Number}, "a fork that asks": {Number: 1, Fork: true},
		"in the place of another": {Number: 1, At: 1}, "again": {Number: 1, At: -1},
	} {
		req := ask("another")
		if name == "again" {
			req.Parts = nil
		}
		req.Chat = ref
		if diff := cmp.Diff(want, steps(b.run(req))); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if n := len(c.requests()); n != 10 {
		t.Errorf("%d requests", n)
	}
	none, err := catalog.NewAgents()
	if err != nil {
		t.Fatal(err)
	}
	b.o.Agents = none
	gone := ask("and now?")
	gone.Chat.Number = 1
	_, err = b.Start(t.Context(), gone)
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.NotFound || !strings.Contains(f.Msg, "the chat goes on with an agent: no agent a") ||
		!strings.HasPrefix(f.Hints[0], "fettle ask -c --agent none") {
		t.Errorf("an agent that is gone: %+v", f)
	}
}

// A provider that keeps agents itself is told all of them, once a turn.
func TestAgentsForAProviderThatKeepsThem(t *testing.T) {
	t.Parallel()
	b, c := newCast(t, theChain())
	req := ask("spec?")
	req.Agent, req.System = "interface", "Be brief."
	b.run(req)
	all := c.requests()
	native := all[0].Native
	if native == nil || native.Provider != "rogue" || native.System != "Be brief." {
		t.Fatalf("it is told %+v", native)
	}
	var got []string
	for _, a := range native.Agents {
		line := a.ID + " " + a.Model
		for _, tool := range a.Tools {
			line += " " + tool.Name
		}
		for tool, to := range a.Handoffs {
			line += " " + tool + "=" + to
		}
		got = append(got, line)
	}
	want := []string{
		"chaos:interface m handoff_to_scavenger=chaos:scavenger",
		"chaos:scavenger m read_notion_mock read_slack_mock handoff_to_synthesizer=chaos:synthesizer",
		"chaos:synthesizer m handoff_to_interface=chaos:interface",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if last := all[len(all)-1].Native; last != native || len(last.Results) != 2 || last.Agent != "chaos:interface" {
		t.Errorf("at the end it is told %+v", last)
	}
	b, c = castOf(t, playPair(), pair(store.Agent{Model: "elsewhere/m"})...)
	req.Agent = "a"
	b.run(req)
	if got := c.requests()[0].Native; got != nil {
		t.Errorf("agents of two providers: %+v", got)
	}
}
