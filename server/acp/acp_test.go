package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/store"
)

const usual = `
responses:
  - {when: slow, deltas: [{content: Half}], hang: true}
  - {when: think, deltas: [{reasoning: Let me see.}, {content: Done.}]}
  - {when: write, step: 0, text: I write it., calls: [{name: write_file, args: {path: notes/a.txt, content: "one\n"}}]}
  - {when: "", text: Hello there.}
`

func TestInitialize(t *testing.T) {
	t.Parallel()
	e := open(t, usual).connect()
	if msg := e.fails(-32600, "session/list", obj{}); !strings.Contains(msg, "initialize") {
		t.Errorf("before initialize: %s", msg)
	}
	got := e.initialize()
	if got["protocolVersion"] != float64(1) {
		t.Errorf("version %v", got["protocolVersion"])
	}
	caps := got["agentCapabilities"].(map[string]any)
	for _, name := range []string{"list", "resume", "close", "delete"} {
		if _, ok := caps["sessionCapabilities"].(map[string]any)[name].(map[string]any); !ok {
			t.Errorf("no %s in %v", name, caps)
		}
	}
	if caps["loadSession"] != true || caps["promptCapabilities"].(map[string]any)["image"] != true {
		t.Errorf("capabilities %v", caps)
	}
	e.fails(-32600, "initialize", obj{"protocolVersion": 1})
	e.fails(-32602, "authenticate", obj{"methodId": "x"})
	e.fails(-32601, "session/fork", obj{})
	e.fails(-32601, "logout", obj{})
}

// An answer streams with one message id, a thought with another, and the session
// gets its title.
func TestPrompt(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s := e.newSession(h.project)
	if stop := e.prompt(s, "think about it"); stop != "end_turn" {
		t.Errorf("it stops for %s", stop)
	}
	if got := e.text("agent_message_chunk"); got != "Done." {
		t.Errorf("the answer is %q", got)
	}
	if got := e.text("agent_thought_chunk"); got != "Let me see." {
		t.Errorf("the thought is %q", got)
	}
	answer, thought := e.updates("agent_message_chunk")[0]["messageId"], e.updates("agent_thought_chunk")[0]["messageId"]
	if answer == "" || answer == thought {
		t.Errorf("message ids %v and %v", answer, thought)
	}
	if info := e.updates("session_info_update"); len(info) != 1 || info[0]["title"] != "think about it" {
		t.Errorf("session info %v", info)
	}
	chat, err := h.eng.FindChat(t.Context(), store.ChatRef{ID: s})
	if err != nil || chat.Workspace != h.project {
		t.Errorf("the chat is %+v, %v", chat, err)
	}
	e.prompt(s, "hello")
	if chat, err = h.eng.FindChat(t.Context(), store.ChatRef{ID: s}); err != nil || chat.Messages != 4 {
		t.Errorf("after a second prompt the chat has %d messages, %v", chat.Messages, err)
	}
}

// choose answers permissions with an option.
func choose(option string) func(string, json.RawMessage) (any, *wireError) {
	return func(method string, _ json.RawMessage) (any, *wireError) {
		if method != "session/request_permission" {
			return nil, &wireError{-32601, "not here", nil}
		}
		return obj{"outcome": obj{"outcome": "selected", "optionId": option}}, nil
	}
}

