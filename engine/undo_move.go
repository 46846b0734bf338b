package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// move is the way from the active state to another.
type move struct {
	to    *cas.Manifest
	mark  string // the source_ref of the state that it gives
	steps []step // that are undone or done again, in the order of time
	// from is the state that the way begins at if nobody else has changed
	// anything.
	from *cas.Manifest
	back bool // it undoes
	// alone is set where one step is undone and those after it are not: such a move is a
	// step itself.
	alone bool
	// again is set where the step that is undone alone is an undo of one step itself.
	again bool
	// legs are earlier moves that this one reverts, by the step that completes each of them.
	legs map[int]leg
	// reverts has, by step, the last earlier move over it that this one reverts, also in part.
	reverts map[int]leg
	since   string // Manifest.SinceID of the state that it gives
}

// leg is an earlier undo or redo. A redo that reverts an undo restores what that replaced,
// other programs' changes included, and the other way round.
type leg struct {
	found, gave *cas.Manifest
	lo, hi      int // it went over the steps that are counted from lo+1 to hi; 0 is the last that is done
}

// undo is the way back over the last n steps.
func (h *history) undo(ctx context.Context, n int) (*move, error) {
	steps, err := h.done(ctx, n)
	if err != nil {
		return nil, err
	}
	if n = len(steps); n == 0 {
		return nil, errNoStep
	}
	m := &move{to: steps[0].before, mark: steps[0].id, steps: steps, from: steps[n-1].after, back: true}
	return m, h.legs(ctx, m)
}

// redo is the way forward again over the next n steps.
func (h *history) redo(ctx context.Context, n int) (*move, error) {
	undone, err := h.undone(ctx)
	if err != nil {
		return nil, err
	}
	if len(undone) == 0 {
		return nil, errNoStep
	}
	n = min(n, len(undone))
	m := &move{to: undone[n-1].after, steps: undone[:n], from: undone[0].before}
	if n < len(undone) {
		m.mark = undone[n].id
	}
	return m, h.legs(ctx, m)
}

var errNoStep = errors.New("no step")

// over returns how many steps the move goes over, as manifests have it.
func (m *move) over() int {
	switch {
	case m.alone:
		return 0
	case m.back:
		return -len(m.steps)
	}
	return len(m.steps)
}

// index returns the place of the step of the move that has a level: how many steps are done
// with it, from 1, or are left undone, from 0 down. For a level of another move it is not in
// the range of the steps.
func (m *move) index(level int) int {
	if m.back {
		return level - 1 + len(m.steps)
	}
	return level - 1
}

