package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/patch"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/units"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// maxReviewed bounds the files that a review lists besides those that are removed, or
	// applied together with others: of these it lists all.
	maxReviewed = 1000
	// maxReviewedDiff bounds the diff of one file, and maxReviewedText those of all, in
	// bytes: the event is stored, and sent to each front end.
	maxReviewedDiff = 64 << 10
	maxReviewedText = 512 << 10
	// maxCompared bounds the contents that are compared, in bytes.
	maxCompared = 64 << 20
	// maxReviewedOutput bounds what is shown of the call's output, in bytes.
	maxReviewedOutput = 4 << 10
)

// reviewing makes a review of what a call has changed.
type reviewing struct {
	e     *Engine
	shown *event.Review
	paths map[string]string // in the workspace, by the names in the review
	// changes are those of the plan. folders are removed folders, which the review does not
	// list unless they were empty: what was in them shows it.
	changes        []cas.Change
	folders        map[string]bool
	groups         map[string]string
	text, compared int64 // bytes of diffs, and of contents, so far
}

// reviewOf lists what a call has changed.
func (t *turn) reviewOf(end ended, ws *toolset.Workspace) (*reviewing, error) {
	ctx, cancel := t.afterCall()
	defer cancel()
	plan, err := t.readLayer(ctx, end.call, ws)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	r, err := t.eng.reviewPlan(ctx, plan)
	if err == nil {
		r.shown.Output = outputOf(end)
	}
	return r, err
}

// reviewPlan lists what a landing would change.
func (e *Engine) reviewPlan(ctx context.Context, plan *cas.LandingPlan) (*reviewing, error) {
	r := &reviewing{
		e: e, shown: new(event.Review), paths: make(map[string]string),
		changes: plan.Changes, folders: make(map[string]bool), groups: plan.Together(),
	}
	if err := r.list(ctx); err != nil {
		return nil, err
	}
	r.leftOut(plan.LeftOut)
	for _, c := range plan.Conflicts[:min(len(plan.Conflicts), workspace.MaxChanges)] {
		r.shown.Conflicts = append(r.shown.Conflicts, event.Conflict{Path: cas.EscapePath(c.Path), Kind: string(c.Kind), Reason: c.Reason})
	}
	return r, nil
}

// outputOf is what a call has printed, cut for a review.
func outputOf(end ended) string {
	text := end.result.Text
	if own := (*toolset.ToolError)(nil); errors.As(end.err, &own) {
		text = own.Message
	}
	return sanitize.Clip(clean(text), maxReviewedOutput)
}

// list lists the changes, removals first, as the plan has them. The other changes have the
// first right to the room for diffs: of a removal the name says the most.
func (r *reviewing) list(ctx context.Context) error {
	filled := r.filledFolders()
	var removed, others []cas.Change
	alone := 0 // of others, so far
	for _, c := range r.changes {
		switch {
		case c.FoldersOnly() && filled[c.Path]:
			if c.New == nil {
				r.folders[c.Path] = true
			}
		case c.New == nil:
			removed = append(removed, c)
		case r.groups[c.Path] != "": // which is chosen whole, so all of it is listed
			others = append(others, c)
		case alone < maxReviewed:
			others, alone = append(others, c), alone+1
		default:
			r.shown.More++
		}
	}
	files, err := r.files(ctx, others)
	if err != nil {
		return err
	}
	r.shown.Files, err = r.files(ctx, removed)
	r.shown.Files = append(r.shown.Files, files...)
	return err
}

// filledFolders returns the folders that have a change below them.
func (r *reviewing) filledFolders() map[string]bool {
	out := make(map[string]bool)
	for _, c := range r.changes {
		for at := strings.LastIndexByte(c.Path, '/'); at > 0 && !out[c.Path[:at]]; at = strings.LastIndexByte(c.Path[:at], '/') {
			out[c.Path[:at]] = true
		}
	}
	return out
}

func (r *reviewing) files(ctx context.Context, changes []cas.Change) (out []event.ReviewedFile, err error) {
	for _, c := range changes {
		f, err := r.file(ctx, c)
		if err != nil {
			return nil, err
		}
		r.paths[f.Path] = c.Path
		out = append(out, f)
	}
	return out, nil
}

