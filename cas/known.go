package cas

import (
	"context"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
)

// known returns what is known of the folder, as far as it can be relied on. All of its records
// have been read.
func (s *Store) known(ctx context.Context, ws *Workspace, f *folderState, t *tree) (*index, error) {
	if f.index != nil && f.index.complete() != nil {
		f.index = nil
	}
	return s.knownBy(ctx, ws, f, t, s.loadIndex)
}

// knownBy is known with the function that reads an index which is not in memory.
func (s *Store) knownBy(ctx context.Context, ws *Workspace, f *folderState, t *tree, load func(context.Context, string) (*index, error)) (*index, error) {
	epoch, err := s.epoch()
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	d, err := t.dir("")
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	defer d.close()
	top, err := d.self()
	if err != nil {
		return nil, fmt.Errorf("snapshot %s: %w", ws.Path, err)
	}
	ix := f.index
	if ix == nil || ix.epoch != epoch {
		if ix, err = load(ctx, ws.key()); err != nil {
			return nil, err
		}
	}
	other := ix.root.ino != top.ino || ix.root.dev != top.dev
	if (other || ix.epoch != epoch) && ix.complete() != nil { // each record is looked at
		if ix, err = s.loadIndex(ctx, ws.key()); err != nil {
			return nil, err
		}
		other = ix.root.ino != top.ino || ix.root.dev != top.dev
	}
	switch {
	case other:
		// Another folder has the name now; inodes of another file system may
		// be the same by chance.
		ix = &index{epoch: epoch, root: top, stale: ix}
	case ix.epoch != epoch:
		if ix, err = s.stillThere(ctx, ix, epoch); err != nil {
			return nil, err
		}
	}
	return ix, nil
}

// stored is the index as the store has it.
func (f *folderState) stored(ix *index) *index {
	if ix.stale != nil {
		return ix.stale
	}
	return ix
}

// stillThere makes an index of another epoch one of this epoch, without the
// folders whose content was collected since.
func (s *Store) stillThere(ctx context.Context, ix *index, epoch string) (*index, error) {
	kept := make(map[string]*dirRec, ix.dirs.n)
	paths := make([]string, 0, ix.dirs.n)
	for path := range ix.dirs.all() {
		paths = append(paths, path)
	}
	const atOnce = 100 // some ten milliseconds
	for chunk := range slices.Chunk(paths, atOnce) {
		err := s.kv.View(ctx, func(tx *kv.Tx) error {
			for _, path := range chunk {
				r := ix.dirs.get(path)
				ok, err := s.hasAll(tx, r)
				if err != nil {
					return err
				}
				if ok {
					kept[path] = r
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &index{epoch: epoch, root: ix.root, dirs: foldersOf(kept), stale: ix}, nil
}

// hasAll reports whether the store has a folder's tree and all its contents.
func (s *Store) hasAll(tx *kv.Tx, r *dirRec) (bool, error) {
	if ok, err := s.trees.Has(tx, r.tree.key()); !ok || err != nil {
		return false, err
	}
	for i := range r.ents {
		e := &r.ents[i].Entry
		if !e.content() {
			continue
		}
		if e.Size > smallBlob {
			if !s.hasFile(e.Digest, e.Size) {
				return false, nil
			}
			continue
		}
		if ok, err := s.blobs.Has(tx, e.Digest.key()); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
