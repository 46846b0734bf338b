package workspace

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/store"
)

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
	e       *Folders
	m       *store.Move
	active  *cas.Manifest
	touched map[string]bool            // by the steps
	from    map[string]*cas.Manifest   // as in route
	differs map[string]map[string]bool // state → path
	others  map[string]string          // path → why it is foreign
}

// route returns the paths that the steps of a move have changed and those that moves which
// it reverts have, and of them those that somebody else has changed: to restore these
// would lose what that one did. One that is already as it is to be is not among them.
func (w *Folders) route(ctx context.Context, m *store.Move, active *cas.Manifest) (*route, error) {
	r := &router{
		e: w, m: m, active: active, touched: map[string]bool{}, from: map[string]*cas.Manifest{},
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
	by := make([][]string, len(m.Steps))
	for i, s := range m.Steps {
		err := r.e.EachChange(ctx, s.Before, s.After, func(path string) {
			r.touched[path] = true
			by[i] = append(by[i], path)
		})
		if err != nil {
			return err
		}
	}
	for k := range m.Steps {
		i := k
		if m.Back {
			i = len(m.Steps) - 1 - k
		}
		for _, path := range by[i] {
			delete(r.from, path)
		}
		l, ok := m.Legs[i]
		if !ok {
			continue
		}
		take := func(path string) { r.from[path] = l.Found }
		if err := r.e.EachChange(ctx, l.Found, l.Gave, take); err != nil {
			return err
		}
	}
	return nil
}

// compare finds where the active state differs from the states that paths come from.
func (r *router) compare(ctx context.Context) error {
	states := map[string]*cas.Manifest{r.m.To.ID: r.m.To}
	for _, s := range r.from {
		states[s.ID] = s
	}
	for id, s := range states {
		paths := map[string]bool{}
		if err := r.e.EachChange(ctx, r.active, s, func(path string) { paths[path] = true }); err != nil {
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
	return r.differs[r.m.To.ID][path]
}

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
	for _, s := range m.Steps {
		if s.Mixed && m.Back { // redo restores what undo replaced: that was looked at then
			if err := r.e.EachChange(ctx, s.Before, s.After, note(store.MixedChanged)); err != nil {
				return err
			}
		}
	}
	for i := 1; i < len(m.Steps); i++ {
		if err := r.e.EachChange(ctx, m.Steps[i-1].After, m.Steps[i].Before, note(store.SomeoneChanged)); err != nil {
			return err
		}
	}
	if err := r.e.EachChange(ctx, m.From, r.active, note(store.SomeoneChanged)); err != nil {
		return err
	}
	if err := r.beyond(ctx); err != nil {
		return err
	}
	if m.Alone {
		return r.blame(ctx)
	}
	return r.leave(ctx)
}

// leave takes those foreign paths out of the move that the earlier moves which it reverts
// left as they were, and that are so still: they had been changed before, and were kept.
func (r *router) leave(ctx context.Context) error {
	for i, s := range r.m.Steps {
		if len(r.others) == 0 {
			return nil
		}
		changed := map[string]bool{}
		note := func(path string) { changed[path] = true }
		l, ok := r.m.Reverts[i]
		if ok {
			err := r.e.EachChange(ctx, l.Found, l.Gave, note)
			if err == nil {
				err = r.e.EachChange(ctx, l.Gave, r.active, note)
			}
			if err != nil {
				return err
			}
		}
		stays := map[string]bool{}
		err := r.e.EachChange(ctx, s.Before, s.After, func(path string) { stays[path] = ok && !changed[path] })
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
	for _, l := range r.m.Legs {
		if r.m.Back {
			break
		}
		if err := r.e.EachChange(ctx, l.Gave, r.active, func(path string) { changed[path] = true }); err != nil {
			return err
		}
	}
	for path := range r.from {
		if !r.touched[path] && r.changes(path) && (r.m.Back || changed[path]) {
			r.others[path] = store.SomeoneChanged
		}
	}
	return nil
}

// eachLater calls a function for the states since the move's step, the last first.
func (r *router) eachLater(ctx context.Context, each func(was, is *cas.Manifest) (more bool, err error)) error {
	h := &store.History{Store: r.e.Store}
	for m := r.active; m != nil && m.ID != r.m.From.ID; {
		parent, err := h.Before(ctx, m)
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
	var by []store.StateInfo
	paths := map[string][]string{}
	err := r.eachLater(ctx, func(was, is *cas.Manifest) (bool, error) {
		err := r.e.EachChange(ctx, was, is, func(path string) {
			if _, ok := open[path]; ok {
				delete(open, path)
				paths[is.ID] = append(paths[is.ID], path)
			}
		})
		if len(paths[is.ID]) > 0 {
			by = append(by, store.StateInfo{Manifest: is})
		}
		return len(open) > 0, err
	})
	if err != nil || len(by) == 0 {
		return err
	}
	if err := r.e.nameTools(ctx, by); err != nil {
		return store.StoreFault("look for what changed the files", err)
	}
	for _, s := range by {
		for _, path := range paths[s.ID] {
			r.others[path] = s.ChangedIt()
		}
	}
	return nil
}
