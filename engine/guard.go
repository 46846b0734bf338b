package engine

import (
	"context"
	"slices"

	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset"
)

// guardRepositories finds the repositories of the user's folder before calls that may
// write to it: sandboxes seal these, and what is added to them is set aside after the
// call. Calls that only read add none, and run at the same time.
func (t *turn) guardRepositories(calls []*call, ws *toolset.Workspace, layered bool) error {
	if !ws.Bound || !slices.ContainsFunc(calls, func(c *call) bool { return !c.readOnly() }) {
		return nil
	}
	g := t.eng.GuardOf(ws.Path)
	t.showWarnings(g.Take())
	if layered && !t.commandsWriteGit(calls[0]) && g.Seal(ws) {
		return nil
	}
	return t.enterGuard(g, ws)
}

// enterGuard searches the user's folder for repositories, and has it checked after the call.
func (t *turn) enterGuard(g *workspace.Guard, ws *toolset.Workspace) error {
	warnings, err := g.Enter(t.ctx, ws)
	t.warn(warnings)
	if err == nil {
		t.guard = g
	}
	return err
}

// commandsWriteGit reports whether a call may write to repositories.
func (t *turn) commandsWriteGit(c *call) bool {
	return t.eng.o.CommandsWriteGit && c.entry.Tool.ID == commandTool
}

// checked checks the folder after a call, and adds what was done to the call's end, for
// the model and the user. Commands may add repositories where the user allows that.
func (t *turn) checked(end ended, ws *toolset.Workspace) ended {
	if t.guard == nil || end.call.readOnly() {
		return end
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), workspace.GuardTime)
	defer cancel()
	if t.commandsWriteGit(end.call) {
		if err := t.guard.Accept(ctx, ws.Root); err != nil {
			t.warn([]string{workspace.Unchecked(ws.Path, err)})
		}
	}
	warnings, err := t.guard.Check(ctx, ws.Root)
	t.showWarnings(t.guard.Take()) // of a process that ended during the call
	for _, w := range warnings {
		end.result.Text = addNote(end.result.Text, w)
	}
	if err != nil {
		warnings = append(warnings, workspace.Unchecked(ws.Path, err))
	}
	t.warn(warnings)
	return end
}

// checkLeft checks the folder when calls are left running, and once more when each of them
// has ended; the last one is not waited for when the program ends.
func (t *turn) checkLeft(run *running, left int, ws *toolset.Workspace) {
	g := t.guard
	if g == nil {
		go run.drainLeft(t.eng, left) // ends with the calls, as their own goroutines do
		return
	}
	t.guard = nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), workspace.GuardTime)
	defer cancel()
	warnings, err := g.Check(ctx, ws.Root)
	if err != nil {
		warnings = append(warnings, workspace.Unchecked(ws.Path, err))
	}
	t.showWarnings(g.Take())
	t.warn(warnings)
	go func() { // ends with the calls, as their own goroutines do
		run.drainLeft(t.eng, left)
		g.CheckAlone()
		g.Leave()
	}()
}

// unguard ends the turn's use of the guard, after calls that have all ended.
func (t *turn) unguard() {
	if t.guard != nil {
		t.guard.Leave()
		t.guard = nil
	}
}
