package cas

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// builder makes the new index and its trees of what was found. Only folders in
// which something changed, and those above them, cost anything.
type builder struct {
	old   *index
	found map[string]*folderScan
	edits bool // found has only what differs from old, and nil for what is removed
	now   int64
	given map[string]Digest // trees that are known before, and in the store; it may be nil

	ix      *index
	made    map[string]*dirRec
	news    map[string]map[string]Entry // folder → name → what its child has become
	byDepth [][]string
	marked  map[string]bool
	trees   []newTree
}

type newTree struct {
	path   string // of its folder; "" is the root
	digest Digest
	enc    []byte
}

// vanished is the entry of a folder that was gone when it was to be read.
func vanished(name string) Entry { return Entry{Name: name} }

// build gives the new index; the trees that the old one doesn't have are in
// b.trees.
func (b *builder) build() *index {
	b.made = make(map[string]*dirRec, len(b.found))
	b.news = make(map[string]map[string]Entry)
	b.marked = make(map[string]bool)
	for path, f := range b.found {
		if f == nil {
			b.made[path] = nil
		} else if f.rec != nil && f.rec == b.old.dirs.get(path) {
			b.made[path] = f.rec
		} else {
			b.mark(path)
		}
	}
	for depth := len(b.byDepth) - 1; depth >= 0; depth-- {
		paths := b.byDepth[depth]
		for i, c := range b.completeAll(paths) {
			b.finish(paths[i], c)
		}
	}
	b.ix = &index{epoch: b.old.epoch, root: b.old.root}
	if b.edits {
		b.ix.dirs = b.old.dirs.with(b.made)
	} else {
		b.ix.dirs = foldersOf(b.made)
	}
	return b.ix
}

// scan returns what was found of a folder.
func (b *builder) scan(path string) *folderScan {
	if f := b.found[path]; f != nil || !b.edits {
		return f
	}
	return &folderScan{rec: b.old.dirs.get(path)}
}

// completed is a folder's record, and its tree where the old index has another.
type completed struct {
	rec *dirRec
	enc []byte
}

// completeAll makes the records and trees of folders of one depth, which know
// nothing of each other, side by side.
func (b *builder) completeAll(paths []string) []completed {
	const worth = 8 // folders: a worker's start takes as long as one
	out := make([]completed, len(paths))
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(paths)); i = next.Add(1) - 1 {
			if f := b.scan(paths[i]); f.rec != nil {
				out[i] = b.complete(paths[i], f.rec)
			}
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWorkers, len(paths)/worth) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	return out
}

func depthOf(path string) int {
	if path == "" {
		return 0
	}
	return strings.Count(path, "/") + 1
}

func (b *builder) mark(path string) {
	if b.marked[path] {
		return
	}
	b.marked[path] = true
	depth := depthOf(path)
	for len(b.byDepth) <= depth {
		b.byDepth = append(b.byDepth, nil)
	}
	b.byDepth[depth] = append(b.byDepth[depth], path)
}

// finish takes a folder's record in, and tells the folder above.
func (b *builder) finish(path string, c completed) {
	f := b.scan(path)
	up, name := split(path)
	self := Entry{Name: name, Kind: Folder}
	switch {
	case f.rec != nil:
		b.made[path] = c.rec
		self.Digest, self.Perm = c.rec.tree, f.perm
		if c.enc != nil {
			b.trees = append(b.trees, newTree{path, c.rec.tree, c.enc})
		}
	case f.omit != "":
		self = Entry{Name: name, Kind: Omitted, Text: f.omit}
	case f.gone:
		self = vanished(name)
	default:
		self = Entry{Name: name, Kind: Failed, Text: f.fail}
	}
	if path == "" {
		return
	}
	if b.news[up] == nil {
		b.news[up] = make(map[string]Entry)
	}
	b.news[up][name] = self
	b.mark(up)
}

// complete gives a folder's record with its children and its tree. It changes
// nothing of b.
func (b *builder) complete(path string, rec *dirRec) completed {
	old := b.old.dirs.get(path)
	if news := b.news[path]; len(news) > 0 {
		rec = rec.with(news, old != nil && sameArray(rec.ents, old.ents))
	}
	if old != nil && (rec == old || sameArray(rec.ents, old.ents) || slices.Equal(rec.ents, old.ents)) {
		return completed{rec: old.relisted(rec.listed)}
	}
	b.adopt(path, rec)
	rec.scanned = b.now
	rec.count()
	rec.sort(old)
	if tree, ok := b.given[path]; ok {
		rec.tree = tree
		return completed{rec: rec}
	}
	enc := rec.encodeTree()
	rec.tree = Sum(enc)
	if old != nil && old.tree == rec.tree {
		enc = nil
	}
	return completed{rec, enc}
}

// sameArray tells two lists that share their memory.
func sameArray(a, b []cached) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// relisted gives the record with another listing.
func (r *dirRec) relisted(l listing) *dirRec {
	if r.listed == l {
		return r
	}
	out := *r
	out.listed = l
	return &out
}

// adopt fills in the trees of folders that are as they were, where nothing is
// known of the one above them any more.
func (b *builder) adopt(path string, rec *dirRec) {
	for i := range rec.ents {
		e := &rec.ents[i]
		if e.Kind == Folder && e.Digest.IsZero() {
			below, ok := b.made[join(path, e.Name)]
			if !ok && b.edits {
				below = b.old.dirs.get(join(path, e.Name))
			}
			if below != nil {
				e.Digest = below.tree
			}
		}
	}
}

// with gives the record with some entries replaced; shared tells that it must
// be copied for that.
func (r *dirRec) with(news map[string]Entry, shared bool) *dirRec {
	lost := false
	for i := range r.ents {
		e, ok := news[r.ents[i].Name]
		if e.Kind == Folder && r.ents[i].Kind == Folder && !e.Perm.Known() {
			e.Perm = r.ents[i].Perm
		}
		if !ok || e == r.ents[i].Entry {
			continue
		}
		if shared {
			r = &dirRec{ents: slices.Clone(r.ents), listed: r.listed}
			shared = false
		}
		lost = lost || e.Kind == 0
		r.ents[i] = cached{Entry: e}
	}
	if lost {
		r.dropEmpty()
	}
	return r
}
