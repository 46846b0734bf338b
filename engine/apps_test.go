package engine

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// appServer is an MCP server with a tool for models, find, and one for pages alone,
// refresh, both of which say what about is.
type appServer struct {
	*httptest.Server
	about atomic.Value
	calls atomic.Int32
}

func newAppServer(t *testing.T) *appServer {
	t.Helper()
	s := &appServer{}
	s.about.Store("does it")
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *appServer) serve(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if len(m.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	type doc map[string]any
	var result any
	switch m.Method {
	case "initialize":
		result = doc{"protocolVersion": "2025-06-18", "capabilities": doc{"tools": doc{}}, "serverInfo": doc{"name": "apps", "version": "1"}}
	case "tools/list":
		schema := doc{"type": "object"}
		result = doc{"tools": []doc{
			{"name": "find", "description": s.about.Load(), "inputSchema": schema},
			{"name": "refresh", "description": s.about.Load(), "inputSchema": schema, "_meta": doc{"ui": doc{"visibility": []string{"app"}}}},
		}}
	case "tools/call":
		s.calls.Add(1)
		result = doc{"content": []doc{{"type": "text", "text": "found it"}}}
	default:
		result = doc{}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc{"jsonrpc": "2.0", "id": m.ID, "result": result}) // whoever went away misses it
}

// openedApp is a bench with a call of a server's tool, whose page may call others.
func openedApp(t *testing.T) (b *bench, s *appServer, callID, chatID string) {
	t.Helper()
	b, s = serving(t, findsOnce), newAppServer(t)
	if err := b.AddMCPServer(t.Context(), manifest.MCPServer{ID: "docs", URL: s.URL}, registry.ServerSettings{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.LookAtMCPServer(t.Context(), "docs", false); err != nil {
		t.Fatal(err)
	}
	req := ask("find")
	req.Policy = Policy{Allow: []string{"docs:*"}}
	id := b.start(req)
	for _, e := range b.follow(id) {
		if done, ok := e.Body.(event.ToolComplete); ok {
			callID = done.CallID
		}
	}
	call, err := b.toolCall(t.Context(), callID)
	if err != nil {
		t.Fatal(err)
	}
	s.calls.Store(0)
	return b, s, callID, call.ChatID
}

// What a person allows is the tool that they were shown. One that says something else
// by then is asked about anew, and what was allowed for later is for pinned tools.
func TestACallOfAnAppIsOfTheToolThatWasShown(t *testing.T) {
	t.Parallel()
	b, s, callID, chatID := openedApp(t)
	call := func(name, allowed string) *AppAnswer {
		t.Helper()
		answer, err := b.CallApp(context.WithoutCancel(t.Context()), callID, AppCall{Name: name, Allowed: allowed})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	first := call("refresh", "")
	if first.Ask == nil || first.Ask.Shown == "" {
		t.Fatalf("nobody is asked: %+v", first)
	}
	s.about.Store("does it, and more")
	again := call("refresh", first.Ask.Shown)
	if again.Ask == nil || again.Ask.Shown == first.Ask.Shown || s.calls.Load() != 0 {
		t.Fatalf("another tool ran than the one that was shown: %+v", again)
	}
	if done := call("refresh", again.Ask.Shown); done.Ask != nil || !strings.Contains(string(done.Result), "found it") || s.calls.Load() != 1 {
		t.Errorf("what was shown: %+v", done)
	}
	if _, err := b.CallApp(t.Context(), callID, AppCall{Name: "find"}); err == nil || !strings.Contains(err.Error(), "held back") {
		t.Errorf("a tool for models that has changed: %v", err)
	}
	s.about.Store("does it")
	b.o.MCP.Forget("docs")
	for _, rule := range []string{"docs:find", "docs:refresh"} {
		if err := b.grant(t.Context(), event.AllowChat, chatID, rule); err != nil {
			t.Fatal(err)
		}
	}
	if pinned := call("find", ""); pinned.Ask != nil {
		t.Errorf("a pinned tool that was allowed: %+v", pinned.Ask)
	}
	if unpinned := call("refresh", ""); unpinned.Ask == nil {
		t.Error("what was allowed for later holds for a tool that nobody has pinned")
	}
}
