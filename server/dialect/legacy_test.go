package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// The functions that preceded tools are offered as tools, function_call is the choice among
// them, and calls and results of the history are paired by their names.
func TestFunctionsBeforeTools(t *testing.T) {
	t.Parallel()
	const tail = `"functions":[{"name":"look","description":"looks","parameters":{"type":"object"}}],
	 "messages":[{"role":"user","content":"q"},
	  {"role":"assistant","content":null,"function_call":{"name":"look","arguments":"{\"q\":1}"}},
	  {"role":"function","name":"look","content":"one"},
	  {"role":"assistant","content":"Once more.","function_call":{"name":"look","arguments":"{\"q\":2}"}},
	  {"role":"function","name":"look","content":"two"}]}`
	for choice, want := range map[string]Choice{
		``:                                 {},
		`"function_call":null,`:            {},
		`"function_call":"auto",`:          {Mode: "auto"},
		`"function_call":"none",`:          {Mode: "none"},
		`"function_call":{"name":"look"},`: {Mode: "tool", Name: "look"},
	} {
		r, err := Decode(OpenAI, []byte(`{"model":"m",`+choice+tail))
		if err != nil {
			t.Fatal(err)
		}
		if r.Choice != want || len(r.Ignored) > 0 || len(r.Tools) != 1 || r.Tools[0].Name != "look" || !r.Functions || r.Parallel == nil || *r.Parallel {
			t.Errorf("%s: the choice is %+v, %q is ignored, the tools are %+v", choice, r.Choice, r.Ignored, r.Tools)
		}
		first, result, second, again := r.Messages[1].Parts[0].Call, r.Messages[2].Parts[0].Result, r.Messages[3].Parts[1].Call, r.Messages[4].Parts[0].Result
		if first.ID == second.ID || result.ID != first.ID || again.ID != second.ID || result.Text != "one" || string(second.Args) != `{"q":2}` {
			t.Errorf("%s: the calls are %+v and %+v, the results %+v and %+v", choice, first, second, result, again)
		}
	}
	for _, choice := range []string{`"required"`, `{}`, `7`} {
		if _, err := Decode(OpenAI, []byte(`{"model":"m","function_call":`+choice+`,`+tail)); err == nil {
			t.Errorf("function_call %s is accepted", choice)
		}
	}
}

// The answer to a request with functions has a function_call, streamed or not. A request with
// tools has tool_calls.
func TestAnswersWithAFunctionCall(t *testing.T) {
	t.Parallel()
	for form, want := range map[string][2]string{
		`"functions":[{"name":"look"}]`:                            {`"function_call":{"name":"look","arguments":"{\"q\":1}"}`, `"finish_reason":"function_call"`},
		`"tools":[{"type":"function","function":{"name":"look"}}]`: {`"tool_calls":[`, `"finish_reason":"tool_calls"`},
	} {
		r, err := Decode(OpenAI, []byte(`{"model":"m",`+form+`,"messages":[{"role":"user","content":"q"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		enc, whole := NewEncoder(OpenAI, r.Options()), NewObject(OpenAI, r.Options())
		var streamed []byte
		for i, b := range []event.Body{
			event.ToolStart{ToolUseID: "1", ToolID: ClientToolset + ":look", Tool: "look", Input: json.RawMessage(`{"q":1}`)},
			event.Complete{},
		} {
			e := event.Event{TurnID: "t", Seq: event.Seq(i + 1), Body: b}
			frames, err := enc.Append(nil, e)
			if err != nil || whole.Add(e) != nil {
				t.Fatal(err)
			}
			streamed = append(streamed, frames...)
		}
		_, body := whole.Body()
		for _, got := range []string{string(streamed), string(body)} {
			if !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
				t.Errorf("%s is answered with %s", form, got)
			}
		}
	}
}
