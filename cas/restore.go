package cas

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// RestoreOptions say how a state is brought back.
type RestoreOptions struct {
	// About is what the resulting manifest is recorded as.
	About
	// Active is the state that the chat has. Where the folder differs from it,
	// someone else has changed it since: in a bound folder such paths aren't
	// touched, see [ConflictError]. Nil takes the folder as it is found.
	Active *Manifest
	// FoundID is the id of the manifest of what is found, where that isn't
	// Active; empty makes one.
	FoundID string
	// Paths limits the restore to these and what is below them; nil is all, and an
	// empty list nothing.
	Paths []string
	// Exact limits the restore to Paths alone: what is below one of them and not
	// named itself is somebody else's, so it stays, and with it the folders that it
	// is in. Only Overwrite lets it give way to a file or link of that name.
	Exact bool
	// From has paths that become what another state has, in place of to. Paths must
	// have them, too.
	From map[string]*Manifest
	// Keep leaves these and what is below them as they are.
	Keep []string
	// Overwrite replaces what someone else has changed. It is kept in the store.
	Overwrite bool
	// Plan changes nothing and only reports what would be done. It does not revert a
	// restore that was cut short: the plan is for the folder as it will be after that.
	Plan bool
	// Found is the state that a Plan assumes the folder to have, without reading the
	// folder. Nil reads the folder.
	Found *Manifest
	// Doing names the operation, such as "undo", for the report of one that was cut
	// short.
	Doing string
	// Limits are those of the snapshot before.
	Limits Limits
	// Begin and Progress are those of the snapshot before.
	Begin    func(Estimate) error
	Progress func(files int, bytes int64)
	// Writing is called with what is going to be written, and Written as it is.
	// Both may be nil.
	Writing func(files int, bytes int64)
	Written func(files int, bytes int64)
}

// Restoration is what a restore has done, or would do.
type Restoration struct {
	// Before is the state that was found: Active, or a new one whose source is
	// External.
	Before *Manifest
	// After is the state now. It is Before if nothing had to be changed.
	After   *Manifest
	Changes []Change
	// Left are the differing paths that were left alone.
	Left []Left
	// Blocked are, for a Plan, the paths that would keep it from being done.
	Blocked []Blocked
}

// Materialize gives a workspace the state to: what differs is written, replaced
// or removed, and nothing else is touched. What is found is taken into the store
// first, so this can be undone. Either all is done or, with an error, nothing;
// if the process dies meanwhile, the next operation on the folder takes it back.
// The caller keeps other writers of its own out.
func (s *Store) Materialize(ctx context.Context, ws *Workspace, to *Manifest, o RestoreOptions) (*Restoration, error) {
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
	if o.Plan {
		if o.Found, err = s.foundBy(ctx, ws, o.Found); err != nil {
			return nil, err
		}
	} else if err := s.recover(ctx, ws, f); err != nil {
		return nil, err
	}
	r := &restore{s: s, ws: ws, f: f, to: to, written: o.Written}
	if r.target, err = s.compose(ctx, to.Root, o.From); err != nil {
		return nil, fmt.Errorf("restore %s: %w", ws.Path, err)
	}
	for _, m := range o.From {
		if m.Foreign && !r.to.Foreign {
			r.to = &Manifest{Root: to.Root, Foreign: true}
		}
	}
	out, err := r.find(ctx, &o)
	if err != nil {
		return nil, err
	}
	if o.Plan || r.before == r.target {
		if err := r.planned(ctx, &o, out); err != nil {
			return nil, err
		}
		return out, nil
	}
	rec := r.begin(ctx, &o) // it goes to the disk while the plan is made
	if err := r.planned(ctx, &o, out); err != nil {
		return nil, errors.Join(err, r.abandon(ctx))
	}
	if len(r.todo.ops) == 0 {
		return out, r.abandon(ctx)
	}
	if o.Writing != nil {
		o.Writing(r.todo.contents())
	}
	m, left, err := r.run(ctx, rec)
	if err != nil {
		return nil, err
	}
	out.After, out.Left = m, append(out.Left, left...)
	return out, nil
}

// foundBy returns the state that a plan assumes a folder to have: found, if that is
// known, or the one in which it will be when a restore that was cut short is reverted.
// It is nil if the folder has to be read.
func (s *Store) foundBy(ctx context.Context, ws *Workspace, found *Manifest) (*Manifest, error) {
	if found != nil {
		return found, nil
	}
	j, err := s.journal(ctx, ws.key())
	if err != nil || j == nil {
		return nil, err
	}
	return &Manifest{ChatID: j.ChatID, Root: j.after()}, nil
}