// A call that writes is asked about with a preview, shown with its diff once it ran,
// and undone by a command.
func TestCallWithPermissionDiffAndUndo(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	must(t, os.Mkdir(filepath.Join(h.project, "notes"), 0o700))
	file := filepath.Join(h.project, "notes", "a.txt")
	must(t, os.WriteFile(file, []byte("zero\n"), 0o600))
	e := h.connect()
	e.answer = choose("allow")
	e.initialize()
	s := e.newSession(h.project)
	if stop := e.prompt(s, "write it"); stop != "end_turn" {
		t.Errorf("it stops for %s", stop)
	}
	ask := e.wait("a permission", func(m wireMessage) bool { return m.Method == "session/request_permission" })
	for _, want := range []string{
		`"kind":"edit"`, `"oldText":"zero\n"`, `"newText":"one\n"`, `"kind":"allow_once"`, `"kind":"allow_always"`, `"kind":"reject_once"`,
		`"kind":"reject_always"`, `Always allow: write_file(notes/a.txt)`, `"status":"pending"`,
	} {
		if !strings.Contains(ask.line, want) {
			t.Errorf("the permission lacks %s: %s", want, ask.line)
		}
	}
	calls := e.updates("tool_call")
	if len(calls) != 1 || calls[0]["title"] != "write_file notes/a.txt" || calls[0]["kind"] != "edit" || calls[0]["status"] != "pending" {
		t.Fatalf("calls %v", calls)
	}
	news := e.updates("tool_call_update")
	if len(news) != 2 || news[0]["status"] != "in_progress" || news[1]["status"] != "completed" {
		t.Fatalf("updates %v", news)
	}
	diff := news[1]["content"].([]any)[0].(map[string]any)
	if diff["type"] != "diff" || diff["path"] != file || diff["oldText"] != "zero\n" || diff["newText"] != "one\n" {
		t.Errorf("the diff is %v", diff)
	}
	if on, _ := os.ReadFile(file); string(on) != "one\n" {
		t.Errorf("the file has %q", on)
	}
	e.forget()
	if stop := e.prompt(s, "/undo"); stop != "end_turn" {
		t.Errorf("undo stops for %s", stop)
	}
	if on, _ := os.ReadFile(file); string(on) != "zero\n" {
		t.Errorf("undone, the file has %q; %s", on, e.text("agent_message_chunk"))
	}
	if calls := e.updates("tool_call"); len(calls) != 1 || calls[0]["content"].([]any)[0].(map[string]any)["newText"] != "zero\n" {
		t.Errorf("undo shows %v", calls)
	}
	e.prompt(s, "/redo 1")
	if on, _ := os.ReadFile(file); string(on) != "one\n" {
		t.Errorf("redone, the file has %q", on)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		option  string
		asked   int // in two prompts
		written bool
	}{
		{"allow", 2, true},
		{"allow_chat", 1, true},
		{"allow_always", 1, true},
		{"reject", 2, false},
		{"reject_always", 1, false},
		{"made up", 2, false},
	} {
		t.Run(c.option, func(t *testing.T) {
			t.Parallel()
			h := open(t, usual)
			e := h.connect()
			e.answer = choose(c.option)
			e.initialize()
			s := e.newSession(h.project)
			for range 2 {
				if stop := e.prompt(s, "write it"); stop != "end_turn" {
					t.Errorf("it stops for %s", stop)
				}
			}
			asked := 0
			e.mu.Lock()
			for _, m := range e.got {
				if m.Method == "session/request_permission" {
					asked++
				}
			}
			e.mu.Unlock()
			if asked != c.asked {
				t.Errorf("asked %d times, want %d", asked, c.asked)
			}
			_, err := os.Stat(filepath.Join(h.project, "notes", "a.txt"))
			if (err == nil) != c.written {
				t.Errorf("written: %v", err)
			}
			status := "failed"
			if c.written {
				status = "completed"
			}
			if news := e.updates("tool_call_update"); news[len(news)-1]["status"] != status {
				t.Errorf("the last call is %v", news[len(news)-1])
			}
		})
	}
}

// An editor that can't ask its person gets the call denied, not the turn stuck.
func TestEditorThatAsksNobody(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.answer = func(string, json.RawMessage) (any, *wireError) { return nil, &wireError{-32601, "no such method", nil} }
	e.initialize()
	if stop := e.prompt(e.newSession(h.project), "write it"); stop != "end_turn" {
		t.Errorf("it stops for %s", stop)
	}
	if _, err := os.Stat(filepath.Join(h.project, "notes")); err == nil {
		t.Error("it was written all the same")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, prompt string
		when         func(wireMessage) bool
		withdrawn    bool
	}{
		{"a stream", "slow", func(m wireMessage) bool { return strings.Contains(m.line, "Half") }, false},
		{"a permission", "write it", func(m wireMessage) bool { return m.Method == "session/request_permission" }, true},
		{"at once", "slow", nil, false},
	} {
		for _, how := range []string{"session/cancel", "$/cancel_request"} {
			t.Run(c.name+" by "+how, func(t *testing.T) {
				t.Parallel()
				h := open(t, usual)
				e := h.connect()
				e.initialize()
				s := e.newSession(h.project)
				id := e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": c.prompt}}})
				if c.when != nil {
					e.wait("the moment to cancel", c.when)
				}
				if how == "session/cancel" {
					e.notify(how, obj{"sessionId": s})
				} else {
					e.notify(how, obj{"requestId": json.RawMessage(id)})
				}
				if m := e.response(id); m.Error != nil || !strings.Contains(m.line, `"stopReason":"cancelled"`) {
					t.Errorf("answered %s", m.line)
				}
				if c.withdrawn {
					e.wait("the withdrawal", func(m wireMessage) bool { return m.Method == "$/cancel_request" })
				}
				if stop := e.prompt(s, "hello"); stop != "end_turn" {
					t.Errorf("the next prompt stops for %s", stop)
				}
			})
		}
	}
}

func TestOnePromptAtATime(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.initialize()
	s, other := e.newSession(h.project), e.newSession(h.project)
	id := e.send("session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "slow"}}})
	e.wait("the stream", func(m wireMessage) bool { return strings.Contains(m.line, "Half") })
	if msg := e.fails(-32600, "session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "hi"}}}); !strings.Contains(msg, "runs") {
		t.Errorf("refused with %s", msg)
	}
	e.fails(-32600, "session/delete", obj{"sessionId": s})
	if stop := e.prompt(other, "hello"); stop != "end_turn" {
		t.Errorf("the other session stops for %s", stop)
	}
	e.call("session/close", obj{"sessionId": s}, nil)
	if m := e.response(id); !strings.Contains(m.line, "cancelled") {
		t.Errorf("closed, the prompt is answered %s", m.line)
	}
	e.fails(-32002, "session/prompt", obj{"sessionId": s, "prompt": []any{obj{"type": "text", "text": "hi"}}})
}
