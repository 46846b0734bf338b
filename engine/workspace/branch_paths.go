package workspace

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// moveTo gives a folder the files of another branch. The user's own folder gets only
// what steps of the two branches have changed since they parted: what a person did
// there meanwhile belongs to no branch and stays, and where it was to a file that would
// change nothing is done, with a [cas.ConflictError]. o says what it is recorded as.
func (w *Folders) moveTo(ctx context.Context, ws *toolset.Workspace, to *cas.Manifest, o cas.RestoreOptions) (*cas.Restoration, error) {
	if ws.Bound && o.Active != nil {
		paths, foreign, err := w.branchPaths(ctx, o.ChatID, o.Active, to)
		if err != nil {
			return nil, err
		}
		if len(foreign) > 0 && !o.Overwrite {
			return nil, &cas.ConflictError{Paths: foreign}
		}
		o.Paths, o.Exact = paths, true
	}
	done, err := w.Snapshots.Materialize(ctx, CASWorkspace(ws), to, o)
	if err != nil || done.After.ID != done.Before.ID || done.After.Root == to.Root {
		return done, err
	}
	// Nothing had to change, and yet the branch goes on from its own state.
	snap, err := w.Snapshots.Snapshot(ctx, CASWorkspace(ws), cas.SnapshotOptions{About: o.About, Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	done.After = snap.Manifest
	return done, nil
}

// branchPaths gives the paths that steps have changed on the ways from where two
// states' histories part, and of them those where somebody else did on the way to the
// active one: what stands there would be lost, unless the other state has it so.
func (w *Folders) branchPaths(ctx context.Context, chat string, active, to *cas.Manifest) ([]string, []cas.Blocked, error) {
	here, there, err := w.apart(ctx, &store.History{Store: w.Store, Chat: chat}, active, to)
	if err != nil {
		return nil, nil, err
	}
	touched := map[string]bool{}
	for _, way := range [][]stride{here, there} {
		for _, part := range way {
			if !part.stepped() {
				continue
			}
			if err := w.EachChange(ctx, part.from, part.to, func(path string) { touched[path] = true }); err != nil {
				return nil, nil, err
			}
		}
	}
	lost, err := w.lostBetween(ctx, here, active, to)
	if err != nil {
		return nil, nil, err
	}
	var foreign []cas.Blocked
	for path := range lost {
		if touched[path] {
			foreign = append(foreign, cas.Blocked{Path: path, Reason: "someone else changed it since"})
		}
	}
	slices.SortFunc(foreign, func(a, b cas.Blocked) int { return strings.Compare(a.Path, b.Path) })
	return slices.AppendSeq([]string{}, maps.Keys(touched)), foreign, nil
}

// lostBetween are the paths that somebody else has changed on a way to the active
// state, and that another state has otherwise than they left them. The value tells
// whether they left something there, and nothing is lost where they removed it.
func (w *Folders) lostBetween(ctx context.Context, way []stride, active, to *cas.Manifest) (map[string]bool, error) {
	want := map[string]*cas.Entry{} // of the paths that differ
	for c, err := range w.Snapshots.Diff(ctx, active.Root, to.Root) {
		if err != nil {
			return nil, store.StateFault("compare the branches", err)
		}
		want[c.Path] = c.New
	}
	lost, met := map[string]bool{}, map[string]bool{}
	for _, part := range way { // the last change first, which is the one that counts
		if !part.foreign() || part.from.Root == part.to.Root {
			continue
		}
		for c, err := range w.Edits(ctx, part.from.Root, part.to.Root) {
			if err != nil {
				return nil, store.StateFault("compare the branches", err)
			}
			then, differs := want[c.Path]
			if differs && !met[c.Path] && !sameEntry(c.New, then) {
				lost[c.Path] = c.New != nil
			}
			met[c.Path] = true
		}
	}
	return lost, nil
}

// wouldLose are the paths of the user's own folder where a state that is brought back
// would take away what somebody else put there since, as files or links.
func (w *Folders) wouldLose(ctx context.Context, chat string, active, to *cas.Manifest) ([]cas.Blocked, error) {
	if active == nil {
		return nil, nil
	}
	way, _, err := w.apart(ctx, &store.History{Store: w.Store, Chat: chat}, active, to)
	if err != nil {
		return nil, err
	}
	lost, err := w.lostBetween(ctx, way, active, to)
	if err != nil {
		return nil, err
	}
	var out []cas.Blocked
	for path, there := range lost {
		if there {
			out = append(out, cas.Blocked{Path: path, Reason: "someone else changed it since"})
		}
	}
	slices.SortFunc(out, func(a, b cas.Blocked) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func sameEntry(a, b *cas.Entry) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Same(*b)
}

// stride is the way from a state to the next.
type stride struct{ from, to *cas.Manifest }

// stepped tells that a call or a command has changed the folder. What is found after
// a crash may be a call's work or a person's, so it counts as both.
func (s stride) stepped() bool {
	switch s.to.Source {
	case cas.External, cas.Branch, cas.Imported:
		return false
	}
	return true
}

// foreign tells that somebody else has, or may have.
func (s stride) foreign() bool { return !s.stepped() || s.to.Source == cas.Interrupted }

// apart gives the ways to two states from the one where their histories part, or from
// where these begin. It goes back on both in turn, so that it costs what lies between.
func (w *Folders) apart(ctx context.Context, h *store.History, a, b *cas.Manifest) (toA, toB []stride, err error) {
	ways := [2]*trail{newTrail(a), newTrail(b)}
	for !ways[0].ended() || !ways[1].ended() {
		for i, way := range ways {
			if way.ended() {
				continue
			}
			if met := ways[1-i]; met.at[way.last().ID] {
				return ways[0].upTo(way.last().ID), ways[1].upTo(way.last().ID), nil
			}
			parent, err := h.Before(ctx, way.last())
			if err != nil {
				return nil, nil, err
			}
			way.add(parent)
		}
	}
	return ways[0].upTo(""), ways[1].upTo(""), nil
}

// trail is a way back from a state.
type trail struct {
	states []*cas.Manifest // the last is nil where the way ends
	at     map[string]bool
}

func newTrail(m *cas.Manifest) *trail { return &trail{[]*cas.Manifest{m}, map[string]bool{m.ID: true}} }

func (t *trail) last() *cas.Manifest { return t.states[len(t.states)-1] }
func (t *trail) ended() bool         { return t.last() == nil }

func (t *trail) add(m *cas.Manifest) {
	t.states = append(t.states, m)
	if m != nil {
		t.at[m.ID] = true
	}
}

// upTo are the strides to the trail's begin from the state of an id, or from its end.
func (t *trail) upTo(id string) (out []stride) {
	for i := 0; i+1 < len(t.states) && t.states[i+1] != nil && t.states[i].ID != id; i++ {
		out = append(out, stride{from: t.states[i+1], to: t.states[i]})
	}
	return out
}

// movedCounts counts the files that a move to another branch would change.
func (w *Folders) movedCounts(ctx context.Context, chat chat.Chat, active, to *cas.Manifest, b *store.Branch) error {
	only := map[string]bool(nil)
	if chat.Workspace != "" {
		paths, _, err := w.branchPaths(ctx, chat.ID, active, to)
		if err != nil {
			return err
		}
		only = make(map[string]bool, len(paths))
		for _, p := range paths {
			only[p] = true
		}
	}
	for c, err := range w.Snapshots.Diff(ctx, active.Root, to.Root) {
		switch {
		case err != nil:
			return store.StateFault("compare the branches", err)
		case c.FoldersOnly(), only != nil && !only[c.Path]:
		case c.Old == nil:
			b.Added++
		case c.New == nil:
			b.Removed++
		default:
			b.Modified++
		}
	}
	return nil
}
