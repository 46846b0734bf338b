package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// reviewScript changes three files by a command, and answers.
const reviewScript = `
responses:
  - {when: hello, text: Hello.}
  - {when: go, step: 0, calls: [{name: run_command, args: {command: "rm old; echo new > made; echo more >> kept; echo printed"}}]}
  - {when: go, seen: "not on Fridays", text: "It is Friday."}
  - {when: go, text: The end.}
`

// reviewWorld is a world with a project whose calls are reviewed after they have run.
func reviewWorld(t *testing.T) (w *world, project string) {
	t.Helper()
	w = newWorld(t, reviewScript)
	w.Configure("approvals: changes\n")
	project = filepath.Join(w.Dir, "p")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"old", "kept"} {
		if err := os.WriteFile(filepath.Join(project, name), []byte("was\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w, project
}

// landed names what a review has applied.
func landed(project string) string {
	var out []string
	if _, err := os.Stat(filepath.Join(project, "old")); err != nil {
		out = append(out, "old")
	}
	if text, err := os.ReadFile(filepath.Join(project, "kept")); err == nil && string(text) == "was\nmore\n" {
		out = append(out, "kept")
	}
	if _, err := os.Stat(filepath.Join(project, "made")); err == nil {
		out = append(out, "made")
	}
	return strings.Join(out, " ")
}

func TestTheKeysOfAReview(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys  [][2]string // the text to wait for, and the text to type then
		lands string
		shows []string
	}{
		"all":           {[][2]string{{"[n] discard", "y"}}, "old kept made", []string{"# removed old", "# modified kept  +1 -0", "+more", "3 files changed"}},
		"discarded":     {[][2]string{{"[n] discard", "n"}}, "", []string{"the user discarded"}},
		"with a reason": {[][2]string{{"[n] discard", "r"}, {"why not:", "not on Fridays\r"}}, "", []string{"It is Friday."}},
		"some":          {[][2]string{{"[n] discard", "s"}, {"1 of 3: removed old", "n"}, {"2 of 3: modified kept", "y"}, {"3 of 3: added made", "n"}}, "kept", []string{"The end."}},
		"the rest":      {[][2]string{{"[n] discard", "s"}, {"1 of 3", "n"}, {"2 of 3", "a"}}, "kept made", nil},
		"none":          {[][2]string{{"[n] discard", "s"}, {"1 of 3", "d"}}, "", []string{"the user discarded"}},
		"details":       {[][2]string{{"[n] discard", "?"}, {"its output:", "y"}}, "old kept made", []string{"run_command has run with", "printed"}},
		"Ctrl-C":        {[][2]string{{"[n] discard", "\x03"}}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, project := reviewWorld(t)
			term := w.OnTerminal(nil, "ask", "-w", "p", "go")
			for i, step := range c.keys {
				if term.Until("needs your approval"); i == 0 && strings.Contains(term.Screen(), "kept apart from the folder: ") {
					needtest.Lacking(t, "overlays in user namespaces")
				}
				term.Until(step[0])
				if got := landed(project); got != "" {
					t.Errorf("it landed before the answer: %s", got)
				}
				term.Type(step[1])
			}
			status := 0
			if name == "Ctrl-C" {
				status = 130
			}
			screen := term.Ends(status)
			if got := landed(project); got != c.lands {
				t.Errorf("applied: %s, want %s\n%s", got, c.lands, screen)
			}
			for _, want := range c.shows {
				if !strings.Contains(screen, want) {
					t.Errorf("%q is not on the screen:\n%s", want, screen)
				}
			}
		})
	}
}

// Shift-Tab goes through the modes, the chat keeps the chosen one, and a review in the chat
// takes a part. In plan mode the model is refused, and the plan is accepted by a command.
func TestChatModes(t *testing.T) {
	t.Parallel()
	w, project := reviewWorld(t)
	w.Configure("approvals: calls\n")
	s := w.chatOn(100, 40, nil, "-w", "p")
	s.idle()
	for _, label := range []string{"approvals: edits", "plan mode", "approvals: changes", "approvals: ask-all", "approvals: calls", "approvals: edits", "plan mode"} {
		s.typed("\x1b[Z")
		s.shows(label)
	}
	s.enters("go")
	s.shows("plan mode is on, in which calls can only read")
	s.shows("/plan accept carries the plan out")
	s.idle()
	s.enters("/approvals changes")
	s.shows("approvals: changes: run contained commands first")
	s.idle()
	s.enters("go on")
	s.shows("needs your approval")
	if strings.Contains(s.screen(), "kept apart from the folder: ") {
		needtest.Lacking(t, "overlays in user namespaces")
	}
	s.shows("+more")
	s.shows("[y] apply")
	s.typed("s")
	for _, step := range [][2]string{{"1 of 3: removed old", "n"}, {"2 of 3: modified kept", "y"}, {"3 of 3: added made", "d"}} {
		s.shows(step[0])
		s.shows("[d] leave out this")
		s.typed(step[1])
	}
	s.shows("applied 1 of 3 files: run_command")
	s.shows("The end.")
	s.idle()
	if got := landed(project); got != "kept" {
		t.Errorf("applied: %s", got)
	}
	s.typed("\x04")
	s.ends(0)
	again := w.chatOn(100, 40, nil, "-c")
	again.shows("approvals: changes")
	again.idle()
	again.typed("\x04")
	again.ends(0)
}

