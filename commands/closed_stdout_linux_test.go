package commands_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A standard output that is closed or full is an error of every command that prints
// something, and one whose reader has ended is none that is reported.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, yesScript)
	w.Run(0, "ask", "--no-stdin", "hello")
	for _, line := range []string{
		"ask --no-stdin hello", "ask --no-stdin -o json hello", "ask --no-stdin -o events hello", "chats list", "chats show 1",
		"chats export 1", "chats search hello", "config list", "tool list -o json", "store stats", "--version", "help", "ask --help",
		"completion bash", "tool call list_files {}",
	} {
		for redirection, want := range map[string]int{">&-": 1, ">/dev/full": 1, "| true": 141} {
			t.Run(line+redirection, func(t *testing.T) {
				t.Parallel()
				script := `"$@" ` + redirection + `; exit $?`
				if redirection == "| true" {
					script = `{ "$@"; echo $? >&2; } | true; exit 141`
				}
				cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh", os.Args[0]}, strings.Fields(line)...)...)
				var errs bytes.Buffer
				cmd.Env, cmd.Dir, cmd.Stderr = w.Env, w.Dir, &errs
				var exit *exec.ExitError
				if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				if got := cmd.ProcessState.ExitCode(); got != want {
					t.Errorf("exit status %d, want %d; %s", got, want, errs.String())
				}
				said := strings.Contains(errs.String(), "write to standard output: ")
				if piped := redirection == "| true"; said == piped || piped && !strings.HasSuffix(errs.String(), "141\n") && !strings.HasSuffix(errs.String(), "0\n") {
					t.Errorf("standard error is %q", errs.String())
				}
			})
		}
	}
}

// A program that discards the output of a command may give it /dev/null in any way.
func TestOutputThatIsDiscarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, yesScript)
	for _, flags := range []int{os.O_WRONLY, os.O_RDWR} {
		null, err := os.OpenFile(os.DevNull, flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"--version"}, {"sh", "-c", `"$@"; exit $?`, "sh", os.Args[0], "--version"}} {
			cmd := w.Command(args...)
			if args[0] == "sh" {
				cmd = exec.CommandContext(t.Context(), args[0], args[1:]...)
				cmd.Env, cmd.Dir = w.Env, w.Dir
			}
			cmd.Stdout = null
			if err := cmd.Run(); err != nil {
				t.Errorf("%q with flags %#x: %v", args, flags, err)
			}
		}
		if err := null.Close(); err != nil {
			t.Error(err)
		}
	}
}
