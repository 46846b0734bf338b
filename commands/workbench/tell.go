package workbench

import (
	"cmp"
	"context"
	"errors"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
)

// Waiting says whom a command waits for.
func (rt *Runtime) Waiting(what string) { rt.Notice("waiting: " + what) }

// Notice says something that isn't the result, unless -q wants quiet.
func (rt *Runtime) Notice(text string) {
	if !rt.Quiet {
		rt.print(text)
	}
}

func (rt *Runtime) print(text string) {
	streams := rt.Streams
	if d := rt.Page.Load(); d != nil && d.Outside == streams {
		streams = d.Inside
	}
	streams.Err.Printf("fettle: %s\n", term.Clean(text))
}

// Warning prints a warning of a turn to standard error, also with -q, unless the engine
// has printed it here as a notice.
func (rt *Runtime) Warning(text string) {
	if _, printed := rt.noticed.LoadAndDelete(text); !printed {
		rt.print(text)
	}
}

// cutAdvice says how to apply or discard what a call wrote that was cut off.
func (rt *Runtime) cutAdvice(call string) string {
	if rt.CutAdvice != nil {
		return rt.CutAdvice(call)
	}
	return "fettle workspace apply " + call + " applies them, fettle workspace discard " + call + " removes them"
}

// engineNotice logs a notice of the engine, if this is a server; else it prints it.
func (rt *Runtime) engineNotice(text string) {
	if rt.Log != nil {
		rt.Log.Warn(term.Clean(text))
		return
	}
	if !rt.Quiet {
		rt.noticed.Store(text, true)
		rt.print(text)
	}
}

// Sure asks the user whether something is to be removed, and prints that nothing was
// removed for any other answer than yes. Where the user can't be asked it returns a fault
// with the command that doesn't ask.
func (rt *Runtime) Sure(ctx context.Context, question, without string) (bool, error) {
	key, err := rt.Streams.Ask(ctx, term.Question{
		Text: question, Default: 'n',
		Choices: []term.Choice{{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"}},
	})
	switch {
	case errors.Is(err, term.ErrNoTerminal):
		return false, cmdline.Usagef(without, "nobody can be asked here whether to remove it")
	case err != nil && !errors.Is(err, term.ErrNoAnswer):
		return false, err
	case err != nil, key != 'y':
		rt.Notice("nothing was removed")
		return false, nil
	}
	return true, nil
}

// Hint says what can be done next, below a notice.
func (rt *Runtime) Hint(text string) {
	if !rt.Quiet {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim(term.Clean(text)))
	}
}

// PromptWidth is that of the terminal which questions are put on.
func (rt *Runtime) PromptWidth() int {
	return cmp.Or(rt.Streams.Err.Width(), rt.Streams.Out.Width(), 80)
}
