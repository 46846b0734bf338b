package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// everything is a request that uses every field.
func everything() *provider.Request {
	warm, yes := 0.2, true
	call := provider.ToolCall{ID: "call_1", Name: "my-tools:analyze", Args: json.RawMessage(`{"file": "a<b>.csv"}`)}
	wrong := provider.ToolCall{ID: "call_2", Name: "gone", Args: json.RawMessage(`"{\"a\":"`)}
	return &provider.Request{
		Model: "m", System: "Be brief.", MaxTokens: 100, Temperature: &warm, Think: &yes,
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`),
		Tools: []provider.ToolSpec{
			{Name: "my-tools:analyze", Description: "analyses", InputSchema: json.RawMessage(`{"type":"object","properties":{"file":{"type":"string"}}}`)},
			{Name: "now"},
			{Name: "broken", InputSchema: json.RawMessage(`{"type":`)},
		},
		Messages: []provider.Message{
			providertest.User(provider.Part{Kind: provider.ImagePart, Data: []byte("\x89PNG"), MIME: "image/png"}, providertest.Words("What is this?")),
			{Role: provider.Assistant, Parts: []provider.Part{
				{Kind: provider.ReasoningPart, Text: "hm"}, providertest.Words("Let me"), providertest.Words(" see."),
				{Kind: provider.ToolCallPart, Call: &call}, {Kind: provider.ToolCallPart, Call: &wrong},
			}},
			{Role: provider.Tool, Parts: []provider.Part{
				{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: "call_1", Name: "my-tools:analyze", Text: "3 rows & <more>"}},
				{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: "call_2", Name: "gone", Text: "no such tool", Error: true}},
			}},
			{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.ReasoningPart, Text: "only thoughts"}}},
			providertest.User(providertest.Words("Go"), providertest.Words("on."), providertest.Words("")),
			providertest.User(),
		},
	}
}

func TestEncode(t *testing.T) {
	t.Parallel()
	signed := everything()
	signed.Messages[1].Parts[0].Details = json.RawMessage(`[{"type":"reasoning.text","text":"hm","signature":"x"}]`)
	kept := everything()
	kept.Messages[1].Parts = append([]provider.Part{{Kind: provider.ReasoningPart, Details: json.RawMessage(
		`[{"type":"openai.item","item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA","status":null}},{"type":"openai.message","fields":{"phase":"commentary"}}]`,
	)}}, kept.Messages[1].Parts...)
	for name, c := range map[string]struct {
		req *provider.Request
		q   chatcompletions.Quirks
	}{
		"responses":       {kept, chatcompletions.Quirks{}},
		"responses-least": {&provider.Request{Model: "gpt-4o", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}, chatcompletions.Quirks{}},
		"responses-all-that-is-learnt": {kept, chatcompletions.Quirks{
			NoTemperature: true, Schema: chatcompletions.SchemaWords, NoEncrypted: true, NoSummary: true, NoStore: true, ItemIDs: true, MediaApart: true, NoEffort: true,
		}},
		"all": {everything(), chatcompletions.Quirks{}},
		"all-that-is-learnt": {everything(), chatcompletions.Quirks{
			CompletionTokens: true, NoStreamOptions: true, NoTemperature: true, Schema: chatcompletions.SchemaWords,
			Reasoning: chatcompletions.FieldReasoningContent, Beside: chatcompletions.EffortNone, NineID: true,
		}},
		"reasoning":        {everything(), chatcompletions.Quirks{Reasoning: chatcompletions.FieldReasoning}},
		"signed-reasoning": {signed, chatcompletions.Quirks{Reasoning: chatcompletions.FieldReasoning}},
		"least":            {&provider.Request{Model: "m", Messages: []provider.Message{providertest.User(providertest.Words("hi"))}}, chatcompletions.Quirks{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := APIChat
			if strings.HasPrefix(name, "responses") {
				api = APIResponses
			}
			got := encode(t, c.req, api, c.q)
			var b bytes.Buffer
			if err := json.Indent(&b, got.Body, "", "  "); err != nil {
				t.Fatal(err)
			}
			for _, n := range got.Notes {
				fmt.Fprintf(&b, "note: %s\n", n.Text)
			}
			providertest.Golden(t, filepath.Join("testdata", "request-"+name+".json"), b.Bytes(), *update)
		})
	}
}

// encode makes the body of a request to an API.
func encode(t *testing.T, req *provider.Request, api string, q chatcompletions.Quirks) *chatcompletions.Built {
	t.Helper()
	p, err := New(Options{API: api})
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Encode(req, q, chatcompletions.Adaption{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serve plays an address; it answers by the handler and notes the bodies.
func serve(t *testing.T, o Options, handle func(w http.ResponseWriter, body string)) (*Provider, func() []string) {
	t.Helper()
	var bodies func() []string
	o.BaseURL, o.Client, bodies = providertest.Serve(t, handle)
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p, bodies
}

func listen(p *Provider, ctx context.Context, req *provider.Request) (text string, notes []string, err error) {
	h := providertest.Listen(ctx, p, req)
	return h.Text, h.Notes, h.Err
}

func TestWhatIsRefusedIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field, refusal string // sent at first, and what is said to it
		instead        string
	}{
		"stream_options":  {`"stream_options"`, `Invalid JSON payload received. Unknown name \"stream_options\" at 'generation_config': Cannot find field.`, ""},
		"max_tokens":      {`"max_tokens"`, `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`, `"max_completion_tokens":100`},
		"temperature":     {`"temperature"`, `Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.`, ""},
		"seed":            {`"seed"`, `Unknown name \"seed\": Cannot find field.`, ""},
		"response_format": {`"response_format"`, `This response_format type is unavailable now`, `matches this JSON Schema`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
				if strings.Contains(body, c.field) {
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"error":{"message":"%s"}}`, c.refusal)
					return
				}
				fmt.Fprint(w, delta1(obj{"content": "hi"}, "stop"))
			})
			req := everything()
			req.Think = nil
			if name == "seed" {
				seed := int64(7)
				req.Seed = &seed
			}
			want := 1 // the broken tool
			if name == "temperature" || name == "seed" {
				want++
			}
			for range 2 { // the second time it is known
				if text, notes, err := listen(p, t.Context(), req); text != "hi" || err != nil || len(notes) != want {
					t.Fatalf("it said %q with notes %q, %v", text, notes, err)
				}
			}
			got := bodies()
			if len(got) != 3 || !strings.Contains(got[1], c.instead) || !strings.Contains(got[2], c.instead) {
				t.Errorf("it sent %d requests:\n%s", len(got), strings.Join(got, ""))
			}
		})
	}
}

func TestARefusalThatTeachesNothingIsFinal(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"stream_options, temperature, max_completion_tokens: no"}}`)
	})
	_, _, err := listen(p, t.Context(), everything())
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Rejected || len(bodies()) != 4 { // one for each thing that it names
		t.Errorf("after %d requests: %v", len(bodies()), err)
	}
}

