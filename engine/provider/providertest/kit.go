package providertest

import (
	"bytes"
	"context"
	"encoding/json"
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

// Words returns a text as a part of a message.
func Words(s string) provider.Part { return provider.Part{Kind: provider.TextPart, Text: s} }

// User returns a message of the user's.
func User(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.User, Parts: parts}
}

// Called returns a call as a part of an answer.
func Called(id, name, args string) provider.Part {
	return provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}}
}

// Answered returns the result of a call as a part of a message.
func Answered(id, name, text string, failed bool) provider.Part {
	return provider.Part{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: id, Name: name, Text: text, Error: failed}}
}

// Thought returns reasoning details as a part of an answer.
func Thought(details string) provider.Part {
	return provider.Part{Kind: provider.ReasoningPart, Details: json.RawMessage(details)}
}

// Serve runs a server that answers by a handler, until the test ends. It returns its address, a
// client, and a function that returns the bodies of the requests so far.
func Serve(t *testing.T, handle func(w http.ResponseWriter, body string)) (base string, client *http.Client, bodies func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, string(raw))
		mu.Unlock()
		handle(w, string(raw))
	}))
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); srv.Close() })
	return srv.URL, &http.Client{Transport: transport}, func() []string { mu.Lock(); defer mu.Unlock(); return all }
}

// Heard is a response.
type Heard struct {
	Text, Reasoning string
	Notes           []string
	Details         []json.RawMessage
	Calls           []provider.ToolCall
	Meta            event.Meta
	Parts           []provider.Part // as the engine stores them
	Err             error
}

// Listen sends a request and returns the response.
func Listen(ctx context.Context, p provider.Provider, req *provider.Request) Heard {
	var h Heard
	for batch, err := range p.Stream(ctx, req) {
		h.Err = err
		for _, d := range batch {
			h.take(d)
		}
	}
	for _, c := range h.Calls {
		h.Parts = append(h.Parts, provider.Part{Kind: provider.ToolCallPart, Call: &c})
	}
	return h
}

// take notes a delta. Pieces of text that follow each other are one part.
func (h *Heard) take(d provider.Delta) {
	switch d.Kind {
	case provider.Content, provider.Reasoning:
		kind := provider.TextPart
		if d.Kind == provider.Content {
			h.Text += d.Text
		} else {
			h.Reasoning += d.Text
			kind = provider.ReasoningPart
		}
		if n := len(h.Parts); n > 0 && h.Parts[n-1].Kind == kind && h.Parts[n-1].Details == nil {
			h.Parts[n-1].Text += d.Text
			return
		}
		h.Parts = append(h.Parts, provider.Part{Kind: kind, Text: d.Text})
	case provider.ReasoningDetails:
		h.Details = append(h.Details, d.Details)
		h.Parts = append(h.Parts, provider.Part{Kind: provider.ReasoningPart, Details: d.Details})
	case provider.CallDelta:
		h.Calls = append(h.Calls, *d.Call)
	case provider.Footnote:
		h.Notes = append(h.Notes, d.Text)
	case provider.Meta:
		h.Meta = *d.Meta
	}
}

// Golden compares with a file, which it writes first if update is set.
func Golden(t *testing.T, path string, got []byte, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
