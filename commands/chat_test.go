//go:build linux || darwin

package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chatScript is a model for whole conversations.
const chatScript = `
context_length: 8192
responses:
  - when: (?i)write
    step: 0
    reasoning: A list is wanted.
    text: One moment.
    calls: [{name: write_file, args: {path: notes/todo.md, content: "# Todo\n\n- milk\n- tests\n"}}]
    usage: {input_tokens: 1200, output_tokens: 55}
  - when: (?i)write
    step: 1
    text: "I wrote **todo.md**:\n\n| item | when |\n|---|---|\n| milk | today |\n| tests | 日本語 |\n\n` + "```go\\nif x { // so\\n```" + `\n"
    usage: {input_tokens: 1300, output_tokens: 155}
  - when: (?i)run
    step: 0
    calls: [{name: run_command, args: {command: "sleep 60"}}]
  - when: (?i)stream
    pace: 15ms
    text: "` + "Streamed words come one by one and are wrapped where the window ends, again and again. " + "Streamed words come one by one and are wrapped where the window ends, again and again. " + `The very end."
  - when: (?i)hang
    deltas: [{content: "Some words "}]
    hang: true
  - when: ""
    text: A short *answer*.
    usage: {input_tokens: 12, output_tokens: 5}
`

// TestChatConversation is a whole conversation: tools, an approval and a
// refusal, undo, branches, and the chat that goes on later.
func TestChatConversation(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		name := fmt.Sprintf("conversation-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, chatScript)
			project := filepath.Join(w.Dir, "p")
			if err := os.Mkdir(project, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(project, "notes", "todo.md")
			s := w.chatOn(size[0], size[1], nil, "-w", "p")
			s.idle()
			s.enters("hello")
			s.shows("A short answer.")
			s.idle()
			s.enters("please write it")
			s.asks()
			s.shows("+- milk")
			s.typed("\r \t") // nothing of this is an answer
			s.typed("y")
			s.shows("item  │ when")
			s.idle()
			if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "milk") {
				t.Fatalf("the file has %q, %v", text, err)
			}
			s.enters("/undo")
			s.shows("/redo reverts this")
			s.idle()
			if _, err := os.Stat(file); err == nil {
				t.Error("undo left the file")
			}
			s.enters("/retry")
			s.asks()
			s.typed("r")
			s.shows("why not:")
			s.typed("not today")
			s.shows("why not: not today")
			s.typed("\r")
			s.shows("denied by the user: not today")
			s.idle()
			s.enters("/branch")
			s.shows("the chat goes on here")
			s.idle()
			s.enters("/switch 1")
			s.shows("please write it")
			s.idle()
			s.typed("\x04")
			s.ends(0)
			s.quiet()
			s.golden(name)

			again := w.chatOn(size[0], size[1], nil, "-c")
			again.shows("4 messages")
			again.idle()
			again.enters("and now?")
			again.shows("A short answer.")
			again.idle()
			again.typed("\x03")
			again.shows("Ctrl-C again leaves")
			again.typed("\x03")
			again.ends(0)
			again.golden(name + "-again")
		})
	}
}

// TestChatCtrlCInATool: the tool ends, what came is kept, and what was typed
// meanwhile is not sent.
func TestChatCtrlCInATool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, nil)
	s.idle()
	s.enters("run it")
	s.asks()
	s.typed("y")
	s.shows("calling run_command")
	s.enters("more of it")
	s.shows("next: more of it")
	s.typed("\x03")
	s.until("the call's end", func(screen string) bool {
		return strings.Contains(screen, "✗ run_command  sleep 60") && strings.Contains(screen, "cancelled")
	})
	s.until("the message in the line", func(screen string) bool {
		return strings.Contains(screen, "› more of it") && !strings.Contains(screen, "next:") && strings.Contains(screen, "chat 1")
	})
	s.typed("\x15") // empties the line
	s.idle()
	s.typed("\x03\x03")
	s.ends(0)
	if shown, _ := w.Run(0, "chats", "show"); !strings.Contains(shown, "cancelled") {
		t.Errorf("kept:\n%s", shown)
	}
}

// TestChatTypeAhead: what is entered while the model answers is asked next.
func TestChatTypeAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, nil, "stream")
	s.shows("Streamed words")
	s.enters("hello again")
	s.shows("The very end.")
	s.shows("A short answer.")
	s.idle()
	all := s.everything()
	if a, b := strings.Index(all, "The very end."), strings.Index(all, "› hello again"); a < 0 || b < a {
		t.Errorf("the order is wrong:\n%s", all)
	}
}

// TestChatResizeWhileItStreams: nothing is lost or doubled, whichever way the
// window changes.
func TestChatResizeWhileItStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, nil)
	s.idle()
	s.enters("hello")
	s.shows("A short answer.")
	s.idle()
	s.enters("stream")
	s.shows("Streamed words")
	for _, size := range [][2]int{{60, 20}, {40, 12}, {110, 30}} {
		s.resize(size[0], size[1])
	}
	s.shows("very end.")
	s.idle()
	all := strings.Join(strings.Fields(s.everything()), " ")
	if n := strings.Count(all, "Streamed words come one by one"); n != 2 {
		t.Errorf("the answer's begin is there %d times:\n%s", n, s.everything())
	}
	for _, once := range []string{"A short answer.", "› stream", "The very end."} {
		if n := strings.Count(all, once); n != 1 {
			t.Errorf("%q is there %d times:\n%s", once, n, s.everything())
		}
	}
}

// TestChatIsResumedAfterItWasKilled: a program that is gone in mid-answer leaves
// a chat that goes on.
func TestChatIsResumedAfterItWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, nil)
	s.idle()
	s.enters("hang")
	s.shows("Some words")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	again := w.chatOn(80, 24, nil, "-c")
	again.shows("Some words")
	again.shows("interrupted")
	again.idle()
	again.enters("hello")
	again.shows("A short answer.")
}
