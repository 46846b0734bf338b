//go:build linux || darwin

package commands_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// ours are the codes that a page of ours may send.
var ours = regexp.MustCompile("\x1b\\[(\\?2026[hl]|\\?25[hl]|\\?2004[hl]|[0-9]*[ABCJ]|[0-9;]*m)")

// TestChatShowsHostileTextOnly: what a model says, thinks and calls changes
// nothing but the text shown.
func TestChatShowsHostileTextOnly(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(needtest.Shared(t, "security", "term", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Cases []struct {
			Name  string          `json:"n"`
			Input json.RawMessage `json:"input"` // a text, or its chunks
		} `json:"cases"`
	}
	if err := json.Unmarshal(raw, &data); err != nil || len(data.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(data.Cases), err)
	}
	var all strings.Builder
	for _, c := range data.Cases {
		var text string
		var chunks []string
		if json.Unmarshal(c.Input, &text) != nil && json.Unmarshal(c.Input, &chunks) != nil {
			t.Fatalf("%s has the input %s", c.Name, c.Input)
		}
		all.WriteString("\n\n" + c.Name + ": " + text + strings.Join(chunks, ""))
	}
	hostile, err := json.Marshal(all.String())
	if err != nil {
		t.Fatal(err)
	}
	// JSON is YAML, but for what YAML doesn't take in a file; a recording takes all.
	w := newWorld(t, "")
	tape := `{"fettle_script":1}` + "\n" +
		`{"when":"begin","step":0,"reasoning":` + string(hostile) + `,"text":` + string(hostile) + `,"calls":[{"name":"write_file","args":{"path":"a.txt","content":` + string(hostile) + `}}]}` + "\n" +
		`{"when":"begin","step":1,"text":"the end"}` + "\n"
	commandtest.Put(t, filepath.Join(w.Dir, "tape.jsonl"), tape)
	if err := os.Mkdir(filepath.Join(w.Dir, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := w.chatOn(80, 24, nil, "-m", "script/tape.jsonl", "-w", "p")
	s.idle()
	s.enters("begin")
	s.shows("[?] details") // nothing can be allowed before
	s.typed("?")           // details show the content
	s.shows("[e] everything")
	s.typed("e")
	s.until("the question after its details", func(screen string) bool {
		return strings.Contains(s.everything(), "No newline at end of file") && strings.Contains(screen, "[y] once")
	})
	s.typed("y")
	s.shows("the end")
	s.idle()
	s.typed("\x0f") // and so does what is folded
	s.until("what was folded", func(string) bool { return strings.Contains(s.everything(), "call 1: write_file") })
	s.idle()
	s.quiet()
	rest := ours.ReplaceAllString(s.bytes(), "")
	for i, r := range rest {
		if r < ' ' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("%q was sent in %q", r, rest[max(0, i-40):min(len(rest), i+40)])
		}
	}
}

// TestChatWideCharacters: the cursor is where a person sees it.
func TestChatWideCharacters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(40, 12, nil)
	s.idle()
	at := func(x int) {
		t.Helper()
		s.until("the cursor's place", func(string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.emu.CursorPosition().X == x
		})
	}
	s.typed("日本e\u0301x")
	at(2 + 2 + 2 + 1 + 1)
	s.typed("\x1b[D\x1b[D")
	at(2 + 2 + 2)
	s.typed("\x7f")
	at(2 + 2)
	s.until("one character less", func(screen string) bool { return strings.Contains(screen, "› 日e\u0301x") })
	s.typed("\x05 " + strings.Repeat("語", 30)) // more than a row
	s.until("a second row", func(screen string) bool { return strings.Count(screen, "語") == 30 })
	for _, line := range strings.Split(s.screen(), "\n") {
		if n := len([]rune(line)) + strings.Count(line, "語"); n > 39 {
			t.Errorf("%q takes %d columns", line, n)
		}
	}
}

// TestChatPaste: a paste is taken whole, folded where it is long, and never sent
// by the line ends in it.
func TestChatPaste(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, nil)
	s.idle()
	s.typed("see \x1b[200~" + strings.Repeat("pasted line\r", 40) + "\x1b[201~")
	s.shows("› see [paste 1: 40 lines]")
	s.typed("\r")
	s.shows("A short answer.")
	s.idle()
	if shown, _ := w.Run(0, "chats", "show"); strings.Count(shown, "pasted line") != 41 { // once in the title
		t.Errorf("sent:\n%s", shown)
	}
	s.typed("\x1b[200~two\rlines\x1b[201~")
	s.until("both lines", func(screen string) bool { return strings.Contains(screen, "› two\n  lines") })
}

