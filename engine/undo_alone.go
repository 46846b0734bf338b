package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
)

// undoAlone is the move that reverts one step of the history. If that is the last one it is
// an undo of one step; otherwise it is a new step, and those after the reverted one stay.
func (e *Engine) undoAlone(ctx context.Context, chat chat.Chat, h *history, req RestoreRequest) (*move, error) {
	m, err := e.state(ctx, chat, req.Call)
	if err != nil {
		return nil, err
	}
	var rev reverted
	for at, first := h.active, true; ; first = false {
		s, err := h.down(ctx, at)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, notDone(ctx, chat, h, m, req.Call)
		}
		if s.after.ID != m.ID {
			rev.note(s)
			at = s.before
			continue
		}
		switch {
		case rev.by[s.id] != "":
			return nil, fault.New(fault.NotFound, req.Call+" is undone already", logOf(chat.Number))
		case first:
			return h.undo(ctx, 1)
		}
		return alone(s), nil
	}
}

// alone is the move that reverts one step and leaves those after it. If the step is such a
// move itself, this one brings back what that reverted.
func alone(s *step) *move {
	_, again := undoneBy(s.after)
	return &move{to: s.before, mark: cas.UndoneAlone + s.id, steps: []step{*s}, from: s.after, back: true, alone: true, again: again}
}

// redoAlone is the move that brings back what the last undo of one step reverted, if no other
// change was made since. An undo that was reverted itself is passed over.
func (h *history) redoAlone(ctx context.Context) (*move, error) {
	reverted := map[string]bool{}
	for at := h.active; ; {
		s, err := h.down(ctx, at)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, errNoStep
		}
		id, ok := undoneBy(s.after)
		if !ok {
			return nil, errNoStep
		}
		of, err := h.e.manifest(ctx, strings.TrimSuffix(id, "^"))
		if err != nil {
			return nil, err
		}
		again := false
		if of != nil {
			_, again = undoneBy(of)
		}
		switch {
		case reverted[s.id]:
		case again:
			reverted[id] = true
		default:
			return alone(s), nil
		}
		at = s.before
	}
}

// notDone is the fault of an undo of a state that no step gave which is done.
func notDone(ctx context.Context, chat chat.Chat, h *history, m *cas.Manifest, name string) error {
	undone, err := h.undone(ctx)
	if err != nil {
		return err
	}
	for _, s := range undone {
		if s.after.ID == m.ID {
			return fault.New(fault.NotFound, name+" is undone already", fmt.Sprintf("fettle redo --chat %d", chat.Number))
		}
	}
	return fault.New(fault.NotFound, name+" is not a change that can be undone here: it belongs to another branch, was undone, or changed no file",
		logOf(chat.Number))
}

// reverted collects which steps were undone alone. The steps that are done are noted in it
// from the last one back.
type reverted struct {
	by map[string]string // step → the state that undid it
}

func (r *reverted) note(s *step) {
	id, ok := undoneBy(s.after)
	if !ok || r.by[s.id] != "" { // it is not, or was reverted itself
		return
	}
	if r.by == nil {
		r.by = map[string]string{}
	}
	r.by[id] = s.after.ID
}

// undoneBy returns the step that was undone alone to make a state.
func undoneBy(m *cas.Manifest) (id string, ok bool) {
	if m.Source != cas.Restored {
		return "", false
	}
	return strings.CutPrefix(m.SourceRef, cas.UndoneAlone)
}

// markReverted marks those of the last states whose changes are undone and that redo does
// not restore.
func (h *history) markReverted(ctx context.Context, states []StateInfo) error {
	var rev reverted
	done := map[string]bool{}
	at := h.active
	for range states { // those that are listed are not further back
		s, err := h.down(ctx, at)
		if err != nil {
			return err
		}
		if s == nil {
			break
		}
		rev.note(s)
		done[s.after.ID] = rev.by[s.id] == ""
		at = s.before
	}
	way := map[string]bool{}
	at = h.active
	for range states {
		if at == nil {
			break
		}
		way[at.ID] = true
		var err error
		if at, err = h.before(ctx, at); err != nil {
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
