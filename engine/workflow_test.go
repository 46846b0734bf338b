package engine

import (
	"context"
	"encoding/json"

	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

const flowManifest = `manifest_version: "1"
id: flow
name: Flow
version: 1.0.0
description: Workflows of a test.
tools:
  - id: find
    description: Finds.
    entrypoint: tools.work:find
    input_schema: {type: object, properties: {what: {type: string}}, required: [what]}
  - id: compare
    description: Compares.
    entrypoint: tools.work:compare
    input_schema: {type: object, properties: {names: {type: array, items: {type: string}}, note: {type: string}}, required: [names]}
agents:
  - id: advisor
    purpose: Recommends one.
    prompt: You advise.
    tools: [find]
workflows:
  - id: seek
    name: Seek and advise
    input_schema: {type: object, properties: {what: {type: string}}, required: [what], additionalProperties: false}
    steps:
      - {id: look, name: Look, tool: find, args: {what: $args.what}, checkpoint: true}
      - {id: weigh, tool: compare, args: {names: $steps.look.names, note: "of $args.what in $toolset, $steps.look.count"}}
      - {id: advise, agent: advisor, prompt: "For $args.what: $steps.weigh.text"}
  - id: plain
    steps:
      - {id: one, tool: find, args: {what: a}}
      - {id: two, tool: find, args: {what: b}}
`

// flow is an engine with the toolset above, whose tools run in Go.
type flow struct {
	*bench
	r    *rogue
	mu   chan struct{} // holds one token
	ran  []string      // the calls, as tool and arguments
	work func(ctx context.Context, tool string, c toolset.Call) (toolset.Result, error)
}

func newFlow(t *testing.T, stream streamFunc) *flow {
	t.Helper()
	return newFlowOf(t, flowManifest, stream)
}

// newFlowOf is newFlow with another manifest of the same tools.
func newFlowOf(t *testing.T, manifest string, stream streamFunc) *flow {
	t.Helper()
	f := &flow{mu: make(chan struct{}, 1)}
	f.bench, f.r = newRogue(t, stream)
	f.openShelf()
	dir := t.TempDir()
	for name, text := range map[string]string{"toolset.yaml": manifest, "tools/work.py": "def find(workspace, what):\n    return {}\n\ndef compare(workspace, names, note=''):\n    return {}\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := f.PlanToolset(t.Context(), dir, registry.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := f.ImportToolset(t.Context(), p, registry.ApplyOptions{Approved: true}); err != nil {
		t.Fatal(err)
	}
	return f
}

// openShelf lets installed tools run by work.
func (f *flow) openShelf() {
	f.work = func(_ context.Context, tool string, _ toolset.Call) (toolset.Result, error) {
		if tool == "find" {
			return toolset.Result{Text: "found", Data: json.RawMessage(`{"names":["a","b"],"count":2}`)}, nil
		}
		return toolset.Result{Text: "a is best"}, nil
	}
	f.o.Runner = func(_ *registry.MirrorToolset, m *registry.MirrorTool) (toolset.Runner, error) {
		return toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) {
			f.mu <- struct{}{}
			f.ran = append(f.ran, chat.BareID(m.Tool.ID)+" "+string(c.Args))
			<-f.mu
			return f.work(ctx, chat.BareID(m.Tool.ID), c)
		}), nil
	}
}

func (f *flow) calls() []string {
	f.mu <- struct{}{}
	defer func() { <-f.mu }()
	return slices.Clone(f.ran)
}

func allowed() TurnRequest { return TurnRequest{Policy: permission.Policy{AllowAll: true}} }

// begin starts a workflow that has to start.
func (f *flow) begin(name, input string) (string, store.TurnID) {
	f.t.Helper()
	id, turn, err := f.StartWorkflow(f.t.Context(), name, json.RawMessage(input), allowed())
	if err != nil {
		f.t.Fatalf("start: %v", err)
	}
	return id, turn
}

func (f *flow) act(id, action string) []event.Event {
	f.t.Helper()
	turn, err := f.ActWorkflow(f.t.Context(), id, action, allowed())
	if err != nil {
		f.t.Fatalf("%s: %v", action, err)
	}
	return f.follow(turn)
}

