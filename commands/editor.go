package commands

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
)

// edit opens a file in the person's editor and waits until it is closed, for
// as long as a person takes.
func (rt *runtime) edit(ctx context.Context, path string) error {
	editor := cmp.Or(strings.TrimSpace(rt.streams.Getenv("VISUAL")), strings.TrimSpace(rt.streams.Getenv("EDITOR")))
	if editor == "" {
		editor = "vi"
		if goruntime.GOOS == "windows" {
			editor = "notepad"
		}
	}
	cmd := editorCommand(editor, path)
	rt.streams.Attach(cmd)
	if err := cmd.Run(); err != nil {
		return fault.Wrap(fault.Failed, fmt.Sprintf("edit with %s", shellWord(editor)), err,
			"EDITOR=nano fettle …   chooses another editor")
	}
	return ctx.Err()
}

// editorCommand runs an editor with its own arguments, which a shell reads as
// git has it read them. It isn't ended by Ctrl-C: that is the editor's to take.
func editorCommand(editor, path string) *exec.Cmd {
	if goruntime.GOOS != "windows" {
		return exec.Command("sh", "-c", editor+` "$@"`, editor, path)
	}
	if _, err := os.Stat(editor); err == nil {
		return exec.Command(editor, path)
	}
	words := strings.Fields(editor)
	return exec.Command(words[0], append(words[1:], path)...)
}
