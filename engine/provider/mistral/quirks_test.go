package mistral

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
	forbidden := func(field string) string {
		return `{"detail":[{"type":"extra_forbidden","loc":["body","` + field + `"],"msg":"Extra inputs are not permitted"}]}`
	}
	schema := func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) }
	for name, c := range map[string]struct {
		change  func(*provider.Request)
		field   string // sent at first
		refusal string // what is said to it
		instead string // sent from then on
		notes   int
	}{
		"strict":      {schema, `"strict":true`, errorBody("invalid_request_error", "3051", "response_format.json_schema.strict is not supported by this model"), `"strict":false`, 0},
		"effort":      {func(r *provider.Request) { r.Think = &yes }, `"reasoning_effort":"high"`, forbidden("reasoning_effort"), "", 1},
		"no effort":   {func(r *provider.Request) { r.Think = &no }, `"reasoning_effort":"none"`, errorBody("invalid_request_invalid_args", "3051", "reasoning_effort is not enabled for this model"), "", 0},
		"reasoning":   {func(r *provider.Request) { r.Think = &yes }, `"reasoning_effort"`, errorBody("invalid_request_invalid_args", "3051", "Reasoning is not supported by this model"), "", 1},
		"temperature": {func(r *provider.Request) { r.Temperature = &warmth }, `"temperature"`, errorBody("invalid_request_error", "3051", "temperature must be 1 for this model"), "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
				if strings.Contains(body, c.field) {
					refuse(w, 422, c.refusal)
					return
				}
				fmt.Fprint(w, says("hi"))
			})
			req := with(short("m"), c.change)
			for range 2 { // the second time it is known
				if h := providertest.Listen(t.Context(), p, req); h.Text != "hi" || h.Err != nil || len(h.Notes) != c.notes {
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

// A model without structured output at all gets the schema in words.
func TestASchemaInWords(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"a word": errorBody("invalid_request_error", "3051", "Structured output is not enabled for this model"),
		"a list": `{"object":"error","message":{"detail":[{"type":"literal_error","loc":["body","response_format","type"],"msg":"Input should be 'text' or 'json_object'"}]}}`,
	} {
		p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
			if strings.Contains(body, `"response_format"`) {
				refuse(w, 400, refusal)
				return
			}
			fmt.Fprint(w, says(`{"n":1}`))
		})
		req := with(short("m"), func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) })
		for i, want := range []int{3, 4} { // the second time it is known
			h := providertest.Listen(t.Context(), p, req)
			if h.Err != nil || h.Text != `{"n":1}` || len(bodies()) != want {
				t.Fatalf("%s, time %d: after %d requests it said %q, %v", name, i, len(bodies()), h.Text, h.Err)
			}
		}
		if last := bodies()[3]; !strings.Contains(last, `matches this JSON Schema:\n{\"type\":\"object\"`) {
			t.Errorf("%s: it sent %s", name, last)
		}
	}
}

// One that is refused for what is in it says nothing of the next one.
func TestASchemaThatIsTooMuch(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"strict":true`) && strings.Contains(body, `"n"`) {
			refuse(w, 400, errorBody("invalid_request_error", "3051", "response_format: the schema is too complex"))
			return
		}
		fmt.Fprint(w, says(`{"n":1}`))
	})
	for _, schema := range []string{simpleSchema, strings.ReplaceAll(simpleSchema, `"n"`, `"m"`)} {
		h := providertest.Listen(t.Context(), p, with(short("m"), func(r *provider.Request) { r.Schema = json.RawMessage(schema) }))
		if h.Err != nil || h.Text != `{"n":1}` {
			t.Errorf("it said %q, %v", h.Text, h.Err)
		}
	}
	if got := bodies(); len(got) != 3 || !strings.Contains(got[1], `"strict":false`) || !strings.Contains(got[2], `"strict":true`) {
		t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
	}
}

func TestThoughtsThatAreRefused(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"type":"thinking"`) {
			refuse(w, 422, `{"detail":[{"type":"union_tag_invalid","loc":["body","messages",4,"assistant","content"],"msg":"Input tag 'thinking' found using 'type' does not match any of the expected tags"}]}`)
			return
		}
		fmt.Fprint(w, says("hi"))
	})
	for range 2 { // it holds for one request: the next one's thoughts may be good
		if h := providertest.Listen(t.Context(), p, everything("mistral-medium-latest")); h.Err != nil || h.Text != "hi" {
			t.Fatalf("it said %q, %v", h.Text, h.Err)
		}
	}
	if got := bodies(); len(got) != 4 || strings.Contains(got[1], `"signature"`) || !strings.Contains(got[1], `"reasoning_effort":"high"`) {
		t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
	}
}