func (f *flow) instance(id string) store.WorkflowInstance {
	f.t.Helper()
	i, err := f.WorkflowInstance(f.t.Context(), id)
	if err != nil {
		f.t.Fatalf("instance %s: %v", id, err)
	}
	return i
}

// flowOutline is the workflow events alone: step, state and progress.
func flowOutline(events []event.Event) string {
	var out []string
	for _, e := range events {
		if b, ok := e.Body.(event.Workflow); ok {
			part, _ := json.Marshal(b.Progress)
			out = append(out, strings.TrimSpace(b.Step+" "+b.State)+" "+string(part[:min(len(part), 4)]))
		}
	}
	return strings.Join(out, ", ")
}

func instanceStates(i store.WorkflowInstance) string {
	out := []string{string(i.State) + ":"}
	for _, s := range i.Steps {
		out = append(out, s.State)
	}
	return strings.Join(out, " ")
}

func advises(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
	yield([]provider.Delta{says("Take a."), stops("stop")}, nil)
}

// A workflow from its start over a checkpoint to its end: each step is given
// what earlier ones gave, agents are asked by their prompt alone, and what came
// of it can be gone on with as a chat.
func TestAWorkflow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, advises)
	id, turn := f.begin("seek", `{"what":"movers"}`)
	events := f.follow(turn)
	if got := flowOutline(events); got != "look running 0, look done 0.33, look waiting 0.33" {
		t.Errorf("until the checkpoint: %s", got)
	}
	want(t, events, "workflow", "tool_start find", "tool_complete find success", "workflow", "workflow", "complete")
	i := f.instance(id)
	if instanceStates(i) != "waiting: done pending pending" || i.Chat != 1 || string(i.Steps[0].Result) != `{"names":["a","b"],"count":2}` {
		t.Errorf("at the checkpoint: %+v", i)
	}
	events = f.act(id, store.ActContinue)
	if got := flowOutline(events); got != "weigh running 0.33, weigh done 0.66, advise running 0.66, advise done 1, complete 1" {
		t.Errorf("until the end: %s", got)
	}
	want(t, events, "workflow", "tool_start compare", "tool_complete compare success", "workflow", "workflow", "agent_start",
		`"Take a."`, "meta stop", "workflow", "workflow", "complete")
	i = f.instance(id)
	if instanceStates(i) != "complete: done done done" || string(i.Steps[2].Result) != `{"text":"Take a."}` {
		t.Errorf("at the end: %+v", i)
	}
	wantCalls := []string{`find {"what":"movers"}`, `compare {"names":["a","b"],"note":"of movers in flow, 2"}`}
	if got := f.calls(); !slices.Equal(got, wantCalls) {
		t.Errorf("called %q", got)
	}
	sent := f.r.requests()[0]
	if sent.System != "You advise." || len(sent.Messages) != 1 || sent.Messages[0].Parts[0].Text != "For movers: a is best" || len(sent.Tools) != 1 {
		t.Errorf("the agent was sent %+v", sent)
	}
	if _, err := f.ActWorkflow(t.Context(), id, store.ActContinue, allowed()); fault.CodeOf(err) != fault.Usage {
		t.Errorf("one that is over goes on: %v", err)
	}
	req := ask("why a?")
	req.Chat.Number, req.Agent = 1, catalog.NoAgent
	f.run(req)
	checkRequest(t, f.r.requests()[1])
	list, err := f.WorkflowInstances(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("listed %+v, %v", list, err)
	}
}

func TestWorkflowsThatAreNotStarted(t *testing.T) {
	t.Parallel()
	f := newFlow(t, advises)
	for name, c := range map[string]struct {
		id, input string
		code      fault.Code
		want      string
	}{
		"none":                {"nosuch", `{}`, fault.NotFound, "no workflow nosuch"},
		"one that is near":    {"sek", `{}`, fault.NotFound, "did you mean seek?"},
		"without its input":   {"seek", `{}`, fault.Usage, "the input doesn't fit"},
		"with more than that": {"seek", `{"what":"x","y":1}`, fault.Usage, "the input doesn't fit"},
		"with no object":      {"flow:plain", `[1]`, fault.Usage, "no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := f.StartWorkflow(t.Context(), c.id, json.RawMessage(c.input), allowed())
			if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if list, err := f.WorkflowInstances(t.Context()); err != nil || len(list) > 0 {
				t.Errorf("kept %+v, %v", list, err)
			}
		})
	}
}

