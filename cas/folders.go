package cas

import (
	"iter"
	"maps"
)

// folders maps the path of each folder of an index to its record. It is not changed once it
// is in an index. One that is derived from another by edits shares its map, so that an edit
// costs what it changes, whatever the size of the workspace.
type folders struct {
	base *folderMap
	over map[string]*dirRec // what differs from base; a nil record removes a path
	n    int                // paths that have a record
	sum  sums               // of all records
}

// folderMap is a map that folders share, and by whose address they recognize that. A nil
// pointer is an empty map.
type folderMap struct {
	recs map[string]*dirRec
	rest *unread // has the records in place of recs, if not all of them were read
}

func (m *folderMap) get(path string) *dirRec {
	switch {
	case m == nil:
		return nil
	case m.rest != nil:
		return m.rest.get(path)
	}
	return m.recs[path]
}

// every returns all records; one may be nil.
func (m *folderMap) every() map[string]*dirRec {
	switch {
	case m == nil:
		return nil
	case m.rest != nil:
		return m.rest.every()
	}
	return m.recs
}

// sums are sums over the entries of one folder, or of all.
type sums struct {
	files  int
	bytes  int64 // of the files
	failed int
	others int // entries that can't be restored: failed and left out
	linked int // files with other names
}

func (t *sums) add(o *sums, times int) {
	t.files += times * o.files
	t.bytes += int64(times) * o.bytes
	t.failed += times * o.failed
	t.others += times * o.others
	t.linked += times * o.linked
}

// foldersOf returns folders that have these records.
func foldersOf(recs map[string]*dirRec) folders {
	f := folders{base: &folderMap{recs: recs}, n: len(recs)}
	for _, r := range recs {
		f.sum.add(&r.sums, 1)
	}
	return f
}

// get returns the record of a folder, or nil.
func (f *folders) get(path string) *dirRec {
	if r, ok := f.over[path]; ok {
		return r
	}
	return f.base.get(path)
}

// all yields the paths and their records in any order.
func (f *folders) all() iter.Seq2[string, *dirRec] {
	return func(yield func(string, *dirRec) bool) {
		for path, r := range f.over {
			if r != nil && !yield(path, r) {
				return
			}
		}
		for path, r := range f.base.every() {
			if _, ok := f.over[path]; !ok && r != nil && !yield(path, r) {
				return
			}
		}
	}
}

// with returns folders in which some paths have other records; a nil record removes a path.
func (f *folders) with(edits map[string]*dirRec) folders {
	out := folders{base: f.base, over: maps.Clone(f.over), n: f.n, sum: f.sum}
	if out.over == nil {
		out.over = make(map[string]*dirRec, len(edits))
	}
	for path, r := range edits {
		if was := f.get(path); was != nil {
			out.n--
			out.sum.add(&was.sums, -1)
		}
		if r != nil {
			out.n++
			out.sum.add(&r.sums, 1)
		}
		out.over[path] = r
	}
	// Each edit copies over, and once in a while all is copied, so that over stays short. No
	// records are read for that.
	const few, share = 64, 64
	if len(out.over) <= max(few, out.n/share) || f.base != nil && f.base.rest != nil {
		return out
	}
	recs := make(map[string]*dirRec, out.n)
	maps.Insert(recs, out.all())
	return folders{base: &folderMap{recs: recs}, n: out.n, sum: out.sum}
}

// differing returns the paths that have another record in old, or a record in only one of
// both. If one is derived from the other, it reads no more than what was edited.
func (f *folders) differing(old *folders) (paths []string) {
	derived := f.base == old.base
	here, there := f.all(), old.all()
	if derived {
		here, there = maps.All(f.over), maps.All(old.over)
	}
	for path := range here {
		if f.get(path) != old.get(path) {
			paths = append(paths, path)
		}
	}
	for path := range there {
		_, seen := f.over[path]
		if !derived {
			seen = f.get(path) != nil
		}
		if !seen && f.get(path) != old.get(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
