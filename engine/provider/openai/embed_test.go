package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// answering serves one answer after the other and keeps the bodies of the requests by path.
func answering(t *testing.T, answers ...string) (p *Provider, asked map[string]map[string]any) {
	t.Helper()
	asked = map[string]map[string]any{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		if json.Unmarshal(raw, &body) != nil {
			t.Errorf("%s got %s", r.URL, raw)
		}
		asked[r.URL.Path] = body
		answer := answers[0]
		answers = answers[1:]
		if status, ok := strings.CutPrefix(answer, "429 "); ok {
			w.WriteHeader(http.StatusTooManyRequests)
			answer = status
		}
		if strings.HasPrefix(answer, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, _ = io.WriteString(w, answer)
	}))
	p, err := New(Options{Options: wire.Options{BaseURL: srv.URL, Body: map[string]json.RawMessage{"vendor": json.RawMessage(`1`)}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	t.Cleanup(p.CloseIdleConnections)
	return p, asked
}

// Vectors are read as lists of numbers and as base64, in the order of their indexes; an
// answer that doesn't fit the question is an error.
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	lists := `{"data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[2,3e-1]}],"usage":{"prompt_tokens":7}}`
	packed := `{"data":[{"embedding":"AAAAQJqZmT4="},{"embedding":"AAAAPwAAgL8="}]}`
	p, asked := answering(t, lists, packed, `{"data":[{"embedding":[1]}]}`, `{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, `{"data":[{"embedding":"AAA="},{"embedding":[1]}]}`,
		`{"data":[{"embedding":[]},{"embedding":[]}]}`, `[]`, `429 {"error":{"message":"slow down"}}`)
	req := &provider.EmbedRequest{Model: "m", Texts: []string{"a", "b"}, Dimensions: 2}
	for i, tokens := range []int64{7, 0} {
		got, err := p.Embed(t.Context(), req)
		if err != nil || got.Tokens != tokens || !slices.Equal(got.Vectors[0], []float32{2, 0.3}) || !slices.Equal(got.Vectors[1], []float32{0.5, -1}) {
			t.Fatalf("answer %d: %+v, %v", i, got, err)
		}
	}
	if body := asked["/v1/embeddings"]; body["model"] != "m" || body["dimensions"] != 2.0 || len(body["input"].([]any)) != 2 {
		t.Errorf("asked with %v", body)
	}
	for i := range 6 {
		var pe *provider.Error
		if got, err := p.Embed(t.Context(), req); !errors.As(err, &pe) || pe.Kind != provider.Undecodable {
			t.Errorf("bad answer %d: %v, %v", i, got, err)
		}
	}
	var pe *provider.Error
	if _, err := p.Embed(t.Context(), req); !errors.As(err, &pe) || pe.Kind != provider.RateLimited {
		t.Errorf("a refusal: %v", err)
	}
}

// A completion is the text of the choices as it is: spaces at its beginning count, and what
// looks like a tag of reasoning is text.
func TestCompletions(t *testing.T) {
	t.Parallel()
	stream := `data: {"choices":[{"index":0,"text":"  <think>","finish_reason":null}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"text":" x\n","finish_reason":"length"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n"
	p, asked := answering(t, stream, `{"choices":[{"index":0,"text":"whole","finish_reason":"stop"}]}`, `429 {"error":{"message":"slow down"}}`)
	seed := int64(7)
	read := func() (text, stop string, err error) {
		for batch, e := range p.Stream(t.Context(), &provider.Request{
			Model: "m", Completion: &provider.Completion{Prompt: "a(", Suffix: ")"}, MaxTokens: 9, Sampling: provider.Sampling{Seed: &seed, Stop: []string{"\n\n"}},
		}) {
			err = e
			for _, d := range batch {
				if text += d.Text; d.Meta != nil {
					stop = d.Meta.StopReason
				}
			}
		}
		return text, stop, err
	}
	if text, stop, err := read(); text != "  <think> x\n" || stop != provider.StopLength || err != nil {
		t.Errorf("read %q, %s, %v", text, stop, err)
	}
	want := map[string]any{"model": "m", "prompt": "a(", "suffix": ")", "max_tokens": 9.0, "seed": 7.0, "stream": true, "vendor": 1.0}
	for name, value := range want {
		if got := asked["/v1/completions"][name]; got != value {
			t.Errorf("%s is %v, want %v", name, got, value)
		}
	}
	if text, _, err := read(); text != "whole" || err != nil {
		t.Errorf("an answer without a stream: %q, %v", text, err)
	}
	var pe *provider.Error
	if _, _, err := read(); !errors.As(err, &pe) || pe.Kind != provider.RateLimited {
		t.Errorf("a refusal: %v", err)
	}
}