// A start whose turn isn't accepted leaves no instance, and an act that isn't
// leaves it as it was.
func TestAWorkflowWhoseTurnIsNotAccepted(t *testing.T) {
	t.Parallel()
	f := newFlow(t, advises)
	req := allowed()
	req.Uploads = []Upload{{Name: "../x", Data: []byte("x")}} // it can't be put there
	if _, _, err := f.StartWorkflow(t.Context(), "plain", nil, req); err == nil {
		t.Fatal("it started")
	}
	if list, err := f.WorkflowInstances(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("kept %+v, %v", list, err)
	}
	id, turn := f.begin("seek", `{"what":"x"}`)
	f.follow(turn)
	if _, err := f.ActWorkflow(t.Context(), id, store.ActContinue, req); err == nil {
		t.Fatal("it went on")
	}
	if got := instanceStates(f.instance(id)); got != "waiting: done pending pending" {
		t.Errorf("it is %s", got)
	}
	f.act(id, store.ActContinue)
}

// A step that fails ends the run with its reason; done again, only it and what
// follows is run.
func TestAStepThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*flow, *TurnRequest)
		want  string
	}{
		"a tool that fails": {func(f *flow, _ *TurnRequest) {
			work := f.work
			f.work = func(ctx context.Context, tool string, call toolset.Call) (toolset.Result, error) {
				if tool == "compare" && len(f.calls()) == 2 {
					return toolset.Result{}, toolset.Errorf("no scales")
				}
				return work(ctx, tool, call)
			}
		}, "no scales"},
		"a call that is denied": {func(_ *flow, r *TurnRequest) { r.Policy.Deny = []string{"flow:compare"} }, "denied: the rule deny flow:compare forbids it"},
		"arguments that don't fit": {func(f *flow, _ *TurnRequest) {
			work := f.work
			f.work = func(ctx context.Context, tool string, call toolset.Call) (toolset.Result, error) {
				if len(f.calls()) == 1 {
					return toolset.Result{Data: json.RawMessage(`{"names":"a","count":1}`)}, nil
				}
				return work(ctx, tool, call)
			}
		}, "the arguments don't fit the tool's input_schema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, advises)
			req := allowed()
			c.spoil(f, &req)
			id, turn := f.begin("seek", `{"what":"x"}`)
			f.follow(turn)
			turn, err := f.ActWorkflow(t.Context(), id, store.ActContinue, req)
			if err != nil {
				t.Fatal(err)
			}
			events := f.follow(turn)
			if e := last[event.Error](t, events); !strings.Contains(e.Message, "the step weigh failed: "+c.want) {
				t.Errorf("ended with %q", e.Message)
			}
			i := f.instance(id)
			if instanceStates(i) != "failed: done failed pending" || !strings.Contains(i.Steps[1].Error, c.want) {
				t.Errorf("it is %s: %q", instanceStates(i), i.Steps[1].Error)
			}
			if _, err := f.ActWorkflow(t.Context(), id, store.ActContinue, allowed()); fault.CodeOf(err) != fault.Usage {
				t.Errorf("continue: %v", err)
			}
			events = f.act(id, store.ActRetry)
			if name == "arguments that don't fit" { // what the first step gave is kept
				last[event.Error](t, events)
				return
			}
			last[event.Complete](t, events)
			if got := instanceStates(f.instance(id)); got != "complete: done done done" {
				t.Errorf("after the retry it is %s", got)
			}
		})
	}
}

func TestAModelThatFailsInAWorkflow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			yield(nil, &provider.Error{Kind: provider.Rejected, Provider: "rogue", Message: "not today"})
			return
		}
		yield([]provider.Delta{says("Take b."), stops("stop")}, nil)
	})
	id, turn := f.begin("seek", `{"what":"x"}`)
	f.follow(turn)
	f.act(id, store.ActContinue)
	i := f.instance(id)
	if instanceStates(i) != "failed: done done failed" || !strings.Contains(i.Steps[2].Error, "not today") {
		t.Errorf("it is %s: %q", instanceStates(i), i.Steps[2].Error)
	}
	f.act(id, store.ActRetry)
	if i = f.instance(id); string(i.Steps[2].Result) != `{"text":"Take b."}` || len(f.calls()) != 2 {
		t.Errorf("it is %s after %q", instanceStates(i), f.calls())
	}
}

