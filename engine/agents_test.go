package engine

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// cast is a model that plays document 003's three agents: it knows by the
// system prompt which one is asked.
type cast struct {
	rogue
	play map[string]func(req *provider.Request) []provider.Delta
}

func (c *cast) Stream(_ context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		c.mu.Lock()
		c.asked = append(c.asked, req)
		c.mu.Unlock()
		who, _, _ := strings.Cut(req.System, ":")
		yield(c.play[who](req), nil)
	}
}

func handsTo(agent string) []provider.Delta {
	return []provider.Delta{calls("h", handoffPrefix+agent, `{"reason":"go on"}`), stops("tool_use")}
}

// newCast makes an engine with the three agents and both tools.
func newCast(t *testing.T, play map[string]func(req *provider.Request) []provider.Delta) (*bench, *cast) {
	t.Helper()
	c := &cast{play: play}
	b := &bench{t: t, dir: t.TempDir()}
	read := func(text string) toolset.RunnerFunc {
		return func(context.Context, toolset.Call) (toolset.Result, error) { return toolset.Result{Text: text}, nil }
	}
	o := rogueOptions(t, b.dir, &c.rogue, []toolset.Entry{
		tool("chaos:read_notion_mock", read("[Notion] email")), tool("chaos:read_slack_mock", read("[Slack] google")), writer(),
	})
	reg := new(provider.Registry)
	if err := reg.Add("rogue", func() (provider.Provider, error) { return c, nil }); err != nil {
		t.Fatal(err)
	}
	o.Models = &models.Catalog{Registry: reg, Configured: "rogue/m"}
	agents, err := catalog.NewAgents(
		store.Agent{ID: "chaos:interface", ToolsetID: "chaos", Purpose: "answers", Prompt: "interface:", Handoffs: []string{"scavenger"}},
		store.Agent{ID: "chaos:scavenger", ToolsetID: "chaos", Purpose: "reads", Prompt: "scavenger:", Tools: []string{"read_*"}, Handoffs: []string{"synthesizer"}, History: catalog.HistoryTurn},
		store.Agent{ID: "chaos:synthesizer", ToolsetID: "chaos", Purpose: "compares", Prompt: "synthesizer:", Handoffs: []string{"interface"}, History: catalog.HistoryTurn},
	)
	if err != nil {
		t.Fatal(err)
	}
	o.Agents = agents
	b.Engine = New(o)
	b.o.Notice = b.notice
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b, c
}

// theChain is document 003's demo: fresh data for the first question, memory
// for the second.
func theChain() map[string]func(req *provider.Request) []provider.Delta {
	return map[string]func(*provider.Request) []provider.Delta{
		"interface": func(req *provider.Request) []provider.Delta {
			switch text := textOf(req); {
			case strings.Contains(text, "library"):
				return []provider.Delta{says("authlib"), stops("stop")}
			case strings.Contains(text, "synthesizer said:\nGoogle wins"):
				return []provider.Delta{says("Use Google "), says("OAuth."), stops("stop")}
			}
			return handsTo("scavenger")
		},
		"scavenger": func(req *provider.Request) []provider.Delta {
			if strings.Contains(textOf(req), "[Slack]") {
				return handsTo("synthesizer")
			}
			return []provider.Delta{
				calls("a", "read_notion_mock", `{"query":"login"}`), calls("b", "read_slack_mock", `{"query":"login auth"}`), stops("tool_use"),
			}
		},
		"synthesizer": func(*provider.Request) []provider.Delta {
			return append([]provider.Delta{says("Google wins")}, handsTo("interface")...)
		},
	}
}

