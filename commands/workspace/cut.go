package workspace

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
)

// newWorkspaceApply makes the command workspace apply.
func newWorkspaceApply(rt *workbench.Runtime) *cli.Command {
	return newCut(rt, &cli.Command{
		Name: "apply", Usage: "apply what a call wrote that was cut off", ArgsUsage: "[CALL]",
		Description: `What a command or a Python tool writes comes into the folder when it has ended. If
fettle is killed before that, the files are kept. On a terminal the next ask or chat
offers to apply or discard them; other commands name the call. This applies them, as a step that undo takes back. What was changed in the
folder since the call began stays as it is, and is listed. CALL is the call's id,
of which the last letters are enough; it can be left out if there is only one.`,
		UsageText: "fettle workspace apply",
	}, applyCut)
}

// newWorkspaceDiscard makes the command workspace discard.
func newWorkspaceDiscard(rt *workbench.Runtime) *cli.Command {
	return newCut(rt, &cli.Command{
		Name: "discard", Usage: "remove what a call wrote that was cut off", ArgsUsage: "[CALL]",
		Description: `Removes the files that fettle workspace apply would apply. Nothing brings them back.
CALL is the call's id, of which the last letters are enough; it can be left out if
there is only one.`,
		UsageText: "fettle workspace discard",
	}, discardCut)
}

// cutAction applies or discards what a call wrote, and prints the result to out.
type cutAction func(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, call string, out *term.Output) error

// newCut completes a command about what cut calls wrote.
func newCut(rt *workbench.Runtime, c *cli.Command, do cutAction) *cli.Command {
	c.Action = func(ctx *cli.Context) error {
		if ctx.NArg() > 1 {
			return cmdline.Usagef("fettle workspace "+c.Name, "workspace %s takes one call", c.Name)
		}
		eng, err := rt.StoreEngine()
		if err != nil {
			return err
		}
		call := ctx.Args().First()
		if call == "" {
			all, err := eng.CutWrites(ctx.Context)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				rt.Notice("there is nothing to " + c.Name + ": no call was cut off")
				return nil
			}
		}
		return do(ctx.Context, rt, eng, call, rt.Streams.Out)
	}
	return c
}

func applyCut(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, call string, out *term.Output) error {
	done, err := eng.ApplyCut(ctx, call, rt.Waiting)
	if err != nil {
		return err
	}
	out.Printf("applied what a call of chat %d wrote: %s\n", done.Chat.Number, show.ChangedText(len(done.Changes)))
	for _, c := range done.Changes {
		out.Printf("  %s %s\n", c.Kind, term.Clean(c.Path))
	}
	for _, note := range done.Notes {
		rt.Notice(note)
	}
	switch {
	case len(done.Changes) == 0:
	case rt.Lent != nil:
		rt.Notice("/undo   takes it back")
	default:
		rt.Notice(fmt.Sprintf("fettle undo --chat %d   takes it back", done.Chat.Number))
	}
	return nil
}

func discardCut(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, call string, out *term.Output) error {
	w, err := eng.DiscardCut(ctx, call)
	if err != nil {
		return err
	}
	out.Printf("removed what the call %s wrote in %s\n", w.CallID, term.Clean(w.Workspace))
	return nil
}
