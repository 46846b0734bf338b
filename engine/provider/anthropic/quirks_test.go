package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
)

func TestWhatIsRefusedIsSentInAnotherForm(t *testing.T) {
	t.Parallel()
	schema := func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) }
	for name, c := range map[string]struct {
		model   string
		change  func(*provider.Request)
		field   string // sent at first
		refusal string // what is said to it
		instead string // sent from then on
	}{
		"cache marks": {"m", func(*provider.Request) {}, `"cache_control"`, "tools.0.cache_control: Extra inputs are not permitted", ""},
		"display":     {"claude-opus-5-5", func(*provider.Request) {}, `"display"`, "thinking.adaptive.display: Extra inputs are not permitted", `"thinking":{"type":"adaptive"}`},
		"temperature": {"claude-opus-4-6", func(r *provider.Request) { r.Temperature = &warmth }, `"temperature"`, "`temperature` is deprecated for this model.", ""},
		"adaptive":    {"claude-next-9", func(r *provider.Request) { r.Think = &yes }, `"adaptive"`, "adaptive thinking is not supported on this model", `"type":"enabled","budget_tokens":16000`},
		"budget": {"m", func(r *provider.Request) { r.Think = &yes }, `"enabled"`,
			`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`, `"type":"adaptive"`},
		"off": {"claude-haiku-5-5", func(r *provider.Request) { r.Think = &no }, `"disabled"`,
			`"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`, `"effort":"low"`},
		"effort":       {"claude-opus-5-5", func(r *provider.Request) { r.Think = &no }, `"effort"`, "output_config.effort: Extra inputs are not permitted", ""},
		"format":       {"claude-haiku-4-5", schema, `"output_config"`, "output_config: Extra inputs are not permitted", `"tool_choice":{"type":"any"}`},
		"forced tool":  {"m", schema, `"tool_choice"`, `tool_choice: type "tool" and "any" are not supported for this model.`, `matches this JSON Schema`},
		"many tokens":  {"m", func(*provider.Request) {}, `"max_tokens":16384`, "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for m", `"max_tokens":8192`},
		"tokens range": {"m", func(*provider.Request) {}, `"max_tokens":16384`, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", `"max_tokens":8192`},
		"undeclared": {"m", func(r *provider.Request) {
			r.Tools = nil
			r.Messages = append(r.Messages, provider.Message{Role: provider.Assistant, Parts: []provider.Part{providertest.Called("1", "my:tool", "{}")}},
				provider.Message{Role: provider.Tool, Parts: []provider.Part{providertest.Answered("1", "my:tool", "x", false)}})
		}, `}],"stream"`, "Requests which include `tool_use` or `tool_result` blocks must define tools", `"name":"my_tool","input_schema":{"type":"object"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
				if strings.Contains(body, c.field) {
					refuse(w, 400, "invalid_request_error", c.refusal)
					return
				}
				fmt.Fprint(w, says("hi"))
			})
			req := with(short(c.model), c.change)
			for range 2 { // the second time it is known
				if h := providertest.Listen(t.Context(), p, req); h.Text != "hi" || h.Err != nil {
					t.Fatalf("it said %q with notes %q, %v", h.Text, h.Notes, h.Err)
				}
			}
			got := bodies()
			if len(got) != 3 || !strings.Contains(got[1], c.instead) || !strings.Contains(got[2], c.instead) {
				t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
			}
		})
	}
}

func TestAModelThatCannotThinkAtAll(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"thinking"`) {
			refuse(w, 400, "invalid_request_error", "thinking: this model can't")
			return
		}
		fmt.Fprint(w, says("hi"))
	})
	h := providertest.Listen(t.Context(), p, with(short("claude-next-9"), func(r *provider.Request) { r.Think = &yes }))
	if h.Err != nil || h.Text != "hi" || len(h.Notes) != 1 || len(bodies()) != 3 {
		t.Errorf("after %d requests it said %q with notes %q, %v", len(bodies()), h.Text, h.Notes, h.Err)
	}
}

