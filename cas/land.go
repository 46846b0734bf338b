package cas

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
)

// LandOptions say how a plan lands.
type LandOptions struct {
	// About is what the state afterwards is recorded as.
	About
	// Parent is the state that the chat has; it may be nil.
	Parent *Manifest
	// FoundID is the id of the state of what was found, and CallID that of the call's
	// version, where these are recorded; empty makes one.
	FoundID, CallID string
	// Only lands these paths, and the folders that they need; nil lands all, and an empty
	// list nothing. What is below a path has to be listed, too, except for what states leave
	// out. Changes that [LandingPlan.Together] groups land together or not at all: one of
	// them is enough for all.
	Only []string
	// Doing names the operation for the report of one that was cut short.
	Doing string
	// Written is called with what is written, by several goroutines. It may be nil.
	Written func(files int, bytes int64)
}

// Landing is what has landed.
type Landing struct {
	// Before is the state that was found: Parent, or a new one where the user had
	// changed paths that the call changed, too.
	Before *Manifest
	// After is the state now; it is Before if nothing has landed.
	After *Manifest
	// Call is the state as the call left it, with everything that did not land. It is nil
	// if all has landed.
	Call *Manifest
	// Changes are what has landed, removals first; those with an entry of the kind Failed
	// are in no state.
	Changes []Change
	// Conflicts are what has not landed: those of the plan, and those that appeared since.
	Conflicts []Conflict
	// LeftOut are counted as in the plan.
	LeftOut []LeftOut
	// Left are folders that stay since the user has put something into them, and
	// folders whose time of modification could not be set.
	Left []Left
}

// landing carries a plan out.
type landing struct {
	restore
	p      *LandingPlan
	o      *LandOptions
	out    *Landing
	found  *index // what the workspace has, as far as that is known
	states []*Manifest
	whole  *index    // as it is if all lands that was chosen
	enc    []newTree // trees that the store may not have
	late   []Conflict
	done   []bool // by op: it has landed
	// standing has files of the workspace that the call gave further names, see LandingPlan.standing.
	standing map[*node]*node
}

// Land carries a plan out. It compares the plan with the workspace once more, and each
// path again when its name is exchanged: what the user has changed by then stays, is
// listed as a conflict, and the rest lands. With an error nothing has landed. If the
// process dies meanwhile, the next operation on the folder takes back what has landed, and
// the layer can be landed again; the caller removes the layer once Land has returned.
func (s *Store) Land(ctx context.Context, ws *Workspace, p *LandingPlan, o LandOptions) (*Landing, error) {
	if p.upper == nil {
		return nil, fmt.Errorf("land in %s: the plan is closed", ws.Path)
	}
	f, release, err := s.folder(ctx, ws.key())
	if err != nil {
		return nil, err
	}
	defer release()
	unshare, err := s.share(ctx)
	if err != nil {
		return nil, err
	}
	defer unshare()
	if err := s.recover(ctx, ws, f); err != nil {
		return nil, err
	}
	if err := p.compare(ctx, f); err != nil {
		return nil, err
	}
	l := &landing{p: p, o: &o, out: new(Landing)}
	l.restore = restore{s: s, ws: ws, f: f, written: o.Written, lands: l}
	if l.mounts, err = s.mountsIn(ws); err != nil {
		return nil, fmt.Errorf("land in %s: %w", ws.Path, err)
	}
	if err := l.land(ctx); err != nil {
		return nil, err
	}
	return l.out, nil
}

func (l *landing) land(ctx context.Context) error {
	out := l.out
	out.Conflicts, out.LeftOut = l.p.Conflicts, l.p.LeftOut
	out.Before, out.After = l.o.Parent, l.o.Parent
	if l.p.Empty() {
		return nil
	}
	l.choose()
	l.findings()
	target := l.edited(l.found, func(e *editor) {
		for i := range l.todo.ops {
			l.todo.ops[i].enter(e, cached{Entry: l.todo.ops[i].entry()})
		}
	})
	l.callVersion(target)
	if err := l.found.fault(); err != nil {
		l.f.index = nil
		return fmt.Errorf("land in %s: %w", l.ws.Path, err)
	}
	if len(l.todo.ops) == 0 {
		return l.recordOnly(ctx)
	}
	if err := l.roomFor(); err != nil {
		return fmt.Errorf("land in %s: %w", l.ws.Path, err)
	}
	return l.carryOut(ctx, target)
}