func TestARefusalThatTeachesNothingIsFinal(t *testing.T) {
	t.Parallel()
	refusals := 0
	p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
		refusals++
		refuse(w, 400, errorBody("invalid_request_error", "3051", "response_format, reasoning_effort, content, temperature: no"))
	})
	var e *provider.Error
	req := with(everything("m"), func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) })
	if h := providertest.Listen(t.Context(), p, req); !errors.As(h.Err, &e) || e.Kind != provider.Rejected || refusals != 6 { // one for each thing that it names, twice for the schema
		t.Errorf("after %d requests: %v", refusals, h.Err)
	}
	refusals = 0
	plain := &provider.Request{Model: "another", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}
	if h := providertest.Listen(t.Context(), p, plain); !errors.As(h.Err, &e) || e.Kind != provider.Rejected || refusals != 1 {
		t.Errorf("after %d requests: %v", refusals, h.Err)
	}
}

// Of what has nothing to do with a form, no form is learnt.
func TestOtherRefusalsTeachNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		kind   provider.Kind
	}{
		"a schema of a tool": {400, errorBody("invalid_request_error", "3051", "Invalid tool schema: tools.0"), provider.Rejected},
		"the length":         {400, errorBody("invalid_request_error", "3051", "The content of the prompt is too large for model with 100 maximum context length"), provider.ContextFull},
		"images":             {400, errorBody("invalid_request_error", "3051", "Image content is not supported by this model"), provider.Unsupported},
		"a model":            {400, errorBody("invalid_model", "1500", "Invalid model: response_format"), provider.UnknownModel},
		"a server":           {500, errorBody("internal_server_error", "1000", "response_format"), provider.Overloaded},
	} {
		p, bodies := serve(t, Options{}, func(w http.ResponseWriter, _ string) { refuse(w, c.status, c.body) })
		req := with(everything("m"), func(r *provider.Request) { r.Schema = json.RawMessage(simpleSchema) })
		var e *provider.Error
		if h := providertest.Listen(t.Context(), p, req); !errors.As(h.Err, &e) || e.Kind != c.kind || len(bodies()) != 1 {
			t.Errorf("%s: after %d requests it ended with %+v", name, len(bodies()), h.Err)
		}
	}
}

// One tool that is refused is left out and remembered; the others stay.
func TestARefusedTool(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"bad"`) {
			refuse(w, 422, `{"detail":[{"type":"value_error","loc":["body","tools",0,"function","parameters"],"msg":"Invalid schema"}]}`)
			return
		}
		fmt.Fprint(w, says("hi"))
	})
	req := short("m")
	req.Tools = []provider.ToolSpec{{Name: "bad", InputSchema: json.RawMessage(`{"type":"object","properties":{"bad":{}}}`)}, {Name: "now"}}
	for range 2 {
		h := providertest.Listen(t.Context(), p, req)
		if h.Text != "hi" || h.Err != nil || len(h.Notes) != 1 || !strings.Contains(h.Notes[0], "tool bad was left out: function.parameters") {
			t.Fatalf("it said %q with notes %q, %v", h.Text, h.Notes, h.Err)
		}
	}
	if got := bodies(); len(got) != 3 || !strings.Contains(got[2], `"now"`) {
		t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
	}
}
