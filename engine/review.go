package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/patch"
	"github.com/fettle-cli/fettle/toolset"
)

// In the mode [permission.Changes] a call that is contained and has no network runs first,
// over a layer. If it has changed something, the user is shown the changes and applies all of
// them, some of the files, or none. Until then the folder stays as it is. A call that can't
// have a layer asks before it runs, as with [permission.Calls].

const (
	// maxReviewed bounds the files that a review lists, and maxReviewedRemovals those that
	// were removed: removals are listed as far as an event can hold them.
	maxReviewed         = 1000
	maxReviewedRemovals = 20_000
	// maxReviewedDiff bounds the diff of one file, and maxReviewedText those of all, in
	// bytes: the event is stored, and sent to each front end.
	maxReviewedDiff = 64 << 10
	maxReviewedText = 512 << 10
	// maxReviewedOutput bounds what is shown of the call's output, in bytes.
	maxReviewedOutput = 4 << 10
)

// unlayered is why a call that was to run first did not run.
const unlayered = "it did not run, since its changes can't be kept apart from the folder; if it is called again, the user is asked first"

// enterFolder takes the lock of the folder for the calls that run there.
func (t *turn) enterFolder(ws *toolset.Workspace) (err error) {
	t.leave, err = t.eng.lockWorkspace(t.ctx, ws, t.notice)
	return err
}

// leaveFolder releases the lock of the folder, if the turn holds it.
func (t *turn) leaveFolder() {
	if t.leave != nil {
		t.leave()
		t.leave = nil
	}
}

// runsFirst reports whether a call can run before the user decides: in a layer, and without
// a way to send out what it reads. The first call of a chat takes the state of the folder for
// that.
func (t *turn) runsFirst(c *call, ws *toolset.Workspace) (bool, error) {
	if r := t.box.reachOf(c.entry.Tool); !r.Contained || r.Outside() || !c.entry.OwnProcess {
		return false, nil
	}
	if t.eng.isDirect(t.accept.Chat.ID, c) {
		return false, nil // which stays noted for the run
	}
	if t.keepsStates() && t.states.at == nil {
		err := t.enterFolder(ws)
		if err == nil {
			err = t.stateBefore(ws)
			t.leaveFolder()
		}
		if err != nil {
			return false, err
		}
	}
	if t.layered([]*call{c}, ws) {
		return true, nil
	}
	if why := t.eng.noLayers(t.ctx, ws); why != "" && t.eng.firstTime("no layers "+t.accept.Chat.ID) {
		return false, t.emit(event.Footnote{Text: "approvals: changes asks before calls here, since their changes can't be kept apart from the folder: " + cleanLine(why)})
	}
	return false, nil
}

// firstTime reports whether something is said for the first time in this process.
func (e *Engine) firstTime(what string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.said[what] || len(e.said) >= maxSaid {
		return false
	}
	if e.said == nil {
		e.said = make(map[string]bool)
	}
	e.said[what] = true
	return true
}

// maxSaid bounds what firstTime remembers; a process that serves more chats says no more.
const maxSaid = 10_000

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
	applied   []string // as shown, where not all are
	left      int      // how many files are not applied
}

// notes tell the model of changes that were not applied.
func (r reviewed) notes() []string {
	if r.only == nil {
		return nil
	}
	note := fmt.Sprintf("the user applied only %s of what the call changed, and discarded %s", someOf(r.applied), plural(r.left, "file"))
	if r.reason != "" {
		note += ": " + r.reason
	}
	return []string{note}
}

// review shows the user what a call has changed, and waits for the decision. Without changes
// it asks nothing. The folder's lock is released meanwhile, so that others can work there:
// what they change is a conflict when the call's changes land.
func (t *turn) review(ctx context.Context, end ended, ws *toolset.Workspace) (reviewed, error) {
	c := end.call
	if c.after == "" {
		return reviewed{}, nil
	}
	shown, paths, err := t.reviewOf(ctx, end, ws)
	if err != nil || shown == nil {
		return reviewed{}, err
	}
	t.leaveFolder()
	a, err := t.askReview(c, shown)
	if err != nil {
		return reviewed{discarded: true, reason: t.unfinished()}, nil // cancelled: nothing lands
	}
	if err := t.enterFolder(ws); err != nil {
		return reviewed{discarded: true, reason: firstLine(err)}, nil
	}
	out := reviewed{discarded: !a.Decision.Allows() || a.Only != nil && len(a.Only) == 0, reason: a.Reason}
	if !out.discarded && a.Only != nil {
		out.applied, out.left = a.Only, len(shown.Files)+shown.More-len(a.Only)
		for _, name := range a.Only {
			out.only = append(out.only, paths[name])
		}
	}
	return out, nil
}

