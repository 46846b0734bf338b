package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

const birdSchema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`

func TestAnAnswerThatHasToBeJSON(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   []string
		kept   string
	}{
		"at once": {
			"responses:\n  - text: '{\"name\":\"wren\"}'\n",
			[]string{"meta stop", `"{\"name\":\"wren\"}"`, "complete"}, `{"name":"wren"}`,
		},
		"in a code fence": {
			"responses:\n  - text: \"```json\\n{\\\"name\\\":\\\"wren\\\"}\\n```\"\n",
			[]string{"meta stop", `"{\"name\":\"wren\"}"`, "complete"}, `{"name":"wren"}`,
		},
		"after a repair": {
			"responses:\n  - text: A wren.\n  - {expect: {last: [JSON Schema]}, text: '{\"name\":\"wren\"}'}\n",
			[]string{"meta stop", "status", "meta stop", `"{\"name\":\"wren\"}"`, "complete"}, `{"name":"wren"}`,
		},
		"never": {
			"responses: [{when: '', text: '{\"nam\":1}'}]\n",
			[]string{"meta stop", "status", "meta stop", "error invalid_reply"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.script)
			req := ask("a bird")
			req.Schema = json.RawMessage(birdSchema)
			events := b.run(req)
			want(t, events, c.want...)
			if got := b.chat(1).Messages[1].Text(); got != c.kept {
				t.Errorf("kept %q, want %q", got, c.kept)
			}
			if e := find[event.Error](events); e.Code != "" && !strings.Contains(strings.Join(e.Detail, " "), "name") {
				t.Errorf("the error doesn't say what is wrong: %+v", e)
			}
		})
	}
}

func TestABadRequestWritesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*TurnRequest)
		code   fault.Code
	}{
		"nothing to ask":        {func(r *TurnRequest) { r.Parts = nil }, fault.Usage},
		"a schema that is none": {func(r *TurnRequest) { r.Schema = json.RawMessage(`{"type":3}`) }, fault.Usage},
		"a rule that is none":   {func(r *TurnRequest) { r.Policy.Allow = []string{"["} }, fault.Usage},
		"no such tool":          {func(r *TurnRequest) { r.Tools = []string{"raed_file"} }, fault.Usage},
		"no such provider":      {func(r *TurnRequest) { r.Model = "scrip/m.yaml" }, fault.Unavailable},
		"no such model":         {func(r *TurnRequest) { r.Model = "script/x.yaml" }, fault.Unavailable},
		"a model without place": {func(r *TurnRequest) { r.Model = "m.yaml" }, fault.Usage},
		"no such chat":          {func(r *TurnRequest) { r.Chat.Number = 9 }, fault.NotFound},
		"no last chat":          {func(r *TurnRequest) { r.Chat.Last = true }, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, `{responses: [{text: Hi.}]}`)
			req := ask("go")
			c.change(&req)
			_, err := b.Start(t.Context(), req)
			if fault.CodeOf(err) != c.code || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v (%s), want %s", err, fault.CodeOf(err), c.code)
			}
			if left := files(t, filepath.Join(b.dir, "data")); len(left) > 0 {
				t.Errorf("written: %v", left)
			}
		})
	}
}

func TestHowAModelFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   []string
		code   fault.Code
	}{
		"cut": {"responses: [{deltas: [{content: Half}], cut: true}]",
			[]string{`"Half"`, "error invalid_reply"}, fault.InvalidReply},
		"rate-limited for good": {"responses: [{error: {kind: rate_limited, status: 429, message: slow down}}]",
			[]string{"status", "error overloaded"}, fault.Overloaded},
		"too long": {"responses: [{error: {kind: context_full, status: 400, message: too long}}]",
			[]string{"error context"}, fault.Context},
		"wrong key": {"responses: [{error: {kind: unauthorised, status: 401, message: bad key}}]",
			[]string{"error unauthorised"}, fault.Unauthorised},
		"no tools": {"capabilities: {tools: refuses}\nresponses: [{text: Fine.}]",
			[]string{"footnote", `"Fine."`, "meta stop", "complete"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.script)
			events := b.run(ask("go"))
			want(t, events, c.want...)
			if e := find[event.Error](events); e.Code != string(c.code) {
				t.Errorf("code %s, want %s", e.Code, c.code)
			}
			m := b.chat(1).Messages[1]
			if (m.Status == chat.Answered) != (c.code == "") {
				t.Errorf("kept as %s", m.Status)
			}
		})
	}
}

