package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// The endpoint gets the request without the members that it doesn't take.
func TestTokensAreCountedByTheAddress(t *testing.T) {
	t.Parallel()
	answers := []struct {
		status int
		body   string
	}{{200, `{"input_tokens":42}`}, {200, `{}`}, {429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`}}
	var got map[string]json.RawMessage
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/messages/count_tokens" || json.Unmarshal(raw, &got) != nil || r.Header.Get("Anthropic-Version") == "" {
			t.Errorf("asked %s with %s", r.URL, raw)
		}
		w.WriteHeader(answers[n].status)
		_, _ = io.WriteString(w, answers[n].body)
		n++
	}))
	defer srv.Close()
	p, err := New(Options{BaseURL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer p.CloseIdleConnections()
	half := 0.5
	req := &provider.Request{
		Model: "claude-opus-5-5", System: "Be brief.", Temperature: &half, MaxTokens: 10, Sampling: provider.Sampling{Stop: []string{"x"}},
		Messages: []provider.Message{{Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: "hi"}}}},
		Tools:    []provider.ToolSpec{{Name: "look", InputSchema: []byte(`{"type":"object"}`)}},
	}
	if n, err := p.CountTokens(t.Context(), req); n != 42 || err != nil {
		t.Errorf("counted %d: %v", n, err)
	}
	for _, name := range []string{"model", "system", "messages", "tools"} {
		if got[name] == nil {
			t.Errorf("the request has no %s", name)
		}
	}
	for _, name := range []string{"max_tokens", "stream", "temperature", "top_p", "stop_sequences"} {
		if got[name] != nil {
			t.Errorf("the request has %s: %s", name, got[name])
		}
	}
	for _, kind := range []provider.Kind{provider.Undecodable, provider.RateLimited} {
		var pe *provider.Error
		if _, err := p.CountTokens(t.Context(), req); !errors.As(err, &pe) || pe.Kind != kind {
			t.Errorf("got %v, want %v", err, kind)
		}
	}
}
