package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

var updateAssembly = flag.Bool("update", false, "rewrite the requests in testdata/assembly")

// assemblyCase is a conversation whose last turn's requests are held against a
// golden file.
type assemblyCase struct {
	model  provider.Model
	agents []store.Agent
	// play is what the model answers, a response a request; the last one is
	// given from then on.
	play [][]provider.Delta
	// turns follow each other in one chat; Chat is filled in.
	turns []TurnRequest
	docs  []store.NewDocument
}

func filePart(name, text string) provider.Part {
	return provider.Part{Kind: provider.FilePart, Name: name, Text: text}
}

func imagePart(name string) provider.Part {
	return provider.Part{Kind: provider.ImagePart, Name: name, MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
}

func with(req TurnRequest, parts ...provider.Part) TurnRequest {
	req.Parts = append(parts, req.Parts...)
	return req
}

// offering offers one tool of the test's own, so that the golden files don't
// change with the descriptions of builtin ones.
func offering(req TurnRequest, tools ...string) TurnRequest {
	req.Tools = append([]string{}, tools...)
	return req
}

func assemblyCases() map[string]assemblyCase {
	answer := [][]provider.Delta{{says("An answer."), stops("stop")}}
	calling := [][]provider.Delta{
		{
			{Kind: provider.Reasoning, Text: "Hm."}, {Kind: provider.ReasoningDetails, Details: []byte(`{"signed":1}`)},
			says("I look."), calls("c1", "echo", `{"a":1}`), calls("c2", "echo", `{"a":2}`), stops("tool_use"),
		},
		{says("Done."), stops("stop")},
	}
	system := ask("what changed?")
	system.System = "Be brief."
	half := 0.5
	limited := offering(ask("count"))
	limited.Params = provider.Params{Effort: provider.EffortHigh, Temperature: &half, MaxTokens: 99}
	limited.Sampling = provider.Sampling{TopP: &half, Stop: []string{"END"}}
	structured := offering(ask("a bird"))
	structured.Schema = json.RawMessage(birdSchema)
	page := offering(ask("what do I see?"))
	page.Tab, page.Context = "summary", json.RawMessage(`{"selected_business":"Blue Door"}`)
	agents := []store.Agent{
		{ID: "interface", Purpose: "answers", Prompt: "You answer.", Handoffs: []string{"finder"}},
		{ID: "finder", Purpose: "finds", Prompt: "You find.", Tools: []string{"echo"}, Handoffs: []string{"interface"}, History: catalog.HistoryTurn},
	}
	entered := ask("find it")
	entered.Agent, entered.System = "interface", "For all."
	chain := [][]provider.Delta{
		{calls("h1", "handoff_to_finder", `{"reason":"look for it"}`), stops("tool_use")},
		{calls("c1", "echo", `{"q":"it"}`), stops("tool_use")},
		{says("It is here."), calls("h2", "handoff_to_interface", `{}`), stops("tool_use")},
		{says("Found."), stops("stop")},
	}
	on, off := true, false
	planned, accepted := offering(ask("how would you do it?"), "echo"), offering(ask("I accept the plan."), "echo")
	planned.Plan, planned.KeepMode, accepted.Plan, accepted.KeepMode = &on, true, &off, true
	return map[string]assemblyCase{
		"plan-mode":        {play: answer, turns: []TurnRequest{planned, offering(ask("and shorter?"), "echo"), accepted}},
		"plain":            {play: answer, turns: []TurnRequest{offering(system)}},
		"history":          {play: answer, turns: []TurnRequest{offering(system), offering(ask("and then?")), offering(ask("why?"))}},
		"limits":           {play: answer, turns: []TurnRequest{limited}},
		"tool-history":     {play: calling, turns: []TurnRequest{offering(ask("look"), "echo"), offering(ask("again?"), "echo")}},
		"no-tools-history": {play: calling, turns: []TurnRequest{offering(ask("look"), "echo"), offering(ask("again?"))}},
		"images":           {play: answer, turns: []TurnRequest{offering(with(ask("what is it?"), imagePart("i.png"))), offering(ask("and the colour?"))}},
		"context-files": {play: answer, turns: []TurnRequest{
			offering(with(ask("sum up"), filePart("a.md", "one </file> two"), filePart("b.md", "b\n"))),
			offering(with(ask("compare"), filePart("c.md", "c"))),
		}},
		"doc-references": {
			play: answer, docs: []store.NewDocument{{Name: "guide", MIME: store.TextMIME, Data: []byte("the guide")}},
			turns: []TurnRequest{
				offering(with(ask("sum up"), filePart("notes/a.md", "a"))),
				offering(with(ask("is doc:a.md as doc:guide says?"), filePart("c.md", "c"), imagePart("i.png"))),
			},
		},
		"tools":               {play: calling, turns: []TurnRequest{offering(ask("look"), "echo")}},
		"model-without-tools": {model: provider.Model{Tools: provider.No}, play: answer, turns: []TurnRequest{offering(ask("look"), "echo")}},
		"model-without-images": {
			model: provider.Model{Images: provider.No}, play: answer,
			turns: []TurnRequest{offering(with(ask("what is it?"), imagePart("i.png"), filePart("a.md", "a")))},
		},
		"agents":               {agents: agents, play: chain, turns: []TurnRequest{entered}},
		"agents-without-tools": {agents: agents, model: provider.Model{Tools: provider.No}, play: answer, turns: []TurnRequest{entered}},
		"page-context":         {play: answer, turns: []TurnRequest{page}},
		"structured-output":    {play: [][]provider.Delta{{says(`{"name":"wren"}`), stops("stop")}}, turns: []TurnRequest{structured}},
		"structured-output-in-words": {
			model: provider.Model{Schema: provider.No}, turns: []TurnRequest{structured},
			play: [][]provider.Delta{{says("A wren."), stops("stop")}, {says(`{"name":"wren"}`), stops("stop")}},
		},
	}
}

// Each request as a whole, in document 002's order, as the provider is given
// it: the golden files are read by people.
func TestAssembledRequests(t *testing.T) {
	t.Parallel()
	for name, c := range assemblyCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := c.run(t)
			for _, req := range sent {
				if len(req.Tools) > 0 || name != "no-tools-history" && c.model.Tools != provider.No {
					checkRequest(t, req)
				}
			}
			golden(t, filepath.Join("testdata", "assembly", name+".json"), requestsJSON(t, sent))
		})
	}
}

