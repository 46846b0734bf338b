package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// told is a request's conversation in words, a line a message.
func told(req *provider.Request) string {
	var out []string
	for _, m := range req.Messages {
		line := string(m.Role) + ":"
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				line += " call " + p.Call.ID + " " + p.Call.Name + " " + string(p.Call.Args)
			case p.Result != nil:
				line += " result " + p.Result.ID + " " + p.Result.Name + " " + p.Result.Text
			default:
				line += " " + string(p.Kind) + " " + strings.TrimSpace(p.Text)
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func wantTold(t *testing.T, req *provider.Request, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(lines, "\n"), told(req)); diff != "" {
		t.Error(diff)
	}
}

func weatherTool() []ClientTool {
	return []ClientTool{{Name: "weather", Description: "the weather of a city", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}
}

func result(id, text string) provider.Part {
	return provider.Part{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: id, Text: text}}
}

// callsThen is a model that calls what it is told to in its first response, and
// answers in the next ones.
func callsThen(first ...provider.Delta) streamFunc {
	return func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			yield(append(append([]provider.Delta{says("I look.")}, first...), stops(provider.StopToolUse)), nil)
			return
		}
		yield([]provider.Delta{says("It is wet."), stops("stop")}, nil)
	}
}

// A call of a client's tool ends the turn whole; the next turn brings what it
// gave, and the model is told as if it were one.
func TestClientToolsInAChat(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, callsThen(calls("1", "weather", `{"city":"Oslo"}`)))
	req := ask("how is it?")
	req.ClientTools, req.Tools = weatherTool(), []string{}
	events := b.run(req)
	want(t, events, `"I look."`, "meta tool_use", "tool_start weather", "complete")
	end := last[event.Complete](t, events)
	if h := end.Payload.ToolHistory; end.Payload.StopReason != provider.StopToolUse || len(h) != 1 || h[0].Status != event.CallPending || h[0].ToolID != "client:weather" {
		t.Errorf("it ended with %+v", end.Payload)
	}
	if tools := r.requests()[0].Tools; len(tools) != 1 || tools[0].Name != "weather" || !strings.Contains(string(tools[0].InputSchema), "city") {
		t.Errorf("the model was offered %+v", tools)
	}
	next := TurnRequest{Chat: store.ChatRef{Number: 1}, Parts: []provider.Part{result("1", "rain")}, ClientTools: weatherTool(), Tools: []string{}}
	want(t, b.run(next), `"It is wet."`, "meta stop", "complete")
	wantTold(t, r.requests()[1], "user: text how is it?", `assistant: text I look. call 1 weather {"city":"Oslo"}`, "tool: result 1 weather rain")
	again := ask("and now?")
	again.Chat.Number = 1
	b.run(again)
	wantTold(t, r.requests()[2], "user: text how is it?", `assistant: text I look. call 1 weather {"city":"Oslo"}`, "tool: result 1 weather rain",
		"assistant: text It is wet.", "user: text and now?")
	if conv := b.chat(1); len(conv.Messages) != 6 || !conv.Messages[2].AnswersCalls() || conv.Messages[0].AnswersCalls() {
		t.Errorf("the chat has %d messages", len(conv.Messages))
	}
}

// Such a chat is exported and imported whole, with the calls that were the client's.
func TestChatsWithClientToolsAreImported(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, callsThen(calls("1", "weather", `{"city":"Oslo"}`)))
	req := ask("how is it?")
	req.ClientTools = weatherTool()
	b.run(req)
	b.run(TurnRequest{Chat: store.ChatRef{Number: 1}, Parts: []provider.Part{result("1", "rain")}, ClientTools: weatherTool()})
	doc, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(doc.ToolCalls); n != 1 || doc.ToolCalls[0].Status != event.CallPending {
		t.Fatalf("it has %d calls: %+v", n, doc.ToolCalls)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	docs, _, err := decodeChats(raw)
	if err != nil {
		t.Fatal(err)
	}
	other, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("Yes."), stops("stop")}, nil)
	})
	got, err := other.importChats(t.Context(), docs, store.RefuseExisting)
	if err != nil {
		t.Fatal(err)
	}
	next := ask("really?")
	next.Chat.Number, next.Model = got[0].Chat.Number, "rogue/m"
	other.run(next)
	wantTold(t, r.requests()[0], "user: text how is it?", `assistant: text I look. call 1 weather {"city":"Oslo"}`, "tool: result 1 weather rain",
		"assistant: text It is wet.", "user: text really?")
}

