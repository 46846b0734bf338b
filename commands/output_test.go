package commands_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a command prints, a standard output that takes nothing makes it
// fail.
func TestLostOutputIsAFailure(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("needs /dev/full, which Linux has: %v", err)
	}
	defer full.Close()
	w := newWorld(t, `{responses: [{when: "", text: "~~~\ncode\n~~~"}]}`)
	w.run(0, "ask", "--no-stdin", "hi")
	for _, command := range []string{
		"ask hi", "ask -o json hi", "ask -o events hi", "ask -x hi", "ask --no-stream hi",
		"chats list", "chats list -o json", "chats show", "chats show -o json", "chats search hi", "chats search -o json hi", "version", "version -o json",
		"", "help", "help output", "ask --help", "chats", "demo",
	} {
		t.Run(command, func(t *testing.T) {
			cmd := w.command(strings.Fields(command)...)
			var errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = full, &errs
			_ = cmd.Run() // the status says it
			if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(errs.String(), "write to standard output: no space left on device") {
				t.Errorf("status %d, said %q", status, errs.String())
			}
		})
	}
}

// An image that the model is known not to take is left out, and that is said.
func TestImagesThatAModelCantTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{capabilities: {images: no}, responses: [{when: "", text: I see nothing.}]}`)
	if err := os.WriteFile(filepath.Join(w.dir, "dot.png"), []byte(onePixel), 0o600); err != nil {
		t.Fatal(err)
	}
	const note = "images were left out: script/m.yaml takes none"
	if _, errs := w.run(0, "ask", "--no-stdin", "-v", "-f", "dot.png", "what is it?"); !strings.Contains(errs, "note: "+note) {
		t.Errorf("said %q", errs)
	}
	if out, _ := w.run(0, "ask", "--no-stdin", "-o", "json", "-f", "dot.png", "what is it?"); !strings.Contains(out, `"footnotes":["`+note) {
		t.Errorf("printed %s", out)
	}
	if shown, _ := w.run(0, "chats", "show"); !strings.Contains(shown, "image dot.png, ") || !strings.HasSuffix(shown, "note: "+note+"\n") {
		t.Errorf("kept:\n%s", shown)
	}
}
