//go:build linux || darwin

package commands_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// A paragraph is rendered before the answer is complete; Ctrl-C keeps what
// came, says so, and takes the status line off.
func TestMarkdownStreamsAndCtrlCKeepsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
responses:
  - deltas: [{reasoning: "Let me see.\nThis is "}, {reasoning: the question}, {wait: 300ms, content: "Some **bold"}, {content: "** words.\n\nAnd `+"`code`"+` "}]
    hang: true
`)
	c := w.OnTerminal(nil, "ask", "go")
	c.Until("thinking: This is the question")
	c.Until("Some bold words.")
	c.Until("And code")
	if raw := c.Raw(); !strings.Contains(raw, "\x1b[1mbold") || strings.Contains(raw, "**") {
		t.Errorf("not rendered: %q", raw)
	}
	c.Type("\x03")
	if got, want := c.Ends(130), "Some bold words.\n\nAnd code^C\n  stopped · chat 1 keeps what came\n"; got != want {
		t.Errorf("the screen shows\n%q, want\n%q", got, want)
	}
	if shown, _ := w.Run(0, "chats", "show"); !strings.HasSuffix(shown, "And `code` \ncancelled\n") {
		t.Errorf("kept:\n%s", shown)
	}
}

func TestTheKeysOfAnApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys   []string // each typed when the question was put once more
		status int
		writes bool
		shows  []string
	}{
		"once":               {[]string{"y"}, 0, true, []string{"✓ write_file  a.txt", "The end."}},
		"no":                 {[]string{"n"}, 0, false, []string{"✗ write_file  a.txt  denied by the user", "The end."}},
		"a stray Enter":      {[]string{"\r", "y"}, 0, true, []string{"answer y, c, a, n or ?"}},
		"a pasted text":      {[]string{"yes please", "n"}, 0, false, []string{"yes please", "denied by the user"}},
		"three wrong ones":   {[]string{"x", "\r", "q"}, 0, false, []string{"denied by the user: nobody answered"}},
		"details":            {[]string{"?", "y"}, 0, true, []string{"  path: a.txt\n  content:\n    one\n    two\nit may read and write the chat's workspace only\nc and a allow from now on\n  write_file(a.txt)\n"}},
		"Ctrl-C":             {[]string{"\x03"}, 130, false, []string{"✗ write_file  a.txt  cancelled before it ran", "stopped · chat 1"}},
		"Ctrl-D is no yes":   {[]string{"\x04"}, 0, false, []string{"nobody answered"}},
		"this chat":          {[]string{"c"}, 0, true, nil},
		"always, everywhere": {[]string{"a"}, 0, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, commandtest.AskingScript)
			file := w.Folder()
			term := w.OnTerminal(nil, "ask", "-w", "project", "go")
			for n, keys := range c.keys {
				term.UntilAsked(n + 1)
				if n == 0 && commandtest.Exists(file) {
					t.Error("it ran before it was approved")
				}
				term.Type(keys)
			}
			screen := term.Ends(c.status)
			for _, want := range append(c.shows, "→ write_file  a.txt\n    content: one ␤ two\n  needs your approval: it can change") {
				if !strings.Contains(screen, want) {
					t.Errorf("%q is not on the screen:\n%s", want, screen)
				}
			}
			if commandtest.Exists(file) != c.writes {
				t.Errorf("the file is there: %v, want %v", !c.writes, c.writes)
			}
		})
	}
}

// A call that is not shown whole can't be allowed before its details were shown to their
// end; blanks in front of its end are counted.
func TestHostileCallsOnATerminal(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("echo one\\n", 60)
	for name, c := range map[string]struct {
		command string
		keys    [][2]string // the text to wait for, and the text to type then
		shows   []string
	}{
		"blanks are counted": {"echo ok" + strings.Repeat(" ", 300) + "; echo two > ran.txt", [][2]string{{"[y] once", "y"}}, []string{"echo ok[300 blanks]; echo two > ran.txt"}},
		"a yes before the details is none": {
			lines + "echo two > ran.txt", [][2]string{{"[n] no  [?] details", "y"}, {"answer n or ?", "?"}, {"[m]ore", "y"}, {"answer m, e or n", "m"}, {"34 lines left", "e"}, {"[y] once", "y"}},
			[]string{"not all of it is shown: ?", "    echo two > ran.txt\n"},
		},
		"details that were left allow nothing": {lines, [][2]string{{"[n] no  [?] details", "?"}, {"[m]ore", "n"}}, []string{"denied by the user"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{responses: [{when: "", step: 0, calls: [{name: run_command, args: {command: "`+c.command+`"}}]}, {when: "", text: The end.}]}`)
			term := w.OnTerminal(nil, "ask", "-w", filepath.Dir(w.Folder()), "go")
			for _, step := range c.keys {
				term.Until(step[0])
				term.Type(step[1])
			}
			screen := term.Ends(0)
			for _, want := range append(c.shows, "The end.") {
				if !strings.Contains(screen, want) {
					t.Errorf("%q is not on the screen:\n%s", want, screen)
				}
			}
		})
	}
}

