package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

// In the mode [permission.Changes] a call that is contained and has no network runs first,
// over a layer. If it has changed something, the user is shown the changes and applies all of
// them, some of the files, or none. Until then the folder stays as it is, and is free for
// others. A call that can't have a layer asks before it runs, as with [permission.Calls], and
// the question contains the reason.

// unlayered is why a call that was to run first did not run.
const unlayered = "it did not run, since its changes can't be kept apart from the folder; if it is called again, the user is asked first"

// enterFolder takes the lock of the folder for the calls that run there.
func (t *turn) enterFolder(ws *toolset.Workspace) (err error) {
	t.leave, err = t.eng.LockWorkspace(t.ctx, ws, t.notice)
	return err
}

// leaveFolder releases the lock of the folder, if the turn holds it.
func (t *turn) leaveFolder() {
	if t.leave != nil {
		t.leave()
		t.leave = nil
	}
}

// runsFirst reports whether a call can run before the user decides. If not, why is a clause
// for the question; it is empty for the builtin tools without a process, whose questions
// show the change anyway. The first call of a chat takes the state of the folder.
func (t *turn) runsFirst(c *call, ws *toolset.Workspace) (ok bool, why string, err error) {
	if c.entry.Tool.ToolsetID == "" && !c.entry.OwnProcess {
		return false, "", nil
	}
	if why = t.asksBefore(c, ws); why != "" {
		return false, why, nil
	}
	if t.states.at == nil {
		if err = t.enterFolder(ws); err == nil {
			err = t.stateBefore(ws)
			t.leaveFolder()
		}
		if err != nil {
			return false, "the state of the workspace can't be kept", context.Cause(t.ctx)
		}
	}
	if t.states.suspect {
		return false, "the state of the workspace is not known", nil
	}
	return true, "", nil
}

// asksBefore returns why a call can't run ahead of the question about it; empty means that
// it can.
func (t *turn) asksBefore(c *call, ws *toolset.Workspace) string {
	reach := t.box.ReachOf(c.entry.Tool)
	switch {
	case !t.req.CanReview:
		return "the client that started the turn does not review changes"
	case !reach.Contained || t.inTerminal(c):
		return "nothing contains it"
	case reach.Outside():
		return "it can connect to other systems"
	case !c.entry.OwnProcess:
		return "its process can outlive the call"
	case ws.Bound && t.eng.o.CommandsWriteGit && c.entry.Tool.ID == commandTool:
		return "commands may write to git repositories here, which are not kept apart from the folder, so their changes can't be reviewed afterwards"
	case !t.keepsStates():
		return "no state of the workspace is kept"
	case t.eng.isDirect(t.accept.Chat.ID, c): // which stays noted for the run
		return "its changes could not be kept apart from the folder"
	}
	if why := t.eng.noLayers(t.ctx, ws); why != "" {
		return "its changes can't be kept apart from the folder: " + sanitize.Line(why)
	}
	return ""
}

// refuseUnlayered refuses a call that was to run first and got no layer, and returns the
// others.
func (t *turn) refuseUnlayered(calls []*call) (runs []*call, err error) {
	var refused []*call
	for _, c := range calls {
		if c.after == "" || c.layer != nil {
			runs = append(runs, c)
			continue
		}
		t.eng.directNext(t.accept.Chat.ID, c)
		c.refused = unlayered
		refused = append(refused, c)
	}
	return runs, t.recordRefused(refused)
}

// reviewed is what the user decided about the changes of a call.
type reviewed struct {
	discarded bool
	reason    string
	only      []string // the paths that land; nil is all
	chosen    []string // as the review names them; nil is all
	of        *reviewing
}

// review shows the user what a call has changed, and waits for the decision. Without changes
// it asks nothing. With an error nothing was decided, and the layer has to stay.
func (t *turn) review(end ended, ws *toolset.Workspace) (reviewed, error) {
	r, err := t.reviewOf(end, ws)
	if err != nil || r.shown.Empty() {
		return reviewed{}, err
	}
	a, err := t.askReview(end.call, r.shown)
	if err == nil {
		err = t.resumeCall(end.call, ws)
	}
	switch {
	case context.Cause(t.ctx) != nil: // nothing of a call lands whose turn is cancelled
		return reviewed{discarded: true, reason: t.unfinished()}, nil
	case err != nil:
		return reviewed{}, err
	case !a.Decision.Allows(), a.Only != nil && len(a.Only) == 0:
		return reviewed{discarded: true, reason: a.Reason}, nil
	case a.Only == nil || r.all(a.Only):
		return reviewed{}, nil
	}
	return reviewed{reason: a.Reason, chosen: a.Only, only: r.only(a.Only), of: r}, nil
}