func TestARefusedToolIsLeftOut(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		var s sent
		_ = json.Unmarshal([]byte(body), &s)
		for i, tool := range s.Tools {
			if strings.HasPrefix(tool.Name, "bad") {
				refuse(w, 400, "invalid_request_error", fmt.Sprintf("tools.%d.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12", i))
				return
			}
		}
		fmt.Fprint(w, says("hi"))
	})
	req := short("claude-opus-4-8")
	req.Tools = []provider.ToolSpec{{Name: "bad:1"}, {Name: "broken", InputSchema: []byte(`[]`)}, {Name: "good"}, {Name: "bad2"}}
	for i, want := range []int{3, 4} { // the second time it is known
		h := providertest.Listen(t.Context(), p, req)
		if h.Err != nil || h.Text != "hi" || len(h.Notes) != 3 || len(bodies()) != want {
			t.Fatalf("time %d: after %d requests it said %q with notes %q, %v", i, len(bodies()), h.Text, h.Notes, h.Err)
		}
		if !strings.Contains(h.Notes[0], "tool bad:1 was left out: custom.input_schema: JSON schema is invalid") {
			t.Errorf("it noted %q", h.Notes[0])
		}
	}
	if last := bodies()[3]; !strings.Contains(last, `"good"`) || strings.Contains(last, `"bad`) {
		t.Errorf("it sent %s", last)
	}
}

func TestThoughtsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, message := range map[string]string{
		"conversation": "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".",
		"modified":     "messages.5.content.3: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
				if strings.Contains(body, `"signature"`) {
					refuse(w, 400, "invalid_request_error", message)
					return
				}
				fmt.Fprint(w, says("hi"))
			})
			for range 2 { // it holds for one request: the next one's thoughts may be good
				if h := providertest.Listen(t.Context(), p, everything("claude-opus-5-5")); h.Err != nil || h.Text != "hi" {
					t.Fatalf("it said %q, %v", h.Text, h.Err)
				}
			}
			if got := bodies(); len(got) != 4 || strings.Contains(got[1], `thinking":"`) {
				t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
			}
		})
	}
}

func TestAQuestionThatLeavesLittleRoom(t *testing.T) {
	t.Parallel()
	refusal := "input length and `max_tokens` exceed context limit: 188240 + 16000 > 200000, decrease input length or `max_tokens` and try again"
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"max_tokens":16000`) {
			refuse(w, 400, "invalid_request_error", refusal)
			return
		}
		fmt.Fprint(w, says("hi"))
	})
	if h := providertest.Listen(t.Context(), p, short("claude-opus-4-1")); h.Err != nil || !strings.Contains(bodies()[1], `"max_tokens":11760`) {
		t.Errorf("it sent\n%s, %v", strings.Join(bodies(), ""), h.Err)
	}
	// What a person asks for is not changed.
	h := providertest.Listen(t.Context(), p, with(short("claude-opus-4-1"), func(r *provider.Request) { r.MaxTokens = 16000 }))
	var e *provider.Error
	if !errors.As(h.Err, &e) || e.Kind != provider.ContextFull || len(bodies()) != 3 {
		t.Errorf("after %d requests it ended with %v", len(bodies()), h.Err)
	}
}

func TestASchemaThatIsTooMuch(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"output_config"`) && strings.Contains(body, `"n"`) {
			refuse(w, 400, "invalid_request_error", "Schema is too complex for compilation.")
			return
		}
		fmt.Fprint(w, says(`{"n":1}`))
	})
	ask := func(schema string) providertest.Heard {
		return providertest.Listen(t.Context(), p, with(short("claude-opus-5"), func(r *provider.Request) { r.Schema, r.Tools = json.RawMessage(schema), nil }))
	}
	if h := ask(simpleSchema); h.Err != nil || h.Text != `{"n":1}` || !strings.Contains(bodies()[1], `"tool_choice":{"type":"tool","name":"answer"}`) {
		t.Errorf("it said %q, %v, and sent\n%s", h.Text, h.Err, strings.Join(bodies(), ""))
	}
	// Another schema is tried as it should be.
	if h := ask(strings.ReplaceAll(simpleSchema, `"n"`, `"m"`)); h.Err != nil || !strings.Contains(bodies()[2], `"output_config"`) {
		t.Errorf("it ended with %v, and sent\n%s", h.Err, bodies()[2])
	}
}