// TestChatCompletesAndFinds: commands, files, and what was entered before.
func TestChatCompletesAndFinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	commandtest.Put(t, filepath.Join(w.Dir, "p", "readme.md"), "x")
	s := w.chatOn(80, 24, nil, "-w", "p")
	s.idle()
	s.typed("/he")
	s.shows("> /help  show this")
	s.typed("\t\r")
	s.shows("search in it")
	s.idle()
	s.typed("look at @rea")
	s.shows("> @readme.md")
	s.typed("\t")
	s.shows("› look at @readme.md")
	s.typed("\r")
	s.shows("sent along:")
	s.shows("A short answer.")
	s.idle()
	s.typed("\x1b[A")
	s.shows("› look at @readme.md")
	s.typed("\x15\x12hel")
	s.shows("› /help")
	s.typed("\x1b")
	s.idle()
	info, err := os.Stat(filepath.Join(w.Dir, "data", "chat_history"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history is %v, %v", info, err)
	}
	s.typed("/nope\r")
	s.shows("there is no command /nope")
}

// TestChatPlain: lines in, text out, and nothing drawn twice.
func TestChatPlain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	for name, args := range map[string][]string{"a dumb terminal": nil, "asked for": {"--plain"}} {
		t.Run(name, func(t *testing.T) {
			env := []string{"TERM=dumb"}
			if args != nil {
				env = nil
			}
			s := w.chatOn(80, 24, env, args...)
			s.shows("\n>")
			s.typed("hello\r")
			s.until("the answer", func(screen string) bool { return strings.Contains(screen, "short") && strings.HasSuffix(screen, "\n>") })
			s.typed("/help\r")
			s.shows("/quit")
			s.typed("\x04")
			s.ends(0)
			if raw := commandtest.Looks().ReplaceAllString(s.bytes(), ""); args == nil && strings.Contains(raw, "\x1b") {
				t.Errorf("a dumb terminal was sent %q", raw)
			}
		})
	}
	t.Run("a pipe", func(t *testing.T) {
		cmd := w.Command("chat")
		cmd.Stdin = strings.NewReader("hello\n/usage\n\nhello\n")
		out, err := cmd.Output()
		if want := "A short *answer*.\n· 1 turn since this began: 12 in, 5 out tokens\nA short *answer*.\n"; err != nil || string(out) != want {
			t.Errorf("%q, %v; want %q", out, err, want)
		}
	})
}

// TestChatPlainCtrlC: the answer is stopped and the chat isn't.
func TestChatPlainCtrlC(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, nil, "--plain")
	s.shows("\n>")
	s.typed("hang\r")
	s.shows("Some words")
	s.typed("\x03")
	s.until("the next prompt", func(screen string) bool {
		return strings.Contains(screen, "stopped; what came is kept") && strings.HasSuffix(screen, "\n>")
	})
	s.typed("hello\r")
	s.shows("A short answer.")
	s.typed("\x04")
	s.ends(0)
}

// TestChatPlainAsks: a question's keys reach the question, also in a later message,
// when the chat reads lines of the same terminal.
func TestChatPlainAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `responses: [
  {when: "write", step: 0, calls: [{name: write_file, args: {path: a.txt, content: x}}]},
  {when: "", text: It is said.}]`)
	folder := filepath.Join(w.Dir, "p")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s := w.chatOn(80, 24, nil, "--plain", "-w", folder)
	s.shows("\n>")
	for i := range 3 {
		file := filepath.Join(folder, "a.txt")
		s.typed("write\r")
		s.until("the question", func(string) bool { return strings.Count(s.everything(), "[y]") == i+1 })
		s.typed("y")
		s.until("the answer", func(screen string) bool {
			return strings.Count(s.everything(), "It is said.") == i+1 && strings.HasSuffix(screen, "\n>")
		})
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	s.typed("\x04")
	s.ends(0)
}

// TestChatInTheEditor: the line goes to the person's editor and comes back.
func TestChatInTheEditor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	edited := filepath.Join(w.Dir, "edited")
	commandtest.Put(t, edited, "two\nlines of it\n")
	s := w.chatOn(80, 24, []string{"VISUAL=", "EDITOR=cp " + edited})
	s.idle()
	s.typed("one")
	s.shows("› one")
	s.typed("\x18\x05")
	s.shows("› two\n  lines of it")
	s.typed("!\r")
	s.shows("A short answer.")
	s.idle()
}

// TestChatWithoutColour: NO_COLOR leaves the page usable and without looks.
func TestChatWithoutColour(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, []string{"NO_COLOR=1"})
	s.idle()
	s.enters("hello")
	s.shows("A short *answer*.")
	s.idle()
	if raw := s.bytes(); commandtest.Looks().MatchString(raw) {
		t.Errorf("looks were sent: %q", raw)
	}
}

// TestChatDrawsNothingForNothing: while nobody does anything, nothing is drawn
// and next to no time of a processor is used.
func TestChatDrawsNothingForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, chatScript)
	s := w.chatOn(80, 24, nil)
	s.idle()
	s.enters("hello")
	s.shows("A short answer.")
	s.idle()
	var used, before time.Duration
	var sent int
	// Right after an answer the store is still put away; that ends.
	s.until("a second without any work", func(string) bool {
		before, sent = processTime(t, s.cmd.Process.Pid), len(s.bytes())
		time.Sleep(time.Second)
		used = processTime(t, s.cmd.Process.Pid) - before
		return used <= time.Second/100
	})
	if n := len(s.bytes()) - sent; n > 0 {
		t.Errorf("%d bytes were drawn for nothing", n)
	}
}
