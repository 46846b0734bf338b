package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
)

// step is one change of a workspace that can be undone: a tool call, files that
// a message brought, an edit or a restore.
type step struct {
	// id is the tool call, else the manifest that the step gave with a ^: the
	// name of the state before it.
	id            string
	before, after *cas.Manifest
}

// history is what was done to a chat's workspace on the way to its active
// state: the steps that are done, and those that were undone and can be done
// again, both the oldest first. It is read from the manifests alone: each names
// the one before it, and one that undo or redo gave names the first step that
// is undone since (none: all are done).
type history struct {
	active       *cas.Manifest
	done, undone []step
}

// maxHistory bounds how far back a history is read.
const maxHistory = 100_000

// history reads the way to a chat's active state.
func (e *Engine) history(ctx context.Context, chat Chat) (*history, error) {
	h := new(history)
	var chain []*cas.Manifest
	for id := chat.ActiveManifest; id != "" && len(chain) < maxHistory; {
		m, err := e.states.Manifest(ctx, id)
		if errors.Is(err, cas.ErrNotFound) {
			break // an imported history begins somewhere
		}
		if err != nil {
			return nil, storeFault("read the states of the workspace", err)
		}
		chain = append(chain, m)
		id = m.ParentID
	}
	for _, m := range slices.Backward(chain) {
		h.add(m)
	}
	return h, nil
}

// add takes the next manifest.
func (h *history) add(m *cas.Manifest) {
	before := h.active
	h.active = m
	switch m.Source {
	case cas.External, cas.Interrupted, cas.Imported, cas.Branch:
		return
	case cas.Restored:
		all := append(slices.Clone(h.done), h.undone...)
		at := slices.IndexFunc(all, func(s step) bool { return s.id == m.SourceRef })
		if m.SourceRef == "" {
			at = len(all)
		}
		if at >= 0 {
			h.done, h.undone = all[:at:at], all[at:]
			return
		}
	}
	if before == nil {
		return // the first state is the ground that undo ends at
	}
	id := m.ID + "^"
	if m.Source == cas.ToolRun {
		id = m.SourceRef
	}
	h.done, h.undone = append(h.done, step{id: id, before: before, after: m}), nil
}

// move is the way from the active state to another.
type move struct {
	to    *cas.Manifest
	mark  string // the source_ref of the state that it gives
	steps []step // that are undone or done again, in the order of time
	// from is the state that the way begins at if nobody else has changed
	// anything.
	from *cas.Manifest
	back bool
}

// undo is the way back over the last n steps.
func (h *history) undo(n int) (*move, error) {
	if len(h.done) == 0 {
		return nil, errNoStep
	}
	n = min(n, len(h.done))
	steps := h.done[len(h.done)-n:]
	return &move{to: steps[0].before, mark: steps[0].id, steps: steps, from: steps[n-1].after, back: true}, nil
}

// redo is the way forward again over the next n steps.
func (h *history) redo(n int) (*move, error) {
	if len(h.undone) == 0 {
		return nil, errNoStep
	}
	n = min(n, len(h.undone))
	m := &move{to: h.undone[n-1].after, steps: h.undone[:n], from: h.undone[0].before}
	if n < len(h.undone) {
		m.mark = h.undone[n].id
	}
	return m, nil
}

var errNoStep = errors.New("no step")

// paths are those that the steps of a move have changed, and of them those that
// somebody else has changed between: to bring these back would lose what that
// one did.
func (e *Engine) movePaths(ctx context.Context, m *move, active *cas.Manifest) (paths []string, foreign []cas.Blocked, err error) {
	touched := map[string]bool{}
	for _, s := range m.steps {
		if err := e.eachChange(ctx, s.before, s.after, func(path string) { touched[path] = true }); err != nil {
			return nil, nil, err
		}
	}
	others := map[string]bool{}
	other := func(path string) {
		if touched[path] {
			others[path] = true
		}
	}
	for i := 1; i < len(m.steps); i++ {
		if err := e.eachChange(ctx, m.steps[i-1].after, m.steps[i].before, other); err != nil {
			return nil, nil, err
		}
	}
	if err := e.eachChange(ctx, m.from, active, other); err != nil {
		return nil, nil, err
	}
	for path := range touched {
		paths = append(paths, path)
	}
	for path := range others {
		foreign = append(foreign, cas.Blocked{Path: path, Reason: "someone else changed it since"})
	}
	slices.Sort(paths)
	slices.SortFunc(foreign, func(a, b cas.Blocked) int { return strings.Compare(a.Path, b.Path) })
	return paths, foreign, nil
}

// eachChange calls a function for each path that differs between two states.
func (e *Engine) eachChange(ctx context.Context, from, to *cas.Manifest, each func(path string)) error {
	if from.Root == to.Root {
		return nil
	}
	for c, err := range e.states.Diff(ctx, from.Root, to.Root) {
		if err != nil {
			return stateFault(fmt.Sprintf("compare the states %s and %s", from.ID, to.ID), err)
		}
		each(c.Path)
	}
	return nil
}