// What was approved for a chat holds in that chat, and what was approved for
// always holds everywhere: a pipe, which can't be asked, tells.
func TestApprovalsAreRemembered(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]struct{ same, other int }{"y": {8, 8}, "c": {0, 8}, "a": {0, 0}} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, commandtest.AskingScript)
			w.Folder()
			c := w.OnTerminal(nil, "ask", "-w", "project", "go")
			c.UntilAsked(1)
			c.Type(key)
			c.Ends(0)
			w.Run(want.same, "ask", "-c", "--no-stdin", "again")
			w.Run(want.other, "ask", "-w", "project", "--no-stdin", "elsewhere")
		})
	}
}

// Without colours there is no escape code at all, the status line included.
func TestNoEscapeCodesWithoutColour(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
responses:
  - {step: 0, reasoning: Hm., pace: 300ms, calls: [{name: list_files, args: {}}]}
  - {step: 1, text: "# Title\n\nA **word**.\n"}
`)
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		c := w.OnTerminal([]string{env}, "ask", "go")
		screen := c.Ends(0)
		if strings.Contains(c.Raw(), "\x1b") {
			t.Errorf("%s: escape codes in %q", env, c.Raw())
		}
		if lines := strings.Split(screen, "\n"); len(lines) < 4 || !strings.HasPrefix(lines[0], "✓ list_files  ") ||
			strings.Join(lines[1:4], "\n") != "# Title\n\nA **word**." {
			t.Errorf("%s: the screen shows\n%s", env, screen)
		}
		if shown := strings.Contains(c.Raw(), "thinking: Hm."); shown != (env == "NO_COLOR=1") {
			t.Errorf("%s: the status line was shown: %v", env, shown)
		}
	}
}

// Whatever a model says, a terminal is sent looks and nothing else.
func TestAHostileModelOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
responses:
  - step: 0
    reasoning: "\e]0;title\a"
    calls: [{name: "list_files", args: {path: "a\e[2J\u202eb\nc"}}]
  - {step: 1, text: "a\e]0;t\ab\u009b2Jc\u202ed **\e[5mx** e\rf\n\n`+"```\\n\\e[31m\\u202e\\n```"+`\n"}
`)
	codes := regexp.MustCompile("\x1b\\[([0-9;]*m|K)")
	for _, flags := range [][]string{nil, {"-v"}, {"-x"}, {"--no-stream"}} {
		c := w.OnTerminal(nil, append([]string{"ask", "go"}, flags...)...)
		c.Ends(0)
		rest := codes.ReplaceAllString(c.Raw(), "")
		for _, bad := range []string{"\x1b", "\a", "\u009b", "\u202e"} {
			if strings.Contains(rest, bad) {
				t.Errorf("%q: %q in %q", flags, bad, rest)
			}
		}
	}
	c := w.OnTerminal(nil, "chats", "show")
	if screen := c.Ends(0); strings.Contains(codes.ReplaceAllString(c.Raw(), ""), "\x1b") || !strings.Contains(screen, "‹U+202E›") {
		t.Errorf("shown:\n%q", c.Raw())
	}
}

// JSON and code are no Markdown.
func TestDataIsNotRendered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{text: '{"a": "*b* _c_ <d>"}'}]}`)
	c := w.OnTerminal(nil, "ask", "-q", "--schema", `{"type":"object"}`, "go")
	if got, want := c.Ends(0), `{"a": "*b* _c_ <d>"}`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A terminal that was made narrower gets lines that fit from then on.
func TestResizing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, strings.Replace(commandtest.AskingScript, "The **end**.", strings.Repeat("words of an answer ", 20), 1))
	w.Folder()
	c := w.OnTerminal(nil, "ask", "-q", "-v", "--yes", "go")
	c.Ends(0)
	c = w.OnTerminal(nil, "ask", "-w", "project", "go")
	c.UntilAsked(1)
	c.Resize(44)
	c.Type("y")
	screen := c.Ends(0)
	_, answer, _ := strings.Cut(screen, "✓ write_file")
	if strings.Count(answer, "words") != 20 {
		t.Errorf("the screen shows\n%s", screen)
	}
	for line := range strings.Lines(answer) {
		if len(line) > 45 {
			t.Errorf("too wide: %q", line)
		}
	}
}

// With -q the paragraphs between calls stay apart, and nothing is said.
func TestQuietOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, commandtest.AskingScript)
	c := w.OnTerminal(nil, "ask", "-q", "go")
	if got, want := c.Ends(0), "I write.\n\nThe end.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Reasoning that is shown is set apart, and broken between words.
func TestReasoningOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `
responses:
  - {reasoning: "`+strings.Repeat("word ", 20)+`\n\n\nand so.", text: Yes.}
`)
	c := w.OnTerminal(nil, "ask", "-v", "go")
	want := " " + strings.Repeat(" word", 15) + "\n " + strings.Repeat(" word", 5) +
		"\n\n  and so.\nYes.\n  script/m.yaml · chat 1\n"
	if got := c.Ends(0); got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
}

// The terminal is closed: the turn is cancelled and kept.
func TestAClosedTerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{deltas: [{content: "Half an answer"}], hang: true}]}`)
	c := w.StartOnTerminal(nil, "ask", "go") // a read that waits would keep it open
	c.HangUp("Half an")                      // a last word is held back
	c.Ends(130)
	if shown, _ := w.Run(0, "chats", "show"); !strings.HasSuffix(shown, "Half an answer\ncancelled\n") {
		t.Errorf("kept:\n%s", shown)
	}
}

