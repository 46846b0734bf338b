package cas

import (
	"slices"
	"strings"
)

// index is the stat cache of one workspace: what each file's stat was when its
// digest was taken. It is a hint. Dropping it costs a reading of every file.
type index struct {
	epoch string // of the store, when all its digests were known to be there
	root  stat   // the folder that it was taken of; only ino and dev count
	dirs  folders
	head  indexTotals // as the store has them; set where the index is read
	// stale is the index that the store has where this one isn't made of it by
	// a scan; it tells what must be removed there.
	stale *index
}

// dirRec is what is known of one folder. It is not changed once it is in an
// index: snapshots share it.
type dirRec struct {
	ents    []cached // in the order in which the system lists them
	tree    Digest
	listed  listing
	scanned int64   // when the folder was read, by our clock
	order   []int32 // places in ents, sorted by name; nil where it isn't known

	pieces int     // in how many records it is stored; 0 where it isn't
	patch  []int32 // places in ents that the patch beside those has, in order; nil without one
	base   baseOf  // what the pieces are of

	sums // of its own entries
}

// listing is the stat of a folder itself when its names were read, or zero where
// they must be read again: every name that comes or goes changes the folder's
// times. It is noted only under the conditions of [scanner.lists].
type listing struct {
	mtime, ctime int64
	ino          uint64
}

// cached is an entry with the stat by which it is known again.
type cached struct {
	Entry
	mode  uint32
	mtime int64
	ctime int64
	ino   uint64
	// racy marks a digest that was taken so soon after a change that another
	// change needn't show in the stat. It is taken anew the next time.
	racy bool
}

// clean tells whether a file still is what the cache has of it.
func (c *cached) clean(st *stat) bool {
	return !c.racy && c.unchanged(st)
}

func (c *cached) unchanged(st *stat) bool {
	return c.content() && c.Size == st.size && c.mtime == st.mtime && c.ctime == st.ctime &&
		c.ino == st.ino && c.mode == st.mode && st.form == regular
}

// remember notes the stat that belongs to an entry's content.
func (c *cached) remember(st *stat) {
	c.Kind, c.Perm, c.Size, c.mode = st.fileKind(), permOf(st), st.size, st.mode
	c.mtime, c.ctime, c.ino = st.mtime, st.ctime, st.ino
}

// sorted gives the folder's entries as a tree has them.
func (r *dirRec) sorted() []Entry {
	order := r.order
	if order == nil {
		order = sortNames(r.ents)
	}
	out := make([]Entry, len(r.ents))
	for i, at := range order {
		out[i] = r.ents[at].Entry
	}
	return out
}

// sort finds the order of the names. Where old, which may be nil, has the same ones,
// they needn't be sorted again.
func (r *dirRec) sort(old *dirRec) {
	if old != nil && old.order != nil && sameNames(r.ents, old.ents) {
		r.order = old.order
	} else {
		r.order = sortNames(r.ents)
	}
}

// encodeTree gives the tree of a folder whose order is known.
func (r *dirRec) encodeTree() []byte {
	return encodeEntries(len(r.ents), func(i int) *Entry { return &r.ents[r.order[i]].Entry })
}

// sortNames gives the places of entries in the order of their names.
func sortNames(ents []cached) []int32 {
	order := make([]int32, len(ents)) // a folder has at most 64 MB of names
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(ents[a].Name, ents[b].Name) })
	return order
}

// sameNames tells whether two lists have the same names in the same places.
func sameNames(a, b []cached) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
	}
	return true
}

// names gives the folder's names in the order in which the system lists them.
func (r *dirRec) names() []string {
	out := make([]string, len(r.ents))
	for i := range r.ents {
		out[i] = r.ents[i].Name
	}
	return out
}

// count sums up the folder's own entries.
func (r *dirRec) count() {
	r.sums = sums{}
	for i := range r.ents {
		e := &r.ents[i].Entry
		switch e.Kind {
		case File, Executable:
			r.files++
			r.bytes += e.Size
			if e.Linked != "" {
				r.linked++
			}
		case Failed:
			r.failed++
		}
		if !e.kept() {
			r.others++
		}
	}
}

// lookup finds what is known under a path.
func (ix *index) lookup(path string) (cached, bool) {
	dir, name := split(path)
	if r := ix.dirs.get(dir); r != nil {
		for i := range r.ents {
			if r.ents[i].Name == name {
				return r.ents[i], true
			}
		}
	}
	return cached{}, false
}
