package cas

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Change is a path that differs between two states. Old is nil where it was
// added, New where it was removed; their Name is the path's last part.
type Change struct {
	Path     string
	Old, New *Entry
}

// Diff yields what differs between the trees a and b, in the order of paths. The
// zero Digest is an empty folder. A folder on both sides is no change itself; one
// that was added or removed comes before what is in it. Trees with equal digests
// are not read. An error ends it.
func (s *Store) Diff(ctx context.Context, a, b Digest) iter.Seq2[Change, error] {
	return s.diff(ctx, nil, a, b)
}

// diff is Diff where known may have a's trees.
func (s *Store) diff(ctx context.Context, known *index, a, b Digest) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		d := &differ{s: s, ctx: ctx, known: known, yield: yield}
		if a != b {
			d.folders("", a, b)
		}
		if d.err != nil {
			yield(Change{}, d.err)
		}
	}
}

type differ struct {
	s *Store
	// known has trees of the first state, which needn't be read then; it may be
	// nil.
	known *index
	ctx   context.Context
	yield func(Change, error) bool
	err   error
	depth int
	ahead map[Digest][]Entry // trees of the second state that were read before their turn
}

// folders compares two folders and tells whether to go on.
func (d *differ) folders(path string, a, b Digest) bool {
	if d.depth++; d.depth > maxDepth+1 {
		d.err = fmt.Errorf("compare %s: more than %d folders deep", EscapePath(path), maxDepth)
		return false
	}
	defer func() { d.depth-- }()
	var olds, news []Entry
	olds, news, d.err = d.trees(path, a, b)
	if d.err != nil {
		return false
	}
	d.readAhead(olds, news)
	for len(olds) > 0 || len(news) > 0 {
		var was, is *Entry
		order := 0
		switch {
		case len(olds) == 0:
			order = 1
		case len(news) == 0:
			order = -1
		default:
			order = strings.Compare(olds[0].Name, news[0].Name)
		}
		if order <= 0 {
			was, olds = &olds[0], olds[1:]
		}
		if order >= 0 {
			is, news = &news[0], news[1:]
		}
		if !d.entry(path, was, is) {
			return false
		}
	}
	return true
}

// trees reads two folders of the same path.
func (d *differ) trees(path string, a, b Digest) (olds, news []Entry, err error) {
	if d.known != nil && !a.IsZero() {
		if r := d.known.dirs[path]; r != nil && r.tree == a {
			news, ok := d.ahead[b]
			if delete(d.ahead, b); !ok {
				_, news, err = d.s.twoTrees(d.ctx, Digest{}, b)
			}
			return r.sorted(), news, err
		}
	}
	return d.s.twoTrees(d.ctx, a, b)
}

// readAhead reads trees of folders that differ, side by side, where only those of
// the second state must be read. What can't be read is left for its turn.
func (d *differ) readAhead(olds, news []Entry) {
	const (
		most  = 128 // trees that wait for their turn
		worth = 8   // trees: a worker's start takes as long as one
	)
	if d.known == nil {
		return
	}
	var want []Digest
	for i := range news {
		e := &news[i]
		if e.Kind != Folder || len(d.ahead)+len(want) >= most {
			continue
		}
		if was, ok := findEntry(olds, e.Name); ok && was.Kind == Folder && was.Digest != e.Digest {
			want = append(want, e.Digest)
		}
	}
	if len(want) < worth {
		return
	}
	trees := make([][]Entry, len(want))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		workers.Go(func() {
			_ = d.s.kv.View(d.ctx, func(tx *kv.Tx) error {
				for i := next.Add(1) - 1; i < int64(len(want)); i = next.Add(1) - 1 {
					trees[i], _ = d.s.treeRecord(tx, want[i])
				}
				return nil
			})
		})
	}
	workers.Wait()
	if d.ahead == nil {
		d.ahead = make(map[Digest][]Entry)
	}
	for i, t := range trees {
		if t != nil {
			d.ahead[want[i]] = t
		}
	}
}

// entry compares what is under one name.
func (d *differ) entry(dir string, was, is *Entry) bool {
	if was != nil && is != nil && *was == *is {
		return true
	}
	path := join(dir, nameOf(was, is))
	var a, b Digest
	wasFolder := was != nil && was.Kind == Folder
	isFolder := is != nil && is.Kind == Folder
	if wasFolder {
		a = was.Digest
	}
	if isFolder {
		b = is.Digest
	}
	if !wasFolder || !isFolder {
		if !d.yield(Change{Path: path, Old: was, New: is}, nil) {
			return false
		}
	}
	if !wasFolder && !isFolder {
		return true
	}
	return d.folders(path, a, b)
}

func nameOf(was, is *Entry) string {
	if was != nil {
		return was.Name
	}
	return is.Name
}

// twoTrees reads two trees at one moment.
func (s *Store) twoTrees(ctx context.Context, a, b Digest) (olds, news []Entry, err error) {
	err = s.kv.View(ctx, func(tx *kv.Tx) (err error) {
		if !a.IsZero() {
			if olds, err = s.treeOf(tx, a); err != nil {
				return err
			}
		}
		if !b.IsZero() {
			news, err = s.treeOf(tx, b)
		}
		return err
	})
	return olds, news, err
}

// Tree gives the entries of a folder by the digest of its tree.
func (s *Store) Tree(ctx context.Context, d Digest) ([]Entry, error) {
	entries, _, err := s.twoTrees(ctx, d, Digest{})
	return entries, err
}

// Lookup gives what a state has under a path, or ErrNotFound.
func (s *Store) Lookup(ctx context.Context, root Digest, path string) (Entry, error) {
	at := Entry{Kind: Folder, Digest: root}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." {
			continue
		}
		if at.Kind != Folder {
			return Entry{}, fmt.Errorf("%s: %w", EscapePath(path), ErrNotFound)
		}
		entries, err := s.Tree(ctx, at.Digest)
		if err != nil {
			return Entry{}, err
		}
		next, ok := findEntry(entries, name)
		if !ok {
			return Entry{}, fmt.Errorf("%s: %w", EscapePath(path), ErrNotFound)
		}
		at = next
	}
	return at, nil
}

// Walk yields everything below a tree in the order of paths, folders before what
// is in them. An error ends it.
func (s *Store) Walk(ctx context.Context, root Digest) iter.Seq2[Located, error] {
	return func(yield func(Located, error) bool) {
		for c, err := range s.Diff(ctx, Digest{}, root) {
			if err != nil {
				yield(Located{}, err)
				return
			}
			if !yield(Located{Path: c.Path, Entry: *c.New}, nil) {
				return
			}
		}
	}
}

// Located is an entry with its path.
type Located struct {
	Path string
	Entry
}
