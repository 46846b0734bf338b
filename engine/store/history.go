package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
)

// step is one change of a workspace that can be undone: a tool call, files that
// a message brought, an edit or a restore.
type step struct {
	// id is the tool call, else the manifest that the step gave with a ^: the
	// name of the state before it.
	ID            string
	Before, After *cas.Manifest
	// Mixed tells that it is what a call did that was cut off, and what anybody did
	// since: nobody can tell these apart.
	Mixed bool
}

// History is the way back from a chat's active state, read as far as it is asked
// for: what one step back costs doesn't grow with what was done before. It is
// read from the manifests alone: each names the one before it, and one that undo
// or redo gave names the first step that is undone since (none: all are done).
//
// The steps lie in a stack. A new step cuts off what is undone and goes on top;
// undo and redo only move the mark between what is done and what is undone.
type History struct {
	Store  *Store
	Chat   string
	Active *cas.Manifest
	Read   int // manifests so far
}

// MaxHistory bounds how far back a history is read.
const MaxHistory = 100_000

// History begins at a chat's active state; the state is nil where it isn't
// there any more.
func (s *Store) History(ctx context.Context, chat chat.Chat) (*History, error) {
	m, err := s.Manifest(ctx, chat.ActiveManifest)
	return &History{Store: s, Chat: chat.ID, Active: m}, err
}

// Before is the state that one came after; nil where the history begins, as an
// imported one does somewhere. The state of a folder into which states were imported
// is the ground, too: what made those was done to another folder.
func (h *History) Before(ctx context.Context, m *cas.Manifest) (*cas.Manifest, error) {
	if h.Read++; h.Read > MaxHistory || m.Source == cas.Imported && m.SourceRef != "" {
		return nil, nil
	}
	return h.Store.Manifest(ctx, m.ParentID)
}

// visit is what a manifest is in the history: a step, a mark, or neither.
type visit struct {
	step *step
	// marks tells that undo or redo gave it; from it on, going back, what
	// counts lies below the step, if there is one.
	marks bool
	below *step
}

// look tells what a manifest is. Its parent is the one before it, if any.
func (h *History) look(ctx context.Context, m, parent *cas.Manifest) (visit, error) {
	switch m.Source {
	case cas.External, cas.Imported, cas.Branch:
		return visit{}, nil
	case cas.Interrupted:
		if parent == nil || parent.Root == m.Root {
			return visit{}, nil
		}
	case cas.Restored:
		if m.SourceRef == "" {
			return visit{marks: true}, nil
		}
		if strings.HasPrefix(m.SourceRef, cas.UndoneAlone) {
			break // undo of one step is a step itself
		}
		marked, err := h.find(ctx, m.SourceRef, parent)
		if err != nil || marked != nil {
			return visit{marks: true, below: marked}, err
		}
	}
	if parent == nil {
		return visit{}, nil // the first state is the ground that undo ends at
	}
	return visit{step: stepOf(m, parent)}, nil
}

func stepOf(m, parent *cas.Manifest) *step {
	id := m.ID + "^"
	if m.Source == cas.ToolRun {
		id = m.SourceRef
	}
	return &step{ID: id, Before: parent, After: m, Mixed: m.Source == cas.Interrupted}
}

// find gives the step that a mark names, or nil where it is no step's name but
// that of a state which was brought back. The records lead there at once; only
// an imported history, which has no calls, is searched.
func (h *History) find(ctx context.Context, mark string, from *cas.Manifest) (*step, error) {
	id, given := strings.CutSuffix(mark, "^")
	if !given {
		post, err := h.Store.postManifest(ctx, mark)
		if err != nil {
			return nil, err
		}
		id = post
	}
	m, err := h.Store.Manifest(ctx, id)
	if err != nil {
		return nil, err
	}
	if m != nil && (given || m.Source == cas.ToolRun && m.SourceRef == mark) {
		parent, err := h.Before(ctx, m)
		if err != nil || parent == nil {
			return nil, err
		}
		return stepOf(m, parent), nil
	}
	if m, err = h.Store.Manifest(ctx, mark); m != nil || err != nil {
		return nil, err // a state's own name
	}
	return h.search(ctx, mark, from)
}

