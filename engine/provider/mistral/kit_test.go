package mistral

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

func words(s string) provider.Part { return provider.Part{Kind: provider.TextPart, Text: s} }

func user(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.User, Parts: parts}
}

func called(id, name, args string) provider.Part {
	return provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}}
}

func answered(id, name, text string, failed bool) provider.Part {
	return provider.Part{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: id, Name: name, Text: text, Error: failed}}
}

func thought(details string) provider.Part {
	return provider.Part{Kind: provider.ReasoningPart, Details: json.RawMessage(details)}
}

// serve plays an address; it answers by the handler and notes the bodies.
func serve(t *testing.T, o Options, handle func(w http.ResponseWriter, body string)) (*Provider, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, string(raw))
		mu.Unlock()
		handle(w, string(raw))
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	o.BaseURL, o.Client = srv.URL, &http.Client{Transport: transport}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p, func() []string { mu.Lock(); defer mu.Unlock(); return bodies }
}

// heard is a response as it was heard.
type heard struct {
	text, reasoning string
	notes           []string
	details         []json.RawMessage
	calls           []provider.ToolCall
	meta            event.Meta
	parts           []provider.Part // as the engine keeps them
	err             error
}

func listen(ctx context.Context, p *Provider, req *provider.Request) heard {
	var h heard
	for batch, err := range p.Stream(ctx, req) {
		h.err = err
		for _, d := range batch {
			h.take(d)
		}
	}
	for _, c := range h.calls {
		h.parts = append(h.parts, provider.Part{Kind: provider.ToolCallPart, Call: &c})
	}
	return h
}

// take notes a delta. Pieces of text that follow each other are one part.
func (h *heard) take(d provider.Delta) {
	switch d.Kind {
	case provider.Content, provider.Reasoning:
		kind := provider.TextPart
		if d.Kind == provider.Content {
			h.text += d.Text
		} else {
			h.reasoning += d.Text
			kind = provider.ReasoningPart
		}
		if n := len(h.parts); n > 0 && h.parts[n-1].Kind == kind && h.parts[n-1].Details == nil {
			h.parts[n-1].Text += d.Text
			return
		}
		h.parts = append(h.parts, provider.Part{Kind: kind, Text: d.Text})
	case provider.ReasoningDetails:
		h.details = append(h.details, d.Details)
		h.parts = append(h.parts, provider.Part{Kind: provider.ReasoningPart, Details: d.Details})
	case provider.CallDelta:
		h.calls = append(h.calls, *d.Call)
	case provider.Footnote:
		h.notes = append(h.notes, d.Text)
	case provider.Meta:
		h.meta = *d.Meta
	}
}

// says is a whole stream of a text.
func says(text string) string {
	return sendsDelta(obj{"content": text}, "") + sendsDelta(obj{"content": ""}, "stop") + "data: [DONE]\n\n"
}

func refuse(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