func TestReasoningGoesBackAsItCame(t *testing.T) {
	t.Parallel()
	p, bodies := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
		fmt.Fprint(w, delta1(obj{"reasoning": "hm"}, nil)+delta1(obj{"content": "hi"}, "stop"))
	})
	for range 2 {
		if _, _, err := listen(p, t.Context(), everything()); err != nil {
			t.Fatal(err)
		}
	}
	got := bodies()
	if strings.Contains(got[0], `"reasoning":"hm"`) || !strings.Contains(got[1], `"reasoning":"hm"`) {
		t.Errorf("it sent\n%s", strings.Join(got, ""))
	}
}

func TestKeysAndHeaders(t *testing.T) {
	t.Parallel()
	var seen http.Header
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"bad key %s and %s"}}`, r.Header.Get("Authorization"), r.Header.Get("Api-Key"))
	}))
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	key, failed := " my-own-key-0123 \n", error(nil)
	p, err := New(Options{Options: wire.Options{
		Name: "lab", BaseURL: srv.URL + "/v2/", Client: &http.Client{Transport: transport},
		Key:     func(context.Context) (string, error) { return key, failed },
		Headers: map[string]string{"Api-Key": "another-secret-4567", "X-Title": "fettle"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = listen(p, t.Context(), everything())
	if seen.Get("Authorization") != "Bearer my-own-key-0123" || seen.Get("Api-Key") != "another-secret-4567" || seen.Get("X-Title") != "fettle" {
		t.Errorf("it sent %v", seen)
	}
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Unauthorised || e.Message != "bad key Bearer [key] and [key]" || e.Provider != "lab" {
		t.Errorf("it ended with %+v", err)
	}
	key, failed = "", errors.New("OPENAI_API_KEY is not set")
	if _, _, err = listen(p, t.Context(), everything()); !errors.As(err, &e) || e.Kind != provider.Unauthorised || e.Message != "OPENAI_API_KEY is not set" {
		t.Errorf("without a key it ended with %v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"": "https://api.openai.com/v1", "http://localhost:8000": "http://localhost:8000/v1", "http://localhost:8000/": "http://localhost:8000/v1",
		"https://openrouter.ai/api/v1": "https://openrouter.ai/api/v1", "https://x/openai/?api-version=1": "https://x/openai/?api-version=1",
	} {
		p, err := New(Options{Options: wire.Options{BaseURL: base}})
		if err != nil || p.Base.String() != want {
			t.Errorf("%q: %v, %v", base, p, err)
		}
	}
	for _, base := range []string{"localhost:8000", "ftp://x", "http://", "://", "/v1"} {
		if _, err := New(Options{Options: wire.Options{BaseURL: base}}); err == nil {
			t.Errorf("%q was taken", base)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	list := `{"object":"list","data":[
		{"id":"gpt-4o","object":"model","created":1715367049,"owned_by":"openai"},
		{"id":"vllm","created":0,"max_model_len":32768},
		{"id":"llama","meta":{"n_ctx_train":8192,"size":4242}},
		{"id":"router","context_length":200000,"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools","reasoning","structured_outputs"]},
		{"id":"plain","context_length":"4096","architecture":{"input_modalities":["text"]},"supported_parameters":["temperature"]},
		{"id":"mistral","max_context_length":131072,"capabilities":{"function_calling":true,"vision":false}},
		{"id":"odd","capabilities":["completion"],"context_window":null},
		{"id":"text-embedding-3-small"},{"id":"dall-e-3"},{"id":"whisper-1"},{"id":"BAAI/bge-m3"},{"id":"gpt-image-1"},
		{"name":"named"},{}]}`
	want := []provider.Model{
		{Name: "gpt-4o", Created: provider.UnixTime(1715367049)}, {Name: "vllm", ContextLength: 32768}, {Name: "llama", ContextLength: 8192, Size: 4242},
		{Name: "router", ContextLength: 200000, Tools: provider.Yes, Images: provider.Yes, Thinking: provider.Yes, Schema: provider.Yes},
		{Name: "plain", ContextLength: 4096, Tools: provider.No, Images: provider.No, Thinking: provider.No, Schema: provider.No},
		{Name: "mistral", ContextLength: 131072, Tools: provider.Yes, Images: provider.No}, {Name: "odd"},
		{Name: "text-embedding-3-small", Chats: provider.No}, {Name: "dall-e-3", Chats: provider.No}, {Name: "whisper-1", Chats: provider.No},
		{Name: "BAAI/bge-m3", Chats: provider.No}, {Name: "gpt-image-1", Chats: provider.No}, {Name: "named"},
	}
	p, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, list) })
	got, err := p.Models(t.Context())
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i := range want {
		want[i].Provider = "openai"
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	if m, err := p.Model(t.Context(), "vllm"); err != nil || m.ContextLength != 32768 {
		t.Errorf("a listed model is %+v, %v", m, err)
	}
	if m, err := p.Model(t.Context(), "unlisted"); err != nil || m.Ref() != "openai/unlisted" {
		t.Errorf("another is %+v, %v", m, err)
	}
	bare, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `[{"id":"a"}]`) })
	if got, err := bare.Models(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("a bare list gives %+v, %v", got, err)
	}
	page, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `<html>`) })
	var e *provider.Error
	if _, err := page.Models(t.Context()); !errors.As(err, &e) || e.Kind != provider.Undecodable {
		t.Errorf("a web page gives %v", err)
	}
}

func TestCallsWithoutEnd(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range wire.MaxCalls + 1 {
		b.WriteString(delta1(obj{"tool_calls": []obj{{"index": i, "id": fmt.Sprint(i), "function": obj{"name": "a"}}}}, nil))
	}
	_, err := readAll(strings.NewReader(b.String()), "")
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Undecodable {
		t.Errorf("it ended with %v", err)
	}
}

// stream is a long answer in small pieces.
func stream(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-AbCdEf","object":"chat.completion.chunk","created":1795816640,"model":"gpt-4o","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null}]}`+"\n\n", i%1000)
	}
	b.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return b.Bytes()
}

// BenchmarkDecode reads 100,000 small deltas; floor decodes each chunk into
// the smallest struct there can be, and does nothing else.
func BenchmarkDecode(b *testing.B) {
	const n = 100_000
	body := stream(n)
	b.Run("decoder", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dec := chatcompletions.NewDecoder(bytes.NewReader(body), chatcompletions.DecoderOptions{})
			var batch []provider.Delta
			total := 0
			for {
				got, err := dec.Read(batch[:0])
				if err != nil {
					b.Fatal(err)
				}
				batch = got.Deltas
				total += len(batch)
				if got.Done {
					break
				}
			}
			if total != n+1 {
				b.Fatalf("%d deltas", total)
			}
		}
	})
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for line := range bytes.Lines(body) {
				data, ok := bytes.CutPrefix(line, []byte("data: {"))
				if !ok {
					continue
				}
				var c struct {
					Choices []struct {
						Delta struct {
							Content string `json:"content"`
						} `json:"delta"`
					} `json:"choices"`
				}
				if err := json.Unmarshal(line[len(line)-len(data)-1:], &c); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
