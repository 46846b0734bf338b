package undo

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine"
)

// New makes the command undo.
func New(rt *workbench.Runtime) *cli.Command {
	return workspace.NewStep(rt, workspace.Step{
		Name: "undo", Usage: "revert what the last tool calls did to files", ByCall: true, Do: (*engine.Engine).Undo,
		Description: `Reverts the last N changes of the chat that was used last: calls of tools,
files that were put there, and restores. Only files that these changed are
touched. The conversation stays as it is. fettle redo reverts the undo, and
restores what --overwrite replaced. With --call one change is reverted, wherever
it is in the history, and what was done after it stays; where a later call or
somebody else has changed one of its files, nothing is done and the files are
listed. fettle redo reverts that, too. What you changed in the folder while a command or a Python tool ran is
yours, and stays; where the sandbox has no overlays (fettle doctor), and for MCP
servers and services, it counts as the call's.`,
		Examples: "fettle undo\nfettle undo --dry-run\nfettle undo --keep notes\nfettle undo --call 4F2K9QX1",
	})
}

// NewRedo makes the command redo.
func NewRedo(rt *workbench.Runtime) *cli.Command {
	return workspace.NewStep(rt, workspace.Step{
		Name: "redo", Usage: "restore what undo has reverted", Do: (*engine.Engine).Redo,
		Description: `Goes the next N changes forward again, as long as nothing new was done since
fettle undo. It also restores what undo --overwrite replaced, and leaves what
undo --keep left. If nothing is undone and the last change is an undo --call, redo
brings back what that reverted, one at a time, and fettle undo reverts the redo.`,
		Examples: "fettle redo\nfettle redo 2",
	})
}
