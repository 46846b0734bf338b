package dialect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

const toolsOfAllForms = `[
 {"type":"function","name":"plain","parameters":{"type":"object","properties":{}}},
 {"type":"namespace","name":"mcp__notes","description":"d","tools":[
   {"type":"function","name":"find","description":"finds","parameters":{"type":"object","properties":{"q":{"type":"string"}}}},
   {"type":"custom","name":"write"}]},
 {"type":"namespace","name":"mcp__files__","tools":[{"type":"function","name":"list"}]},
 {"type":"custom","name":"apply_patch","description":"patches","format":{"type":"grammar","syntax":"lark","definition":"start: line"}},
 {"type":"web_search"}]`

// Tools of namespaces and custom tools are offered to the model as functions; a tool that
// cannot be offered is reported.
func TestResponsesToolsOfAllForms(t *testing.T) {
	t.Parallel()
	r, err := Decode(Responses, []byte(`{"model":"m","input":"q","tool_choice":{"type":"custom","name":"apply_patch"},"tools":`+toolsOfAllForms+`}`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"plain", "mcp__notes__find", "mcp__notes__write", "mcp__files__list", "apply_patch"}; !slices.Equal(names, want) {
		t.Errorf("the tools are %q, want %q", names, want)
	}
	if patch := r.Tools[4]; !strings.Contains(patch.Description, "lark grammar:\nstart: line") || !strings.Contains(string(patch.Schema), `"input"`) {
		t.Errorf("the custom tool is %+v", patch)
	}
	if want := []string{"tools[4] of type web_search"}; !slices.Equal(r.Ignored, want) || r.Choice.Name != "apply_patch" {
		t.Errorf("it ignores %q and chooses %+v", r.Ignored, r.Choice)
	}
	for _, part := range []string{`"type":"namespace"`, `"type":"custom"`, `"name":"find"`} {
		if !strings.Contains(string(r.Echo.Tools), part) {
			t.Errorf("the echo lacks %s: %s", part, r.Echo.Tools)
		}
	}
	if _, err := Decode(Responses, []byte(`{"model":"m","input":"q","tools":[{"type":"namespace","tools":[]}]}`)); err == nil {
		t.Error("a namespace without a name is accepted")
	}
}

// Calls of such tools and their outputs in the history reach the model under the names of
// its functions.
func TestResponsesCallsOfAllFormsInTheHistory(t *testing.T) {
	t.Parallel()
	r, err := Decode(Responses, []byte(`{"model":"m","input":[
	 {"type":"message","role":"user","content":"q"},
	 {"type":"function_call","call_id":"1","namespace":"mcp__notes","name":"find","arguments":"{\"q\":\"x\"}"},
	 {"type":"custom_tool_call","call_id":"2","name":"apply_patch","input":"*** \"Begin\"\nline"},
	 {"type":"function_call_output","call_id":"1","output":"found"},
	 {"type":"custom_tool_call_output","call_id":"2","output":"patched"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) != 3 || len(r.Messages[1].Parts) != 2 || len(r.Messages[2].Parts) != 2 {
		t.Fatalf("the messages are %+v", r.Messages)
	}
	find, patch := r.Messages[1].Parts[0].Call, r.Messages[1].Parts[1].Call
	var in struct{ Input string }
	if json.Unmarshal(patch.Args, &in) != nil || in.Input != "*** \"Begin\"\nline" || patch.Name != "apply_patch" || find.Name != "mcp__notes__find" || find.Extra != nil {
		t.Errorf("the calls are %+v and %+v", find, patch)
	}
	if got := r.Messages[2].Parts[1].Result; got.ID != "2" || got.Text != "patched" {
		t.Errorf("the result is %+v", got)
	}
}

// A call is sent in the form that its client knows.
func TestResponsesCallsOfAllForms(t *testing.T) {
	t.Parallel()
	r, wrong := Decode(Responses, []byte(`{"model":"m","input":"q","tools":`+toolsOfAllForms+`}`))
	if wrong != nil {
		t.Fatal(wrong)
	}
	for name, c := range map[string]struct {
		tool, args string
		want       []string
	}{
		"a function":                   {"plain", `{}`, []string{`"type":"function_call"`, `"name":"plain"`}},
		"of a namespace":               {"mcp__notes__find", `{"q":"x"}`, []string{`"type":"function_call"`, `"namespace":"mcp__notes"`, `"name":"find"`, `"arguments":"{\"q\":\"x\"}"`}},
		"custom":                       {"apply_patch", `{"input":"a\nb"}`, []string{`"type":"custom_tool_call"`, `"name":"apply_patch"`, `"input":"a\nb"`, `response.custom_tool_call_input.done`}},
		"custom, of a namespace":       {"mcp__notes__write", `{"input":"a"}`, []string{`"type":"custom_tool_call"`, `"namespace":"mcp__notes"`, `"name":"write"`}},
		"custom, with other arguments": {"apply_patch", `{"patch":"a"}`, []string{`"input":"{\"patch\":\"a\"}"`}},
	} {
		enc := newResponses(r.Options())
		out, err := enc.Append(nil, event.Event{TurnID: "t", Seq: 1, Body: event.ToolStart{
			ToolUseID: "u", ToolID: ClientToolset + ":" + c.tool, Tool: c.tool, Input: json.RawMessage(c.args),
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range c.want {
			if !strings.Contains(string(out), part) {
				t.Errorf("%s: %s is missing from\n%s", name, part, out)
			}
		}
	}
}

// Custom tools work in chat completions, too: in the request, in its history and in answers
// with and without a stream.
func TestCustomToolsOfChatCompletions(t *testing.T) {
	t.Parallel()
	r, wrong := Decode(OpenAI, []byte(`{"model":"m","presence_penalty":0.5,"frequency_penalty":0,"parallel_tool_calls":false,
	 "tools":[{"type":"custom","custom":{"name":"patch","description":"patches","format":{"type":"grammar","grammar":{"syntax":"regex","definition":"a+"}}}}],
	 "tool_choice":{"type":"custom","custom":{"name":"patch"}},
	 "messages":[{"role":"user","content":"q"},
	  {"role":"assistant","tool_calls":[{"id":"1","type":"custom","custom":{"name":"patch","input":"a\na"}}]},
	  {"role":"tool","tool_call_id":"1","content":"done"}]}`))
	if wrong != nil {
		t.Fatal(wrong)
	}
	call := r.Messages[1].Parts[0].Call
	if call.Name != "patch" || string(call.Args) != `{"input":"a\na"}` || call.Extra != nil || r.Choice.Name != "patch" || !strings.Contains(r.Tools[0].Description, "regex grammar:\na+") {
		t.Errorf("the call is %+v, the choice %+v, the tool %+v", call, r.Choice, r.Tools[0])
	}
	if len(r.Ignored) > 0 || r.Presence == nil || *r.Presence != 0.5 || r.Frequency != nil || r.Parallel == nil || *r.Parallel {
		t.Errorf("it ignores %q, the settings are %+v", r.Ignored, r.Settings)
	}
	start := event.Event{TurnID: "t", Seq: 1, Body: event.ToolStart{
		ToolUseID: "u", ToolID: ClientToolset + ":patch", Tool: "patch", Input: json.RawMessage(`{"input":"b"}`),
	}}
	const want = `"id":"u","type":"custom","custom":{"name":"patch","input":"b"}`
	streamed, err := newOpenAI(r.Options()).Append(nil, start)
	if err != nil || !strings.Contains(string(streamed), want) {
		t.Errorf("the stream has %s, %v", streamed, err)
	}
}