func TestARefusalThatTeachesNothingIsFinal(t *testing.T) {
	t.Parallel()
	refusals := 0
	p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
		refusals++
		refuse(w, 400, "invalid_request_error", "tools.0.x, tools.9.x, thinking, temperature, cache_control, display, max_tokens 5000, signature, effort, schema, tool_choice: no")
	})
	var e *provider.Error
	for _, model := range []string{"m", "claude-opus-5-5", "claude-3-haiku-20240307", "claude-sonnet-4-5"} {
		refusals = 0
		req := with(everything(model), func(r *provider.Request) {
			r.Think, r.Temperature, r.Schema = &yes, &warmth, json.RawMessage(simpleSchema)
		})
		if h := providertest.Listen(t.Context(), p, req); !errors.As(h.Err, &e) || e.Kind == provider.Undecodable || refusals > maxAdaptions+1 {
			t.Errorf("%s: after %d requests: %v", model, refusals, h.Err)
		}
	}
	refusals = 0
	plain := &provider.Request{Model: "claude-3-haiku-20240307", MaxTokens: 10, Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}
	if h := providertest.Listen(t.Context(), p, plain); !errors.As(h.Err, &e) || e.Kind != provider.Rejected || refusals != 1 {
		t.Errorf("after %d requests: %v", refusals, h.Err)
	}
}

// The answer as a call, as it comes from an old model.
func TestAnswersThatComeAsCalls(t *testing.T) {
	t.Parallel()
	call := func(i int, id, name, input string) string {
		return sendsBlock(i, obj{"type": "tool_use", "id": id, "name": name, "input": obj{}}, obj{"type": "input_json_delta", "partial_json": input})
	}
	text := sendsBlock(0, obj{"type": "text", "text": ""}, obj{"type": "text_delta", "text": "Let me see."})
	for name, c := range map[string]struct {
		schema, stream, reason string
		text                   string
		calls                  int
		stop                   string
	}{
		"an object":        {simpleSchema, call(1, "1", "answer", `{"n": 1}`), "tool_use", `{"n":1}`, 0, provider.StopEnd},
		"behind some text": {simpleSchema, text + call(1, "1", "answer", `{"n": 1}`), "tool_use", `{"n":1}`, 0, provider.StopEnd},
		"a list":           {`{"type":"array","items":{"type":"string"}}`, call(1, "1", "answer", `{"answer":["a"]}`), "tool_use", `["a"]`, 0, provider.StopEnd},
		"another tool":     {simpleSchema, text + call(1, "1", "now", `{}`), "tool_use", "Let me see.", 1, provider.StopToolUse},
		"both":             {simpleSchema, call(1, "1", "now", `{}`) + call(2, "2", "answer", `{"n":1}`), "tool_use", "", 1, provider.StopToolUse},
		"cut off":          {simpleSchema, call(1, "1", "answer", `{"n": 1`), "max_tokens", `{"n": 1`, 0, provider.StopLength},
		"as text":          {simpleSchema, text, "end_turn", "Let me see.", 0, provider.StopEnd},
		"nothing":          {simpleSchema, "", "end_turn", "", 0, provider.StopEnd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
				fmt.Fprint(w, c.stream+sends("message_delta", obj{"delta": obj{"stop_reason": c.reason}})+sends("message_stop", obj{}))
			})
			h := providertest.Listen(t.Context(), p, with(short("claude-3-haiku-20240307"), func(r *provider.Request) { r.Schema = json.RawMessage(c.schema) }))
			if h.Err != nil || h.Text != c.text || len(h.Calls) != c.calls || h.Meta.StopReason != c.stop {
				t.Errorf("it said %q, called %+v and stopped for %s, %v", h.Text, h.Calls, h.Meta.StopReason, h.Err)
			}
		})
	}
}
