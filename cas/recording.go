package cas

import (
	"context"
	"errors"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
)

// recording is the making of the manifest of a restore, and of the index as it
// will be. It goes on beside the moving of names: a sync of the records would
// bring all that has been moved to the disk with it, and take as long as that.
// The journal names the manifest and is on the disk before it, so that a restore
// which is taken back, now or after a crash, leaves none.
type recording struct {
	r     *restore
	about *About

	kept  chan struct{} // closed when built and lost are set
	built *builder      // what there is once all is done
	lost  error         // why its trees aren't on the disk

	ended chan struct{} // closed when man and err are set
	man   *Manifest     // nil without about
	err   error
}

// startRecording begins; the names may only be moved as long as ended is waited
// for. The journal is on the disk.
func (r *restore) startRecording(ctx context.Context, m *mover, about *About) *recording {
	rec := &recording{r: r, about: about, kept: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(rec.ended)
		rec.built = r.build(m, nil)
		rec.lost = rec.keepTrees(ctx)
		close(rec.kept)
		if rec.lost != nil || about == nil {
			return
		}
		man := r.s.newManifest(rec.built.ix, *about, nil)
		if rec.err = r.s.check("record", man.ID); rec.err == nil {
			rec.err = r.s.commit(ctx, man, nil)
		}
		if rec.err == nil {
			rec.man = man
		}
		r.s.pause("recorded")
	}()
	return rec
}

// keepTrees brings the trees that the store doesn't have to the disk.
func (rec *recording) keepTrees(ctx context.Context) error {
	s := rec.r.s
	return s.keepObjects(ctx, func(batch *kv.Batch) error { return s.writeTrees(ctx, batch, rec.built.trees) })
}

// drop ends the recording of a restore that err has ended, and takes its manifest
// out again.
func (rec *recording) drop(ctx context.Context, err error) error {
	<-rec.ended
	if rec.about == nil {
		return err
	}
	if uerr := rec.r.s.unrecord(ctx, rec.about.ID); uerr != nil {
		return stuck(errors.Join(err, uerr)) // its journal stays, by which the next operation does it
	}
	return err
}

// amend records what has come of a restore that couldn't do all.
func (rec *recording) amend(ctx context.Context, b *builder) error {
	<-rec.ended
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
		return rec.lost
	}
	old, ix := r.f.index, rec.built.ix
	m.stamp(ix, old)
	changes := ix.changes(old)
	err := r.s.kv.Batch(ctx, func(b *kv.Batch) error { return r.s.writeCache(b, r.ws.key(), changes) })
	if err == nil {
		r.f.index = ix
	}
	<-rec.ended
	return errors.Join(err, rec.err)
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