// textOf is all that a request says.
func textOf(req *provider.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			b.WriteString(p.Text)
			if p.Result != nil {
				b.WriteString(p.Result.Text)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// steps are the events of agents as document 003 draws them.
func steps(events []event.Event) []string {
	var out []string
	for _, e := range events {
		switch b := e.Body.(type) {
		case event.AgentStart:
			out = append(out, "agent_start "+b.Agent)
		case event.Handoff:
			out = append(out, "handoff "+b.From+" "+b.To)
		case event.ToolStart:
			out = append(out, "tool_call "+b.Agent+" "+b.Tool)
		case event.TextDelta:
			out = append(out, "token "+b.Agent+" "+b.Text)
		case event.Reasoning:
			out = append(out, "thought "+b.Agent+" "+b.Text)
		case event.Complete:
			out = append(out, "done")
		case event.Error:
			out = append(out, "error "+b.Message)
		case event.Footnote:
			out = append(out, "note "+b.Text)
		}
	}
	return out
}

func TestTheAgentsOfTheDocument(t *testing.T) {
	t.Parallel()
	b, c := newCast(t, theChain())
	req := ask("I'm starting on the login system. What's the final spec?")
	req.Agent = "interface"
	events := b.run(req)
	want := []string{
		"agent_start interface", "handoff interface scavenger",
		"agent_start scavenger", "tool_call scavenger read_notion_mock", "tool_call scavenger read_slack_mock", "handoff scavenger synthesizer",
		"agent_start synthesizer", "thought synthesizer Google wins", "handoff synthesizer interface",
		"agent_start interface", "token interface Use Google OAuth.", "done",
	}
	if diff := cmp.Diff(want, steps(events)); diff != "" {
		t.Errorf("the first turn:\n%s", diff)
	}
	if got := last[event.Complete](t, events).Payload.Message; got != "[[tool:0]][[tool:1]]Use Google OAuth." {
		t.Errorf("the answer is %q", got)
	}
	conv := b.chat(1)
	if conv.Chat.Agent != "chaos:interface" || conv.Messages[1].Text() != "Use Google OAuth." {
		t.Errorf("the chat enters by %q and answered %q", conv.Chat.Agent, conv.Messages[1].Text())
	}
	second := ask("What library should I use for that?")
	second.Chat.Number = 1
	if diff := cmp.Diff([]string{"agent_start interface", "token interface authlib", "done"}, steps(b.run(second))); diff != "" {
		t.Errorf("the second turn:\n%s", diff)
	}
	checkRequests(t, c.requests())
}

// checkRequests holds what each agent was shown to what the document says.
func checkRequests(t *testing.T, all []*provider.Request) {
	t.Helper()
	for i, want := range []struct {
		system, tools string
		has, lacks    []string
	}{
		{"interface:", "handoff_to_scavenger", nil, []string{"work of the agents"}},
		{"scavenger:", "read_notion_mock read_slack_mock handoff_to_synthesizer", []string{"interface handed over to scavenger: go on"}, nil},
		{"scavenger:", "read_notion_mock read_slack_mock handoff_to_synthesizer", []string{"[Notion] email"}, nil},
		{"synthesizer:", "handoff_to_interface", []string{"scavenger called read_slack_mock", "[Slack] google"}, nil},
		{"interface:", "handoff_to_scavenger", []string{"synthesizer said:\nGoogle wins"}, nil},
		{"interface:", "handoff_to_scavenger", []string{"final spec", "Use Google OAuth."}, []string{"Google wins", "[Slack]"}},
	} {
		req := all[i]
		var tools []string
		for _, s := range req.Tools {
			tools = append(tools, s.Name)
		}
		if req.System != want.system || strings.Join(tools, " ") != want.tools {
			t.Errorf("request %d: system %q, tools %v", i, req.System, tools)
		}
		for _, s := range want.has {
			if !strings.Contains(textOf(req), s) {
				t.Errorf("request %d lacks %q:\n%s", i, s, textOf(req))
			}
		}
		for _, s := range want.lacks {
			if strings.Contains(textOf(req), s) {
				t.Errorf("request %d has %q", i, s)
			}
		}
	}
}

func TestAgentsThatFindNoEnd(t *testing.T) {
	t.Parallel()
	play := theChain()
	play["interface"] = func(*provider.Request) []provider.Delta { return handsTo("scavenger") }
	play["scavenger"] = func(*provider.Request) []provider.Delta { return handsTo("synthesizer") }
	play["synthesizer"] = func(*provider.Request) []provider.Delta { return handsTo("interface") }
	b, _ := newCast(t, play)
	req := ask("round")
	req.Agent, req.MaxHandoffs, req.MaxSteps = "chaos:interface", 5, 100
	got := last[event.Error](t, b.run(req))
	if got.Code != string(fault.TurnLimit) || !strings.Contains(got.Message, "handed over 5 times and found no end") ||
		!strings.Contains(got.Message, "interface → scavenger → synthesizer") {
		t.Errorf("%+v", got)
	}
}

// An agent that should hand over and doesn't is no end of the turn.
func TestAHandoffThatWasForgotten(t *testing.T) {
	t.Parallel()
	play := theChain()
	play["synthesizer"] = func(*provider.Request) []provider.Delta { return []provider.Delta{says("Google wins"), stops("stop")} }
	b, _ := newCast(t, play)
	req := ask("spec?")
	req.Agent = "interface"
	got := steps(b.run(req))
	if n := len(got); got[n-1] != "done" || got[n-2] != "token interface Use Google OAuth." || got[n-5] != "note synthesizer ended without handing over; interface goes on" {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

func TestAgentsThatArentThere(t *testing.T) {
	t.Parallel()
	b, _ := newCast(t, theChain())
	req := ask("hi")
	req.Agent = "interfaces"
	if _, err := b.Start(t.Context(), req); fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("%v", err)
	}
	for name, agents := range map[string][]store.Agent{
		"twice":      {{ID: "a"}, {ID: "a"}},
		"to nobody":  {{ID: "a", Handoffs: []string{"b"}}},
		"of no name": {{ID: ""}},
		"none":       {{ID: catalog.NoAgent}},
	} {
		if _, err := catalog.NewAgents(agents...); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// A chat can leave its agents, and an export brings their parts along.
func TestAChatLeavesItsAgents(t *testing.T) {
	t.Parallel()
	play := theChain()
	play[""] = func(*provider.Request) []provider.Delta { return []provider.Delta{says("plain"), stops("stop")} }
	b, c := newCast(t, play)
	req := ask("spec?")
	req.Agent = "interface"
	b.run(req)
	plain := ask("and now?")
	plain.Chat.Number, plain.Agent = 1, catalog.NoAgent
	if diff := cmp.Diff([]string{"token  plain", "done"}, steps(b.run(plain))); diff != "" {
		t.Error(diff)
	}
	all := c.requests()
	if text := textOf(all[len(all)-1]); strings.Contains(text, "Google wins") || !strings.Contains(text, "Use Google OAuth.") {
		t.Errorf("the model without agents is told:\n%s", text)
	}
	if b.chat(1).Chat.Agent != "" {
		t.Error("the chat still enters by an agent")
	}
	raw, err := json.Marshal(b.chat(1).Messages[1].Parts)
	if err != nil || !strings.Contains(string(raw), `"type":"handoff"`) || !strings.Contains(string(raw), `"type":"agent_text"`) {
		t.Errorf("the parts are %s, %v", raw, err)
	}
}
