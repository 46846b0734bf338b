package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/anthropic"
	"github.com/fettle-cli/fettle/engine/provider/mistral"
	"github.com/fettle-cli/fettle/engine/provider/ollama"
	"github.com/fettle-cli/fettle/engine/provider/openai"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// The wire formats of requests, by the dialect or the provider that has them.
const (
	chatAPI      = "chat"
	responsesAPI = "responses"
	messagesAPI  = "messages"
	ollamaAPI    = "ollama"
	mistralAPI   = "mistral"
)

// upstream plays the addresses of all providers, and keeps the last body that was posted.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	body []byte
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{}
	sse := func(w http.ResponseWriter, chunks ...string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", c)
		}
	}
	const chunk = `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`
	answers := map[string]func(http.ResponseWriter){
		"/chat/v1/chat/completions":    func(w http.ResponseWriter) { sse(w, chunk, "[DONE]") },
		"/mistral/v1/chat/completions": func(w http.ResponseWriter) { sse(w, chunk, "[DONE]") },
		"/responses/v1/responses": func(w http.ResponseWriter) {
			sse(w, `{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"ok"}`,
				`{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"ok"}]}]}}`)
		},
		"/messages/v1/messages": func(w http.ResponseWriter) {
			sse(w, `{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`,
				`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
				`{"type":"message_stop"}`)
		},
		"/ollama/api/chat": func(w http.ResponseWriter) {
			fmt.Fprintln(w, `{"model":"m","message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop"}`)
		},
	}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path]
		if answer == nil { // facts about Ollama's models
			fmt.Fprintln(w, `{"capabilities":["completion","tools","thinking","vision"],"model_info":{},"details":{}}`)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		u.body = raw
		u.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(u.Close)
	return u
}

// sent returns the last body.
func (u *upstream) sent(t *testing.T) (body any) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	must(t, json.Unmarshal(u.body, &body))
	return body
}

// capture is a provider that takes every parameter, and keeps the last request.
type capture struct {
	mu  sync.Mutex
	req provider.Request
}

func (*capture) Name() string { return "capture" }

func (*capture) Model(_ context.Context, name string) (provider.Model, error) {
	return provider.Model{Provider: "capture", Name: name, Images: provider.Yes, Tools: provider.Yes}, nil
}

func (c *capture) Stream(_ context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	return func(yield func([]provider.Delta, error) bool) {
		c.mu.Lock()
		c.req = *req
		c.mu.Unlock()
		yield([]provider.Delta{
			{Kind: provider.Content, Text: "ok"},
			{Kind: provider.Meta, Meta: &event.Meta{StopReason: provider.StopEnd}},
		}, nil)
	}
}

func (c *capture) last() provider.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.req
}

// peers are the providers of the test, by the API that they speak. The key of an entry is the
// model that is asked.
func (u *upstream) peers(c *capture) map[string]func() (provider.Provider, error) {
	return map[string]func() (provider.Provider, error){
		"capture": func() (provider.Provider, error) { return c, nil },
		chatAPI: func() (provider.Provider, error) {
			return openai.New(openai.Options{Options: wire.Options{Name: chatAPI, BaseURL: u.URL + "/chat/v1"}, API: openai.APIChat})
		},
		responsesAPI: func() (provider.Provider, error) {
			return openai.New(openai.Options{Options: wire.Options{Name: responsesAPI, BaseURL: u.URL + "/responses/v1"}, API: openai.APIResponses})
		},
		messagesAPI: func() (provider.Provider, error) {
			return anthropic.New(anthropic.Options{Name: messagesAPI, BaseURL: u.URL + "/messages/v1"})
		},
		ollamaAPI: func() (provider.Provider, error) {
			return ollama.New(ollama.Options{Name: ollamaAPI, Host: u.URL + "/ollama"})
		},
		mistralAPI: func() (provider.Provider, error) {
			return mistral.New(mistral.Options{Options: wire.Options{Name: mistralAPI, BaseURL: u.URL + "/mistral/v1"}})
		},
	}
}

// peerModels are the models that are asked: of Anthropic's one of each way of thinking.
func peerModels() map[string][]string {
	return map[string][]string{
		chatAPI: {"chat/m"}, responsesAPI: {"responses/m"}, ollamaAPI: {"ollama/m"}, mistralAPI: {"mistral/m"},
		messagesAPI: {"messages/claude-sonnet-4-5", "messages/claude-opus-4-8", "messages/claude-3-5-sonnet-latest", "messages/other"},
	}
}

// wish is one parameter of a client: where each dialect has it, and where each API of a
// provider takes it. A path that is missing is an API without it; a path may be followed by
// = and the JSON that the value becomes, and | is between two places.
type wish struct {
	name  string
	value any
	in    map[string]string // by dialect; the path is the name in the header, too
	out   map[string]string // by API
	field map[string]string // the name in the header where it is another
	// reached reads the value from the captured request.
	reached func(provider.Request) any
}

func same(path string, apis ...string) map[string]string {
	out := map[string]string{}
	for _, a := range apis {
		out[a] = path
	}
	return out
}

func with(base map[string]string, pairs ...string) map[string]string {
	for i := 0; i+1 < len(pairs); i += 2 {
		base[pairs[i]] = pairs[i+1]
	}
	return base
}

const tool0 = `tools.0.`

func wishes() []wish {
	return []wish{
		{name: "temperature", value: 0.5, in: with(same("temperature", chatAPI, responsesAPI, messagesAPI), ollamaAPI, "options.temperature"),
			out:     with(same("temperature", chatAPI, responsesAPI, messagesAPI, mistralAPI), ollamaAPI, "options.temperature"),
			reached: func(r provider.Request) any { return r.Temperature }},
		{name: "top_p", value: 0.25, in: with(same("top_p", chatAPI, responsesAPI, messagesAPI), ollamaAPI, "options.top_p"),
			out:     with(same("top_p", chatAPI, responsesAPI, messagesAPI, mistralAPI), ollamaAPI, "options.top_p"),
			reached: func(r provider.Request) any { return r.TopP }},
		{name: "top_k", value: 7, in: with(same("top_k", chatAPI, responsesAPI, messagesAPI), ollamaAPI, "options.top_k"),
			out: with(same("top_k", chatAPI, messagesAPI), ollamaAPI, "options.top_k"), reached: func(r provider.Request) any { return r.TopK }},
		{name: "min_p", value: 0.125, in: with(same("min_p", chatAPI, responsesAPI), ollamaAPI, "options.min_p"),
			out: with(same("min_p", chatAPI), ollamaAPI, "options.min_p"), reached: func(r provider.Request) any { return r.MinP }},
		{name: "seed", value: 42, in: with(same("seed", chatAPI, responsesAPI), ollamaAPI, "options.seed"),
			out:     with(same("seed", chatAPI), mistralAPI, "random_seed", ollamaAPI, "options.seed"),
			reached: func(r provider.Request) any { return r.Seed }},
		{name: "stop", value: []string{"END", "\n\n"}, in: with(same("stop", chatAPI, responsesAPI), messagesAPI, "stop_sequences", ollamaAPI, "options.stop"),
			out:     with(same("stop", chatAPI, mistralAPI), messagesAPI, "stop_sequences", ollamaAPI, "options.stop"),
			reached: func(r provider.Request) any { return r.Stop }},
		{name: "frequency_penalty", value: 0.5, in: with(same("frequency_penalty", chatAPI, responsesAPI), ollamaAPI, "options.frequency_penalty"),
			out:     with(same("frequency_penalty", chatAPI, mistralAPI), ollamaAPI, "options.frequency_penalty"),
			reached: func(r provider.Request) any { return r.FrequencyPenalty }},
		{name: "presence_penalty", value: -0.5, in: with(same("presence_penalty", chatAPI, responsesAPI), ollamaAPI, "options.presence_penalty"),
			out:     with(same("presence_penalty", chatAPI, mistralAPI), ollamaAPI, "options.presence_penalty"),
			reached: func(r provider.Request) any { return r.PresencePenalty }},
		{name: "repeat_penalty", value: 1.5, in: with(same("repeat_penalty", chatAPI, responsesAPI), ollamaAPI, "options.repeat_penalty"),
			out: with(map[string]string{}, ollamaAPI, "options.repeat_penalty"), reached: func(r provider.Request) any { return r.RepeatPenalty }},
		{name: "logit_bias", value: doc{"50256": -100}, in: same("logit_bias", chatAPI, responsesAPI), out: same("logit_bias", chatAPI),
			reached: func(r provider.Request) any { return r.LogitBias }},
		{name: "parallel_tool_calls", value: false, in: with(same("parallel_tool_calls", chatAPI, responsesAPI), messagesAPI, "tool_choice.disable_parallel_tool_use=true"),
			out:     with(same("parallel_tool_calls", chatAPI, responsesAPI, mistralAPI), messagesAPI, "tool_choice.disable_parallel_tool_use=true"),
			reached: func(r provider.Request) any { return r.ParallelCalls }},
		{name: "verbosity", value: "low", in: with(same("verbosity", chatAPI), responsesAPI, "text.verbosity"),
			out: with(same("verbosity", chatAPI), responsesAPI, "text.verbosity"), reached: func(r provider.Request) any { return r.Verbosity }},
		{name: "service_tier", value: "flex", in: same("service_tier", chatAPI, responsesAPI), out: same("service_tier", chatAPI, responsesAPI),
			reached: func(r provider.Request) any { return r.ServiceTier }},
		{name: "standard_only", value: "standard_only", in: same("service_tier", messagesAPI), out: same("service_tier", chatAPI, responsesAPI, messagesAPI),
			reached: func(r provider.Request) any { return r.ServiceTier }},
		{name: "user", value: "u-1", in: with(same("user", chatAPI, responsesAPI), messagesAPI, "metadata.user_id"),
			out: with(same("user", chatAPI, responsesAPI), messagesAPI, "metadata.user_id"), reached: func(r provider.Request) any { return r.User }},
		{name: "safety_identifier", value: "s-1", in: same("safety_identifier", chatAPI, responsesAPI),
			out:     with(same("safety_identifier", chatAPI, responsesAPI), messagesAPI, "metadata.user_id"),
			reached: func(r provider.Request) any { return r.SafetyID }},
		{name: "prompt_cache_key", value: "k", in: same("prompt_cache_key", chatAPI, responsesAPI), out: same("prompt_cache_key", chatAPI, responsesAPI),
			reached: func(r provider.Request) any { return r.CacheKey }},
		{name: "strict", value: true,
			in:      with(same(tool0+"function.strict", chatAPI), responsesAPI, tool0+"strict", messagesAPI, tool0+"strict"),
			field:   with(same("tools[].function.strict", chatAPI), responsesAPI, "tools[].strict", messagesAPI, "tools[].strict"),
			out:     with(same(tool0+"function.strict", chatAPI, mistralAPI), responsesAPI, tool0+"strict", messagesAPI, tool0+"strict"),
			reached: func(r provider.Request) any { return len(r.Tools) > 0 && r.Tools[0].Strict }},
		{name: "name", value: "alice", in: same("messages.0.name", chatAPI), field: same("messages[].name", chatAPI), out: same("messages.0.name", chatAPI),
			reached: func(r provider.Request) any { return r.Messages[0].Speaker() }},
		{name: "effort", value: "high", in: with(same("reasoning_effort", chatAPI), responsesAPI, "reasoning.effort", messagesAPI, "output_config.effort", ollamaAPI, "think"),
			// Anthropic's older models have a budget in place of levels.
			out:     with(same("reasoning_effort", chatAPI, mistralAPI), responsesAPI, "reasoning.effort", messagesAPI, `output_config.effort|thinking.type="enabled"`, ollamaAPI, "think"),
			reached: func(r provider.Request) any { return r.Effort }},
		{name: "max_tokens", value: 9000, in: with(same("max_tokens", chatAPI, messagesAPI), responsesAPI, "max_output_tokens", ollamaAPI, "options.num_predict"),
			out:     with(same("max_tokens", chatAPI, messagesAPI, mistralAPI), responsesAPI, "max_output_tokens", ollamaAPI, "options.num_predict"),
			reached: func(r provider.Request) any { return r.MaxTokens }},
		// What no provider gets is reported whoever is asked.
		{name: "logprobs", value: true, in: same("logprobs", chatAPI, ollamaAPI)},
		{name: "top_logprobs", value: 3, in: same("top_logprobs", chatAPI, responsesAPI, ollamaAPI)},
		{name: "metadata", value: doc{"k": "v"}, in: same("metadata", chatAPI)},
		{name: "num_ctx", value: 4096, in: same("options.num_ctx", ollamaAPI)},
		{name: "keep_alive", value: "5m", in: same("keep_alive", ollamaAPI)},
		{name: "context_management", value: doc{"edits": []any{}}, in: same("context_management", messagesAPI)},
		{name: "unheard of", value: 1, in: same("unheard_of", chatAPI, responsesAPI, messagesAPI, ollamaAPI)},
		{name: "unheard of in text", value: 1, in: same("text.unheard_of", responsesAPI)},
		{name: "unheard of in output_config", value: 1, in: same("output_config.unheard_of", messagesAPI)},
	}
}

// place sets the value at a path of an object, making objects on the way.
func place(at doc, path string, value any) {
	path, became, ok := strings.Cut(path, "=")
	if ok {
		value = json.RawMessage(became)
	}
	steps := strings.Split(path, ".")
	var node any = at
	for i, step := range steps {
		last := i == len(steps)-1
		switch n := node.(type) {
		case doc:
			if last {
				n[step] = value
				return
			}
			if n[step] == nil {
				n[step] = doc{}
			}
			node = n[step]
		case []doc:
			k, _ := strconv.Atoi(step)
			node = n[k]
		}
	}
}

// found returns the value at a path.
func found(at any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch n := at.(type) {
		case doc:
			at = n[step]
		case []any:
			k, _ := strconv.Atoi(step)
			if k >= len(n) {
				return nil
			}
			at = n[k]
		default:
			return nil
		}
	}
	return at
}

// question is a request with a tool in a dialect, and the path of the route.
func question(n, model string) (path string, body doc) {
	schema := doc{"type": "object", "properties": doc{"q": doc{"type": "string"}}, "required": []string{"q"}, "additionalProperties": false}
	fn := doc{"name": "look", "description": "looks", "parameters": schema}
	said := []doc{{"role": "user", "content": "hi"}}
	switch n {
	case chatAPI:
		return "/v1/chat/completions", doc{"model": model, "messages": said, "tools": []doc{{"type": "function", "function": fn}}}
	case responsesAPI:
		return "/v1/responses", doc{"model": model, "input": "hi", "store": false, "tools": []doc{{"type": "function", "name": "look", "description": "looks", "parameters": schema}}}
	case messagesAPI:
		return "/v1/messages", doc{"model": model, "max_tokens": 8000, "messages": said, "tools": []doc{{"name": "look", "description": "looks", "input_schema": schema}}, "tool_choice": doc{"type": "auto"}}
	}
	return "/api/chat", doc{"model": model, "stream": false, "messages": said, "tools": []doc{{"type": "function", "function": fn}}}
}

// jsonText is a value as JSON, for comparisons.
func jsonText(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return string(raw)
}

// samples are subsets of the wishes that a dialect has: each alone, all, and some by chance.
func samples(n string, by *rand.Rand) [][]wish {
	all := slices.DeleteFunc(wishes(), func(w wish) bool { return w.in[n] == "" })
	out := [][]wish{all}
	for _, w := range all {
		out = append(out, []wish{w})
	}
	for range 6 {
		var some []wish
		for _, w := range all {
			if by.IntN(3) == 0 {
				some = append(some, w)
			}
		}
		out = append(out, some)
	}
	return out
}

// Every parameter of a client reaches the provider, or is named in X-Fettle-Ignored: through
// each dialect, to each provider, alone and with others, streamed or not.
func TestEveryParameterReachesTheProviderOrIsReported(t *testing.T) {
	t.Parallel()
	u, c := newUpstream(t), &capture{}
	h := open(t, plan{providers: u.peers(c)})
	by := rand.New(rand.NewPCG(7, 7))
	for _, n := range []string{chatAPI, responsesAPI, messagesAPI, ollamaAPI} {
		for _, some := range samples(n, by) {
			h.reaches(t, n, some, c)
			for api, models := range peerModels() {
				for _, model := range models {
					h.reachesPeer(t, u, sample{n, api, model, by.IntN(2) == 0, some})
				}
			}
		}
	}
}

// sample is a request of a client to a model.
type sample struct {
	dialect, api, model string
	stream              bool
	wishes              []wish
}

func (s sample) String() string {
	var names []string
	for _, w := range s.wishes {
		names = append(names, w.name)
	}
	return fmt.Sprintf("%s to %s, stream %v, with %s", s.dialect, s.model, s.stream, strings.Join(names, " "))
}

// ask sends a sample, and returns the names in the header.
func (h *house) ask(s sample) []string {
	h.t.Helper()
	path, body := question(s.dialect, s.model)
	for _, w := range s.wishes {
		place(body, w.in[s.dialect], w.value)
	}
	body["stream"] = s.stream
	got := h.call("POST", path, body)
	got.what = s.String()
	return strings.Split(got.is(200, nil).header.Get("X-Fettle-Ignored"), ", ")
}

// fieldOf is the name of a wish in the header of a dialect.
func (w wish) fieldOf(n string) string {
	if w.field[n] != "" {
		return w.field[n]
	}
	field, _, _ := strings.Cut(w.in[n], "=")
	return field
}

// reaches checks what the engine hands to a provider that takes everything.
func (h *house) reaches(t *testing.T, n string, some []wish, c *capture) {
	t.Helper()
	s := sample{n, "", "capture/m", false, some}
	ignored := h.ask(s)
	for _, w := range some {
		named := slices.Contains(ignored, w.fieldOf(n))
		got := w.reached != nil && jsonText(t, w.reached(c.last())) == jsonText(t, w.value)
		if got == named {
			t.Errorf("%s: %s reached the provider: %v, and the header names %q", s, w.name, got, ignored)
		}
	}
}

// reachesPeer checks what a provider's address gets.
func (h *house) reachesPeer(t *testing.T, u *upstream, s sample) {
	t.Helper()
	ignored := h.ask(s)
	body := u.sent(t)
	for _, w := range s.wishes {
		got := false
		for place := range strings.SplitSeq(w.out[s.api], "|") {
			path, became, ok := strings.Cut(place, "=")
			want := jsonText(t, w.value)
			if ok {
				want = became
			}
			got = got || path != "" && jsonText(t, found(body, path)) == want
		}
		if named := slices.Contains(ignored, w.fieldOf(s.dialect)); got == named {
			t.Errorf("%s: %s is sent: %v, and the header names %q\n%s", s, w.name, got, ignored, jsonText(t, body))
		}
	}
	if extra := slices.DeleteFunc(ignored, func(f string) bool {
		return f == "" || slices.ContainsFunc(s.wishes, func(w wish) bool { return w.fieldOf(s.dialect) == f })
	}); len(extra) > 0 {
		t.Errorf("%s: the header names %q, which the request does not have", s, extra)
	}
}
