package commands

import (
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Main keeps nothing from one call to the next: flags, streams, configuration
// and the store are each run's own, and no goroutine stays.
func TestMainMayBeCalledAgain(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": dir, "FETTLE_DATA": filepath.Join(dir, "data"), "FETTLE_CONFIG": filepath.Join(dir, "config"),
		"FETTLE_MODEL": "script/:demo", "OLLAMA_HOST": "127.0.0.1:1", "OPENAI_API_KEY": "", "NO_COLOR": "",
	} {
		t.Setenv(name, value)
	}
	before := goleak.IgnoreCurrent()
	for _, c := range []struct {
		args   string
		status int
		stdout string
		stderr string
	}{
		{"ask -q -o json --color never who are you", 0, `"answer":"I am only a recording`, ""},
		{"ask who are you", 0, "I am only a recording", ""},
		{"ask -o json --nosuch", 2, "", `"code":"usage"`},
		{"ask --nosuch", 2, "", "fettle: there is no flag --nosuch"},
		{"chats list", 0, "2\twho are you\t", ""},
		{"chats list -n 1 -o json", 0, `"number": 2`, ""},
		{"chats show 1", 0, "I am only a recording", ""},
		{"ask -c and now", 0, "I am only a recording", ""},
		{"chats list", 0, "2\twho are you\tscript/:demo\t4\t", ""},
		{"demo files", 0, "spent the most", "Nothing of it was kept"},
		{"help", 0, "topics", ""},
		{"nosuch", fault.Usage.Exit(), "", "there is no command nosuch"},
	} {
		s := term.Test(term.TestOptions{})
		status := Main(t.Context(), strings.Fields("fettle "+c.args), s.Streams)
		if status != c.status || !strings.Contains(s.Stdout.String(), c.stdout) || !strings.Contains(s.Stderr.String(), c.stderr) {
			t.Errorf("fettle %s: status %d\n%s%s", c.args, status, s.Stdout, s.Stderr)
		}
		if (c.stdout == "") != (s.Stdout.String() == "") || c.stderr == "" && s.Stderr.String() != "" {
			t.Errorf("fettle %s: too much:\n%s%s", c.args, s.Stdout, s.Stderr)
		}
	}
	goleak.VerifyNone(t, before)
}