// A person who goes on without an answer to the call is answered all the same.
func TestClientCallThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, callsThen(calls("1", "weather", `{}`)))
	req := ask("how is it?")
	req.ClientTools = weatherTool()
	b.run(req)
	next := ask("never mind")
	next.Chat.Number = 1
	b.run(next)
	wantTold(t, r.requests()[1], "user: text how is it?", "assistant: text I look.", "user: text never mind")
}

// Results that answer nothing are refused, and nothing is kept.
func TestResultsWithoutACall(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, callsThen(calls("1", "weather", `{}`)))
	req := ask("how is it?")
	req.ClientTools = weatherTool()
	b.run(req)
	for name, parts := range map[string][]provider.Part{
		"unknown": {result("2", "rain")}, "twice": {result("1", "rain"), result("1", "snow")},
	} {
		_, err := b.Start(t.Context(), TurnRequest{Chat: store.ChatRef{Number: 1}, Parts: parts})
		if fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), "waits for a result") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(b.chat(1).Messages); n != 2 {
		t.Errorf("%d messages", n)
	}
}

// Fettle's calls of the same response run first, and their results stay; the
// client is told of its own.
func TestClientToolBesideOurs(t *testing.T) {
	t.Parallel()
	ran := 0
	own := tool("own", func(context.Context, toolset.Call) (toolset.Result, error) {
		ran++
		return toolset.Result{Text: "mine"}, nil
	})
	b, r := newRogue(t, callsThen(calls("1", "weather", `{"city":"Oslo"}`), calls("2", "own", `{}`)), own)
	req := ask("how is it?")
	req.ClientTools, req.Ephemeral = weatherTool(), true
	want(t, b.run(req), `"I look."`, "meta tool_use", "tool_start own", "tool_complete own success", "tool_start weather", "complete")
	if ran != 1 || len(r.requests()) != 1 {
		t.Errorf("it ran %d times, in %d requests", ran, len(r.requests()))
	}
}

// What can't be the client's is the model's to mend: the client never hears of it.
func TestClientCallsThatAreRefused(t *testing.T) {
	t.Parallel()
	off := false
	for name, c := range map[string]struct {
		first []provider.Delta
		mode  *bool
		steps int
		stop  string
	}{
		"no object":      {[]provider.Delta{calls("1", "weather", `[1]`)}, nil, 2, provider.StopToolUse},
		"agent mode off": {[]provider.Delta{calls("1", "weather", `{}`)}, &off, 1, provider.StopToolUse},
		"cut off":        {[]provider.Delta{calls("1", "weather", `{}`)}, nil, 1, provider.StopLength},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := newRogue(t, func(ctx context.Context, step int, yield func([]provider.Delta, error) bool) {
				if step == 0 {
					yield(append(c.first, stops(c.stop)), nil)
					return
				}
				yield([]provider.Delta{says("Sorry."), stops("stop")}, nil)
			})
			req := ask("how is it?")
			req.ClientTools, req.AgentMode = weatherTool(), c.mode
			for _, e := range b.run(req) {
				if s, ok := e.Body.(event.ToolStart); ok && s.ToolID != "weather" {
					t.Errorf("the call is of %s", s.ToolID)
				}
				if s, ok := e.Body.(event.ToolComplete); ok && s.Status != event.CallError {
					t.Errorf("the call ended with %s", s.Status)
				}
			}
			if n := len(r.requests()); n != c.steps {
				t.Errorf("%d requests, want %d", n, c.steps)
			}
		})
	}
}

// The last response that a turn may have can be one that calls the client.
func TestClientToolAtTheStepLimit(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, callsThen(calls("1", "weather", `{}`)))
	req := ask("how is it?")
	req.ClientTools, req.MaxSteps, req.Ephemeral = weatherTool(), 1, true
	last[event.Complete](t, b.run(req))
}