// An agent of a step uses its tools, and each agent of a workflow has a question
// and an answer of its own.
func TestAnAgentOfAWorkflowUsesTools(t *testing.T) {
	t.Parallel()
	f := newFlow(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			yield([]provider.Delta{calls("1", "find", `{"what":"more"}`), stops("tool_use")}, nil)
			return
		}
		yield([]provider.Delta{says("Take a."), stops("stop")}, nil)
	})
	id, turn := f.begin("seek", `{"what":"x"}`)
	f.follow(turn)
	f.act(id, store.ActContinue)
	if got := f.calls(); len(got) != 3 || got[2] != `find {"what":"more"}` {
		t.Errorf("called %q", got)
	}
	second := f.r.requests()[1]
	checkRequest(t, second)
	if len(second.Messages) != 3 {
		t.Errorf("the second request has %d messages: %+v", len(second.Messages), second.Messages)
	}
	if got := instanceStates(f.instance(id)); got != "complete: done done done" {
		t.Errorf("it is %s", got)
	}
}

// Cancelled while a step runs: for good by CancelWorkflow, to be gone on with
// where only its turn was.
func TestAWorkflowIsCancelled(t *testing.T) {
	t.Parallel()
	for name, forGood := range map[string]bool{"for good": true, "its turn": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, advises)
			begun, work := make(chan struct{}), f.work
			f.work = func(ctx context.Context, tool string, call toolset.Call) (toolset.Result, error) {
				if len(f.calls()) > 1 {
					return work(ctx, tool, call)
				}
				close(begun)
				<-ctx.Done()
				return toolset.Result{}, ctx.Err()
			}
			id, turn := f.begin("plain", ``)
			<-begun
			if got := instanceStates(f.instance(id)); got != "running: running pending" {
				t.Errorf("while it runs it is %s", got)
			}
			if _, err := f.ActWorkflow(t.Context(), id, store.ActRetry, allowed()); fault.CodeOf(err) != fault.Busy {
				t.Errorf("act while it runs: %v", err)
			}
			if !forGood {
				if err := f.Cancel(t.Context(), turn); err != nil {
					t.Fatal(err)
				}
				f.follow(turn)
				if got := instanceStates(f.instance(id)); got != "interrupted: interrupted pending" {
					t.Errorf("it is %s", got)
				}
				f.act(id, store.ActRetry)
				if got := instanceStates(f.instance(id)); got != "complete: done done" {
					t.Errorf("after the retry it is %s", got)
				}
				return
			}
			i, err := f.CancelWorkflow(t.Context(), id)
			if err != nil || instanceStates(i) != "cancelled: interrupted pending" || instanceStates(f.instance(id)) != instanceStates(i) {
				t.Errorf("it is %s, %v", instanceStates(i), err)
			}
			if _, err := f.ActWorkflow(t.Context(), id, store.ActRetry, allowed()); fault.CodeOf(err) != fault.Usage {
				t.Errorf("act after it: %v", err)
			}
		})
	}
}

// An instance that waits is cancelled as it lies there; one that is over stays
// what it is.
func TestCancelOfAWorkflowThatWaits(t *testing.T) {
	t.Parallel()
	f := newFlow(t, advises)
	id, turn := f.begin("seek", `{"what":"x"}`)
	f.follow(turn)
	if i, err := f.CancelWorkflow(t.Context(), id); err != nil || instanceStates(i) != "cancelled: done pending pending" {
		t.Errorf("it is %s, %v", instanceStates(i), err)
	}
	id, turn = f.begin("plain", ``)
	f.follow(turn)
	if i, err := f.CancelWorkflow(t.Context(), id); err != nil || i.State != store.WorkflowComplete {
		t.Errorf("it is %s, %v", instanceStates(i), err)
	}
	if _, err := f.CancelWorkflow(t.Context(), "nosuch"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("none: %v", err)
	}
}

