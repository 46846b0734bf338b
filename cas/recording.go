package cas

import (
	"context"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
)

// recording is the making of the index as it will be when a restore is done, and of
// its manifest where that isn't known before. It goes on beside the moving of names,
// so that nothing waits for the disk. Nobody takes the manifest for one until the
// journal, which names it, has gone.
type recording struct {
	r     *restore
	about *About // nil where nothing is recorded

	kept  chan struct{} // closed when all that follows is set; nil before build
	built *builder      // what there is once all is done
	man   *Manifest     // set before, where it went to the disk with the journal
	err   error         // why built's trees, or man, aren't on the disk
}

// build makes the index beside the moving of names, and the manifest if there is
// none yet. All is staged, and the journal on the disk.
func (rec *recording) build(ctx context.Context, m *mover) {
	rec.kept = make(chan struct{})
	go func() {
		defer close(rec.kept)
		rec.built = rec.r.build(m, nil)
		if rec.err = rec.built.ix.fault(); rec.err != nil {
			return
		}
		if rec.err = rec.keepTrees(ctx); rec.err == nil && rec.man == nil && rec.about != nil {
			rec.err = rec.record(ctx)
		}
	}()
}

// over waits until nothing is built or recorded any more.
func (rec *recording) over() {
	if rec.kept != nil {
		<-rec.kept
	}
}

// record puts the manifest of what is built into the store.
func (rec *recording) record(ctx context.Context) error {
	s := rec.r.s
	m := s.newManifest(rec.built.ix, *rec.about, nil)
	if err := s.check("record", m.ID); err != nil {
		return err
	}
	if err := s.commit(ctx, m, nil); err != nil {
		return err
	}
	rec.man = m
	s.pause("recorded")
	return nil
}

// build makes the index as it is when ops have taken effect, all of them or those
// that are done, but for what carrying them out adds to their stats. It reads
// nothing that carry writes, so it can run beside it.
func (r *restore) build(m *mover, done []bool) *builder {
	e := newEditor(r.f.index)
	for i := range m.ops {
		if done != nil && !done[i] {
			continue
		}
		m.ops[i].enter(e, m.made[i])
	}
	for linked, g := range r.groups {
		if g.rep != "" {
			e.setLinked(g.rep, linked)
		}
	}
	for n, c := range m.linked {
		if n.unkept == "" {
			e.set(n.path, c)
		}
	}
	odd := e.regroup()
	b := &builder{old: r.f.index, found: e.finish(), edits: true, now: r.s.now().UnixNano()}
	if done == nil && !odd && m.asPlanned() {
		b.given = r.trees
	}
	b.build()
	return b
}

// asPlanned reports whether all that was written is what the target has: a file system
// may keep other permission bits, and a state may have none.
func (m *mover) asPlanned() bool {
	for i := range m.ops {
		if o := &m.ops[i]; o.New != nil && m.made[i].Entry != *o.New {
			return false
		}
	}
	return true
}

// takePerms corrects what was built by the permission bits that carrying the ops out
// gave, and reports whether some differ. Nothing is built any more.
func (m *mover) takePerms() (odd bool) {
	for i := range m.after {
		if p := m.after[i].perm; p.Known() && p != m.made[i].Perm {
			m.made[i].Perm, odd = p, true
			if m.made[i].content() {
				m.made[i].Kind = p.fileKind()
			}
		}
	}
	return odd
}

// true tells whether what is recorded is what there is.
func (rec *recording) true() bool {
	if rec.man == nil {
		return true
	}
	sum := &rec.built.ix.dirs.sum
	return rec.man.Root == rec.built.ix.dirs.get("").tree &&
		rec.man.Files == sum.files && rec.man.Bytes == sum.bytes && rec.man.Failed == sum.failed
}

// keepTrees brings the trees that the store doesn't have to the disk.
func (rec *recording) keepTrees(ctx context.Context) error {
	s := rec.r.s
	return s.keepObjects(ctx, func(batch *kv.Batch) error { return s.writeTrees(ctx, batch, rec.built.trees) })
}

// amend records what has come of a restore that couldn't do all.
func (rec *recording) amend(ctx context.Context, b *builder) error {
	rec.built = b
	if err := rec.keepTrees(ctx); err != nil || rec.about == nil {
		return err
	}
	s := rec.r.s
	was := rec.man
	rec.man = s.newManifest(b.ix, *rec.about, nil)
	rec.man.GroundID, rec.man.CreatedAt = was.GroundID, was.CreatedAt
	call := rec.r.lands.lateVersion()
	err := s.kv.UpdateSync(ctx, func(tx *kv.Tx) error {
		if call != nil {
			if err := s.commitOne(tx, call); err != nil {
				return err
			}
		}
		return s.putManifest(tx, rec.man)
	})
	if err == nil && call != nil {
		rec.r.lands.out.Call = call
	}
	return err
}

// keep waits for what is recorded, and brings the index up to date without reading
// the folder again. The index needs no sync: it may be lost.
func (r *restore) keep(ctx context.Context, t *tree, m *mover, rec *recording) (err error) {
	m.settle()
	rec.over()
	if err := rec.err; err != nil {
		return err
	}
	odd := m.takePerms()
	switch {
	case odd || slices.Contains(m.done, false):
		err = rec.amend(ctx, r.build(m, m.done))
	case !rec.true():
		err = rec.amend(ctx, rec.built)
	}
	if err != nil {
		return err
	}
	old, ix := r.f.index, rec.built.ix
	m.stamp(ix, old)
	changes := ix.changes(r.f.stored(old))
	if err := r.s.kv.Batch(ctx, func(b *kv.Batch) error { return r.s.writeCache(b, r.ws.key(), changes) }); err != nil {
		return err
	}
	r.f.index = ix
	return nil
}
