package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

func direct(tool, args string) TurnRequest {
	return TurnRequest{Calls: []DirectCall{{Tool: tool, Args: json.RawMessage(args)}}, Policy: permission.Policy{AllowAll: true}}
}

func TestAPersonsOwnCall(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	events := b.run(direct("change", `{"put":{"a.txt":"1"}}`))
	end := find[event.ToolComplete](events)
	if end.Status != event.CallSuccess || end.Result != "done" || len(end.Changes) != 1 || end.PostManifestID == "" {
		t.Errorf("%+v", end)
	}
	conv := b.chat(1)
	if len(conv.Messages) != 2 || conv.Messages[0].Text() != "Run change\nput: {\"a.txt\":\"1\"}" || conv.Chat.Model != "" {
		t.Errorf("the chat: %+v", conv)
	}
	b.sees(1, map[string]string{"a.txt": "1"})
	// A model can go on from there.
	b.did(store.ChatRef{Number: 1}, `{"put":{"b.txt":"2"}}`)
	b.run(TurnRequest{
		Chat: store.ChatRef{Number: 1}, Policy: permission.Policy{AllowAll: true},
		Calls: []DirectCall{{Tool: "change", Args: json.RawMessage(`{"rm":["a.txt"]}`)}},
	})
	if got := b.chat(1).Chat.Model; got != "rogue/m" {
		t.Errorf("after a call of the person's own the chat's model is %q", got)
	}
	b.sees(1, map[string]string{"b.txt": "2"})
	b.undo(3)
	b.sees(1, map[string]string{})
}

func TestCallsThatCantBeMeant(t *testing.T) {
	t.Parallel()
	off := tool("x:off", nil)
	off.Tool.Enabled = false
	strict := tool("x:strict", nil)
	strict.Tool.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	b, _ := newRogue(t, nil, off, strict, tool("a:same", nil), tool("b:same", nil))
	for name, c := range map[string]struct {
		req  TurnRequest
		code fault.Code
		says string
	}{
		"an unknown tool":      {direct("strickt", `{}`), fault.NotFound, "did you mean strict?"},
		"a disabled tool":      {direct("x:off", `{}`), fault.Failed, "is disabled"},
		"a name of two":        {direct("same", `{}`), fault.Usage, "2 toolsets have a tool same"},
		"arguments of no kind": {direct("x:strict", `[1]`), fault.Usage, "no JSON object"},
		"wrong arguments":      {direct("strict", `{"n":"1"}`), fault.Usage, "don't fit its input_schema"},
	} {
		_, err := b.Start(t.Context(), c.req)
		if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if page, err := b.Chats(t.Context(), store.ListChats{}); err != nil || len(page.Chats) != 0 {
		t.Errorf("they left %v, %v", page, err)
	}
}

func TestADenyRuleHoldsForAPersonsCall(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	req := direct("change", `{"put":{"a.txt":"1"}}`)
	req.Policy.Deny = []string{"change"}
	if end := find[event.ToolComplete](b.run(req)); end.Status != event.CallError || !strings.Contains(end.Error, "deny") {
		t.Errorf("%+v", end)
	}
}

func TestEachCallSaysHowItIsShown(t *testing.T) {
	t.Parallel()
	shown := func(id string, r *toolset.Renderer, run toolset.RunnerFunc) toolset.Entry {
		e := tool(id, run)
		e.Tool.Renderer, e.Dir = r, "/toolsets/x"
		return e
	}
	code := &toolset.Renderer{Type: toolset.RenderCode, Content: "$return.text", Language: "shell"}
	page := &toolset.Renderer{Type: toolset.RenderHTML, Artifact: "artifacts/a.html", Data: json.RawMessage(`"$return"`)}
	b, _ := newRogue(t, nil,
		shown("x:text", code, func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "hello"}, nil
		}),
		shown("x:page", page, func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "2 rows", Data: json.RawMessage(`{"rows":2}`)}, nil
		}),
		shown("x:fail", page, func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{}, &toolset.ToolError{Message: "ValueError: no", Traceback: "tools/x.py:3"}
		}),
		tool("x:plain", func(context.Context, toolset.Call) (toolset.Result, error) { return toolset.Result{}, nil }),
	)
	for name, want := range map[string]string{
		"x:text":  `{"renderer":"code","config":{"content":"hello","language":"shell"}}`,
		"x:page":  `{"renderer":"html","config":{"artifact":"/toolsets/x/artifacts/a.html","data":{"rows":2}}}`,
		"x:plain": ``,
	} {
		end := find[event.ToolComplete](b.run(direct(name, `{}`)))
		if diff := cmp.Diff(want, string(end.RenderPlan)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	end := find[event.ToolComplete](b.run(direct("x:fail", `{}`)))
	for _, part := range []string{"ValueError: no", "tools/x.py:3"} {
		if !strings.Contains(string(end.RenderPlan), part) || strings.Contains(end.Result, "x.py") {
			t.Errorf("the plan of a failure is %s, its result %q", end.RenderPlan, end.Result)
		}
	}
}

// The page that a person is on reaches the tool.
func TestACallKnowsItsPage(t *testing.T) {
	t.Parallel()
	got := make(chan toolset.Call, 1)
	b, _ := newRogue(t, nil, tool("where", func(_ context.Context, c toolset.Call) (toolset.Result, error) {
		got <- c
		return toolset.Result{}, nil
	}))
	b.o.Runner = func(*registry.MirrorToolset, *registry.MirrorTool) (toolset.Runner, error) {
		return nil, errors.New("no test runs it")
	}
	b.install("research-streams") // which brings the page
	req := direct("where", `{}`)
	req.Page, req.Tab, req.Parts = "edit_research_stream", "2", []provider.Part{{Kind: provider.TextPart, Text: "look"}}
	req.Context = json.RawMessage(`{"stream_id":7}`)
	b.run(req)
	if c := <-got; c.Page != "edit_research_stream" || c.Tab != "2" || !strings.Contains(string(c.Context), `"stream_id":7`) {
		t.Errorf("page %q, tab %q, context %s", c.Page, c.Tab, c.Context)
	}
	if text := b.chat(1).Messages[0].Text(); text != "look" {
		t.Errorf("the question is %q", text)
	}
}

// The question of a turn that runs calls of the user has the arguments in words, and bounded.
func TestTheArgumentsOfAUsersCallAreInWords(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`"a":1,`, maxArgumentLines)
	for args, want := range map[string]string{
		`{"category":"movers","tags":["a","b"],"deep":{"n": [1, 2]},"ok":true}`: "\ncategory: movers\ntags: a, b\ndeep: {\"n\":[1,2]}\nok: true",
		`{"text":"two\nlines"}`:                                  "\ntext: two lines",
		`{"long":"` + strings.Repeat("x", 2*chat.MaxName) + `"}`: "\nlong: " + sanitize.Shorten(strings.Repeat("x", 2*chat.MaxName), chat.MaxName),
		`{` + many + `"last":1}`:                                 strings.Repeat("\na: 1", maxArgumentLines) + "\n…",
		`{}`:                                                     "", ``: "", `[1]`: "", `nonsense`: "",
	} {
		if got := argumentLines(json.RawMessage(args)); got != want {
			t.Errorf("%s:\n got %q\nwant %q", args, got, want)
		}
	}
}
