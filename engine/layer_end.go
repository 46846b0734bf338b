package engine

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// endLayered is the end of a call that has a layer: what that has lands, unless the call was
// cancelled, or the user discards it. Where it can't land it is left for the user to decide.
func (t *turn) endLayered(end ended, ws *toolset.Workspace) event.ToolComplete {
	c := end.call
	if context.Cause(t.ctx) != nil && (end.err != nil || c.after != "") {
		return t.endCancelled(end)
	}
	ctx, cancel := t.afterCall()
	aside, err := t.asideInLayer(ctx, c, ws)
	cancel()
	var choice reviewed
	if err == nil && c.after != "" {
		choice, err = t.review(end, ws)
	}
	switch {
	case err != nil:
		return t.endUnlanded(end, err)
	case choice.discarded:
		return t.endDiscarded(end, choice)
	}
	return t.endLanded(end, ws, choice, aside)
}

// endCancelled is the end of a call whose changes are dropped with its turn.
func (t *turn) endCancelled(end ended) event.ToolComplete {
	if err := end.call.layer.drop(); err != nil {
		t.eng.o.Notice(sanitize.Line(err.Error()))
	}
	if end.err == nil {
		end.err = toolset.Errorf("%s", t.unfinished())
	}
	e, before := t.endOf(end), workspace.ManifestID(t.states.at)
	e.Error += "; nothing that it wrote to the folder was applied"
	e.Result, e.RenderPlan = "error: "+e.Error, chat.FailedPlan(e.Error, "")
	e.PreManifestID, e.PostManifestID = before, before
	return e
}

// endUnlanded is the end of a call whose layer stays, since it could not land.
func (t *turn) endUnlanded(end ended, err error) event.ToolComplete {
	end.call.layer.leave()
	end.err = errors.Join(toolset.Errorf(
		"it ran, but what it wrote could not be applied to the folder, and is kept: %s", fault.FirstLine(err)), end.err)
	e, before := t.endOf(end), workspace.ManifestID(t.states.at)
	e.PreManifestID, e.PostManifestID = before, before
	return e
}

// endLanded is the end of a call whose layer lands. aside are remarks on its repositories.
func (t *turn) endLanded(end ended, ws *toolset.Workspace, choice reviewed, aside []string) event.ToolComplete {
	c := end.call
	ctx, cancel := t.afterCall()
	defer cancel()
	done, err := t.land(ctx, c, ws, choice.only)
	if err != nil {
		return t.endUnlanded(end, err)
	}
	notes := append(choice.notes(done), aside...)
	t.warn(aside)
	notes = append(notes, done.notes()...)
	t.warn(done.notes())
	if done.After != done.Before {
		if end, err = t.checkLanded(end, ws, done); err != nil {
			end.err = errors.Join(toolset.Errorf("it ran, but the state of the workspace after it could not be kept: %s", fault.FirstLine(err)), end.err)
		}
	}
	if why := c.crossed(end); why != "" {
		t.eng.directNext(t.accept.Chat.ID, c)
		notes = append(notes, why)
		t.report(event.Footnote{Text: why, Warning: true})
	}
	end.noted(notes)
	e := t.endOf(end)
	e.PreManifestID, e.Changes, e.Conflicts = workspace.ManifestID(done.Before), done.changes, done.conflicts()
	e.SharedChanges = len(e.Changes) > 0 && t.states.at.Shared
	if e.PostManifestID = workspace.ManifestID(t.states.at); t.states.suspect {
		e.PostManifestID = ""
	}
	e.CallManifestID = workspace.ManifestID(done.Call)
	return e
}

// noted adds notes for the model to how a call ended.
func (end *ended) noted(notes []string) {
	var own *toolset.ToolError
	for _, note := range notes {
		switch {
		case end.err == nil:
			end.result.Text = addNote(end.result.Text, note)
		case errors.As(end.err, &own):
			end.err = &toolset.ToolError{Message: addNote(own.Message, note), Traceback: own.Traceback, Err: own.Err}
		}
	}
}
