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

// PermsOnly reports whether nothing but the permission bits differs.
func (c Change) PermsOnly() bool {
	if c.Old == nil || c.New == nil {
		return false
	}
	if c.Old.Kind == Folder && c.New.Kind == Folder {
		return true
	}
	return c.Old.content() && c.New.content() && c.Old.Digest == c.New.Digest && c.Old.Perm.Known() && c.New.Perm.Known()
}

// FoldersOnly reports whether a folder was added or removed and nothing else: the changes
// of what is in it show that.
func (c Change) FoldersOnly() bool {
	return (c.Old == nil || c.Old.Kind == Folder) && (c.New == nil || c.New.Kind == Folder) && !c.PermsOnly()
}

// PermsText describes how the permission bits differ, such as "mode 0644 → 0755"; it
// is empty where they do not.
func (c Change) PermsText() string {
	if c.Old == nil || c.New == nil || c.Old.Perm.agrees(c.New.Perm) || (c.Old.Kind == Folder) != (c.New.Kind == Folder) {
		return ""
	}
	return "mode " + c.Old.Perm.String() + " → " + c.New.Perm.String()
}

// Diff yields what differs between the trees a and b, in the order of paths. The
// zero Digest is an empty folder. A folder on both sides is a change only where its
// permission bits differ; a folder comes before what is in it. Trees with equal digests
// are not read. An error ends it.
func (s *Store) Diff(ctx context.Context, a, b Digest) iter.Seq2[Change, error] {
	return s.diff(ctx, nil, a, b, nil)
}

// diff is Diff where known may have a's trees, and where trees, unless it is nil,
// gets the digest of each folder of b that was compared; none where permission bits
// make the trees differ from those of a folder that gets what the diff yields.
func (s *Store) diff(ctx context.Context, known *index, a, b Digest, trees map[string]Digest) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		d := &differ{s: s, ctx: ctx, known: known, yield: yield, trees: trees}
		if a != b {
			d.folders("", a, b)
		}
		if d.loose {
			clear(trees)
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
	loose bool                  // as in one of the comparisons
	ahead map[string]comparison // of folders before their turn
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
	var found comparison
	if found, d.err = d.compare(path, a, b); d.err != nil {
		return false
	}
	d.loose = d.loose || found.loose
	d.lookAhead(path, found.pairs)
	for _, p := range found.pairs {
		if !d.entry(path, p.was, p.is) {
			return false
		}
	}
	return true
}

// compare gives what differs between two folders of the same path.
func (d *differ) compare(path string, a, b Digest) (out comparison, err error) {
	out, ok := d.ahead[path]
	if ok {
		delete(d.ahead, path)
		return out, nil
	}
	known := d.knownAs(path, a)
	err = d.s.kv.View(d.ctx, func(tx *kv.Tx) (err error) {
		if known != nil && !b.IsZero() {
			out, err = d.s.against(tx, known, b)
			return err
		}
		olds, news, err := d.s.twoTrees(tx, a, b)
		out = pairsOf(olds, news)
		return err
	})
	return out, err
}

// knownAs gives what is known of a folder of the first state, or nil.
func (d *differ) knownAs(path string, a Digest) *dirRec {
	if d.known == nil || a.IsZero() {
		return nil
	}
	if r := d.known.dirs.get(path); r != nil && r.tree == a {
		return r
	}
	return nil
}

// against compares a folder that is known with a tree.
func (s *Store) against(tx *kv.Tx, known *dirRec, b Digest) (out comparison, err error) {
	whole := false
	err = s.trees.Read(tx, b.key(), func(val []byte) (err error) {
		if whole = len(val) > 0; whole {
			out, err = s.treeAgainst(val, b, known)
		}
		return err
	})
	if err != nil || whole {
		return out, damaged(err, b, "tree")
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
		found comparison
		ok    bool
	}
	var jobs []job
	for _, p := range pairs {
		if p.was == nil || p.is == nil || p.was.Kind != Folder || p.is.Kind != Folder || p.was.Digest == p.is.Digest || len(d.ahead)+len(jobs) >= most {
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
					found, err := d.s.against(tx, jobs[i].known, jobs[i].b)
					jobs[i].found, jobs[i].ok = found, err == nil
				}
				return nil
			})
		})
	}
	workers.Wait()
	if d.ahead == nil {
		d.ahead = make(map[string]comparison)
	}
	for _, j := range jobs {
		if j.ok {
			d.ahead[j.path] = j.found
		}
	}
}

// entry compares what is under one name.
func (d *differ) entry(dir string, was, is *Entry) bool {
	if was != nil && is != nil && was.Same(*is) {
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
	if !wasFolder || !isFolder || !was.Perm.agrees(is.Perm) {
		if !d.yield(Change{Path: path, Old: was, New: is}, nil) {
			return false
		}
	}
	if a == b { // no folders, or two that differ in their permission bits alone
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