// run gives the requests of the last turn.
func (c assemblyCase) run(t *testing.T) []*provider.Request {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	r := &rogue{model: c.model, stream: func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		yield(slices.Clone(c.play[min(step, len(c.play)-1)]), nil) // who reads a batch may change it
	}}
	o := rogueOptions(t, b.dir, r, []toolset.Entry{echo()})
	agents, err := catalog.NewAgents(c.agents...)
	if err != nil {
		t.Fatal(err)
	}
	o.Agents = agents
	b.Engine = New(o)
	t.Cleanup(func() { _ = b.Close() })
	if _, err := b.AddDocuments(t.Context(), c.docs...); err != nil {
		t.Fatal(err)
	}
	before := 0
	for i, req := range c.turns {
		req.Chat.Last = i > 0
		before = len(r.requests())
		events := b.run(req)
		if !events[len(events)-1].Ends() || outline(events[len(events)-1:]) != "complete" {
			t.Fatalf("turn %d: %s", i, outline(events))
		}
	}
	return r.requests()[before:]
}

// requestsJSON is all of the requests but the estimate of their size.
func requestsJSON(t *testing.T, all []*provider.Request) []byte {
	t.Helper()
	type spec struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
		Strict      bool            `json:"strict,omitempty"`
	}
	type message struct {
		Role  provider.Role   `json:"role"`
		Parts []provider.Part `json:"parts"`
	}
	type request struct {
		Model       string          `json:"model"`
		System      string          `json:"system,omitempty"`
		Messages    []message       `json:"messages"`
		Tools       []spec          `json:"tools,omitempty"`
		Schema      json.RawMessage `json:"schema,omitempty"`
		MaxTokens   int             `json:"max_tokens,omitempty"`
		Temperature *float64        `json:"temperature,omitempty"`
		provider.Sampling
		provider.Hints
		Think    *bool           `json:"think,omitempty"`
		Effort   provider.Effort `json:"effort,omitempty"`
		MustCall string          `json:"must_call,omitempty"`
	}
	if n := reflect.TypeFor[provider.Request]().NumField(); n != 16 {
		t.Errorf("provider.Request has %d fields: the golden files show all but Tokens, ThoughtEnd, Completion and Native; add the new field here", n)
	}
	out := make([]request, len(all))
	for i, r := range all {
		out[i] = request{
			Model: r.Model, System: r.System, Messages: []message{}, Schema: r.Schema,
			MaxTokens: r.MaxTokens, Temperature: r.Temperature, Sampling: r.Sampling, Hints: r.Hints, Think: r.Think, Effort: r.Effort, MustCall: r.MustCall,
		}
		for _, m := range r.Messages {
			out[i].Messages = append(out[i].Messages, message(m))
		}
		for _, s := range r.Tools {
			out[i].Tools = append(out[i].Tools, spec(s))
		}
		if r.Tokens <= 0 {
			t.Errorf("request %d has no estimate of its size", i)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *updateAssembly {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// The same assembly gives the same request, and is not changed by it: what is
// sent depends on nothing else.
func TestAssemblyIsPure(t *testing.T) {
	t.Parallel()
	question := chat.Message{Role: provider.User, Parts: []provider.Part{filePart("a.md", "a"), imagePart("i.png"), {Kind: provider.TextPart, Text: "what?"}}}
	answer := chat.Message{Role: provider.Assistant, Parts: []provider.Part{
		{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: "1", Name: "t:x", Args: json.RawMessage(`{}`)}},
		{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: "1", Name: "t:x", Text: "r"}},
	}}
	a := assembly{
		model: "m", system: "s", history: []chat.Message{question, answer, question}, answer: &answer, name: chat.BareID,
		tools: []provider.ToolSpec{{Name: "x"}}, schema: json.RawMessage(birdSchema), without: map[provider.Feature]bool{provider.FeatureSchema: true},
		agent: &store.Agent{ID: "a", Prompt: "p"},
	}
	before, err := json.Marshal([]any{a.history, a.answer, a.tools, a.without, a.agent})
	if err != nil {
		t.Fatal(err)
	}
	first := assemble(a)
	if diff := cmp.Diff(first, assemble(a)); diff != "" {
		t.Errorf("a second request differs:\n%s", diff)
	}
	after, err := json.Marshal([]any{a.history, a.answer, a.tools, a.without, a.agent})
	if err != nil || string(before) != string(after) {
		t.Errorf("assembling changed what it was given (%v):\n%s\n%s", err, before, after)
	}
}