// askReview asks the user, and waits for the answer or the end of the turn. Meanwhile others
// can work in the folder: what they change is a conflict when the call's changes land, and
// what they add is not taken for the call's.
func (t *turn) askReview(c *call, shown *event.Review) (a Confirmation, err error) {
	began := t.eng.o.Now()
	defer func() { c.waited += t.eng.o.Now().Sub(began) }()
	t.unguard()
	t.leaveFolder()
	ask := event.ConfirmRequest{
		Tool: chat.BareID(c.toolID()), ToolID: c.toolID(), Input: c.use.Args, ToolUseID: c.use.ID,
		Reason: "it has run, and has changed " + fault.Plural(shown.Count(), "file") + "; none of the changes is applied yet",
		Reach:  t.box.ReachOf(c.entry.Tool).Text, Review: shown,
	}
	w := newWaiting(ask, nil)
	defer t.take(c.use.ID)
	if err := t.pose(w); err != nil {
		return a, err
	}
	t.eng.Pause("review:asked")
	select {
	case <-t.ctx.Done():
		return a, context.Cause(t.ctx)
	case <-w.done:
	}
	a = *w.given
	return a, t.emit(event.ConfirmResult{ToolUseID: c.use.ID, Decision: a.Decision, Reason: a.Reason, Only: a.Only})
}

// resumeCall takes the lock of the folder again, and guards its repositories, after the user
// has decided about a call.
func (t *turn) resumeCall(c *call, ws *toolset.Workspace) error {
	if err := t.enterFolder(ws); err != nil {
		return err
	}
	return t.guardRepositories([]*call{c}, ws, true)
}

// fitReview checks an answer against the review that it answers. An answer that allows has to
// name what it allows, so that a client which does not know reviews applies nothing.
func (a Confirmation) fitReview(shown *event.Review) error {
	switch {
	case shown == nil && (a.Only != nil || a.All):
		return fault.New(fault.Usage, "all and only are for calls whose changes are reviewed, and this one asks before it runs")
	case shown == nil:
		return nil
	case a.Decision != event.Allow:
		return fault.New(fault.Usage, "the call has run, so no rule can be made of the answer; the decision has to be allow or deny")
	case a.All == (a.Only != nil):
		return fault.New(fault.Usage, "the call has run, and its changes wait: allow needs either all, or only with the paths of the review that are applied; deny discards the changes")
	}
	for _, name := range a.Only {
		if !slices.ContainsFunc(shown.Files, func(f event.ReviewedFile) bool { return f.Path == name }) {
			return fault.New(fault.Usage, "the review does not list "+sanitize.Shorten(sanitize.Line(name), chat.MaxName))
		}
	}
	return a.fitGroups(shown)
}

// fitGroups refuses a choice that separates changes which land together.
func (a Confirmation) fitGroups(shown *event.Review) error {
	chosen := make(map[string]bool, len(a.Only))
	for _, name := range a.Only {
		chosen[name] = true
	}
	group := make(map[string]bool)
	for _, f := range shown.Files {
		if f.Group != "" {
			group[f.Group] = group[f.Group] || chosen[f.Path]
		}
	}
	for _, f := range shown.Files {
		if f.Group != "" && group[f.Group] && !chosen[f.Path] {
			return fault.New(fault.Usage, "the changes of the group "+sanitize.Shorten(sanitize.Line(f.Group), chat.MaxName)+" are applied together or not at all, and "+
				sanitize.Shorten(sanitize.Line(f.Path), chat.MaxName)+" is not chosen")
		}
	}
	return nil
}

// notes tells the model which changes were not applied, after the others have landed.
func (r reviewed) notes(done *landed) []string {
	if r.only == nil {
		return nil
	}
	lands := make(map[string]bool)
	for _, c := range done.Landing.Changes {
		lands[c.Path] = true
	}
	var applied []string
	for _, f := range r.of.shown.Files {
		if slices.Contains(r.chosen, f.Path) || lands[r.of.paths[f.Path]] {
			applied = append(applied, f.Path)
		}
	}
	note := fmt.Sprintf("the user applied only %s of what the call changed, and discarded %s", store.SomeOf(applied), fault.Plural(r.of.shown.Count()-len(applied), "file"))
	if r.reason != "" {
		note += ": " + r.reason
	}
	return []string{note}
}

// endDiscarded is the end of a call whose changes the user does not want. The model gets its
// output, since it has run.
func (t *turn) endDiscarded(end ended, choice reviewed) event.ToolComplete {
	if err := end.call.layer.drop(); err != nil {
		t.eng.o.Notice(sanitize.Line(err.Error()))
	}
	why := "the user discarded what it changed, so the folder is as before"
	if context.Cause(t.ctx) != nil {
		why = "nothing that it changed was applied"
	}
	if choice.reason != "" {
		why += ": " + choice.reason
	}
	if end.err == nil {
		end.err = toolset.Errorf("%s", strings.TrimRight(why+"\n\n"+end.result.Text, "\n"))
	} else {
		end.noted([]string{why})
	}
	before := workspace.ManifestID(t.states.at)
	e := t.endOf(end)
	e.PreManifestID, e.PostManifestID = before, before
	return e
}

// readLayer plans how the layer of a call lands.
func (t *turn) readLayer(ctx context.Context, c *call, ws *toolset.Workspace) (*cas.LandingPlan, error) {
	return t.eng.Snapshots.ReadLayer(ctx, workspace.CASWorkspace(ws), c.layer.dir, cas.LayerOptions{ChatID: t.accept.Chat.ID, Parent: t.states.at, Limits: t.eng.o.States})
}