// What is shown goes through a pager, and leaving it is no failure.
func TestThePager(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{deltas: [{content: "`+strings.Repeat(`line\n\n`, 20000)+`"}]}]}`)
	w.Run(0, "ask", "--no-stdin", "go")
	for script, want := range map[string]string{
		"head -n 2 | sed s/^/paged:/": "paged:go\npaged:chat 1 · script/m.yaml · ",
		"exec cat":                    "line\n",
		"exit 3":                      "",
	} {
		pager := filepath.Join(t.TempDir(), "pager")
		if err := commandtest.WriteProgram(pager, "#!/bin/sh\n"+script+"\n"); err != nil {
			t.Fatal(err)
		}
		c := w.OnTerminal([]string{"PAGER=" + pager}, "chats", "show")
		if screen := c.Ends(0); !strings.Contains(screen, want) || (script != "exec cat") == strings.HasSuffix(screen, "line\n") {
			t.Errorf("%s: the screen shows\n%.200s", script, screen)
		}
	}
	w.Run(0, "tool", "call", "write_file", "--arg", "path=a", "--arg", "content=b")
	pager := filepath.Join(t.TempDir(), "pager")
	if err := commandtest.WriteProgram(pager, "#!/bin/sh\nexec sed s/^/paged:/\n"); err != nil {
		t.Fatal(err)
	}
	if screen := w.OnTerminal([]string{"PAGER=" + pager}, "workspace", "show").Ends(0); !strings.Contains(screen, "paged:A  a\n") {
		t.Errorf("workspace show:\n%s", screen)
	}
	w.Run(0, "chats", "rm", "2", "--yes")
	c := w.OnTerminal([]string{"PAGER=/nosuch/pager"}, "chats", "show")
	if screen := c.Ends(0); !strings.HasPrefix(screen, "go\n") || !strings.HasSuffix(screen, "line\n") {
		t.Errorf("without a pager the screen shows\n%.200s", screen)
	}
}

// An archive is no text: it goes to a file or a pipe, and to no screen.
func TestAHistoryIsNotWrittenToATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{responses: [{when: "", step: 0, calls: [{name: write_file, args: {path: a, content: b}}]}, {when: "", text: Done.}]}`)
	w.Run(0, "ask", "--yes", "write it")
	c := w.OnTerminal(nil, "workspace", "export", "-")
	if screen := c.Ends(2); !strings.Contains(screen, "an archive isn't written to a terminal") || !strings.Contains(screen, "fettle workspace export history.tar.gz") {
		t.Errorf("the screen shows\n%s", screen)
	}
}

// What an undo of many files would change, and what it leaves alone, is told in bounds
// to a person; JSON has all of it.
func TestUndoOfManyFilesIsToldInBounds(t *testing.T) {
	t.Parallel()
	var calls []string
	keeping := []string{"undo", "30", "--dry-run"}
	for i := range 30 {
		keeping = append(keeping, "--keep", fmt.Sprintf("many/a-rather-long-name-%02d.txt", i))
		calls = append(calls, fmt.Sprintf("{name: write_file, args: {path: many/a-rather-long-name-%02d.txt, content: 'n%d'}}", i, i))
	}
	w := newWorld(t, `{responses: [{when: "", step: 0, calls: [`+strings.Join(calls, ", ")+`]}, {when: "", text: Done.}]}`)
	w.Run(0, "ask", "--yes", "write it")

	screen := w.OnTerminal(nil, "undo", "30", "--dry-run").Ends(0)
	if strings.Count(screen, "D  many/a-rather-long-name-") != 20 || !strings.Contains(screen, "and 10 more; --output json lists them all") {
		t.Errorf("the screen shows\n%s", screen)
	}
	if out, errs := w.Run(0, "undo", "30", "--dry-run"); strings.Count(out, "\n") != 2 || !strings.HasSuffix(out, "-04.txt and 25 more\n") || errs != "" {
		t.Errorf("a pipe gets %q and %q", out, errs)
	}
	_, errs := w.Run(0, keeping...)
	if strings.Count(errs, "left alone: many/") != 20 || !strings.Contains(errs, "left alone: 11 more; --output json lists them all") { // and the folder
		t.Errorf("of what is kept is told\n%s", errs)
	}
	out, _ := w.Run(0, append(keeping, "-o", "json")...)
	var got struct{ Left []struct{ Path string } }
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Left) != 31 {
		t.Errorf("%v, JSON has %d", err, len(got.Left))
	}
	screen = w.OnTerminal(nil, "undo", "30").Ends(0)
	if strings.Count(screen, "many/a-rather-long-name-") != 5 || !strings.Contains(screen, "and 25 more") {
		t.Errorf("of what was done the screen shows\n%s", screen)
	}
}
