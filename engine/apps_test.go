package engine

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// appServer is an MCP server with a tool for models, find, and one for pages alone,
// refresh, both of which say what about is.
type appServer struct {
	*httptest.Server
	about  atomic.Value
	calls  atomic.Int32
	onCall atomic.Value // func(), what a call does
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
		if do, ok := s.onCall.Load().(func()); ok {
			do()
		}
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
	req.Policy = permission.Policy{Allow: []string{"docs:*"}}
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
		if err := b.Grant(t.Context(), event.AllowChat, chatID, rule); err != nil {
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

// callsOfApps are the records of the calls that pages have made in a chat.
func (b *bench) callsOfApps(chatID string) (out []chat.ToolCall) {
	b.t.Helper()
	all, err := b.ToolCalls(b.t.Context(), chatID)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range all {
		if c.AppOf != "" {
			out = append(out, c)
		}
	}
	return out
}

// puts has each call of the server write a file into the chat's folder.
func (s *appServer) puts(b *bench, name string) {
	folder := b.WorkspacePath(b.chat(1).Chat)
	s.onCall.Store(func() {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			b.t.Error(err)
		}
	})
}

func refreshed(t *testing.T, b *bench, callID string) *AppAnswer {
	t.Helper()
	ask, err := b.CallApp(t.Context(), callID, AppCall{Name: "refresh"})
	if err != nil || ask.Ask == nil {
		t.Fatalf("%+v, %v", ask, err)
	}
	answer, err := b.CallApp(t.Context(), callID, AppCall{Name: "refresh", Allowed: ask.Ask.Shown})
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// A call of a page has its record and its states as all calls have, and is no message.
func TestACallOfAnAppIsRecorded(t *testing.T) {
	t.Parallel()
	b, s, callID, chatID := openedApp(t)
	s.puts(b, "a.txt")
	before := b.chat(1)
	answer := refreshed(t, b, callID)
	calls := b.callsOfApps(chatID)
	if len(calls) != 1 {
		t.Fatalf("%d records", len(calls))
	}
	c, last := calls[0], before.Messages[len(before.Messages)-1]
	if c.ID != answer.CallID || c.AppOf != callID || c.MessageID != last.ID || c.ToolID != "docs:refresh" || c.Status != event.CallSuccess ||
		!strings.Contains(string(c.Result), "found it") || c.PreManifestID == "" || c.PostManifestID == c.PreManifestID {
		t.Errorf("the record: %+v", c)
	}
	after := b.chat(1)
	if len(after.Messages) != len(before.Messages) || after.Chat.LastTurn != before.Chat.LastTurn || after.Chat.ActiveLeaf != before.Chat.ActiveLeaf ||
		after.Chat.Messages != before.Chat.Messages || after.Chat.ActiveManifest != c.PostManifestID {
		t.Errorf("the chat: %+v, before %+v", after.Chat, before.Chat)
	}
	if len(after.AppCalls) != 1 || after.AppCalls[0].ID != c.ID {
		t.Errorf("the conversation's calls of pages: %+v", after.AppCalls)
	}
	_, states, _, err := b.States(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil || states[0].Source != cas.ToolRun || states[0].Tool != "docs:refresh" || states[0].By != "docs:find" {
		t.Errorf("the states: %+v, %v", states[0], err)
	}
	views, err := b.ViewCalls(t.Context(), chatID, after.Messages)
	if err != nil || len(views) != 2 || views[0].AppCalls != 1 || views[1].AppOf != callID || views[1].Changed != 1 {
		t.Errorf("shown: %+v, %v", views, err)
	}
	b.sees(1, map[string]string{"a.txt": "a.txt"})
	if undone := b.undo(1); len(undone.Steps) != 1 || undone.Steps[0].By != "docs:find" {
		t.Errorf("undone: %+v", undone.Steps)
	}
	b.sees(1, map[string]string{})
	b.redo(1)
	b.sees(1, map[string]string{"a.txt": "a.txt"})
}

// The records go along with their chat, and lead to each other there.
func TestCallsOfAppsGoWithTheirChat(t *testing.T) {
	t.Parallel()
	b, _, callID, chatID := openedApp(t)
	refreshed(t, b, callID)
	leads := func(chatID string) {
		t.Helper()
		calls := b.callsOfApps(chatID)
		if len(calls) != 1 {
			t.Fatalf("%d calls of pages in %s", len(calls), chatID)
		}
		of, err := b.toolCall(t.Context(), calls[0].AppOf)
		if err != nil || of.ChatID != chatID || of.MessageID != calls[0].MessageID || of.ToolID != "docs:find" {
			t.Errorf("it leads to %+v, %v", of, err)
		}
	}
	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	leads(fork.ID)
	doc, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 1})
	if err != nil {
		t.Fatal(err)
	}
	stray := *doc
	stray.ToolCalls = slices.Clone(doc.ToolCalls)
	for i := range stray.ToolCalls {
		if stray.ToolCalls[i].AppOf != "" {
			stray.ToolCalls[i].AppOf = "elsewhere"
		}
	}
	if err := stray.CheckCalls(); err == nil || !strings.Contains(err.Error(), "whose page made it") {
		t.Errorf("a call of no page: %v", err)
	}
	in, err := b.importChats(t.Context(), []*chat.Document{doc}, store.CopyExisting)
	if err != nil || len(in) != 1 {
		t.Fatal(in, err)
	}
	leads(in[0].Chat.ID)
	b.del(1)
	if _, err := b.PurgeChats(t.Context(), store.Purge{}); err != nil {
		t.Fatal(err)
	}
	if left := b.traces(chatID); len(left) > 0 {
		t.Errorf("the purge left %q", left)
	}
}

// A call of a page that is cancelled, or that a crash cuts off, ends as calls do: with
// a record that says so, and a state of what it has done.
func TestACallOfAnAppThatIsCutOff(t *testing.T) {
	t.Parallel()
	b, s, callID, chatID := openedApp(t)
	folder := b.WorkspacePath(b.chat(1).Chat)
	began, held := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(held) })
	t.Cleanup(goOn) // before the server ends, which waits for its calls
	s.onCall.Store(func() {
		if err := os.WriteFile(filepath.Join(folder, "half"), []byte("1"), 0o600); err != nil {
			t.Error(err)
		}
		close(began)
		<-held
	})
	ask, err := b.CallApp(t.Context(), callID, AppCall{Name: "refresh"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.CallApp(ctx, callID, AppCall{Name: "refresh", Allowed: ask.Ask.Shown})
		ended <- err
	}()
	<-began
	crashed := t.TempDir() // as a crash would leave it now
	err = b.KV.View(t.Context(), func(*kv.Tx) error { return os.CopyFS(crashed, os.DirFS(b.dir)) })
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	err = <-ended
	goOn()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if calls := b.callsOfApps(chatID); len(calls) != 1 || calls[0].Status != event.CallError || calls[0].Error != "cancelled" || calls[0].PostManifestID == calls[0].PreManifestID {
		t.Errorf("cancelled: %+v", calls)
	}
	again := openBench(t, crashed)
	calls := again.callsOfApps(chatID)
	if len(calls) != 1 || calls[0].Status != event.CallError || calls[0].Error != "interrupted" {
		t.Fatalf("crashed: %+v", calls)
	}
	if conv := again.chat(1); !conv.Chat.CutShort || len(conv.Messages) != 2 {
		t.Errorf("the chat after it: %+v", conv.Chat)
	}
	req := direct("write_file", `{"path":"more","content":"2"}`)
	req.Chat = store.ChatRef{Number: 1}
	again.run(req)
	if again.chat(1).Chat.CutShort {
		t.Error("a state was taken since")
	}
	_, states, _, err := again.States(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil || len(states) < 2 || states[0].Source != cas.ToolRun || states[1].Source != cas.Interrupted {
		t.Errorf("what it did is %+v, %v", states, err)
	}
}

// A call of a page waits for what runs in its chat, and `-c` doesn't go where one was.
func TestACallOfAnAppIsNoTurnOfThePerson(t *testing.T) {
	t.Parallel()
	b, _, callID, _ := openedApp(t)
	b.run(ask("another"))
	refreshed(t, b, callID)
	chat, err := b.FindChat(t.Context(), store.ChatRef{Last: true})
	if err != nil || chat.Number != 2 {
		t.Errorf("the last chat is %d, %v", chat.Number, err)
	}
	unlock, err := b.LockChat(t.Context(), b.chat(1).Chat.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask, err := b.CallApp(t.Context(), callID, AppCall{Name: "refresh"})
	if err != nil {
		t.Fatal(err)
	}
	begun, unlockOnce := false, sync.OnceFunc(unlock)
	answer, err := b.CallApp(t.Context(), callID, AppCall{
		Name: "refresh", Allowed: ask.Ask.Shown,
		OnWait:  func(string) { unlockOnce() },
		OnBegin: func() { begun = true },
	})
	if err != nil || answer.Result == nil || !begun {
		t.Errorf("%+v, %v, begun %v", answer, err, begun)
	}
}