// choose makes the ops of what is to land.
func (l *landing) choose() {
	pl := &planner{paths: scopeOf(l.only()), exact: true}
	for _, it := range l.p.items {
		pl.leaveScopes(it.c.Path)
		had := len(pl.ops)
		if pl.wanted(it.c) {
			pl.add(it.c)
		} else {
			pl.above(it.c)
		}
		if len(pl.ops) > had {
			o := &pl.ops[had]
			o.n, o.unit = it.n, it.unit
		}
	}
	l.todo, l.standing = pl.plan, l.p.standing()
}

// only returns LandOptions.Only, extended by what lands together.
func (l *landing) only() []string {
	if l.o.Only == nil {
		return nil
	}
	paths := clean(l.o.Only)
	chosen := scopeOf(paths).has
	items := l.p.items
	groups := groupsOf(items)
	lands := make(map[int]bool)
	for i, it := range items {
		lands[groups[i]] = lands[groups[i]] || chosen[it.c.Path] || it.n.omittedBy != "" && chosen[it.n.omittedBy]
	}
	for i, it := range items {
		if lands[groups[i]] {
			paths = append(paths, it.c.Path)
		}
	}
	return paths
}

// edited makes an index of another one by edits, and keeps its trees for the store.
func (l *landing) edited(old *index, edit func(*editor)) *index {
	e := newEditor(old)
	edit(e)
	e.regroup()
	b := &builder{old: old, found: e.finish(), edits: true, now: l.s.now().UnixNano()}
	ix := b.build()
	l.enc = append(l.enc, b.trees...)
	return ix
}

// findings makes the index of what the workspace has: the last one that is known, with
// what was found under the paths of the plan.
func (l *landing) findings() {
	known := l.f.index
	r := &lowerReader{ix: known, open: make(map[string]*openRec)}
	var differ []*node
	l.p.top.each(func(n *node) {
		if n.path == "" || n.omittedBy != "" {
			return
		}
		was, ok := r.known(n.path)
		switch {
		case !ok && !n.low.there:
		case ok && n.low.there && was.Kind == Folder && n.low.Kind == Folder && was.Perm.agrees(n.low.Perm):
		case ok && n.low.there && was.Same(n.low.Entry):
		default:
			differ = append(differ, n)
		}
	})
	l.found = known
	if len(differ) > 0 {
		l.found = l.edited(known, func(e *editor) {
			for _, n := range differ {
				if was, ok := r.known(n.path); !ok || was.Kind != Folder || n.low.Kind != Folder {
					e.drop(n.path)
				}
				if n.low.there {
					e.set(n.path, n.low.cached)
				}
			}
		})
		l.found.stale = l.f.stored(known)
	}
	l.before = l.found.dirs.get("").tree
	if l.out.Before == nil || l.out.Before.Root != l.before {
		about := About{ID: l.o.FoundID, ChatID: l.o.ChatID, Source: External, SourceRef: l.o.SourceRef}
		l.out.Before = l.s.newManifest(l.found, about, l.o.Parent)
		l.states = append(l.states, l.out.Before)
	}
	l.out.After = l.out.Before
}

// callVersion prepares the record of what the call left, if not all of that lands.
func (l *landing) callVersion(target *index) {
	if len(l.p.Conflicts) == 0 && len(l.todo.ops) == len(l.p.items) {
		return
	}
	ix := l.edited(l.found, func(e *editor) {
		l.p.top.each(func(n *node) {
			if n.path == "" || n.omittedBy != "" {
				return
			}
			if n.gone || n.opaque || n.Kind != Folder {
				e.drop(n.path)
			}
			if !n.gone && (n.Kind != Folder || n.opaque || e.folder(n.path) == nil || !n.Perm.agrees(n.low.Perm)) {
				e.set(n.path, n.left())
			}
		})
	})
	l.out.Call = l.versionOf(ix)
	l.states = append(l.states, l.out.Call)
}