// An agent that called goes on with the result, also where another began.
func TestClientToolOfAnAgent(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		yield([][]provider.Delta{
			{calls("1", "handoff_to_two", `{}`), stops(provider.StopToolUse)},
			{says("I look."), calls("2", "weather", `{}`), stops(provider.StopToolUse)},
			{says("It is wet."), stops("stop")},
		}[step], nil)
	})
	var err error
	if b.o.Agents, err = catalog.NewAgents(store.Agent{ID: "one", Prompt: "You are one.", Handoffs: []string{"two"}}, store.Agent{ID: "two", Prompt: "You are two."}); err != nil {
		t.Fatal(err)
	}
	req := ask("how is it?")
	req.Agent, req.ClientTools = "one", weatherTool()
	b.run(req)
	next := TurnRequest{Chat: store.ChatRef{Number: 1}, Parts: []provider.Part{result("2", "rain")}, ClientTools: weatherTool()}
	events := b.run(next)
	if s, ok := events[0].Body.(event.AgentStart); !ok || s.Agent != "two" {
		t.Errorf("it goes on with %+v", events[0].Body)
	}
	got := r.requests()[2]
	if got.System != "You are two." {
		t.Errorf("asked as %q", got.System)
	}
	wantTold(t, got, "user: text <file name=\"work of the agents on the question that follows\">\none handed over to two\n</file>",
		"user: text how is it?", "assistant: text I look. call 2 weather {}", "tool: result 2 weather rain")
	if len(got.Tools) != 1 || got.Tools[0].Name != "weather" {
		t.Errorf("it is offered %+v", got.Tools)
	}
}

// A conversation that the client keeps is assembled as one that is kept here.
func TestHistoryOfTheRequest(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, callsThen())
	said := func(role provider.Role, parts ...provider.Part) provider.Message {
		return provider.Message{Role: role, Parts: parts}
	}
	text := func(s string) provider.Part { return provider.Part{Kind: provider.TextPart, Text: s} }
	call := func(id string) provider.Part {
		return provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: "client:weather", Args: json.RawMessage(`{}`)}}
	}
	req := TurnRequest{
		Ephemeral: true, ClientTools: weatherTool(), Tools: []string{}, System: "Be brief.",
		History: []provider.Message{
			said(provider.User, text("first")), said(provider.Assistant, text("one")),
			said(provider.User, text("second")), said(provider.Assistant, call("a"), call("b")),
			said(provider.Tool, result("b", "snow")), said(provider.Tool, result("a", "rain")),
			said(provider.Assistant, text("more"), call("c")),
		},
		Parts: []provider.Part{result("c", "sun")},
	}
	last[event.Complete](t, b.run(req))
	wantTold(t, r.requests()[0], "user: text first", "assistant: text one", "user: text second",
		"assistant: call a weather {} call b weather {}", "tool: result b weather snow result a weather rain",
		"assistant: text more call c weather {}", "tool: result c weather sun")
	if got := r.requests()[0].System; got != "Be brief." {
		t.Errorf("the system prompt is %q", got)
	}
	if chats, err := b.Chats(t.Context(), store.ListChats{}); err != nil || len(chats.Chats) > 0 {
		t.Errorf("it kept %d chats: %v", len(chats.Chats), err)
	}
	for name, h := range map[string][]provider.Message{
		"a result without a call":  {said(provider.User, text("x")), said(provider.Tool, result("a", "rain"))},
		"a result of another call": {said(provider.User, text("x")), said(provider.Assistant, call("b")), said(provider.Tool, result("a", "rain"))},
		"a person's call":          {said(provider.User, call("a"))},
		"a role that isn't there":  {said("system", text("x")), said(provider.User, text("y"))},
		"arguments of no object":   {said(provider.Assistant, provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: "a", Name: "b", Args: json.RawMessage(`1`)}})},
	} {
		bad := ask("x")
		bad.Ephemeral, bad.History = true, h
		if _, err := b.Start(t.Context(), bad); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	kept := ask("x")
	kept.History = []provider.Message{said(provider.User, text("y"))}
	if _, err := b.Start(t.Context(), kept); fault.CodeOf(err) != fault.Usage {
		t.Errorf("a turn that is kept: %v", err)
	}
}

