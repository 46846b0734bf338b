package acp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/acp"
)

// A chat that was begun in one process is listed, loaded with all that was said and
// done in it, and gone on with in another.
func TestLoadReplaysAndGoesOn(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.answer = choose("allow")
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "think first")
	e.prompt(s, "write it")
	live := e.updates("")
	must(t, e.close())
	must(t, h.eng.Close())

	h.eng = h.engine()
	e = h.connect()
	e.initialize()
	e.fails(-32002, "session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "hi"}}})
	var listed struct {
		Sessions []struct{ SessionID, CWD, Title, UpdatedAt string }
	}
	e.call("session/list", obj{"cwd": h.project}, &listed)
	if len(listed.Sessions) != 1 || listed.Sessions[0].SessionID != s || listed.Sessions[0].CWD != h.project || listed.Sessions[0].Title != "think first" {
		t.Fatalf("listed %+v", listed)
	}
	e.forget()
	id := e.send("session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}})
	if m := e.response(id); m.Error != nil || !strings.Contains(m.line, "configOptions") {
		t.Fatalf("loaded: %s", m.line)
	}
	e.wait("the commands", func(m wireMessage) bool { return strings.Contains(m.line, "available_commands_update") })
	if got := e.text("user_message_chunk"); got != "think firstwrite it" {
		t.Errorf("the person said %q", got)
	}
	if got := e.text("agent_thought_chunk"); got != "Let me see." {
		t.Errorf("the thought is %q", got)
	}
	if got := e.text("agent_message_chunk"); got != "Done.I write it.Hello there." {
		t.Errorf("the answers are %q", got)
	}
	for _, kind := range []string{"agent_message_chunk", "agent_thought_chunk", "tool_call"} {
		var was, is []string
		for _, u := range live {
			if u["sessionUpdate"] == kind {
				was = append(was, fmt.Sprint(u["messageId"], u["toolCallId"]))
			}
		}
		for _, u := range e.updates(kind) {
			is = append(is, fmt.Sprint(u["messageId"], u["toolCallId"]))
		}
		if was, is = slices.Compact(was), slices.Compact(is); !slices.Equal(was, is) {
			t.Errorf("the ids of %s were %v and are %v", kind, was, is)
		}
	}
	news := e.updates("tool_call_update")
	if len(news) != 1 || news[0]["status"] != "completed" || len(news[0]["content"].([]any)) != 1 {
		t.Fatalf("the call is replayed as %v", news)
	}
	if diff := news[0]["content"].([]any)[0].(map[string]any); diff["type"] != "diff" || diff["oldText"] != nil || diff["newText"] != "one\n" {
		t.Errorf("with the diff %v", diff)
	}
	// The answer comes behind the whole history.
	e.mu.Lock()
	at := slices.IndexFunc(e.got, func(m wireMessage) bool { return m.Method == "" && string(m.ID) == id })
	for _, m := range e.got[at+1:] {
		if u := updateOf(m); u != nil && strings.HasSuffix(fmt.Sprint(u["sessionUpdate"]), "_chunk") {
			t.Errorf("behind the answer came %s", m.line)
		}
	}
	e.mu.Unlock()
	e.forget()
	e.prompt(s, "hello")
	if chat, err := h.eng.FindChat(t.Context(), store.ChatRef{ID: s}); err != nil || chat.Messages != 6 {
		t.Errorf("gone on, the chat has %d messages, %v", chat.Messages, err)
	}
}

func TestResumeReplaysNothing(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "hello")
	must(t, e.close())
	e = h.connect()
	e.initialize()
	e.call("session/resume", obj{"sessionId": s, "cwd": h.project}, nil)
	if got := e.text("agent_message_chunk"); got != "" {
		t.Errorf("it replays %q", got)
	}
	e.prompt(s, "hello")
	if got := e.text("agent_message_chunk"); got != "Hello there." {
		t.Errorf("it answers %q", got)
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect(func(o *acp.Options) { o.SetPage(3) })
	e.initialize()
	const all = 5
	other := t.TempDir()
	for range all {
		e.prompt(e.newSession(h.project), "hello")
	}
	e.prompt(e.newSession(other), "hello")
	if _, err := h.eng.NewChat(t.Context(), "in no folder"); err != nil {
		t.Fatal(err)
	}
	seen, cursor, pages := map[string]bool{}, "", 0
	for {
		params := obj{"cwd": h.project}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var page struct {
			Sessions   []struct{ SessionID, CWD string }
			NextCursor string
		}
		e.call("session/list", params, &page)
		for _, s := range page.Sessions {
			if seen[s.SessionID] || s.CWD != h.project {
				t.Errorf("%+v is there twice, or elsewhere", s)
			}
			seen[s.SessionID] = true
		}
		pages++
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if len(seen) != all || pages != 2 {
		t.Errorf("%d sessions on %d pages", len(seen), pages)
	}
	var page struct{ Sessions []struct{ CWD string } }
	e.call("session/list", obj{}, &page)
	if page.Sessions[0].CWD != other {
		t.Errorf("the last used one is %+v", page.Sessions[0])
	}
	e.fails(-32602, "session/list", obj{"cursor": "?"})
	e.fails(-32602, "session/list", obj{"cwd": "here"})
}

// A deleted session is gone, and can be brought back as any chat.
func TestDelete(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "hello")
	e.call("session/delete", obj{"sessionId": s}, nil)
	e.call("session/delete", obj{"sessionId": s}, nil)
	var page struct{ Sessions []any }
	e.call("session/list", obj{}, &page)
	if len(page.Sessions) != 0 {
		t.Errorf("still listed: %v", page.Sessions)
	}
	if msg := e.fails(-32002, "session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}}); !strings.Contains(msg, "deleted") || strings.Contains(msg, "fettle ") {
		t.Errorf("loading it says %s", msg)
	}
	gone, err := h.eng.DeletedChats(t.Context())
	if err != nil || len(gone) != 1 || gone[0].ID != s {
		t.Fatalf("deleted are %v, %v", gone, err)
	}
	if _, _, err := h.eng.RestoreChat(t.Context(), gone[0].Number); err != nil {
		t.Fatal(err)
	}
	e.call("session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}}, nil)
	empty := e.newSession(h.project)
	e.call("session/delete", obj{"sessionId": empty}, nil)
	e.fails(-32002, "session/close", obj{"sessionId": empty})
}

// A session that nothing was asked in leaves nothing behind.
func TestEmptySessionsLeaveNothing(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s := e.newSession(h.project)
	e.call("session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}}, nil)
	e.call("session/close", obj{"sessionId": s}, nil)
	e.fails(-32002, "session/load", obj{"sessionId": s, "cwd": h.project, "mcpServers": []any{}})
	page, err := h.eng.Chats(t.Context(), store.ListChats{})
	if err != nil || len(page.Chats) != 0 {
		t.Errorf("there are %v, %v", page.Chats, err)
	}
}

func TestFoldersThatAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s := e.newSession(h.project)
	e.prompt(s, "hello")
	managed, err := h.eng.NewChat(t.Context(), "in no folder")
	must(t, err)
	file := filepath.Join(h.project, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for cwd, want := range map[string]string{
		"": "cwd", "here": "absolute", filepath.VolumeName(h.project) + string(filepath.Separator): "root of the file system",
		filepath.Join(h.dir, "data"): "data directory", file: "not a folder", filepath.Join(h.project, "none"): "no such folder",
	} {
		if msg := e.fails(-32602, "session/new", obj{"cwd": cwd, "mcpServers": []any{}}); !strings.Contains(msg, want) {
			t.Errorf("%q is refused with %q", cwd, msg)
		}
	}
	if msg := e.fails(-32602, "session/load", obj{"sessionId": s, "cwd": t.TempDir(), "mcpServers": []any{}}); !strings.Contains(msg, h.project) {
		t.Errorf("another folder: %s", msg)
	}
	e.fails(-32602, "session/load", obj{"sessionId": managed.ID, "cwd": h.project, "mcpServers": []any{}})
	e.fails(-32002, "session/delete", obj{"sessionId": managed.ID})
	e.fails(-32002, "session/load", obj{"sessionId": "none", "cwd": h.project, "mcpServers": []any{}})
	e.fails(-32602, "session/load", obj{"cwd": h.project, "mcpServers": []any{}})
}

func TestServersOfTheEditor(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	program, err := os.Executable()
	must(t, err)
	e.call("session/new", obj{"cwd": h.project, "mcpServers": []any{
		obj{"name": "files", "command": program, "args": []any{"-x"}, "env": []any{obj{"name": "A", "value": "b"}}},
		obj{"type": "http", "name": "web", "url": "https://example.org/mcp", "headers": []any{}},
		obj{"type": "sse", "name": "old", "url": "http://127.0.0.1:1/sse", "headers": []any{obj{"name": "X", "value": "y"}}},
	}}, nil)
	for _, bad := range []obj{
		{"name": "", "command": program}, {"name": "a", "command": ""}, {"name": "a", "command": "./here/x"},
		{"type": "http", "name": "a", "url": "file:///x"}, {"type": "pigeon", "name": "a"},
		{"name": "a", "command": program, "env": []any{obj{"name": "", "value": "x"}}},
	} {
		e.fails(-32602, "session/new", obj{"cwd": h.project, "mcpServers": []any{bad}})
	}
	e.fails(-32602, "session/new", obj{"cwd": h.project, "mcpServers": "all"})
}

// The modes are those of approvals; agent and model are options. All reach the turn.
func TestModesAndOptions(t *testing.T) {
	t.Parallel()
	h := open(t, `
responses:
  - {when: "", system: You write, text: Written.}
  - {when: "", text: Plain.}
`)
	must(t, os.WriteFile(filepath.Join(h.dir, "other.yaml"), []byte(`responses: [{when: "", text: Other.}]`), 0o600))
	e := h.connect(func(o *acp.Options) { o.Model = "script/m.yaml" })
	e.initialize()
	var opened struct {
		SessionID string
		Modes     struct {
			CurrentModeID  string
			AvailableModes []struct{ ID, Name string }
		}
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	e.call("session/new", obj{"cwd": h.project, "mcpServers": []any{}}, &opened)
	s := opened.SessionID
	if m := opened.Modes; m.CurrentModeID != "calls" || len(m.AvailableModes) != 5 || m.AvailableModes[1].Name != "Accept edits" {
		t.Errorf("modes %+v", m)
	}
	if o := opened.ConfigOptions; len(o) != 5 || o[3].CurrentValue != "calls" || o[1].CurrentValue != "script/m.yaml" {
		t.Errorf("options %+v", o)
	}
	var set struct {
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	e.call("session/set_config_option", obj{"sessionId": s, "configId": "agent", "value": "writer"}, &set)
	e.call("session/set_mode", obj{"sessionId": s, "modeId": "edits"}, nil)
	e.wait("the option", func(m wireMessage) bool {
		return strings.Contains(m.line, "config_option_update") && strings.Contains(m.line, `"currentValue":"edits"`)
	})
	e.prompt(s, "hello")
	if chat, err := h.eng.FindChat(t.Context(), store.ChatRef{ID: s}); err != nil || chat.Agent != "writer" || chat.Approvals != permission.Edits || chat.Plan {
		t.Errorf("the chat's agent is %q, its approvals are %q, plan %v, %v", chat.Agent, chat.Approvals, chat.Plan, err)
	}
	e.call("session/set_config_option", obj{"sessionId": s, "configId": "agent", "value": "none"}, &set)
	e.call("session/set_config_option", obj{"sessionId": s, "configId": "approvals", "value": "plan"}, &set)
	e.wait("the mode", func(m wireMessage) bool { return strings.Contains(m.line, `"currentModeId":"plan"`) && m.Method != "" })
	e.call("session/set_config_option", obj{"sessionId": s, "configId": "model", "value": "script/other.yaml"}, &set)
	if set.ConfigOptions[0].CurrentValue != "none" || set.ConfigOptions[1].CurrentValue != "script/other.yaml" {
		t.Errorf("set %+v", set)
	}
	e.forget()
	e.prompt(s, "hello")
	if got := e.text("agent_message_chunk"); got != "Other." {
		t.Errorf("the other model says %q", got)
	}
	e.call("session/set_config_option", obj{"sessionId": s, "configId": "effort", "value": "high"}, &set)
	if set.ConfigOptions[2].CurrentValue != "high" {
		t.Errorf("the effort is %+v", set)
	}
	e.call("session/set_config_option", obj{"sessionId": s, "configId": "effort", "value": "default"}, &set)
	if set.ConfigOptions[2].CurrentValue != "default" {
		t.Errorf("the effort is %+v", set)
	}
	e.fails(-32602, "session/set_config_option", obj{"sessionId": s, "configId": "effort", "value": "much"})
	e.fails(-32602, "session/set_mode", obj{"sessionId": s, "modeId": "nobody"})
	e.fails(-32602, "session/set_config_option", obj{"sessionId": s, "configId": "model", "value": "nothing"})
	e.fails(-32602, "session/set_config_option", obj{"sessionId": s, "configId": "model", "type": "boolean", "value": true})
	e.fails(-32602, "session/set_config_option", obj{"sessionId": s, "configId": "colour", "value": "red"})
	e.fails(-32602, "session/set_config_option", obj{"sessionId": s, "configId": "approvals", "value": "yolo"})
	e.fails(-32002, "session/set_mode", obj{"sessionId": "none", "modeId": "edits"})
}