// askReview asks the user, and waits for the answer or the end of the turn.
func (t *turn) askReview(c *call, shown *event.Review) (Confirmation, error) {
	w := newWaiting(nil, nil)
	w.review = shown
	defer t.take(c.use.ID)
	err := t.pose(w, event.ConfirmRequest{
		Tool: bareID(c.toolID()), ToolID: c.toolID(), Input: c.use.Args, ToolUseID: c.use.ID,
		Reason: "it has run, and has changed " + plural(len(shown.Files)+shown.More, "file") + "; nothing of that is applied yet",
		Reach:  t.box.reachOf(c.entry.Tool).Text, Review: shown,
	})
	if err != nil {
		return Confirmation{}, err
	}
	select {
	case <-t.ctx.Done():
		return Confirmation{}, context.Cause(t.ctx)
	case <-w.done:
	}
	a := *w.given
	return a, t.emit(event.ConfirmResult{ToolUseID: c.use.ID, Decision: a.Decision, Reason: a.Reason, Only: a.Only})
}

// checkOnly refuses names that a review does not have.
func (a Confirmation) checkOnly(shown *event.Review) error {
	if a.Only == nil {
		return nil
	}
	if shown == nil {
		return fault.New(fault.Usage, "only changes that a call has made can be applied in part")
	}
	for _, name := range a.Only {
		if !slices.ContainsFunc(shown.Files, func(f event.ReviewedFile) bool { return f.Path == name }) {
			return fault.New(fault.Usage, "the call has not changed "+cutRunes(cleanLine(name), maxName))
		}
	}
	return nil
}

// endDiscarded is the end of a call whose changes the user does not want. The model gets its
// output, since it has run.
func (t *turn) endDiscarded(end ended, choice reviewed) event.ToolComplete {
	if err := end.call.layer.drop(); err != nil {
		t.eng.o.Notice(cleanLine(err.Error()))
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
	before := manifestID(t.states.at)
	e := t.endOf(end)
	e.PreManifestID, e.PostManifestID = before, before
	return e
}

// reviewOf lists what a call has changed, with the path of each name that is shown. It is nil
// where nothing would land.
func (t *turn) reviewOf(ctx context.Context, end ended, ws *toolset.Workspace) (shown *event.Review, paths map[string]string, err error) {
	e, c := t.eng, end.call
	plan, err := e.states.ReadLayer(ctx, casWorkspace(ws), c.layer.dir, cas.LayerOptions{ChatID: t.accept.Chat.ID, Parent: t.states.at, Limits: e.o.States})
	if err != nil {
		return nil, nil, err
	}
	defer plan.Close()
	out := &event.Review{Output: clip(clean(end.result.Text), maxReviewedOutput)}
	if own := (*toolset.ToolError)(nil); errors.As(end.err, &own) {
		out.Output = clip(clean(own.Message), maxReviewedOutput)
	}
	paths = make(map[string]string)
	text := 0
	for _, change := range plan.Changes {
		if onlyFolder(change) && change.Old == nil && change.New != nil && hasMore(plan.Changes, change.Path) {
			continue // its files are listed
		}
		removed := change.New == nil
		if !removed && len(out.Files) >= maxReviewed || len(out.Files) >= maxReviewedRemovals {
			out.More++
			continue
		}
		f, err := e.reviewedFile(ctx, change, maxReviewedText-text)
		if err != nil {
			return nil, nil, err
		}
		text += len(f.Diff)
		paths[f.Path] = change.Path
		out.Files = append(out.Files, f)
	}
	for _, l := range plan.LeftOut {
		name := cas.EscapePath(l.Path)
		paths[name] = l.Path
		out.Files = append(out.Files, event.ReviewedFile{
			Path: name, Kind: "modified", Note: fmt.Sprintf("%s written, %s removed; %s", plural(l.Files, "file"), plural(l.Removed, "file"), l.Reason),
		})
	}
	if len(out.Files) == 0 {
		return nil, nil, nil
	}
	return out, paths, nil
}

// hasMore reports whether changes have one below a folder.
func hasMore(changes []cas.Change, folder string) bool {
	return slices.ContainsFunc(changes, func(c cas.Change) bool { return strings.HasPrefix(c.Path, folder+"/") })
}

// reviewedFile describes one change. room bounds its diff, in bytes.
func (e *Engine) reviewedFile(ctx context.Context, c cas.Change, room int) (event.ReviewedFile, error) {
	out := event.ReviewedFile{Path: cas.EscapePath(c.Path), Kind: changeKind(c)}
	if onlyFolder(c) {
		out.Note = "a folder"
		return out, nil
	}
	f, err := e.Compared(ctx, c)
	if err != nil {
		return out, err
	}
	p := patch.Of(f)
	out.Added, out.Removed = p.Added, p.Removed
	hunks := ""
	if i := strings.Index(p.Text, "\n@@ "); i >= 0 {
		hunks = clean(p.Text[i+1:])
	}
	switch {
	case f.OldMode == "" && f.NewMode == "":
		out.Note = "its content is not kept"
	case p.Binary:
		out.Note = "not a text, or too long to compare"
	case len(hunks) > min(maxReviewedDiff, room):
		out.Note = fmt.Sprintf("the diff has %d KB, and is not shown", len(hunks)>>10)
	default:
		out.Diff = hunks
	}
	if f.OldMode != "" && f.NewMode != "" && f.OldMode != f.NewMode {
		out.Note = strings.TrimPrefix(out.Note+"; mode "+f.OldMode+" becomes "+f.NewMode, "; ")
	}
	return out, nil
}
