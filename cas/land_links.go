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
	p.top.each(func(n *node) {
		if !n.low.there || n.low.st.form != regular {
			return
		}
		switch {
		case n.gone:
			gone = append(gone, n)
		case !n.origin && n.content() && n.unkept == "" && n.twin == nil && n.low.st.nlink > 1:
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
		k := &node{cached: n.cached, path: path, attrs: n.attrs, twin: n}
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
	n.twin = n
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

// parted reports whether an op gives a name of a file in the workspace a file of its own.
func (o *op) parted() bool {
	n := o.n
	return n != nil && o.New != nil && n.content() && n.twin == nil && n.low.there && n.low.st.form == regular && n.low.st.nlink > 1
}