// file describes one change.
func (r *reviewing) file(ctx context.Context, c cas.Change) (event.ReviewedFile, error) {
	out := event.ReviewedFile{Path: cas.EscapePath(c.Path), Kind: workspace.ChangeKind(c)}
	if group := r.groups[c.Path]; group != "" {
		out.Group = cas.EscapePath(group)
	}
	mode := joinNotes(typeText(c), c.PermsText())
	switch size := bytesOf(c.Old) + bytesOf(c.New); {
	case c.FoldersOnly(), c.New != nil && c.New.Kind == cas.Folder:
		out.Note = mode
		return out, nil
	case r.compared+size > maxCompared || r.text >= maxReviewedText:
		out.Note = joinNotes(sizesText(c), "not compared", mode)
		return out, nil
	default:
		r.compared += size
	}
	f, err := r.e.Compared(ctx, c)
	if err != nil {
		return out, err
	}
	p := patch.Of(f)
	out.Added, out.Removed = p.Added, p.Removed
	note := ""
	hunks := ""
	if i := strings.Index(p.Text, "\n@@ "); i >= 0 {
		hunks = clean(p.Text[i+1:])
	}
	switch room := min(maxReviewedDiff, maxReviewedText-r.text); {
	case f.OldMode == "" && f.NewMode == "":
		note = "its content is not kept"
	case p.Binary:
		note = sizesText(c) + ", not a text"
	case int64(len(hunks)) > room:
		note = "the diff has " + units.Size(int64(len(hunks))) + ", and is not shown"
	default:
		out.Diff, r.text = hunks, r.text+int64(len(hunks))
	}
	out.Note = joinNotes(note, mode)
	return out, nil
}

// leftOut lists the folders and files that land and are in no state.
func (r *reviewing) leftOut(all []cas.LeftOut) {
	for _, l := range all {
		name := cas.EscapePath(l.Path)
		r.paths[name] = l.Path
		note := units.Count(l.Files, "file", "files") + " written, " + units.Size(l.Bytes)
		if l.Removed > 0 {
			note += fmt.Sprintf(", %s removed", units.Number(int64(l.Removed)))
		}
		r.shown.Files = append(r.shown.Files, event.ReviewedFile{
			Path: name, Kind: "modified", Note: note + "; undo does not restore them: " + cmp.Or(l.Reason, "states leave them out"),
		})
	}
}

// all reports whether some names of the review are all of its changes.
func (r *reviewing) all(names []string) bool {
	distinct := slices.Compact(slices.Sorted(slices.Values(names)))
	return len(distinct) == r.shown.Count()
}

// only returns the paths that land where the user has chosen some names of the review: those,
// and the removed folders of which everything was chosen.
func (r *reviewing) only(names []string) []string {
	chosen := make(map[string]bool, len(names))
	for _, name := range names {
		chosen[r.paths[name]] = true
	}
	stays := make(map[string]bool) // folders with a change that was not chosen
	for _, c := range r.changes {
		if chosen[c.Path] || r.folders[c.Path] {
			continue
		}
		for at := strings.LastIndexByte(c.Path, '/'); at > 0 && !stays[c.Path[:at]]; at = strings.LastIndexByte(c.Path[:at], '/') {
			stays[c.Path[:at]] = true
		}
	}
	for folder := range r.folders {
		if !stays[folder] {
			chosen[folder] = true
		}
	}
	var out []string
	for path := range chosen {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

// bytesOf returns the size of a regular file; 0 for others.
func bytesOf(e *cas.Entry) int64 {
	if e == nil || e.Kind != cas.File && e.Kind != cas.Executable {
		return 0
	}
	return e.Size
}

// sizesText describes the sizes of both versions of a file.
func sizesText(c cas.Change) string {
	switch {
	case c.Old == nil:
		return units.Size(bytesOf(c.New))
	case c.New == nil:
		return units.Size(bytesOf(c.Old))
	}
	return units.Size(bytesOf(c.New)) + ", before " + units.Size(bytesOf(c.Old))
}

// typeText names the type of an entry that is not a file before and after the change.
func typeText(c cas.Change) string {
	name := func(e *cas.Entry) string {
		switch {
		case e == nil:
			return ""
		case e.Kind == cas.Folder:
			return "a folder"
		case e.Kind == cas.Link:
			return "a link"
		}
		return "a file"
	}
	old, now := name(c.Old), name(c.New)
	switch {
	case old == "" || now == "" || old == now:
		if text := cmp.Or(now, old); text != "a file" {
			return text
		}
		return ""
	}
	return now + " in the place of " + old
}

func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
}
