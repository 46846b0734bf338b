package cas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/internal/kv"
)

// GCOptions say what a collection removes.
type GCOptions struct {
	// Live returns a function that reports whether a manifest is still needed. GC calls
	// it once, when no snapshot, restore, export or import is running any more, so that
	// it sees everything that these have recorded. If it returns an error, the
	// collection ends without having removed anything. Nil keeps all manifests.
	Live func(context.Context) (func(*Manifest) bool, error)
	// Compact returns the freed space to the file system afterwards, where there
	// is enough of it: that rewrites files and takes seconds for gigabytes. Without
	// it the store uses the space for later writes.
	Compact bool
	// Compacting is called when that starts, and not if nothing is rewritten. It may be
	// nil.
	Compacting func()
}

// GCReport is what a collection has done.
type GCReport struct {
	Manifests int   // removed
	Trees     int   // removed
	Blobs     int   // removed
	Bytes     int64 // of blobs that were removed
	Kept      int64 // bytes of blobs that stay

	states map[string]int // of each chat, and of all
}

// GC removes what no manifest reaches. It waits until no snapshot, restore,
// export or import runs in any process, and keeps them waiting meanwhile. If
// anything that manifests name can't be read it removes nothing: what a damaged
// tree reaches isn't known. It may be cut short at any point and run again.
func (s *Store) GC(ctx context.Context, o GCOptions) (*GCReport, error) {
	release, err := s.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	out := new(GCReport)
	live := func(*Manifest) bool { return true }
	if o.Live != nil {
		if live, err = o.Live(ctx); err != nil {
			return nil, fmt.Errorf("collect garbage: %w", err)
		}
	}
	roots, err := s.roots(ctx, live, out)
	if err != nil {
		return nil, fmt.Errorf("collect garbage: %w", err)
	}
	r := newReach(s)
	r.blob = func(e *Entry) { out.Kept += e.Size }
	if err := r.from(ctx, roots); err != nil {
		return nil, fmt.Errorf("collect garbage: %w", err)
	}
	s.pause("marked")
	err = s.sweep(ctx, r, out)
	if err == nil {
		err = s.countAnew(ctx, out)
	}
	if err != nil {
		return nil, fmt.Errorf("collect garbage: %w", err)
	}
	if o.Compact {
		if err := s.kv.Reclaim(ctx, o.Compacting); err != nil {
			return nil, fmt.Errorf("collect garbage: %w", err)
		}
	}
	return out, nil
}