// search looks for a step on the way back.
func (h *History) search(ctx context.Context, mark string, m *cas.Manifest) (*step, error) {
	for m != nil {
		parent, err := h.Before(ctx, m)
		if err != nil || parent == nil {
			return nil, err
		}
		if s := stepOf(m, parent); s.ID == mark {
			return s, nil
		}
		m = parent
	}
	return nil, nil
}

// Down gives the next step that is done, at a manifest or before it: nil at the
// end.
func (h *History) Down(ctx context.Context, m *cas.Manifest) (*step, error) {
	marked := false // only the last mark above a step counts
	for m != nil {
		parent, err := h.Before(ctx, m)
		if err != nil {
			return nil, err
		}
		v, err := h.look(ctx, m, parent)
		if err != nil || v.step != nil {
			return v.step, err
		}
		m = parent
		if v.marks && !marked {
			if marked = true; v.below != nil {
				m, marked = v.below.Before, false
			}
		}
	}
	return nil, nil
}

// done are the last n steps that are done, the oldest first.
func (h *History) done(ctx context.Context, n int) ([]step, error) {
	var out []step
	for at := h.Active; len(out) < n; {
		s, err := h.Down(ctx, at)
		if err != nil {
			return nil, err
		}
		if s == nil {
			break
		}
		out = append(out, *s)
		at = s.Before
	}
	slices.Reverse(out)
	return out, nil
}

// Undone are all steps that redo brings back, the next one first.
func (h *History) Undone(ctx context.Context) ([]step, error) {
	next, top, err := h.mark(ctx)
	if err != nil || next == nil {
		return nil, err
	}
	var out []step
	for s := top; s != nil; {
		out = append(out, *s)
		if s.ID == next.ID {
			slices.Reverse(out)
			return out, nil
		}
		if s, err = h.Down(ctx, s.Before); err != nil {
			return nil, err
		}
	}
	return nil, nil // the mark names nothing on the way: a history that was cut
}

// mark gives the first step that is undone, nil where none is, and the top of
// the stack.
func (h *History) mark(ctx context.Context) (next, top *step, err error) {
	marked := false
	for m := h.Active; m != nil; {
		parent, err := h.Before(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		v, err := h.look(ctx, m, parent)
		if err != nil || v.step != nil {
			return next, v.step, err
		}
		if v.marks && !marked {
			if marked, next = true, v.below; next == nil {
				return nil, nil, nil
			}
		}
		m = parent
	}
	return next, nil, nil
}

// EachChange calls a function for each path that differs between two states.
func (s *Store) EachChange(ctx context.Context, from, to *cas.Manifest, each func(path string)) error {
	if from.Root == to.Root {
		return nil
	}
	for c, err := range s.Edits(ctx, from.Root, to.Root) {
		if err != nil {
			return StateFault(fmt.Sprintf("compare the states %s and %s", from.ID, to.ID), err)
		}
		each(c.Path)
	}
	return nil
}

// Edits yields what differs between two states, apart from what a rule leaves out of one of
// them: there nothing is known to have changed. Such a path comes before all that is below.
func (s *Store) Edits(ctx context.Context, from, to cas.Digest) iter.Seq2[cas.Change, error] {
	return func(yield func(cas.Change, error) bool) {
		ruled := ""
		for c, err := range s.Snapshots.Diff(ctx, from, to) {
			if err == nil && isOmitted(c.Old) != isOmitted(c.New) && c.Old != nil && c.New != nil {
				ruled = c.Path + "/"
				continue
			}
			if err == nil && ruled != "" && strings.HasPrefix(c.Path, ruled) {
				continue
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func isOmitted(e *cas.Entry) bool { return e != nil && e.Kind == cas.Omitted }
