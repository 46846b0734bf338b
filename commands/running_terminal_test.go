//go:build linux || darwin

package commands_test

import (
	"strings"
	"testing"
)

// A call is asked about at the command's own terminal, by way of the server on
// this machine and by way of another one, and runs where the turn does.
func TestApprovalsThroughServe(t *testing.T) {
	t.Parallel()
	for name, remote := range map[string]bool{"beside": false, "elsewhere": true} {
		for _, key := range []string{"y", "n"} {
			t.Run(name+" "+key, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, askingScript)
				file := w.folder()
				s := w.serve("--log", "json")
				args := []string{"ask", "go", "-w", "project"}
				if remote { // its own folder can't be named, so that a command has to be asked about
					w = newWorld(t, "{}")
					put(t, s.w.dir+"/m.yaml", strings.ReplaceAll(askingScript, `{name: write_file, args: {path: a.txt, content: "one\ntwo\n"}}`,
						`{name: run_command, args: {command: "echo ran"}}`))
					args = []string{"ask", "go", "--server", s.url + "/#token=" + s.token}
				}
				term := w.onTerminal(nil, args...)
				if remote {
					term.until("[n] no")
				} else {
					term.untilAsked(1)
				}
				term.typed(key)
				screen := term.ends(0)
				if denied := strings.Contains(screen, "denied by the user"); denied != (key == "n") || !strings.Contains(screen, "The end.") {
					t.Errorf("the screen shows\n%s", screen)
				}
				if !remote && exists(file) != (key == "y") {
					t.Errorf("the file is there: %v", exists(file))
				}
				log := s.ends()
				if op := map[bool]string{false: `"op":"answer_call"`, true: `"op":"confirm_turn"`}[remote]; !strings.Contains(log, op) {
					t.Errorf("the server says\n%s", log)
				}
			})
		}
	}
}
