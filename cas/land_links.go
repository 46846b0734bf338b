package cas

import (
	"errors"
	"slices"
	"strings"
)

// In a layer a file that the call wrote is a copy under the one name by which the call
// opened it, while in the workspace the file may have others. Where all of them are in the
// workspace, the others get the new content, too, as they would have without the layer. The
// kernel records nothing about such a copy, so a program that wrote a new file and renamed it
// to the name cannot be distinguished: the names stay one file then, too.

// withOtherNames adds nodes for the other names of files that the call wrote under one.
func (p *LandingPlan) withOtherNames(r *lowerReader) error {
	var written, gone []*node
	twins := make(map[*node]int)
	p.top.each(func(n *node) {
		if n.twin != nil && n.low.isFile() {
			twins[n.twin]++
		}
	})
	p.top.each(func(n *node) {
		switch {
		case !n.low.isFile():
		case n.gone:
			gone = append(gone, n)
		case n.twin != nil && (twins[n.twin] > 1 || n.unchanged()):
		case !n.origin && n.content() && n.unkept == "" && n.low.st.nlink > 1:
			written = append(written, n)
		}
	})
	for _, n := range written {
		// A file that was moved onto the name replaces it. One that had no other names shows
		// where it came from by its origin.
		moved := slices.ContainsFunc(gone, func(g *node) bool { return g.low.st.mtime == n.mtime && g.low.st.size == n.Size })
		if moved {
			continue
		}
		if err := p.addNames(r, n); err != nil {
			return err
		}
	}
	return nil
}

// addNames adds nodes for the other names of a file. It adds none if one of them is outside of
// the workspace, or the call has done something to it.
func (p *LandingPlan) addNames(r *lowerReader, n *node) error {
	was, ok := r.known(n.path)
	if !ok || was.Linked == "" {
		return nil
	}
	paths := r.ix.namesOf(was.Linked)
	if uint64(len(paths)) != n.low.st.nlink || linkedOf(slices.Clone(paths)) != was.Linked {
		return nil
	}
	first := n.twin
	if first == nil {
		first = n
	}
	var added []*node
	for _, path := range paths {
		if path == n.path {
			continue
		}
		up, err := p.folderNode(r, path)
		if err != nil {
			return err
		}
		_, name := split(path)
		if up == nil || up.kid(name) != nil {
			return nil
		}
		k := &node{cached: n.cached, path: path, attrs: n.attrs, twin: first}
		k.Name = name
		if err := r.lookAt(up, k); err != nil {
			return err
		}
		if !k.low.there || k.low.st.ino != n.low.st.ino || k.low.st.dev != n.low.st.dev {
			return nil // the user has parted them
		}
		added = append(added, k)
	}
	for _, k := range added {
		up, err := p.folderNode(r, k.path)
		if err != nil {
			return err
		}
		up.add(k)
	}
	n.twin = first
	return nil
}

