package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

func refuse(w http.ResponseWriter, message, param string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(obj{"error": obj{"message": message, "type": "invalid_request_error", "param": param, "code": nil}})
}

func say(w http.ResponseWriter, text string) { fmt.Fprint(w, delta1(obj{"content": text}, "stop")) }

// Models that think by themselves take no tools over chat completions unless
// they are told not to think. The tools must not be what is dropped.
func TestThinkingGivesWayToTools(t *testing.T) {
	t.Parallel()
	yes := true
	const newer = "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."
	const older = "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. Please use /v1/responses instead."
	for name, c := range map[string]struct {
		says  string
		think *bool
		takes func(body string) bool
		notes int
	}{
		"thinks unasked":   {newer, nil, func(b string) bool { return strings.Contains(b, `"reasoning_effort":"none"`) }, 0},
		"asked to":         {newer, &yes, func(b string) bool { return strings.Contains(b, `"reasoning_effort":"none"`) }, 1},
		"may not be asked": {older, &yes, func(b string) bool { return !strings.Contains(b, `reasoning_effort`) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{API: APIChat}, func(w http.ResponseWriter, body string) {
				if strings.Contains(body, `"tools"`) && !c.takes(body) {
					refuse(w, c.says, "reasoning_effort")
					return
				}
				say(w, "hi")
			})
			req := &provider.Request{
				Model: "m", Think: c.think, Messages: []provider.Message{providertest.User(providertest.Words("hi"))}, Tools: []provider.ToolSpec{{Name: "now"}},
			}
			for range 2 { // the second time it is known
				if text, notes, err := listen(p, t.Context(), req); text != "hi" || err != nil || len(notes) != c.notes {
					t.Fatalf("it said %q with notes %q, %v", text, notes, err)
				}
			}
			got := bodies()
			if len(got) != 3 || !strings.Contains(got[2], `"now"`) {
				t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
			}
			req.Tools = nil
			if _, _, err := listen(p, t.Context(), req); err != nil {
				t.Errorf("without tools it ended with %v", err)
			}
			if last := bodies(); c.think != nil && !strings.Contains(last[3], `"reasoning_effort":"medium"`) {
				t.Errorf("without tools it sent %s", last[3])
			}
		})
	}
}

// A level that is refused becomes the nearest one that the refusal names, and later
// requests ask for that at once.
func TestRefusedEffort(t *testing.T) {
	t.Parallel()
	const listed = "Unsupported value: 'reasoning_effort' does not support '%s' with this model. Supported values are: %s."
	for name, c := range map[string]struct {
		asked provider.Effort
		takes string // the level that the server takes; empty is none at all
		says  string
		notes int
	}{
		"none of four":         {provider.EffortNone, "minimal", fmt.Sprintf(listed, "none", "'minimal', 'low', 'medium', and 'high'"), 1},
		"none of three":        {provider.EffortNone, "low", fmt.Sprintf(listed, "none", "'low', 'medium', and 'high'"), 1},
		"more than there is":   {provider.EffortMax, "high", fmt.Sprintf(listed, "max", "'none', 'low', 'medium', and 'high'"), 1},
		"a list without words": {provider.EffortXHigh, "high", "reasoning_effort: Input should be low | high, got xhigh", 1},
		"backquotes":           {provider.EffortMinimal, "low", "reasoning_effort: unknown variant `minimal`, expected one of `low`, `medium`, `high`", 1},
		"no list":              {provider.EffortXHigh, "high", "reasoning_effort xhigh is invalid", 1},
		"no such field":        {provider.EffortHigh, "", "Unrecognized request argument supplied: reasoning_effort", 1},
		"taken as it is":       {provider.EffortHigh, "high", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
				_, level, has := strings.Cut(body, `"reasoning_effort":"`)
				level, _, _ = strings.Cut(level, `"`)
				if has && level != c.takes {
					refuse(w, c.says, "reasoning_effort")
					return
				}
				say(w, "hi")
			})
			thinks := c.asked.Thinks()
			req := &provider.Request{Model: "m", Think: &thinks, Effort: c.asked, Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}
			for range 2 {
				if text, notes, err := listen(p, t.Context(), req); text != "hi" || err != nil || len(notes) != c.notes {
					t.Fatalf("the answer is %q with notes %q, error %v", text, notes, err)
				}
			}
			want := 2 // requests
			if c.says != "" {
				want++
			}
			got := bodies()
			if last := got[len(got)-1]; len(got) != want || c.takes != "" && !strings.Contains(last, `"reasoning_effort":"`+c.takes+`"`) {
				t.Errorf("%d requests were sent, want %d:\n%s", len(got), want, strings.Join(got, ""))
			}
		})
	}
}