func TestAnotherModelTakesOver(t *testing.T) {
	t.Parallel()
	b := newBench(t, "responses: [{error: {kind: overloaded, status: 503, message: busy}}]")
	other := "responses: [{text: I stand in.}]"
	if err := os.WriteFile(filepath.Join(b.dir, "other.yaml"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	req := ask("go")
	req.Fallback = []string{"script/missing.yaml", "script/other.yaml"}
	events := b.run(req)
	want(t, events, "status", "footnote", `"I stand in."`, "meta stop", "complete")
	if m := b.chat(1).Messages[1]; m.Model != "script/other.yaml" || len(m.Notes) != 1 {
		t.Errorf("kept %+v", m)
	}
}

func TestHalfAnAnswerIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, "responses: [{text: Half an, error: {kind: overloaded, status: 503, message: busy}}]")
	req := ask("go")
	req.Fallback = []string{"script/m.yaml"}
	events := b.run(req)
	want(t, events, `"Half an"`, "error overloaded")
}

func TestAssembly(t *testing.T) {
	t.Parallel()
	text := func(s string) provider.Part { return provider.Part{Kind: provider.TextPart, Text: s} }
	question := chat.Message{Role: provider.User, Parts: []provider.Part{
		{Kind: provider.FilePart, Name: "a\"<b>.md", Text: "one </file> two"},
		{Kind: provider.ImagePart, Name: "i.png", MIME: "image/png", Data: []byte{1}},
		text("what?"),
	}}
	call := func(step int, id string) provider.Part {
		return provider.Part{Kind: provider.ToolCallPart, Step: step, Call: &provider.ToolCall{ID: id, Name: "my:tool", Args: json.RawMessage(`{}`)}}
	}
	result := func(step int, id string) provider.Part {
		return provider.Part{Kind: provider.ToolResultPart, Step: step, Result: &provider.ToolResult{ID: id, Name: "my:tool", Text: "r"}}
	}
	answer := chat.Message{Role: provider.Assistant, Parts: []provider.Part{
		{Kind: provider.ReasoningPart, Text: "hm"}, text("First."), call(0, "a"), result(0, "a"), call(0, "b"), result(0, "b"),
		{Kind: provider.TextPart, Text: "Then.", Step: 1}, call(1, "c"),
	}}
	empty := chat.Message{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.ReasoningPart, Text: "only thought"}}}
	a := assembly{
		model: "m", system: "be brief", history: []chat.Message{question, answer, {Role: provider.User, Parts: []provider.Part{text("go on")}}, empty, question},
		name: chat.BareID, tools: []provider.ToolSpec{{Name: "tool"}}, without: map[provider.Feature]bool{provider.FeatureImages: true},
	}
	var got []string
	for _, m := range assemble(a).Messages {
		line := string(m.Role)
		for _, p := range m.Parts {
			line += " " + string(p.Kind)
			switch {
			case p.Call != nil:
				line += "=" + p.Call.Name + "/" + p.Call.ID
			case p.Result != nil:
				line += "=" + p.Result.ID
			default:
				line += "=" + p.Text
			}
		}
		got = append(got, line)
	}
	block := "user text=<file_ name=\"a'(b).md\">\none </file> two\n</file_>"
	wantLines := []string{
		block, "user text=what?",
		"assistant text=First. tool_call=tool/a tool_call=tool/b", "tool tool_result=a tool_result=b",
		"assistant text=Then.", // the call without a result is not sent
		"user text=go on",
		// an answer of reasoning alone is not sent either
		block, "user text=what?",
	}
	if strings.Join(got, "\n") != strings.Join(wantLines, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(wantLines, "\n"))
	}
	a.schema = json.RawMessage(birdSchema)
	if req := assemble(a); len(req.Tools) != 1 || string(req.Schema) != birdSchema || req.System != "be brief" || req.Tokens == 0 {
		t.Errorf("request %+v", req)
	}
	a.without[provider.FeatureTools], a.without[provider.FeatureSchema] = true, true
	if req := assemble(a); len(req.Tools) != 0 || req.Schema != nil || !strings.Contains(req.System, birdSchema) {
		t.Errorf("request without tools and schema %+v", req)
	}
}
