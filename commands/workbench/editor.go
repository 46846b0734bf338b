package workbench

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Edit opens a file in the person's editor and waits until it is closed, for
// as long as a person takes.
func (rt *Runtime) Edit(ctx context.Context, path string) error {
	editor := cmp.Or(strings.TrimSpace(rt.Streams.Getenv("VISUAL")), strings.TrimSpace(rt.Streams.Getenv("EDITOR")))
	if editor == "" {
		editor = "vi"
		if goruntime.GOOS == "windows" {
			editor = "notepad"
		}
	}
	cmd := editorCommand(editor, path)
	rt.Streams.Attach(cmd)
	err := cmd.Run()
	const hint = "EDITOR=nano fettle …   chooses another editor"
	const notFound = 127 // what a shell says of a program that isn't there
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &exit) && exit.ExitCode() == notFound:
		return fault.New(fault.Failed, "there is no editor "+cmdline.ShellWord(editor)+"", fault.Run(hint))
	case err != nil:
		return fault.Wrap(fault.Failed, "edit with "+cmdline.ShellWord(editor), err, fault.Run(hint))
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
