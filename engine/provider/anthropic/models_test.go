package anthropic

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

func TestFamilies(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		tier    string
		version int
		known   bool
	}{
		"claude-opus-5-5": {"opus", 505, true}, "claude-opus-5": {"opus", 500, true}, "claude-opus-4-8": {"opus", 407, true},
		"claude-opus-4-1-20250805": {"opus", 400, true}, "claude-opus-4-20250514": {"opus", 400, true}, "claude-opus-4-0": {"opus", 400, true},
		"claude-sonnet-5-5": {"sonnet", 505, true}, "claude-sonnet-4-5-20250929": {"sonnet", 405, true}, "claude-3-7-sonnet-latest": {"sonnet", 307, true},
		"claude-3-5-haiku-20241022": {"haiku", 305, true}, "claude-3-haiku-20240307": {"haiku", 300, true}, "claude-haiku-4-5": {"haiku", 405, true},
		"claude-fable-5-1": {"fable", 501, true}, "claude-mythos-5": {"mythos", 500, true},
		"anthropic/claude-opus-4.5": {"opus", 405, true}, "us.anthropic.claude-sonnet-4-5-20250929-v1:0": {"sonnet", 405, true},
		"claude-opus-4-1@20250805": {"opus", 400, true}, "Claude-Opus-5-5": {"opus", 505, true},
		// later than the table, or of no version
		"claude-opus-6": {"opus", 505, false}, "claude-opus-5-7-20270101": {"opus", 505, false}, "claude-sonnet-latest": {"sonnet", 505, false},
		"claude-mythos-preview": {"mythos", 501, false}, "claude-saga-1": {"", 0, false},
		// earlier than the table
		"claude-opus-2": {"opus", 300, false},
		"gpt-5":         {"", 0, false}, "claude": {"", 0, false}, "claude-2.1": {"", 0, false}, "": {"", 0, false}, "claude-": {"", 0, false},
	} {
		f, known := familyOf(name)
		if f.tier != want.tier || f.version != want.version || known != want.known {
			t.Errorf("%q is %s %d, known %v; want %+v", name, f.tier, f.version, known, want)
		}
		if f.tokens <= 0 || known && (f.tokens > f.output || f.context == 0) || !known && f.context+f.output != 0 {
			t.Errorf("%q: %+v", name, f)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"": `{"data":[
			{"type":"model","id":"claude-opus-5-5","display_name":"Claude Opus 5.5","created_at":"2026-09-22T00:00:00Z","max_input_tokens":1000000,"max_tokens":128000,
			 "capabilities":{"image_input":{"supported":true},"structured_outputs":{"supported":true},"thinking":{"supported":true,"types":{}}}},
			{"type":"model","id":"claude-next-9","display_name":"Claude Next","created_at":"1970-01-01T00:00:00Z","max_input_tokens":2000000,
			 "capabilities":{"image_input":{"supported":false},"structured_outputs":{"supported":true},"thinking":{"supported":false}}}],
			"has_more":true,"first_id":"claude-opus-5-5","last_id":"claude-next-9"}`,
		"claude-next-9": `{"data":[{"id":"kimi-k2","capabilities":["completion"]},{"id":"claude-3-5-haiku-20241022","capabilities":null},{}],"has_more":true,"last_id":"claude-next-9"}`,
	}
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		fmt.Fprint(w, pages[r.URL.Query().Get("after_id")])
	}))
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	p, err := New(Options{BaseURL: srv.URL + "?tenant=a", Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Models(t.Context())
	want := []provider.Model{
		{Name: "claude-opus-5-5", Details: "Claude Opus 5.5", ContextLength: 1_000_000, Tools: provider.Yes, Images: provider.Yes, Thinking: provider.Yes, Schema: provider.Yes, Created: provider.UnixTime(1790035200)},
		{Name: "claude-next-9", Details: "Claude Next", ContextLength: 2_000_000, Images: provider.No, Thinking: provider.No, Schema: provider.Yes},
		{Name: "kimi-k2"},
		{Name: "claude-3-5-haiku-20241022", ContextLength: 200_000, Tools: provider.Yes, Thinking: provider.No, Schema: provider.Yes},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i := range want {
		want[i].Provider = "anthropic"
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
	if len(asked) != 2 || asked[0] != "/v1/models?limit=1000&tenant=a" || !strings.Contains(asked[1], "after_id=claude-next-9") {
		t.Errorf("it asked %q", asked)
	}
	if m, err := p.Model(t.Context(), "claude-next-9"); err != nil || m.ContextLength != 2_000_000 {
		t.Errorf("a listed model is %+v, %v", m, err)
	}
	if m, err := p.Model(t.Context(), "claude-sonnet-5"); err != nil || m.ContextLength != 1_000_000 || m.Ref() != "anthropic/claude-sonnet-5" {
		t.Errorf("one that isn't listed is %+v, %v", m, err)
	}
	if m, err := p.Model(t.Context(), "other"); err != nil || m != (provider.Model{Provider: "anthropic", Name: "other"}) {
		t.Errorf("another is %+v, %v", m, err)
	}
}

func TestListsThatFail(t *testing.T) {
	t.Parallel()
	var e *provider.Error
	page, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { fmt.Fprint(w, `<html>`) })
	if _, err := page.Models(t.Context()); !errors.As(err, &e) || e.Kind != provider.Undecodable {
		t.Errorf("a web page gives %v", err)
	}
	bad, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) { refuse(w, 401, "authentication_error", "invalid x-api-key") })
	if _, err := bad.Models(t.Context()); !errors.As(err, &e) || e.Kind != provider.Unauthorised {
		t.Errorf("a wrong key gives %v", err)
	}
	pages := 0
	endless, _ := serve(t, Options{}, func(w http.ResponseWriter, _ string) {
		pages++
		fmt.Fprintf(w, `{"data":[{"id":"m%d"}],"has_more":true,"last_id":"m%d"}`, pages, pages)
	})
	if got, err := endless.Models(t.Context()); err != nil || len(got) != maxPages {
		t.Errorf("a list without end gives %d models, %v", len(got), err)
	}
}
