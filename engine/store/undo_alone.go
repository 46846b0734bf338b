package store

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/cas"
)

// Alone is the move that reverts one step and leaves those after it. If the step is such a
// move itself, this one brings back what that reverted.
func Alone(s *step) *Move {
	_, again := undoneBy(s.After)
	return &Move{To: s.Before, Mark: cas.UndoneAlone + s.ID, Steps: []step{*s}, From: s.After, Back: true, Alone: true, Again: again}
}

// RedoAlone is the move that brings back what the last undo of one step reverted, if no other
// change was made since. An undo that was reverted itself is passed over.
func (h *History) RedoAlone(ctx context.Context) (*Move, error) {
	reverted := map[string]bool{}
	for at := h.Active; ; {
		s, err := h.Down(ctx, at)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, ErrNoStep
		}
		id, ok := undoneBy(s.After)
		if !ok {
			return nil, ErrNoStep
		}
		of, err := h.Store.Manifest(ctx, strings.TrimSuffix(id, "^"))
		if err != nil {
			return nil, err
		}
		again := false
		if of != nil {
			_, again = undoneBy(of)
		}
		switch {
		case reverted[s.ID]:
		case again:
			reverted[id] = true
		default:
			return Alone(s), nil
		}
		at = s.Before
	}
}

// Reverted collects which steps were undone alone. The steps that are done are noted in it
// from the last one back.
type Reverted struct {
	By map[string]string // step → the state that undid it
}

// Note notes the step that s has undone alone.
func (r *Reverted) Note(s *step) {
	id, ok := undoneBy(s.After)
	if !ok || r.By[s.ID] != "" { // it is not, or was reverted itself
		return
	}
	if r.By == nil {
		r.By = map[string]string{}
	}
	r.By[id] = s.After.ID
}

// undoneBy returns the step that was undone alone to make a state.
func undoneBy(m *cas.Manifest) (id string, ok bool) {
	if m.Source != cas.Restored {
		return "", false
	}
	return strings.CutPrefix(m.SourceRef, cas.UndoneAlone)
}

// MarkReverted marks those of the last states whose changes are undone and that redo does
// not restore.
func (h *History) MarkReverted(ctx context.Context, states []StateInfo) error {
	var rev Reverted
	done := map[string]bool{}
	at := h.Active
	for range states { // those that are listed are not further back
		s, err := h.Down(ctx, at)
		if err != nil {
			return err
		}
		if s == nil {
			break
		}
		rev.Note(s)
		done[s.After.ID] = rev.By[s.ID] == ""
		at = s.Before
	}
	way := map[string]bool{}
	at = h.Active
	for range states {
		if at == nil {
			break
		}
		way[at.ID] = true
		var err error
		if at, err = h.Before(ctx, at); err != nil {
			return err
		}
	}
	for i, s := range states {
		states[i].Reverted = s.changedFiles() && way[s.ID] && !done[s.ID] && !s.Undone
	}
	return nil
}

// changedFiles reports whether a call or a command made the state, and no undo of the last
// steps or redo.
func (s StateInfo) changedFiles() bool {
	switch s.Source {
	case cas.ToolRun, cas.UserUpload, cas.Edit:
		return s.ParentID != ""
	}
	_, ok := undoneBy(s.Manifest)
	return ok
}
