package cas

import (
	"slices"
	"strings"
)

// node is what a call has done to one path, together with what the workspace has there.
// The nodes of a layer form a tree, which has the folders that lead to them, too.
type node struct {
	cached        // what the call has left: an entry with the stat of its file
	path   string // slash-separated; "" is the root
	gone   bool   // the call removed the path; the entry has only a name
	opaque bool   // a folder that replaces what the workspace has
	origin bool   // an entry that was copied from the workspace, and possibly changed
	attrs  []attr // extended attributes that a file gets
	twin   *node  // the first node of this file, where it has several names
	kids   []*node

	// unkept is the reason why the store does not have the content; "" means that it
	// has. Such a path lands as others do, but no state contains it.
	unkept string
	// omittedBy is the path that a rule leaves out: the node's own, or one above.
	omittedBy string
	low       lower
	// want is what the workspace must have for the change to land, where expects is true;
	// nil is nothing. Without expects the times of change decide.
	want    *Entry
	expects bool
}

// lower is what the workspace has under a path.
type lower struct {
	cached
	st    stat
	there bool
}

// entry returns the entry, or nil where there is none.
func (l *lower) entry() *Entry {
	if !l.there {
		return nil
	}
	return &l.Entry
}

// isFolder reports whether the workspace has a folder under the path.
func (l *lower) isFolder() bool { return l.there && l.st.form == folderForm }

// kept reports whether the store has the content of both sides.
func (n *node) kept() bool { return n.unkept == "" && (!n.low.there || n.low.kept()) }

// kid returns the node under a name.
func (n *node) kid(name string) *node {
	i, ok := slices.BinarySearchFunc(n.kids, name, func(k *node, name string) int { return strings.Compare(k.Name, name) })
	if !ok {
		return nil
	}
	return n.kids[i]
}

// add puts a node into a folder, in the order of names.
func (n *node) add(k *node) {
	i, _ := slices.BinarySearchFunc(n.kids, k.Name, func(k *node, name string) int { return strings.Compare(k.Name, name) })
	n.kids = slices.Insert(n.kids, i, k)
}

// each calls fn with a node and those below it, a folder ahead of what is in it.
func (n *node) each(fn func(*node)) {
	fn(n)
	for _, k := range n.kids {
		k.each(fn)
	}
}

// isFolder reports whether the call has left a folder.
func (n *node) isFolder() bool { return !n.gone && n.Kind == Folder }