// namesOf lists the paths with a Linked.
func (ix *index) namesOf(linked string) (paths []string) {
	for dir, rec := range ix.dirs.all() {
		if rec.linked == 0 {
			continue
		}
		for i := range rec.ents {
			if rec.ents[i].Linked == linked {
				paths = append(paths, join(dir, rec.ents[i].Name))
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// folderNode returns the node of the folder that a path is in, and adds those that are
// missing. It is nil if the call removed or replaced a folder on the way.
func (p *LandingPlan) folderNode(r *lowerReader, path string) (*node, error) {
	n := p.top
	dir, _ := split(path)
	if dir == "" {
		return n, nil
	}
	at := ""
	for name := range strings.SplitSeq(dir, "/") {
		at = join(at, name)
		k := n.kid(name)
		if k == nil {
			k = &node{cached: cached{Entry: Entry{Name: name, Kind: Folder}}, path: at, origin: true}
			if err := r.lookAt(n, k); err != nil {
				return nil, err
			}
			k.Perm = k.low.Perm
			if !k.low.isFolder() {
				return nil, nil
			}
			n.add(k)
		}
		if k.gone || k.opaque || k.Kind != Folder {
			return nil, nil
		}
		n = k
	}
	return n, nil
}

// lookAt attaches to a node in a folder what the workspace has there.
func (r *lowerReader) lookAt(up, n *node) error {
	d, err := r.t.dir(up.path)
	if gone(err) || errors.Is(err, errLink) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := r.look(n, d); err != nil {
		return err
	}
	r.inherit(up, n, d)
	return nil
}

// isFile reports whether the workspace has a regular file under the path.
func (l *lower) isFile() bool { return l.there && l.st.form == regular }

// unchanged reports whether the workspace has under a path the file that the call left there.
func (n *node) unchanged() bool {
	if n.gone || !n.low.isFile() || !n.content() {
		return false
	}
	if n.unkept == "" && !n.Digest.IsZero() {
		return alike(&n.low.Entry, &n.Entry)
	}
	// The content is not read. A copied file has the time of its original.
	return n.low.st.size == n.Size && n.low.st.mode == n.mode && n.low.st.mtime == n.mtime
}

// standing returns, by the first node of a file that the call gave several names, one of
// these under which the workspace has that file, and the call did not change it.
func (p *LandingPlan) standing() map[*node]*node {
	var out map[*node]*node
	p.top.each(func(n *node) {
		if n.twin == nil || out[n.twin] != nil || !n.unchanged() {
			return
		}
		if out == nil {
			out = make(map[*node]*node)
		}
		out[n.twin] = n
	})
	return out
}

// linkStanding makes names that a call gave to an unchanged file of the workspace names of that
// file, in the stage. It returns the files that are still to be written: those of other
// nodes, and names whose file the user has changed by now, or that cannot be linked.
func (m *mover) linkStanding(files []fileJob) (rest []fileJob, err error) {
	if m.lands == nil || len(m.lands.standing) == 0 {
		return files, nil
	}
	m.linked = make(map[*node]cached)
	for _, j := range files {
		rep := m.lands.standing[m.ops[j.op].n.twin]
		if rep == nil {
			rest = append(rest, j)
			continue
		}
		ok, err := m.linkTo(rep, j)
		if err != nil {
			return nil, effectAt(&m.ops[j.op], err)
		}
		if !ok {
			rest = append(rest, j)
		}
	}
	return rest, nil
}

// linkTo makes a name in the stage a name of a file of the workspace, and reports whether that
// is the file that the plan has.
func (m *mover) linkTo(rep *node, j fileJob) (bool, error) {
	was, ok := m.linked[rep]
	if !ok {
		st, err := m.statAt(split(rep.path))
		if err != nil || rep.low.expect(&st) != nil || st.mode != rep.low.st.mode || st.ctime != rep.low.st.ctime {
			return false, nil // the user has changed it
		}
		was = rep.low.cached
		was.remember(&st)
	}
	if m.link(rep.path, j) != nil {
		return false, nil
	}
	d, err := m.t.dir(j.dir)
	if err != nil {
		return false, err
	}
	defer d.close()
	st, err := d.lstat(j.name)
	if err != nil {
		return false, err
	}
	was.ctime = st.ctime // a link changes it
	same := was.unchanged(&st)
	if same && was.racy && !was.Digest.IsZero() {
		same = m.expectContent(d, j.name, was.Digest) == nil
	}
	if !same {
		return false, d.remove(j.name)
	}
	was.Linked = newNames
	m.linked[rep] = was
	was.Entry = m.made[j.op].Entry
	was.Linked = newNames
	m.made[j.op] = was
	return true, nil
}

// parted reports whether an op gives a name of a file in the workspace a file of its own.
// names counts, by file of the workspace and of the call, the names that land together.
func (o *op) parted(names map[[2]any]int) bool {
	n := o.n
	if n == nil || o.New == nil || o.PermsOnly() || !n.content() || !n.low.isFile() || n.low.st.nlink < 2 {
		return false
	}
	return n.twin == nil || uint64(names[n.pair()]) < n.low.st.nlink
}

// pair identifies the file that the workspace has under a path together with the one that the
// call left there.
func (n *node) pair() [2]any { return [2]any{fileID{n.low.st.dev, n.low.st.ino}, n.twin} }