// Two that go on with one instance at once: one does, and the other is told.
func TestTwoGoOnWithOneWorkflow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, advises)
	id, turn := f.begin("seek", `{"what":"x"}`)
	f.follow(turn)
	i := f.instance(id)
	f.act(id, store.ActContinue)
	_, err := f.runWorkflow(t.Context(), &i, i.TurnID, TurnRequest{Chat: store.ChatRef{ID: i.ChatID}, Policy: permission.Policy{AllowAll: true}}, "again")
	if fault.CodeOf(err) != fault.Busy {
		t.Errorf("the second: %v", err)
	}
	if got := instanceStates(f.instance(id)); got != "complete: done done done" || len(f.calls()) != 2 {
		t.Errorf("it is %s after %q", got, f.calls())
	}
}

// Whatever a workflow's record knew when its process died, what its journal has
// is what counts: no step that is done is done again.
func TestAWorkflowSurvivesACrash(t *testing.T) {
	t.Parallel()
	f := newFlow(t, advises)
	id, turn := f.begin("plain", ``)
	events := f.follow(turn)
	whole := f.instance(id)
	record := whole // as it was when the turn began
	record.State = store.WorkflowRunning
	record.Steps = []store.StepState{{ID: "one", State: store.StepPending}, {ID: "two", State: store.StepPending}}
	ends := map[int]string{}
	for n, e := range events {
		if b, ok := e.Body.(event.Workflow); ok {
			ends[n] = b.Step + " " + b.State
		}
	}
	for n := range events {
		got := record
		got.Steps = slices.Clone(record.Steps)
		for _, e := range events[:n] {
			got.Apply(e)
		}
		got.Stop(store.WorkflowInterrupted, "", time.Now())
		done := 0
		for m, end := range ends {
			if m < n && strings.HasSuffix(end, store.StepDone) {
				done++
			}
		}
		if left := got.Next(); done < 2 && left != done || done == 2 && left != -1 {
			t.Errorf("after %d events, %d steps done, it goes on with %d: %s", n, done, left, instanceStates(got))
		}
	}
	if err := f.SaveWorkflow(t.Context(), &record); err != nil {
		t.Fatal(err)
	}
	if got := instanceStates(f.instance(id)); got != instanceStates(whole) {
		t.Errorf("from a record that knew nothing: %s, want %s", got, instanceStates(whole))
	}
}

func TestAWorkflowGoesWithItsChat(t *testing.T) {
	t.Parallel()
	f := newFlow(t, advises)
	id, turn := f.begin("seek", `{"what":"x"}`)
	f.follow(turn)
	i := f.instance(id)
	if err := f.DeleteChats(t.Context(), chat.Chat{ID: i.ChatID, Number: i.Chat}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ActWorkflow(t.Context(), id, store.ActContinue, allowed()); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("in a deleted chat: %v", err)
	}
	if _, err := f.PurgeChats(t.Context(), store.Purge{Chats: []string{i.ChatID}}); err != nil {
		t.Fatal(err)
	}
	if list, err := f.WorkflowInstances(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("left: %+v, %v", list, err)
	}
}

func TestStepReferences(t *testing.T) {
	t.Parallel()
	values := map[string]json.RawMessage{
		"args":  json.RawMessage(`{"n":1.50,"list":["$args.n"],"text":"$args.n","null":null}`),
		"steps": json.RawMessage(`{"a":{"deep":{"x":[1,{"y":"z"}]}}}`), "chat_id": json.RawMessage(`"c"`),
	}
	for in, want := range map[string]string{
		`"$args.n"`:                               `1.50`,
		`"$args.list"`:                            `["$args.n"]`,
		`"$args.text and $args.n."`:               `"$args.n and 1.50."`,
		`"$steps.a.deep.x.1.y"`:                   `"z"`,
		`"is $steps.a.deep.x"`:                    `"is [1,{\"y\":\"z\"}]"`,
		`"$args.nosuch"`:                          `null`,
		`"no $args.nosuch, $args.null"`:           `"no , "`,
		`"$other costs $5"`:                       `"$other costs $5"`,
		`{"a":["$chat_id",12345678901234567890]}`: `{"a":["c",12345678901234567890]}`,
	} {
		if got := fillStep(json.RawMessage(in), values); string(got) != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
}