// One tool that is refused is left out and remembered; the others stay.
func TestARefusedTool(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"bad"`) {
			refuse(w, "Invalid schema for function 'my_bad': In context=('properties', 'bad'), 'allOf' is not supported.", "tools[0].function.parameters")
			return
		}
		say(w, "hi")
	})
	req := &provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}, Tools: []provider.ToolSpec{
		{Name: "my:bad", InputSchema: json.RawMessage(`{"type":"object","properties":{"bad":{"allOf":[{}]}}}`)}, {Name: "now"},
	}}
	for range 2 {
		text, notes, err := listen(p, t.Context(), req)
		if text != "hi" || err != nil || len(notes) != 1 || !strings.Contains(notes[0], "my:bad was left out: In context") {
			t.Fatalf("it said %q with notes %q, %v", text, notes, err)
		}
	}
	if got := bodies(); len(got) != 3 || !strings.Contains(got[2], `"now"`) {
		t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
	}
}

// Alternatives at the top become one object, as OpenAI wants it.
func TestSchemasThatAreRefusedAtTheTop(t *testing.T) {
	t.Parallel()
	b := encode(t, &provider.Request{Model: "m", Tools: []provider.ToolSpec{{
		Name: "find", Description: "finds", InputSchema: json.RawMessage(`{"not":{},"anyOf":[
			{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},
			{"type":"object","properties":{"ids":{"type":["array","null"]}},"required":["ids"]}]}`),
	}}}, APIChat, chatcompletions.Quirks{})
	if len(b.Notes) > 0 {
		t.Fatal(b.Notes)
	}
	var got struct {
		Tools []struct {
			Function struct {
				Description string
				Parameters  json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(b.Body, &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"name":{"type":"string"},"ids":{"type":["array","null"],"items":{}}}}`
	f := got.Tools[0].Function
	if string(f.Parameters) != want || !strings.HasPrefix(f.Description, "finds\n\nAt least one of these") {
		t.Errorf("it sent %s, described as %q", f.Parameters, f.Description)
	}
}

// Ids of other providers, too long or used twice, become ones that are taken;
// each result keeps to its call.
func TestIdsOfCalls(t *testing.T) {
	t.Parallel()
	long := "call_" + strings.Repeat("x", 60) + "|fc_1"
	var messages []provider.Message
	for _, id := range []string{"call_1", long, "call_1", long} {
		messages = append(messages, providertest.User(providertest.Words("go on")),
			provider.Message{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: "now"}}}},
			provider.Message{Role: provider.Tool, Parts: []provider.Part{{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: id, Name: "now"}}}})
	}
	for _, q := range []chatcompletions.Quirks{{}, {NineID: true}} {
		b := encode(t, &provider.Request{Model: "m", Messages: messages}, APIChat, q)
		var got struct{ Messages []chatcompletions.Message }
		if err := json.Unmarshal(b.Body, &got); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i := 1; i < len(got.Messages); i += 3 {
			id := got.Messages[i].ToolCalls[0].ID
			if seen[id] || id == "" || len(id) > 40 || q.NineID && wire.NineID(id) != id || got.Messages[i+1].ToolCallID != id {
				t.Errorf("call %d has the id %q, its result %q", i, id, got.Messages[i+1].ToolCallID)
			}
			seen[id] = true
		}
	}
}

func TestIdsOfNineAreLearnt(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, "call_1") {
			refuse(w, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", "")
			return
		}
		say(w, "hi")
	})
	if text, _, err := listen(p, t.Context(), everything()); text != "hi" || err != nil || len(bodies()) != 2 {
		t.Errorf("it said %q, %v after %d requests", text, err, len(bodies()))
	}
}

// What other providers think is no business of this one.
func TestDetailsOfOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	req := everything()
	req.Messages[1].Parts[0].Details = json.RawMessage(`[{"type":"thinking","thinking":"secret","signature":"s"},{"type":"redacted_thinking","data":"d"},{"type":"tool_use","id":"c"},{"type":"openai.item","item":{"type":"reasoning","encrypted_content":"secret"}},{"type":"openai.call","call":"c"}]`)
	b := encode(t, req, APIChat, chatcompletions.Quirks{})
	if strings.Contains(string(b.Body), "secret") || strings.Contains(string(b.Body), "reasoning_details") {
		t.Errorf("it sent %s", b.Body)
	}
}