// find takes what is there into the store.
func (r *restore) find(ctx context.Context, o *RestoreOptions) (*Restoration, error) {
	if o.Found != nil {
		r.before = o.Found.Root
		return &Restoration{Before: o.Found, After: o.Found}, nil
	}
	found, err := r.s.snapshot(ctx, r.ws, r.f, SnapshotOptions{
		About:  About{ID: o.FoundID, ChatID: o.ChatID, Source: External, SourceRef: o.SourceRef},
		Parent: o.Active, Limits: o.Limits, Begin: o.Begin, Progress: o.Progress,
		restoring: &heldState{root: r.target, restored: true, paths: scopeOf(clean(o.Paths))},
	})
	if err != nil {
		return nil, err
	}
	r.before = found.Manifest.Root
	if o.ParentID == "" {
		o.ParentID = found.Manifest.ID
	}
	return &Restoration{Before: found.Manifest, After: found.Manifest}, nil
}

// planned makes the plan and tells what comes of it. A conflict is an error, but
// for who only wants the plan.
func (r *restore) planned(ctx context.Context, o *RestoreOptions, out *Restoration) error {
	if err := r.plan(ctx, o); err != nil {
		return fmt.Errorf("restore %s: %w", r.ws.Path, err)
	}
	out.Left, out.Changes = r.todo.left, changesOf(r.todo.ops)
	switch {
	case o.Plan:
		out.Blocked = r.todo.blocked
	case len(r.todo.blocked) > 0:
		return &ConflictError{Paths: r.todo.blocked}
	}
	return nil
}

func changesOf(ops []op) []Change {
	out := make([]Change, len(ops))
	for i := range ops {
		out[i] = ops[i].Change
	}
	return out
}

// restore is one carrying out of a plan.
type restore struct {
	s       *Store
	ws      *Workspace
	f       *folderState
	before  Digest
	to      *Manifest // what has the target; nil where something is taken back
	target  Digest
	written func(int, int64)
	todo    plan
	trees   map[string]Digest // of the folders that differ, where all becomes as the target has it
	journal *unfinished
	durable func() error      // returns when the journal is on the disk
	lands   *landing          // nil where no plan of a call is carried out
	groups  map[string]*group // of the files that are written, by Linked
	mounts  []mountPoint
}

// plan finds out what is to be done, and what is in the way.
func (r *restore) plan(ctx context.Context, o *RestoreOptions) error {
	var err error
	if r.mounts, err = r.s.mountsIn(r.ws); err != nil {
		return err
	}
	p := &planner{
		bound: r.ws.Bound, paths: scopeOf(clean(o.Paths)), keep: scopeOf(clean(o.Keep)),
		exact: o.Exact, overwrite: o.Overwrite, foreign: r.to.Foreign, mounts: r.mounts,
	}
	if o.Active != nil && r.ws.Bound && !o.Overwrite {
		p.conflicts = make(map[string]string)
		for c, err := range r.s.Diff(ctx, o.Active.Root, r.before) {
			if err != nil {
				return err
			}
			if c.New == nil && c.Old.Kind == Omitted {
				continue // no state has what was there, and nothing is there to be lost
			}
			p.conflicts[c.Path] = "someone else changed it since"
		}
	}
	trees := make(map[string]Digest)
	for c, err := range r.s.diff(ctx, r.f.index, r.before, r.target, trees) {
		if err != nil {
			return err
		}
		p.take(c)
	}
	p.spare()
	r.todo = p.plan
	if err := r.linkGroups(ctx); err != nil {
		return err
	}
	if o.Paths == nil && len(p.left) == 0 && !p.masked {
		r.trees = trees
	}
	if o.Plan || len(r.todo.ops) == 0 {
		return nil
	}
	return r.check(ctx)
}

// clean gives paths the form that states have them in.
func clean(paths []string) []string {
	if paths == nil {
		return nil
	}
	out := []string{} // an empty list is no path, and not all
	for _, p := range paths {
		out = append(out, strings.Trim(p, "/"))
	}
	return out
}

// check looks at what the file system would refuse, before anything is done.
func (r *restore) check(ctx context.Context) error {
	t, err := openTree(r.ws.Root, r.s.fault)
	if err != nil {
		return err
	}
	defer t.close()
	if err := r.checkTwins(ctx, t); err != nil {
		return err
	}
	return r.roomFor()
}

// begin has the journal say what is going to be done, and with it, in one step,
// what that is recorded as, where all becomes as a manifest has it. From then on a
// crash is taken back. Whatever becomes of the restore, durable must be called.
func (r *restore) begin(ctx context.Context, o *RestoreOptions) *recording {
	now := r.s.now().UTC()
	if o.ID == "" {
		o.ID = r.s.newID(now)
	}
	r.journal = &unfinished{
		Workspace: r.ws.key(), Path: r.ws.Path, Before: r.before, Target: r.target,
		Stages: []string{stagePrefix + r.s.newID(now)}, ChatID: o.ChatID, Doing: o.Doing, Started: now, Record: o.ID,
	}
	rec := &recording{r: r, about: &o.About}
	if o.Paths == nil && o.Keep == nil {
		rec.man = r.s.manifestAs(r.to, &o.About)
	}
	begun := make(chan error, 1)
	go func() {
		err := r.s.beginJournal(ctx, r.journal, rec.man)
		r.s.pause("journal")
		begun <- err
	}()
	r.durable = sync.OnceValue(func() error { return <-begun })
	return rec
}

