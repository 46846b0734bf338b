package cas

import (
	"slices"
	"strings"
)

// builder makes the new index and its trees of what was found. Only folders in
// which something changed, and those above them, cost anything.
type builder struct {
	old   *index
	found map[string]*folderScan
	now   int64

	ix      *index
	news    map[string]map[string]Entry // folder → name → what its child has become
	byDepth [][]string
	marked  map[string]bool
	trees   []newTree
}

type newTree struct {
	digest Digest
	enc    []byte
}

// vanished is the entry of a folder that was gone when it was to be read.
func vanished(name string) Entry { return Entry{Name: name} }

// build gives the new index; the trees that the old one doesn't have are in
// b.trees.
func (b *builder) build() *index {
	b.ix = &index{dirs: make(map[string]*dirRec, len(b.found)), epoch: b.old.epoch, root: b.old.root}
	b.news = make(map[string]map[string]Entry)
	b.marked = make(map[string]bool)
	for path, f := range b.found {
		old := b.old.dirs[path]
		if f.rec != nil && f.rec == old {
			b.ix.dirs[path] = old
			continue
		}
		b.mark(path)
	}
	for depth := len(b.byDepth) - 1; depth >= 0; depth-- {
		for _, path := range b.byDepth[depth] {
			b.finish(path)
		}
	}
	return b.ix
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

// finish takes in what has become of a folder's children, makes its tree, and
// tells the folder above.
func (b *builder) finish(path string) {
	f := b.found[path]
	up, name := split(path)
	self := Entry{Name: name, Kind: Folder}
	switch {
	case f.rec != nil:
		rec := b.complete(path, f.rec)
		b.ix.dirs[path] = rec
		self.Digest = rec.tree
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

// complete gives a folder's record with its children and its tree.
func (b *builder) complete(path string, rec *dirRec) *dirRec {
	old := b.old.dirs[path]
	if news := b.news[path]; len(news) > 0 {
		rec = rec.with(news, old != nil && sameArray(rec.ents, old.ents))
	}
	if old != nil && (rec == old || sameArray(rec.ents, old.ents) || slices.Equal(rec.ents, old.ents)) {
		return old.relisted(rec.listed)
	}
	b.adopt(path, rec)
	rec.scanned = b.now
	rec.count()
	enc := rec.encodeTree(old)
	rec.tree = Sum(enc)
	if old == nil || old.tree != rec.tree {
		b.trees = append(b.trees, newTree{rec.tree, enc})
	}
	return rec
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
			if below := b.ix.dirs[join(path, e.Name)]; below != nil {
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

// totals sums up an index.
func (ix *index) totals() (files int, bytes int64, failed int) {
	for _, r := range ix.dirs {
		files += r.files
		bytes += r.bytes
		failed += r.failed
	}
	return files, bytes, failed
}