// A mode that a flag has set for one session holds again after plan mode, and the chat does
// not keep it.
func TestPlanModeInAChatBegunWithAMode(t *testing.T) {
	t.Parallel()
	w, _ := reviewWorld(t)
	w.Configure("approvals: calls\n")
	s := w.chatOn(100, 40, nil, "-w", "p", "--approvals", "edits")
	s.idle()
	s.typed("\x1b[Z")
	s.shows("plan mode")
	s.enters("hello")
	s.shows("Hello.")
	s.idle()
	s.enters("/plan off")
	s.shows("plan mode is off; approvals: edits")
	s.idle()
	s.typed("\x04")
	s.ends(0)
	again := w.chatOn(100, 40, nil, "-c")
	again.idle()
	if strings.Contains(again.everything(), "approvals: edits") || strings.Contains(again.screen(), "plan mode") {
		t.Errorf("the chat has kept the mode:\n%s", again.everything())
	}
	again.typed("\x04")
	again.ends(0)
}

// What a call wrote when fettle was killed is offered on a terminal by the next chat or ask
// in that folder. Elsewhere a warning names it.
func TestTheChangesOfACutCallAreOfferedOnATerminal(t *testing.T) {
	t.Parallel()
	w, project := reviewWorld(t)
	cut := func() {
		t.Helper()
		s := w.chatOn(100, 40, nil, "-w", "p")
		s.idle()
		s.enters("go")
		s.shows("needs your approval")
		if strings.Contains(s.screen(), "kept apart from the folder: ") {
			needtest.Lacking(t, "overlays in user namespaces")
		}
		s.shows("[y] apply")
		if err := s.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = s.cmd.Wait() // it was killed
	}
	offered := []string{"A call was cut off ", "→ run_command  rm old; echo new > made", "removed old", "modified kept  +1 -0", "added made", "[a]pply"}

	cut()
	out, warned := w.Run(0, "ask", "-w", "p", "--output", "json", "hello")
	if strings.Contains(out+warned, "[a]pply") || !strings.Contains(warned, "fettle workspace apply ") {
		t.Errorf("in a pipe it prints %s", warned)
	}
	s := w.chatOn(100, 40, nil, "-w", "p")
	for _, text := range offered {
		s.shows(text)
	}
	s.typed("l")
	s.idle()
	s.enters("hello")
	s.shows("Hello.")
	s.idle()
	if n := strings.Count(s.everything(), "[a]pply"); n != 1 {
		t.Errorf("it is offered %d times:\n%s", n, s.everything())
	}
	s.typed("\x04")
	s.ends(0)

	term := w.OnTerminal(nil, "ask", "-w", "p", "hello")
	for _, text := range offered {
		term.Until(text)
	}
	term.Type("s")
	term.Until("+more")
	if got := landed(project); got != "" {
		t.Errorf("it landed before the answer: %s", got)
	}
	term.Type("a")
	if screen := term.Ends(0); landed(project) != "old kept made" || !strings.Contains(screen, "takes it back") || strings.Contains(screen, "not in "+project+" yet; ") {
		t.Errorf("applied: %s\n%s", landed(project), screen)
	}
	w.Run(0, "undo", "--chat", "1")
	if got := landed(project); got != "" {
		t.Errorf("after undo: %s", got)
	}

	cut()
	s = w.chatOn(100, 40, nil, "-c")
	s.shows("[d]iscard")
	s.typed("d")
	s.shows("removed what the call ")
	s.idle()
	s.typed("\x04")
	s.ends(0)
	if _, warned := w.Run(0, "ask", "-w", "p", "hello"); strings.Contains(warned, "cut off") || landed(project) != "" {
		t.Errorf("after it was discarded: %s %s", landed(project), warned)
	}
}