// abandon ends a restore that has nothing to do, or can't be done.
func (r *restore) abandon(ctx context.Context) error {
	_ = r.durable() // whoever writes it has ended
	return r.s.endJournal(context.WithoutCancel(ctx), r.journal, false)
}

// run carries the plan out and records the result.
func (r *restore) run(ctx context.Context, rec *recording) (*Manifest, []Left, error) {
	t, err := openTree(r.ws.Root, r.s.fault)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("restore %s: %w", r.ws.Path, err), r.abandon(ctx))
	}
	defer t.close()
	r.s.pause("planned")
	m, left, err := r.move(ctx, t, rec)
	if err != nil {
		return nil, nil, r.giveUp(ctx, t, err)
	}
	return m, left, nil
}

// giveUp cleans up after a restore that was taken back. One that couldn't be
// keeps its journal.
func (r *restore) giveUp(ctx context.Context, t *tree, err error) error {
	_ = r.durable() // whoever writes it has ended
	var stuck *UnfinishedError
	if errors.As(err, &stuck) {
		stuck.Path = r.ws.Path
		return err
	}
	if b, ok := refusedAt(t, err); ok {
		err = &ConflictError{Paths: []Blocked{b}}
	} else {
		err = fmt.Errorf("restore %s: %w", r.ws.Path, err)
	}
	return errors.Join(err, r.cleanUp(ctx, t, false))
}

// doneAfter is how long the stage may take to go before it is noted that nothing
// but that is left to do: a note takes as long as some ten files.
const doneAfter = 10 * time.Millisecond

// finish waits until all is recorded, and cleans up. The stage goes meanwhile:
// what is in it was looked at when it was moved there, and is in the store.
func (r *restore) finish(ctx context.Context, t *tree, m *mover, rec *recording) (*Manifest, error) {
	if r.lands != nil && r.lands.unkept() {
		return r.finishUnkept(ctx, t, m, rec)
	}
	cleaned := make(chan error, 1)
	go func() { cleaned <- r.removeStages(t) }()
	err := r.keep(ctx, t, m, rec)
	if err != nil {
		return nil, errors.Join(err, <-cleaned)
	}
	r.s.pause("kept")
	limit := time.NewTimer(doneAfter)
	defer limit.Stop()
	select {
	case err = <-cleaned:
	case <-limit.C: // a crash from here on takes nothing back
		r.journal.Done = true
		err = r.s.changeJournal(ctx, r.journal)
		r.s.pause("done")
		err = errors.Join(err, <-cleaned)
	}
	if err != nil {
		return nil, err
	}
	r.s.pause("cleaned")
	return rec.man, r.s.endJournal(ctx, r.journal, true)
}

func (r *restore) removeStages(t *tree) error {
	for _, stage := range r.journal.Stages {
		if err := removeStage(t, stage); err != nil {
			return err
		}
	}
	return nil
}

// cleanUp removes what a restore has left in the folder, and then its journal; done
// tells that what it was recorded as is so.
func (r *restore) cleanUp(ctx context.Context, t *tree, done bool) error {
	if err := r.removeStages(t); err != nil {
		return err
	}
	r.s.pause("cleaned")
	return r.s.endJournal(context.WithoutCancel(ctx), r.journal, done)
}

// move fills the stage, makes the changes while they are recorded, and cleans up.
func (r *restore) move(ctx context.Context, t *tree, rec *recording) (*Manifest, []Left, error) {
	m := &mover{
		s: r.s, t: t, mounts: r.mounts, known: r.f.index, ops: r.todo.ops, wrote: r.written, lands: r.lands, groups: r.groups,
		made: make([]cached, len(r.todo.ops)), after: make([]moved, len(r.todo.ops)),
		dead: make([]bool, len(r.todo.ops)), done: make([]bool, len(r.todo.ops)),
	}
	if m.wrote == nil {
		m.wrote = func(int, int64) {}
	}
	defer m.close()
	if err := r.prepare(ctx, m); err != nil {
		return nil, nil, err
	}
	// From here on it is done; a caller that has gone doesn't undo it.
	whatever := context.WithoutCancel(ctx)
	rec.build(whatever, m)
	left, err := m.carry()
	if err != nil {
		rec.over()
		return nil, nil, err
	}
	if r.lands != nil {
		r.lands.polish(m)
	}
	r.s.pause("carried")
	man, err := r.finish(whatever, t, m, rec)
	if err != nil {
		return nil, nil, &UnfinishedError{Err: err}
	}
	return man, left, nil
}

// prepare makes the stages and fills them, once the journal that names them is on the disk.
func (r *restore) prepare(ctx context.Context, m *mover) error {
	if err := r.durable(); err != nil {
		return err
	}
	if err := r.makeStages(ctx, m); err != nil {
		return err
	}
	if err := m.fill(ctx); err != nil {
		return err
	}
	if err := m.noteUnkept(); err != nil {
		return err
	}
	r.s.pause("staged")
	return ctx.Err()
}
