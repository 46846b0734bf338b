package cas

import (
	"context"
	"errors"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
)

// recording is the making of the manifest of a restore, and of the index as it
// will be. It goes on beside the filling of the stage and the moving of names, so
// that nothing waits for the disk.
// The journal names the manifest and is on the disk before it, so that a restore
// which is taken back, now or after a crash, leaves none.
type recording struct {
	r        *restore
	about    *About
	early    bool // it has begun before all was staged
	building bool

	kept  chan struct{} // closed when built and lost are set
	built *builder      // what there is once all is done
	lost  error         // why its trees aren't on the disk

	ended chan struct{} // closed when man and err are set
	man   *Manifest     // nil without about
	err   error
}

// startRecording begins as soon as the journal is on the disk, where the folder is
// to be just as a manifest of the store has it, which says all that is recorded;
// otherwise once it is known how all will be, by build. Whatever becomes of the
// restore, over must be waited for.
func (r *restore) startRecording(ctx context.Context, about *About) *recording {
	rec := &recording{r: r, about: about, kept: make(chan struct{}), ended: make(chan struct{})}
	rec.early = about != nil && r.to != nil && r.todo.whole
	if rec.early {
		go func() {
			defer close(rec.ended)
			if rec.err = r.durable(); rec.err == nil {
				rec.record(ctx, r.s.manifestAs(r.to, about))
			}
		}()
	}
	return rec
}

// build makes the index beside the moving of names, and records it where that has
// not begun. All is staged, and the journal on the disk.
func (rec *recording) build(ctx context.Context, m *mover) {
	rec.building = true
	go func() {
		defer close(rec.kept)
		rec.built = rec.r.build(m, nil)
		rec.lost = rec.keepTrees(ctx)
	}()
	if rec.early {
		return
	}
	go func() {
		defer close(rec.ended)
		if <-rec.kept; rec.lost == nil && rec.about != nil {
			rec.record(ctx, rec.r.s.newManifest(rec.built.ix, *rec.about, nil))
		}
	}()
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
		if o := &m.ops[i]; o.New == nil {
			e.remove(o.Path)
		} else {
			e.set(o.Path, m.made[i])
		}
	}
	b := &builder{old: r.f.index, found: e.finish(), now: r.s.now().UnixNano()}
	b.build()
	return b
}

// record puts the manifest into the store.
func (rec *recording) record(ctx context.Context, man *Manifest) {
	s := rec.r.s
	if rec.err = s.check("record", man.ID); rec.err == nil {
		rec.err = s.commit(ctx, man, nil)
	}
	if rec.err == nil {
		rec.man = man
	}
	s.pause("recorded")
}

// over waits until nothing is built or recorded any more.
func (rec *recording) over() {
	if rec.building {
		<-rec.kept
	}
	if rec.building || rec.early {
		<-rec.ended
	}
}

// true tells whether what is recorded is what there is.
func (rec *recording) true() bool {
	if rec.man == nil {
		return true
	}
	files, bytes, failed := rec.built.ix.totals()
	return rec.man.Root == rec.built.ix.dirs[""].tree &&
		rec.man.Files == files && rec.man.Bytes == bytes && rec.man.Failed == failed
}

// keepTrees brings the trees that the store doesn't have to the disk.
func (rec *recording) keepTrees(ctx context.Context) error {
	s := rec.r.s
	return s.keepObjects(ctx, func(batch *kv.Batch) error { return s.writeTrees(ctx, batch, rec.built.trees) })
}

// drop ends the recording of a restore that err has ended, and takes its manifest
// out again.
func (rec *recording) drop(ctx context.Context, err error) error {
	rec.over()
	if rec.about == nil || !rec.building && !rec.early {
		return err
	}
	if uerr := rec.r.s.unrecord(ctx, rec.about.ID); uerr != nil {
		return stuck(errors.Join(err, uerr)) // its journal stays, by which the next operation does it
	}
	return err
}

// amend records what has come of a restore that couldn't do all.
func (rec *recording) amend(ctx context.Context, b *builder) error {
	rec.over()
	if err := errors.Join(rec.lost, rec.err); err != nil {
		return err
	}
	rec.built = b
	if err := rec.keepTrees(ctx); err != nil || rec.about == nil {
		return err
	}
	s := rec.r.s
	was := rec.man
	rec.man = s.newManifest(b.ix, *rec.about, nil)
	rec.man.GroundID, rec.man.CreatedAt = was.GroundID, was.CreatedAt
	return s.kv.UpdateSync(ctx, func(tx *kv.Tx) error { return s.manifests.Put(tx, rec.man) })
}

// keep brings the index up to date without reading the folder again, and waits
// for the manifest. The index needs no sync: it may be lost.
func (r *restore) keep(ctx context.Context, t *tree, m *mover, rec *recording) error {
	m.settle(remote(t.top))
	if slices.Contains(m.done, false) {
		if err := rec.amend(ctx, r.build(m, m.done)); err != nil {
			return err
		}
	} else if <-rec.kept; rec.lost != nil {
		<-rec.ended
		return rec.lost
	}
	old, ix := r.f.index, rec.built.ix
	m.stamp(ix, old)
	changes := ix.changes(old)
	err := r.s.kv.Batch(ctx, func(b *kv.Batch) error { return r.s.writeCache(b, r.ws.key(), changes) })
	if err == nil {
		r.f.index = ix
	}
	if <-rec.ended; err != nil || rec.err != nil || rec.true() {
		return errors.Join(err, rec.err)
	}
	return rec.amend(ctx, rec.built)
}

// unrecord removes the manifest of a restore that was taken back, if it is there.
func (s *Store) unrecord(ctx context.Context, id string) error {
	found := false
	err := s.kv.Update(ctx, func(tx *kv.Tx) error {
		m, err := s.manifests.Get(tx, kv.Str(id))
		if found = err == nil; errors.Is(err, kv.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, chat := range accounts(m.ChatID) {
			if err := s.account(tx, chat, -m.Added, -1); err != nil {
				return err
			}
		}
		return s.manifests.Delete(tx, kv.Str(id))
	})
	if err != nil || !found {
		return err
	}
	return s.kv.Sync(ctx)
}
