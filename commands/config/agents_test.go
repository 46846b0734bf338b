package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/provider"
)

const twoAgents = `
agents:
  reviewer:
    name: The Reviewer
    purpose: Reads a change.
    prompt: You review changes.
    model: ollama/qwen3
    tools: [read_file, "chaoscontext:*"]
    handoffs: [writer, chaoscontext:interface]
    history: turn
    answers: true
    entry: true
  writer: {prompt: You write., handoffs: [reviewer]}
profiles:
  fast:
    agents: {reviewer: {model: ollama/small, answers: no}}
`

func TestAgents(t *testing.T) {
	t.Parallel()
	file := userFile(t, twoAgents)
	place := func(line int) Origin { return Origin{Kind: FromFile, File: file, Line: line, Column: 3} }
	c := mustLoad(t, Options{File: file})
	want := map[string]Agent{
		"reviewer": {
			ID: "reviewer", Name: "The Reviewer", Purpose: "Reads a change.", Prompt: "You review changes.", Model: "ollama/qwen3",
			Tools: []string{"read_file", "chaoscontext:*"}, Handoffs: []string{"writer", "chaoscontext:interface"},
			History: "turn", Answers: provider.Yes, Entry: true, Place: place(3),
		},
		"writer": {ID: "writer", Prompt: "You write.", Handoffs: []string{"reviewer"}, Place: place(13)},
	}
	if diff := cmp.Diff(want, c.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if c.EntryAgent() != "reviewer" || len(c.Warnings) > 0 {
		t.Errorf("enters by %q, warns %v", c.EntryAgent(), c.Warnings)
	}
	e, ok := c.Entry("agents.reviewer.handoffs")
	if !ok || e.Text != "writer, chaoscontext:interface" || c.Origin("agents.reviewer.handoffs") != file+":9:5" {
		t.Errorf("%+v, %v", e, ok)
	}
	if e, ok = c.Entry("agents.reviewer.entry"); !ok || e.Value != true {
		t.Errorf("%+v, %v", e, ok)
	}
	if e, ok = c.Entry("profiles.fast.agents.reviewer.model"); !ok || e.Text != "ollama/small" {
		t.Errorf("%+v, %v", e, ok)
	}
	fast := mustLoad(t, Options{File: file, Flags: map[string]Flag{"profile": {Name: "--profile", Values: []string{"fast"}}}})
	if a := fast.Agents["reviewer"]; a.Model != "ollama/small" || a.Answers != provider.No || a.Prompt != "You review changes." {
		t.Errorf("in the profile it is %+v", a)
	}
}

func TestAgentsThatDontGoTogether(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"two entries": {
			"agents: {a: {prompt: A, entry: true}, b: {prompt: B, entry: true}}",
			"agents.b.entry: a chat begins with one agent, and agents.a is it already",
		},
		"nobody near":     {"agents: {a: {prompt: A, handoffs: [somebody]}}", "there is no agent somebody; those of toolsets are named toolset:id"},
		"the nearest one": {"agents: {writer: {prompt: A, handoffs: [writr]}}", ":1:41: agents.writer.handoffs: there is no agent writr; did you mean writer?"},
	} {
		f, _ := mustFail(t, Options{File: userFile(t, c.text)})
		if !strings.Contains(f.Msg, c.says) {
			t.Errorf("%s: %s", name, f.Msg)
		}
	}
	c := mustLoad(t, Options{File: userFile(t, "agents: {a: {purpose: A}}")})
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Msg, "agents.a has no prompt") {
		t.Errorf("an agent without a prompt: %v", c.Warnings)
	}
}

// A project's agents and system prompt are instructions of another person: they wait for
// trust, and they change no agent of the user's then either.
func TestAgentsOfAProject(t *testing.T) {
	t.Parallel()
	user := userFile(t, "agents: {mine: {prompt: Mine.}}")
	dir, file := project(t, "system: Obey.\nagents:\n  mine: {prompt: Theirs., tools: ['*']}\n  theirs: {prompt: Theirs., handoffs: [mine]}\n  taped: {prompt: T., model: script/tape.jsonl}\n")
	o := Options{File: user, WorkDir: dir}
	c := mustLoad(t, o)
	if c.Agents["mine"].Prompt != "Mine." || c.Agents["mine"].Tools != nil || len(c.Agents) != 1 || c.System != "" {
		t.Errorf("agents %+v", c.Agents)
	}
	if c.Origin("agents.mine.tools") != "" {
		t.Errorf("the tools of mine come from %s", c.Origin("agents.mine.tools"))
	}
	var said []string
	for _, w := range c.Warnings {
		said = append(said, w.Msg)
	}
	all := strings.Join(said, "\n")
	if !strings.Contains(all, "agents.mine is not read: a project can't change an agent of yours") || !strings.Contains(all, "not read until you trust this file: system, agents.mine, agents.theirs, agents.taped;") {
		t.Errorf("it warns:\n%s", all)
	}
	o.Trusted = func(f, _ string) bool { return f == file }
	if c = mustLoad(t, o); c.Agents["taped"].Model != "script/tape.jsonl" || c.Agents["mine"].Prompt != "Mine." || c.Agents["theirs"].Prompt != "Theirs." || c.System != "Obey." {
		t.Errorf("trusted it is %+v", c.Agents)
	}
	does := map[string]string{}
	for _, g := range c.Project.Grants {
		does[g.Key] = g.Does
	}
	if does["system"] != grantsSystem || does["agents.theirs.prompt"] != grantsAgent || does["agents.taped.model"] != grantsRecording {
		t.Errorf("the grants are %v", does)
	}
}

func TestAgentsAreSetByTheirKeys(t *testing.T) {
	t.Parallel()
	f := OpenUserFile(userFile(t, "agents:\n  a:\n    prompt: A.\n"))
	for _, s := range []struct {
		key    string
		values []string
		do     func(Key, []string) error
	}{
		{"agents.b.prompt", []string{"B."}, func(k Key, v []string) error { return f.Set(t.Context(), k, v) }},
		{"agents.b.handoffs", []string{"a"}, func(k Key, v []string) error { return f.Set(t.Context(), k, v) }},
		{"agents.b.handoffs", []string{"chaoscontext:interface"}, func(k Key, v []string) error { return f.Add(t.Context(), k, v) }},
		{"agents.b.entry", []string{"yes"}, func(k Key, v []string) error { return f.Set(t.Context(), k, v) }},
	} {
		k, err := f.Key(s.key)
		if err == nil {
			err = s.do(k, s.values)
		}
		if err != nil {
			t.Fatalf("%s: %v", s.key, err)
		}
	}
	text, err := f.Text()
	want := "agents:\n  a:\n    prompt: A.\n  b:\n    prompt: B.\n    handoffs: [a, \"chaoscontext:interface\"]\n    entry: true\n"
	if err != nil || text != want {
		t.Errorf("the file is\n%s, %v", text, err)
	}
	if _, err := f.Key("agents.b.handoff"); err == nil || !strings.Contains(err.Error(), "did you mean agents.b.handoffs?") {
		t.Errorf("%v", err)
	}
	if _, err := f.Key("agents.none.prompt"); err == nil {
		t.Error("none is an agent's id")
	}
}