// legs finds, for each step of a move, the last undo (or, for an undo, the last redo) over
// it, and notes those that the move completes the reversal of. What it reads for an undo does
// not grow with what was done before the steps, nor with what is undone after them.
func (h *history) legs(ctx context.Context, m *move) error {
	m.legs, m.reverts = map[int]leg{}, map[int]leg{}
	open := make(map[int]bool, len(m.steps))
	for i := range m.steps {
		open[i] = true
	}
	at := 0 // the count of the last step that is done
	for s := h.active; s != nil && len(open) > 0; {
		if s.Source == cas.Restored && s.Steps != 0 {
			var err error
			if s, at, err = h.over(ctx, m, open, s, at); err != nil {
				return err
			}
			continue
		}
		parent, err := h.before(ctx, s)
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
func (h *history) over(ctx context.Context, m *move, open map[int]bool, s *cas.Manifest, at int) (*cas.Manifest, int, error) {
	l := leg{gave: s, lo: min(at, at-s.Steps), hi: max(at, at-s.Steps)}
	same := (s.Steps > 0) == m.back
	if m.back && !same && s.SinceID != "" {
		// All steps below those of this undo have been done since before the first of these was.
		since, err := h.e.manifest(ctx, s.SinceID)
		if err != nil {
			return nil, 0, err
		}
		if since != nil && since.Steps <= 1 { // a redo of several steps went over some below it, too
			next, err := h.before(ctx, since)
			return next, at, err
		}
	}
	var err error
	if l.found, err = h.before(ctx, s); err != nil {
		return nil, 0, err
	}
	if same && l.found != nil {
		last := l.hi
		if m.back {
			last = l.lo + 1
		}
		if i := m.index(last); open[i] {
			m.legs[i] = l
		}
		for level := l.lo + 1; level <= l.hi; level++ {
			if i := m.index(level); open[i] {
				m.reverts[i] = l
			}
			m.resolve(open, m.index(level), s)
		}
	}
	return l.found, at - s.Steps, nil
}

// resolve notes the state by which a step was last done, or undone, if it is still open.
func (m *move) resolve(open map[int]bool, i int, s *cas.Manifest) {
	if !open[i] {
		return
	}
	delete(open, i)
	if m.back && i == 0 {
		m.since = s.ID
	}
}

// route is what a move does to which paths.
type route struct {
	paths []string // never nil, which would be all
	// from has the paths that become what another state than move.to has.
	from map[string]*cas.Manifest
	// foreign are the paths that another program, or for a step that is undone alone a
	// later step, has changed, and that would become something else.
	foreign []cas.Blocked
}

// only limits a route to some paths and what is below them; nil is all.
func (r *route) only(these, keep []string) {
	if these != nil {
		r.paths = slices.DeleteFunc(r.paths, func(p string) bool { return !covered(p, these) })
		maps.DeleteFunc(r.from, func(p string, _ *cas.Manifest) bool { return !covered(p, these) })
	}
	r.foreign = outside(within(r.foreign, these), keep)
}

// router finds a move's route.
type router struct {
	e       *Engine
	m       *move
	active  *cas.Manifest
	touched map[string]bool            // by the steps
	from    map[string]*cas.Manifest   // as in route
	differs map[string]map[string]bool // state → path
	others  map[string]string          // path → why it is foreign
}

// route returns the paths that the steps of a move have changed and those that moves which
// it reverts have, and of them those that somebody else has changed: to restore these
// would lose what that one did. One that is already as it is to be is not among them.
func (e *Engine) route(ctx context.Context, m *move, active *cas.Manifest) (*route, error) {
	r := &router{
		e: e, m: m, active: active, touched: map[string]bool{}, from: map[string]*cas.Manifest{},
		differs: map[string]map[string]bool{}, others: map[string]string{},
	}
	if err := r.targets(ctx); err != nil {
		return nil, err
	}
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	if err := r.conflicts(ctx); err != nil {
		return nil, err
	}
	out := &route{paths: []string{}, from: r.from}
	out.paths = slices.AppendSeq(out.paths, maps.Keys(r.touched))
	for path := range r.from {
		if !r.touched[path] {
			out.paths = append(out.paths, path)
		}
	}
	for path, why := range r.others {
		out.foreign = append(out.foreign, cas.Blocked{Path: path, Reason: why})
	}
	slices.Sort(out.paths)
	slices.SortFunc(out.foreign, func(a, b cas.Blocked) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// targets finds what the steps have touched, and which paths come from a state that an
// earlier move found.
func (r *router) targets(ctx context.Context) error {
	m := r.m
	by := make([][]string, len(m.steps))
	for i, s := range m.steps {
		err := r.e.eachChange(ctx, s.before, s.after, func(path string) {
			r.touched[path] = true
			by[i] = append(by[i], path)
		})
		if err != nil {
			return err
		}
	}
	for k := range m.steps {
		i := k
		if m.back {
			i = len(m.steps) - 1 - k
		}
		for _, path := range by[i] {
			delete(r.from, path)
		}
		l, ok := m.legs[i]
		if !ok {
			continue
		}
		take := func(path string) { r.from[path] = l.found }
		if err := r.e.eachChange(ctx, l.found, l.gave, take); err != nil {
			return err
		}
	}
	return nil
}

// compare finds where the active state differs from the states that paths come from.
func (r *router) compare(ctx context.Context) error {
	states := map[string]*cas.Manifest{r.m.to.ID: r.m.to}
	for _, s := range r.from {
		states[s.ID] = s
	}
	for id, s := range states {
		paths := map[string]bool{}
		if err := r.e.eachChange(ctx, r.active, s, func(path string) { paths[path] = true }); err != nil {
			return err
		}
		r.differs[id] = paths
	}
	return nil
}

// changes reports whether the move would change a path.
func (r *router) changes(path string) bool {
	if s := r.from[path]; s != nil {
		return r.differs[s.ID][path]
	}
	return r.differs[r.m.to.ID][path]
}

const (
	someoneChanged = "someone else changed it since"
	mixedChanged   = "a call without a known end changed it, or someone since"
)

// conflicts finds the foreign paths.
func (r *router) conflicts(ctx context.Context) error {
	m := r.m
	note := func(why string) func(string) {
		return func(path string) {
			if r.touched[path] && r.changes(path) {
				r.others[path] = why
			}
		}
	}
	for _, s := range m.steps {
		if s.mixed && m.back { // redo restores what undo replaced: that was looked at then
			if err := r.e.eachChange(ctx, s.before, s.after, note(mixedChanged)); err != nil {
				return err
			}
		}
	}
	for i := 1; i < len(m.steps); i++ {
		if err := r.e.eachChange(ctx, m.steps[i-1].after, m.steps[i].before, note(someoneChanged)); err != nil {
			return err
		}
	}
	if err := r.e.eachChange(ctx, m.from, r.active, note(someoneChanged)); err != nil {
		return err
	}
	if err := r.beyond(ctx); err != nil {
		return err
	}
	if m.alone {
		return r.blame(ctx)
	}
	return r.leave(ctx)
}

// leave takes those foreign paths out of the move that the earlier moves which it reverts
// left as they were, and that are so still: they had been changed before, and were kept.
func (r *router) leave(ctx context.Context) error {
	for i, s := range r.m.steps {
		if len(r.others) == 0 {
			return nil
		}
		changed := map[string]bool{}
		note := func(path string) { changed[path] = true }
		l, ok := r.m.reverts[i]
		if ok {
			err := r.e.eachChange(ctx, l.found, l.gave, note)
			if err == nil {
				err = r.e.eachChange(ctx, l.gave, r.active, note)
			}
			if err != nil {
				return err
			}
		}
		stays := map[string]bool{}
		err := r.e.eachChange(ctx, s.before, s.after, func(path string) { stays[path] = ok && !changed[path] })
		if err != nil {
			return err
		}
		for path, stay := range stays {
			if _, foreign := r.others[path]; foreign && stay {
				delete(r.others, path)
				delete(r.touched, path)
				delete(r.from, path)
			}
		}
	}
	return nil
}

// beyond adds the paths which no step touched, and which a move that is reverted changed:
// what an undo replaced there, and a redo has restored, is not the steps' own.
func (r *router) beyond(ctx context.Context) error {
	changed := map[string]bool{} // since the last move
	for _, l := range r.m.legs {
		if r.m.back {
			break
		}
		if err := r.e.eachChange(ctx, l.gave, r.active, func(path string) { changed[path] = true }); err != nil {
			return err
		}
	}
	for path := range r.from {
		if !r.touched[path] && r.changes(path) && (r.m.back || changed[path]) {
			r.others[path] = someoneChanged
		}
	}
	return nil
}

// eachLater calls a function for the states since the move's step, the last first.
func (r *router) eachLater(ctx context.Context, each func(was, is *cas.Manifest) (more bool, err error)) error {
	h := &history{e: r.e.Store}
	for m := r.active; m != nil && m.ID != r.m.from.ID; {
		parent, err := h.before(ctx, m)
		if err != nil || parent == nil {
			return err
		}
		if more, err := each(parent, m); err != nil || !more {
			return err
		}
		m = parent
	}
	return nil
}

// blame replaces the reason of each foreign path by what changed it last.
func (r *router) blame(ctx context.Context) error {
	open := maps.Clone(r.others)
	var by []StateInfo
	paths := map[string][]string{}
	err := r.eachLater(ctx, func(was, is *cas.Manifest) (bool, error) {
		err := r.e.eachChange(ctx, was, is, func(path string) {
			if _, ok := open[path]; ok {
				delete(open, path)
				paths[is.ID] = append(paths[is.ID], path)
			}
		})
		if len(paths[is.ID]) > 0 {
			by = append(by, StateInfo{Manifest: is})
		}
		return len(open) > 0, err
	})
	if err != nil || len(by) == 0 {
		return err
	}
	if err := r.e.nameTools(ctx, by); err != nil {
		return storeFault("look for what changed the files", err)
	}
	for _, s := range by {
		for _, path := range paths[s.ID] {
			r.others[path] = s.changedIt()
		}
	}
	return nil
}

// changedIt says that the state's maker changed a path.
func (s StateInfo) changedIt() string {
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
		return mixedChanged
	}
	return someoneChanged
}
