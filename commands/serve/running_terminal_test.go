//go:build linux || darwin

package serve_test

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
)

// A call is asked about at the command's own terminal, by way of the server on
// this machine and by way of another one, and runs where the turn does.
func TestApprovalsThroughServe(t *testing.T) {
	t.Parallel()
	for name, remote := range map[string]bool{"beside": false, "elsewhere": true} {
		for _, key := range []string{"y", "n"} {
			t.Run(name+" "+key, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, commandtest.AskingScript)
				file := w.Folder()
				s := w.serve("--log", "json")
				args := []string{"ask", "go", "-w", "project"}
				if remote { // its own folder can't be named, so that a command has to be asked about
					w = newWorld(t, "{}")
					commandtest.Put(t, s.w.Dir+"/m.yaml", strings.ReplaceAll(commandtest.AskingScript, `{name: write_file, args: {path: a.txt, content: "one\ntwo\n"}}`,
						`{name: run_command, args: {command: "echo ran"}}`))
					args = []string{"ask", "go", "--server", s.url + "/#token=" + s.token}
				}
				term := w.OnTerminal(nil, args...)
				if remote {
					term.Until("[n] no")
				} else {
					term.UntilAsked(1)
				}
				term.Type(key)
				screen := term.Ends(0)
				if denied := strings.Contains(screen, "denied by the user"); denied != (key == "n") || !strings.Contains(screen, "The end.") {
					t.Errorf("the screen shows\n%s", screen)
				}
				if !remote && commandtest.Exists(file) != (key == "y") {
					t.Errorf("the file is there: %v", commandtest.Exists(file))
				}
				log := s.ends()
				if op := map[bool]string{false: `"op":"answer_call"`, true: `"op":"confirm_turn"`}[remote]; !strings.Contains(log, op) {
					t.Errorf("the server says\n%s", log)
				}
			})
		}
	}
}
