package cas

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/internal/kv"
)

// reach visits what states are made of, each object once however many states
// have it.
type reach struct {
	s *Store
	// The two are apart: a file may hold the very bytes of a tree.
	trees map[Digest]bool
	blobs map[Digest]bool
	// blob is called for each content.
	blob func(e *Entry)
	// damage is called for a tree that can't be read, and what it gives ends
	// the visit. Nil ends it always.
	damage func(d Digest, err error) error
	// tree is called for each tree that can be read. It may be nil.
	tree func(d Digest, entries []Entry)
}

func newReach(s *Store) *reach {
	return &reach{s: s, trees: make(map[Digest]bool), blobs: make(map[Digest]bool)}
}

// readAtOnce is how many trees are read in one View: a few milliseconds' worth,
// so that another process isn't kept waiting.
const readAtOnce = 128

// from visits everything that roots reach.
func (r *reach) from(ctx context.Context, roots []Digest) error {
	var wait []Digest
	for _, d := range roots {
		if !r.trees[d] {
			r.trees[d] = true
			wait = append(wait, d)
		}
	}
	for len(wait) > 0 {
		n := min(readAtOnce, len(wait))
		group := wait[len(wait)-n:]
		wait = wait[: len(wait)-n : len(wait)-n]
		trees, err := r.read(ctx, group)
		if err != nil {
			return err
		}
		for i, entries := range trees {
			if entries == nil {
				continue
			}
			if r.tree != nil {
				r.tree(group[i], entries)
			}
			wait = r.enter(entries, wait)
		}
	}
	return nil
}

func (r *reach) read(ctx context.Context, group []Digest) ([][]Entry, error) {
	trees := make([][]Entry, len(group))
	bad := make([]error, len(group))
	err := r.s.kv.View(ctx, func(tx *kv.Tx) error {
		for i, d := range group {
			entries, err := r.s.treeOf(tx, d)
			var damage *DamageError
			if errors.As(err, &damage) {
				bad[i] = err
				continue
			}
			if err != nil {
				return err
			}
			if trees[i] = entries; entries == nil {
				trees[i] = []Entry{}
			}
		}
		return nil
	})
	for i, d := range group {
		if err == nil && bad[i] != nil {
			trees[i] = nil
			if err = bad[i]; r.damage != nil {
				err = r.damage(d, bad[i])
			}
		}
	}
	return trees, err
}

// enter takes the entries of one tree in.
func (r *reach) enter(entries []Entry, wait []Digest) []Digest {
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Kind == Folder && !r.trees[e.Digest]:
			r.trees[e.Digest] = true
			wait = append(wait, e.Digest)
		case e.content() && !r.blobs[e.Digest]:
			r.blobs[e.Digest] = true
			if r.blob != nil {
				r.blob(e)
			}
		}
	}
	return wait
}

// allManifests reads every manifest; bad is called for one that can't be read.
func (s *Store) allManifests(ctx context.Context, bad func(error) error) ([]*Manifest, error) {
	const atOnce = 1000
	var all []*Manifest
	var after kv.Key
	for {
		n := 0
		err := s.kv.View(ctx, func(tx *kv.Tx) error {
			for m, err := range s.manifests.Scan(tx, kv.Range{After: after, Limit: atOnce}) {
				var corrupt *kv.CorruptError
				if errors.As(err, &corrupt) {
					err = bad(err)
					if err == nil {
						continue
					}
				}
				if err != nil {
					return err
				}
				n++
				all = append(all, m)
			}
			return nil
		})
		if err != nil || n < atOnce {
			return all, err // the damaged ones behind the last were met, too
		}
		after = kv.Str(all[len(all)-1].ID)
	}
}