// Names that no tool can have are refused, and two of the same.
func TestClientToolsThatCantBe(t *testing.T) {
	t.Parallel()
	b, _ := newRogue(t, callsThen())
	for name, tools := range map[string][]ClientTool{
		"a space": {{Name: "a b"}}, "twice": {{Name: "a"}, {Name: "a"}}, "no name": {{}}, "a schema that is none": {{Name: "a", Schema: json.RawMessage(`[]`)}},
	} {
		req := ask("x")
		req.ClientTools = tools
		if _, err := b.Start(t.Context(), req); fault.CodeOf(err) != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A long way of rounds that the client tells gives way like one of a turn of our
// own: the question and the last rounds stay.
func TestHistoryThatIsTooLong(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("Done."), stops("stop")}, nil)
	})
	r.model.ContextLength = 4000
	req := TurnRequest{Ephemeral: true, ClientTools: weatherTool(), Tools: []string{}}
	req.History = []provider.Message{{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: "the question"}}}}
	for i := range 40 {
		id := "c" + strconv.Itoa(i)
		call := provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: "client:weather", Args: json.RawMessage(`{}`)}}
		req.History = append(req.History, provider.Message{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.TextPart, Text: strings.Repeat("word ", 100)}, call}})
		if i == 39 {
			req.Parts = []provider.Part{result(id, strings.Repeat("rain ", 300))}
			break
		}
		req.History = append(req.History, provider.Message{Role: provider.Tool, Parts: []provider.Part{result(id, strings.Repeat("rain ", 300))}})
	}
	events := b.run(req)
	last[event.Complete](t, events)
	all := r.requests()
	final := told(all[len(all)-1])
	if !strings.Contains(final, "user: text the question") || !strings.Contains(final, "result c39") || strings.Contains(final, "call c0 ") {
		t.Errorf("the model was told:\n%s\n%s", final, outline(events))
	}
}

// FuzzHistory takes any conversation that a request may tell: it is refused, or
// becomes one in which each result has its call before it, in the same step.
func FuzzHistory(f *testing.F) {
	for _, seed := range []string{
		`[{"role":"user","parts":[{"type":"text","text":"a"}]},{"role":"assistant","parts":[{"type":"tool_call","call":{"id":"1","name":"client:t","args":{}}}]},{"role":"tool","parts":[{"type":"tool_result","result":{"id":"1","text":"r"}}]}]`,
		`[{"role":"assistant","parts":[{"type":"tool_call","call":{"id":"1","name":"t","args":{}}}]},{"role":"assistant","parts":[{"type":"tool_call","call":{"id":"1","name":"t","args":{}}}]},{"role":"tool","parts":[{"type":"tool_result","result":{"id":"1"}}]}]`,
		`[{"role":"tool","parts":[]},{"role":"user","parts":[{"type":"image","mime":"image/png","data":"eA=="}]}]`, `[{"role":"x"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var told []struct {
			Role  provider.Role   `json:"role"`
			Parts []provider.Part `json:"parts"`
		}
		if json.Unmarshal(raw, &told) != nil {
			return
		}
		var history []provider.Message
		for _, m := range told {
			history = append(history, provider.Message{Role: m.Role, Parts: m.Parts})
		}
		path, err := given(history)
		if err != nil {
			if fault.CodeOf(err) != fault.Usage {
				t.Errorf("refused with %v", err)
			}
			return
		}
		var brought []provider.Part
		if n := len(path); n > 0 {
			for id := range pendingCalls(path[n-1]) {
				brought = append(brought, result(id, "r"))
			}
		}
		a := assembly{name: chat.BareID, fit: &fitting{}}
		a.join(append(path, chat.Message{Role: provider.User, Parts: append(brought, result("nobody's", "x"))}), "")
		open := map[string]bool{}
		for _, m := range a.place() {
			for _, p := range m.Parts {
				if p.Result != nil && !open[p.Result.ID] {
					t.Errorf("the result of %q has no call before it: %s", p.Result.ID, raw)
				}
			}
			if m.Role != provider.Tool {
				open = map[string]bool{}
			}
			for _, p := range m.Parts {
				if p.Call != nil {
					open[p.Call.ID] = true
				}
			}
		}
	})
}