// roots removes the manifests that aren't needed, and gives the trees of those
// that are, and of restores that were cut short.
func (s *Store) roots(ctx context.Context, live func(*Manifest) bool, out *GCReport) ([]Digest, error) {
	all, err := s.allManifests(ctx, func(err error) error { return err })
	if err != nil {
		return nil, err
	}
	var roots []Digest
	var dead []*Manifest
	out.states = make(map[string]int)
	for _, m := range all {
		if live(m) {
			roots = append(roots, m.Root)
			for _, chat := range accounts(m.ChatID) {
				out.states[chat]++
			}
		} else {
			dead = append(dead, m)
		}
	}
	js, err := s.journals(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range js {
		roots = append(roots, j.Before, j.Target)
	}
	if len(dead) == 0 {
		return roots, nil
	}
	if err = s.dropManifests(ctx, dead); err == nil {
		err = s.kv.Sync(ctx)
	}
	out.Manifests = len(dead)
	return roots, err
}

// sweep removes what isn't marked: first the epoch ends, so that no index is
// believed any more, then records, then files.
func (s *Store) sweep(ctx context.Context, marked *reach, out *GCReport) error {
	trees, _, err := s.unmarked(ctx, s.trees, marked.trees)
	if err != nil {
		return err
	}
	blobs, bytes, err := s.unmarked(ctx, s.blobs, marked.blobs)
	if err != nil {
		return err
	}
	files, fileBytes, err := s.unmarkedFiles(marked)
	if err != nil {
		return err
	}
	temps, err := s.temps()
	if err != nil {
		return err
	}
	if len(trees)+len(blobs)+len(files) > 0 {
		if err := s.nextEpoch(); err != nil {
			return err
		}
		s.pause("epoch")
	}
	for table, keys := range map[*kv.RawTable][]kv.Key{s.trees: trees, s.blobs: blobs} {
		for chunk := range slices.Chunk(keys, 1000) {
			if err := s.deleteKeys(ctx, table, chunk); err != nil {
				return err
			}
			s.pause("swept")
		}
	}
	if err := s.kv.Sync(ctx); err != nil {
		return err
	}
	for _, path := range append(files, temps...) {
		if err := s.check("unlink", path); err != nil {
			return err
		}
		if err := ignoreMissing(os.Remove(path)); err != nil {
			return err
		}
		s.pause("unlinked")
	}
	out.Trees, out.Blobs, out.Bytes = len(trees), len(blobs)+len(files), bytes+fileBytes
	return nil
}

// countAnew puts the accounts right: what was removed counts no longer, and a
// chat without states has none.
func (s *Store) countAnew(ctx context.Context, out *GCReport) error {
	var have []usage
	err := s.kv.View(ctx, func(tx *kv.Tx) error {
		have = nil
		for u, err := range s.usage.Scan(tx, kv.Range{}) {
			if isDamaged(err) {
				continue // it is written again below
			}
			if err != nil {
				return err
			}
			have = append(have, *u)
		}
		return nil
	})
	if err != nil {
		return err
	}
	states := maps.Clone(out.states)
	return s.kv.Batch(ctx, func(b *kv.Batch) error {
		for _, u := range have {
			is := usage{ChatID: u.ChatID, Bytes: u.Bytes, States: states[u.ChatID]}
			delete(states, u.ChatID)
			switch {
			case u.ChatID == allChats:
				is.Bytes, is.Counted = out.Kept, true
			case is.States == 0:
				if err := s.usage.Delete(b, kv.Str(u.ChatID)); err != nil {
					return err
				}
				continue
			}
			if is == u {
				continue
			}
			if err := s.usage.Put(b, &is); err != nil {
				return err
			}
		}
		for chat, n := range states { // of a program that kept no account
			u := usage{ChatID: chat, States: n}
			if chat == allChats {
				u.Bytes, u.Counted = out.Kept, true
			}
			if err := s.usage.Put(b, &u); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) deleteKeys(ctx context.Context, table *kv.RawTable, keys []kv.Key) error {
	if err := s.check("delete", ""); err != nil {
		return err
	}
	return s.kv.Batch(ctx, func(b *kv.Batch) error {
		for _, k := range keys {
			if err := table.Delete(b, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// unmarked lists the records of a table that nothing reaches, and the bytes of
// their content.
func (s *Store) unmarked(ctx context.Context, table *kv.RawTable, marked map[Digest]bool) (dead []kv.Key, bytes int64, err error) {
	const atOnce = 5000
	var after kv.Key
	for {
		n := 0
		err := s.kv.View(ctx, func(tx *kv.Tx) error {
			for k, err := range table.Keys(tx, kv.Range{After: after, Limit: atOnce}) {
				if err != nil {
					return err
				}
				n++
				after = k
				if d, ok := digestOf(k); ok && marked[d] {
					continue
				}
				dead = append(dead, k)
				var corrupt *kv.CorruptError
				err := table.Read(tx, k, func(val []byte) error {
					bytes += int64(max(len(val)-1, 0))
					return nil
				})
				if err != nil && !errors.As(err, &corrupt) {
					return err
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			return dead, bytes, err
		}
	}
}

// unmarkedFiles lists the large blobs that nothing reaches.
func (s *Store) unmarkedFiles(marked *reach) (dead []string, bytes int64, err error) {
	err = s.eachFile(func(path string, d Digest, size int64) error {
		if !marked.blobs[d] && !marked.trees[d] {
			dead = append(dead, path)
			bytes += size
		}
		return nil
	})
	return dead, bytes, err
}

// eachFile visits the files of large blobs. What isn't called as one is not
// ours and not touched.
func (s *Store) eachFile(visit func(path string, d Digest, size int64) error) error {
	dirs, err := os.ReadDir(s.blobDir())
	if err == nil {
		err = s.check("readdir", "blobs")
	}
	if err != nil {
		return ignoreMissing(err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() || len(dir.Name()) != 2 {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(s.blobDir(), dir.Name()))
		if err != nil {
			return err
		}
		for _, e := range entries {
			d, err := ParseDigest(e.Name())
			if err != nil {
				continue
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if err := visit(filepath.Join(s.blobDir(), dir.Name(), e.Name()), d, info.Size()); err != nil {
				return err
			}
		}
	}
	return nil
}

// temps lists what crashes have left unfinished. Nobody is writing now.
func (s *Store) temps() ([]string, error) {
	entries, err := os.ReadDir(s.tempDir())
	if err == nil {
		err = s.check("readdir", "tmp")
	}
	if err != nil {
		return nil, ignoreMissing(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, filepath.Join(s.tempDir(), e.Name()))
	}
	return out, nil
}