// versionOf makes the record of the call's version.
func (l *landing) versionOf(ix *index) *Manifest {
	about := About{ID: l.o.CallID, ChatID: l.o.ChatID, ParentID: l.out.Before.ID, Source: CallVersion, SourceRef: l.o.SourceRef}
	return l.s.newManifest(ix, about, nil)
}

// keepTrees brings the new trees into the store. The journal's sync brings them to the disk.
func (l *landing) keepTrees(ctx context.Context) error {
	return l.s.keepObjects(ctx, func(b *kv.Batch) error { return l.s.writeTrees(ctx, b, l.enc) })
}

// recordOnly records what nothing lands of.
func (l *landing) recordOnly(ctx context.Context) error {
	err := l.keepTrees(ctx)
	if err == nil {
		err = l.s.commitAll(ctx, l.states, nil)
	}
	if err != nil {
		return fmt.Errorf("land in %s: %w", l.ws.Path, err)
	}
	return nil
}

// carryOut records what is going to be done, and does it.
func (l *landing) carryOut(ctx context.Context, target *index) error {
	if err := l.keepTrees(ctx); err != nil {
		return fmt.Errorf("land in %s: %w", l.ws.Path, err)
	}
	l.s.pause("kept")
	now := l.s.now().UTC()
	l.whole, l.target = target, target.dirs.get("").tree
	about := l.o.About
	about.ParentID = l.out.Before.ID
	rec := &recording{r: &l.restore, about: &about, man: l.s.newManifest(target, about, nil)}
	rec.man.Added = l.p.added
	l.trees = make(map[string]Digest, len(l.enc))
	for _, path := range target.dirs.differing(&l.found.dirs) {
		if rec := target.dirs.get(path); rec != nil {
			l.trees[path] = rec.tree
		}
	}
	l.journal = &unfinished{
		Workspace: l.ws.key(), Path: l.ws.Path, Before: l.before, Target: l.target,
		Stages: []string{stagePrefix + l.s.newID(now)}, ChatID: l.o.ChatID, Doing: l.o.Doing, Started: now, Record: rec.man.ID,
	}
	l.durable = func() error { return nil }
	if err := l.s.beginJournal(ctx, l.journal, append(l.states, rec.man)...); err != nil {
		return errors.Join(err, l.abandon(ctx))
	}
	known := l.f.index
	l.f.index = l.found
	m, left, err := l.run(ctx, rec)
	if err != nil {
		if l.f.index == l.found {
			l.f.index = known
		}
		return err
	}
	l.out.After, l.out.Left = m, append(l.out.Left, left...)
	l.report()
	return nil
}

// report lists what has landed, and what the user changed while the plan was carried
// out.
func (l *landing) report() {
	names := make(map[[2]any]int)
	for i := range l.todo.ops {
		if n := l.todo.ops[i].n; l.done[i] && n.twin != nil && n.low.isFile() {
			names[n.pair()]++
		}
	}
	for i := range l.todo.ops {
		if o := &l.todo.ops[i]; l.done[i] && o.n.omittedBy == "" {
			it := item{n: o.n, c: o.Change}
			l.out.Changes = append(l.out.Changes, it.shown())
			if o.parted(names) {
				l.out.Left = append(l.out.Left, Left{Path: o.Path, Kind: o.New.Kind, Reason: "its other names keep the old content"})
			}
		}
	}
	removalsFirst(l.out.Changes)
	l.out.Conflicts = append(slices.Clip(l.out.Conflicts), l.late...)
}

// lateVersion returns the record of the call's version, if late conflicts are the first
// that need it.
func (l *landing) lateVersion() *Manifest {
	if l == nil || len(l.late) == 0 || l.out.Call != nil {
		return nil
	}
	return l.versionOf(l.whole)
}
