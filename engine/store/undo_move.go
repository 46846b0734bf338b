package store

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Move is the way from the active state to another.
type Move struct {
	To    *cas.Manifest
	Mark  string // the source_ref of the state that it gives
	Steps []step // that are undone or done again, in the order of time
	// From is the state that the way begins at if nobody else has changed
	// anything.
	From *cas.Manifest
	Back bool // it undoes
	// Alone is set where one step is undone and those after it are not: such a move is a
	// step itself.
	Alone bool
	// Again is set where the step that is undone alone is an undo of one step itself.
	Again bool
	// Legs are earlier moves that this one reverts, by the step that completes each of them.
	Legs map[int]leg
	// Reverts has, by step, the last earlier move over it that this one reverts, also in part.
	Reverts map[int]leg
	Since   string // Manifest.SinceID of the state that it gives
}

// leg is an earlier undo or redo. A redo that reverts an undo restores what that replaced,
// other programs' changes included, and the other way round.
type leg struct {
	Found, Gave *cas.Manifest
	lo, hi      int // it went over the steps that are counted from lo+1 to hi; 0 is the last that is done
}

// Undo is the way back over the last n steps.
func (h *History) Undo(ctx context.Context, n int) (*Move, error) {
	steps, err := h.done(ctx, n)
	if err != nil {
		return nil, err
	}
	if n = len(steps); n == 0 {
		return nil, ErrNoStep
	}
	m := &Move{To: steps[0].Before, Mark: steps[0].ID, Steps: steps, From: steps[n-1].After, Back: true}
	return m, h.legs(ctx, m)
}

// Redo is the way forward again over the next n steps.
func (h *History) Redo(ctx context.Context, n int) (*Move, error) {
	undone, err := h.Undone(ctx)
	if err != nil {
		return nil, err
	}
	if len(undone) == 0 {
		return nil, ErrNoStep
	}
	n = min(n, len(undone))
	m := &Move{To: undone[n-1].After, Steps: undone[:n], From: undone[0].Before}
	if n < len(undone) {
		m.Mark = undone[n].ID
	}
	return m, h.legs(ctx, m)
}

// ErrNoStep says that there is nothing to undo or redo.
var ErrNoStep = errors.New("no step")

// Over returns how many steps the move goes over, as manifests have it.
func (m *Move) Over() int {
	switch {
	case m.Alone:
		return 0
	case m.Back:
		return -len(m.Steps)
	}
	return len(m.Steps)
}

// index returns the place of the step of the move that has a level: how many steps are done
// with it, from 1, or are left undone, from 0 down. For a level of another move it is not in
// the range of the steps.
func (m *Move) index(level int) int {
	if m.Back {
		return level - 1 + len(m.Steps)
	}
	return level - 1
}

// legs finds, for each step of a move, the last undo (or, for an undo, the last redo) over
// it, and notes those that the move completes the reversal of. What it reads for an undo does
// not grow with what was done before the steps, nor with what is undone after them.
func (h *History) legs(ctx context.Context, m *Move) error {
	m.Legs, m.Reverts = map[int]leg{}, map[int]leg{}
	open := make(map[int]bool, len(m.Steps))
	for i := range m.Steps {
		open[i] = true
	}
	at := 0 // the count of the last step that is done
	for s := h.Active; s != nil && len(open) > 0; {
		if s.Source == cas.Restored && s.Steps != 0 {
			var err error
			if s, at, err = h.over(ctx, m, open, s, at); err != nil {
				return err
			}
			continue
		}
		parent, err := h.Before(ctx, s)
		if err != nil {
			return err
		}
		v, err := h.look(ctx, s, parent)
		switch {
		case err != nil:
			return err
		case v.marks: // an older program did not record how far it went
			return nil
		case v.step != nil:
			m.resolve(open, m.index(at), s) // here it was made
			at--
		}
		s = parent
	}
	return nil
}

// over takes in a state that undo or redo made, at which a step is the last one that is done.
// It returns the state from which to read on, and the last step that was done then.
func (h *History) over(ctx context.Context, m *Move, open map[int]bool, s *cas.Manifest, at int) (*cas.Manifest, int, error) {
	l := leg{Gave: s, lo: min(at, at-s.Steps), hi: max(at, at-s.Steps)}
	same := (s.Steps > 0) == m.Back
	if m.Back && !same && s.SinceID != "" {
		// All steps below those of this undo have been done since before the first of these was.
		since, err := h.Store.Manifest(ctx, s.SinceID)
		if err != nil {
			return nil, 0, err
		}
		if since != nil && since.Steps <= 1 { // a redo of several steps went over some below it, too
			next, err := h.Before(ctx, since)
			return next, at, err
		}
	}
	var err error
	if l.Found, err = h.Before(ctx, s); err != nil {
		return nil, 0, err
	}
	if same && l.Found != nil {
		last := l.hi
		if m.Back {
			last = l.lo + 1
		}
		if i := m.index(last); open[i] {
			m.Legs[i] = l
		}
		for level := l.lo + 1; level <= l.hi; level++ {
			if i := m.index(level); open[i] {
				m.Reverts[i] = l
			}
			m.resolve(open, m.index(level), s)
		}
	}
	return l.Found, at - s.Steps, nil
}

// resolve notes the state by which a step was last done, or undone, if it is still open.
func (m *Move) resolve(open map[int]bool, i int, s *cas.Manifest) {
	if !open[i] {
		return
	}
	delete(open, i)
	if m.Back && i == 0 {
		m.Since = s.ID
	}
}

// Why a path is not undone unless the user says so.
const (
	SomeoneChanged = "someone else changed it since"
	MixedChanged   = "a call without a known end changed it, or someone since"
)

// ChangedIt says that the state's maker changed a path.
func (s StateInfo) ChangedIt() string {
	const letters = 8 // of an id: enough to name a call of a chat
	switch s.Source {
	case cas.ToolRun:
		tool := s.Tool
		if tool == "" {
			tool = "a tool"
		}
		return "the later call " + s.SourceRef[max(0, len(s.SourceRef)-letters):] + " (" + sanitize.Line(tool) + ") changed it"
	case cas.Restored:
		return "a later undo, redo or restore changed it"
	case cas.UserUpload:
		return "files that came with a later message changed it"
	case cas.Edit:
		return "it was edited since"
	case cas.Interrupted:
		return MixedChanged
	}
	return SomeoneChanged
}
