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
	return s.diff(ctx, nil, a, b, nil)
}

// diff is Diff where known may have a's trees, and where trees, unless it is nil,
// gets the digest of each folder of b that was compared.
func (s *Store) diff(ctx context.Context, known *index, a, b Digest, trees map[string]Digest) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		d := &differ{s: s, ctx: ctx, known: known, yield: yield, trees: trees}
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
	trees map[string]Digest
	err   error
	depth int
	ahead map[string][]pair // folders that were compared before their turn
}

// folders compares two folders and tells whether to go on.
func (d *differ) folders(path string, a, b Digest) bool {
	if d.depth++; d.depth > maxDepth+1 {
		d.err = fmt.Errorf("compare %s: more than %d folders deep", EscapePath(path), maxDepth)
		return false
	}
	defer func() { d.depth-- }()
	if d.trees != nil && !b.IsZero() {
		d.trees[path] = b
	}
	var pairs []pair
	if pairs, d.err = d.compare(path, a, b); d.err != nil {
		return false
	}
	d.lookAhead(path, pairs)
	for _, p := range pairs {
		if !d.entry(path, p.was, p.is) {
			return false
		}
	}
	return true
}

// compare gives what differs between two folders of the same path.
func (d *differ) compare(path string, a, b Digest) (pairs []pair, err error) {
	pairs, ok := d.ahead[path]
	if ok {
		delete(d.ahead, path)
		return pairs, nil
	}
	known := d.knownAs(path, a)
	err = d.s.kv.View(d.ctx, func(tx *kv.Tx) (err error) {
		if known != nil && !b.IsZero() {
			pairs, err = d.s.against(tx, known, b)
			return err
		}
		olds, news, err := d.s.twoTrees(tx, a, b)
		pairs = pairsOf(olds, news)
		return err
	})
	return pairs, err
}

// knownAs gives what is known of a folder of the first state, or nil.
func (d *differ) knownAs(path string, a Digest) *dirRec {
	if d.known == nil || a.IsZero() {
		return nil
	}
	if r := d.known.dirs[path]; r != nil && r.tree == a {
		return r
	}
	return nil
}

// against compares a folder that is known with a tree.
func (s *Store) against(tx *kv.Tx, known *dirRec, b Digest) (pairs []pair, err error) {
	whole := false
	err = s.trees.Read(tx, b.key(), func(val []byte) (err error) {
		if whole = len(val) > 0; whole {
			pairs, err = s.treeAgainst(val, b, known)
		}
		return err
	})
	if err != nil || whole {
		return pairs, damaged(err, b, "tree")
	}
	news, err := s.treeOf(tx, b) // too large for a record
	return pairsOf(known.sorted(), news), err
}

// lookAhead compares folders below one side by side, where they are known. What
// can't be compared is left for its turn.
func (d *differ) lookAhead(path string, pairs []pair) {
	const (
		most  = 128 // folders that wait for their turn
		worth = 8   // folders: a worker's start takes as long as one
	)
	type job struct {
		path  string
		known *dirRec
		b     Digest
		pairs []pair
		ok    bool
	}
	var jobs []job
	for _, p := range pairs {
		if p.was == nil || p.is == nil || p.was.Kind != Folder || p.is.Kind != Folder || len(d.ahead)+len(jobs) >= most {
			continue
		}
		sub := join(path, p.is.Name)
		if known := d.knownAs(sub, p.was.Digest); known != nil {
			jobs = append(jobs, job{path: sub, known: known, b: p.is.Digest})
		}
	}
	if len(jobs) < worth {
		return
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		workers.Go(func() {
			_ = d.s.kv.View(d.ctx, func(tx *kv.Tx) error {
				for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
					pairs, err := d.s.against(tx, jobs[i].known, jobs[i].b)
					jobs[i].pairs, jobs[i].ok = pairs, err == nil
				}
				return nil
			})
		})
	}
	workers.Wait()
	if d.ahead == nil {
		d.ahead = make(map[string][]pair)
	}
	for _, j := range jobs {
		if j.ok {
			d.ahead[j.path] = j.pairs
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

// twoTrees reads two trees.
func (s *Store) twoTrees(tx *kv.Tx, a, b Digest) (olds, news []Entry, err error) {
	if !a.IsZero() {
		if olds, err = s.treeOf(tx, a); err != nil {
			return nil, nil, err
		}
	}
	if !b.IsZero() {
		news, err = s.treeOf(tx, b)
	}
	return olds, news, err
}

// Tree gives the entries of a folder by the digest of its tree.
func (s *Store) Tree(ctx context.Context, d Digest) ([]Entry, error) {
	var entries []Entry
	err := s.kv.View(ctx, func(tx *kv.Tx) (err error) {
		entries, _, err = s.twoTrees(tx, d, Digest{})
		return err
	})
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
