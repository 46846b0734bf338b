package workspace

import (
	"context"
	"fmt"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// undoAlone is the move that reverts one step of the history. If that is the last one it is
// an undo of one step; otherwise it is a new step, and those after the reverted one stay.
func (w *Folders) undoAlone(ctx context.Context, chat chat.Chat, h *store.History, req RestoreRequest) (*store.Move, error) {
	m, err := w.state(ctx, chat, req.Call)
	if err != nil {
		return nil, err
	}
	var rev store.Reverted
	for at, first := h.Active, true; ; first = false {
		s, err := h.Down(ctx, at)
		if err != nil {
			return nil, err
		}
		if s == nil {
			return nil, notDone(ctx, chat, h, m, req.Call)
		}
		if s.After.ID != m.ID {
			rev.Note(s)
			at = s.Before
			continue
		}
		switch {
		case rev.By[s.ID] != "":
			return nil, fault.New(fault.NotFound, req.Call+" is undone already", logOf(chat.Number))
		case first:
			return h.Undo(ctx, 1)
		}
		return store.Alone(s), nil
	}
}

// notDone is the fault of an undo of a state that no step gave which is done.
func notDone(ctx context.Context, chat chat.Chat, h *store.History, m *cas.Manifest, name string) error {
	undone, err := h.Undone(ctx)
	if err != nil {
		return err
	}
	for _, s := range undone {
		if s.After.ID == m.ID {
			return fault.New(fault.NotFound, name+" is undone already", fault.Try(fault.Redo, fmt.Sprint(chat.Number)))
		}
	}
	return fault.New(fault.NotFound, name+" is not a change that can be undone here: it belongs to another branch, was undone, or changed no file",
		logOf(chat.Number))
}
