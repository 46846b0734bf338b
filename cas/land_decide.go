package cas

import (
	"context"
	"errors"
	"time"
)

// ConflictKind names how a change of a call and one of the user contradict each other. The
// call's part comes first. "User" means every program outside of the call.
type ConflictKind string

// The kinds of conflicts.
const (
	EditEdit   ConflictKind = "edit/edit"   // both changed the path
	EditDelete ConflictKind = "edit/delete" // the call changed what the user removed
	DeleteEdit ConflictKind = "delete/edit" // the call removed what the user changed
	AddAdd     ConflictKind = "add/add"     // both added the path, with different content
	ParentGone ConflictKind = "parent gone" // the folder of the path was removed or moved
	TypeChange ConflictKind = "type"        // a file became a folder or a link, or the reverse
	// WholeUnit marks a path without a conflict of its own: it belongs to a folder that
	// the call replaced as a whole, and another path of that folder has one.
	WholeUnit ConflictKind = "whole folder"
	// Late is a path that the user changed while the landing was under way.
	Late ConflictKind = "late"
	// Refused is a path that the system did not let be changed.
	Refused ConflictKind = "refused"
)

// Conflict is a path of a call that does not land, since the workspace does not have what
// the call started from. The workspace keeps what it has; the call's version is in
// [Landing.Call].
type Conflict struct {
	Path   string
	Kind   ConflictKind
	Reason string // a clause, for Late and Refused
	// Base is what the call started from, as far as that is known; User is what the
	// workspace has, and Call what the call left. Nil is nothing, or, of Base, unknown. A
	// Call of the kind Failed is in no state: only the layer has it.
	Base, User, Call *Entry
}

// item is a change that can land.
type item struct {
	n    *node
	c    Change
	unit string // the folder that lands as a whole or not at all; "" is none
}

// decider compares what the call did with what the workspace has.
type decider struct {
	ix *index
	r  *lowerReader
	// t0 is the time of the mount; strict distrusts all times.
	t0     int64
	strict bool
	// noted is the time, by our clock, from which on what the index has isn't the base;
	// start serves instead.
	noted int64
	start *startState

	items     []item
	conflicts []Conflict
	broken    map[string]bool // units with a conflict
}

// around is what is known of the folder that a node is in.
type around struct {
	trusted bool // the folder, and those above, are the ones that the call saw
	seen    bool // no name of the folder came or went since the call started
	fresh   bool // the call made the folder
	lost    bool // the user removed the folder
	unit    string
}

// older reports whether a stat shows that nothing has changed since the call started.
func (d *decider) older(st *stat) bool {
	if d.strict || st.ctime == 0 {
		return false
	}
	t0 := d.t0
	if st.ctime%int64(time.Second) == 0 { // a file system with coarse times
		t0 -= int64(coarseMargin)
	}
	return st.ctime < t0
}

// base returns what a path was when the call started, as far as the index shows that.
func (d *decider) base(path string) (cached, bool) {
	dir, _ := split(path)
	if rec := d.ix.dirs.get(dir); rec == nil || rec.scanned < d.noted {
		return d.r.known(path)
	}
	e, ok := d.start.lookup(path)
	return cached{Entry: e}, ok
}

// startState is the state that the chat had when a call started. It is read where the
// index is newer: after a crash, or a landing that was taken back.
type startState struct {
	s    *Store
	ctx  context.Context
	id   string
	root *Manifest
	dirs map[string][]Entry
	err  error // of the store; a state that does not exist any more is none
}

// lookup returns what the state has under a path.
func (b *startState) lookup(path string) (Entry, bool) {
	dir, name := split(path)
	return findEntry(b.folder(dir), name)
}

func (b *startState) folder(path string) []Entry {
	if b.id == "" || b.err != nil {
		return nil
	}
	if entries, ok := b.dirs[path]; ok {
		return entries
	}
	if b.dirs == nil {
		b.dirs = make(map[string][]Entry)
		m, err := b.s.Manifest(b.ctx, b.id)
		if errors.Is(err, ErrNotFound) {
			b.id = ""
			return nil
		}
		if b.root, b.err = m, err; err != nil {
			return nil
		}
	}
	digest, ok := b.root.Root, true
	if path != "" {
		var e Entry
		e, ok = b.lookup(path)
		digest, ok = e.Digest, ok && e.Kind == Folder
	}
	if ok {
		b.dirs[path], b.err = b.s.Tree(b.ctx, digest)
	} else {
		b.dirs[path] = nil
	}
	return b.dirs[path]
}

// baseEntry is base as a pointer, nil where it isn't known.
func (d *decider) baseEntry(path string) *Entry {
	if was, ok := d.base(path); ok {
		return &was.Entry
	}
	return nil
}

// expected reports whether the workspace has under a path what the call saw there.
func (d *decider) expected(n *node, at around) bool {
	if at.trusted && d.older(&n.low.st) {
		return true
	}
	was, ok := d.base(n.path)
	return ok && n.kept() && alike(&n.low.Entry, &was.Entry)
}

// mayAdd reports whether the call saw nothing under a path where nothing is now.
func (d *decider) mayAdd(n *node, at around) bool {
	if at.fresh || at.seen {
		return true
	}
	_, known := d.base(n.path)
	return !known && !at.lost && (n.unkept == "" || !n.origin)
}

// node decides about one path and those below it.
func (d *decider) node(n *node, at around) {
	switch {
	case n.unkept == omitGit && n.low.there:
		d.repository(n, at)
	case n.gone:
		d.removal(n, at)
	case n.Kind == Folder:
		d.folder(n, at)
	default:
		d.file(n, at)
	}
}

// repository decides about a repository of the user's that the call changed or removed, since
// its sandbox did not know of it. It stays: no state has a copy, and git runs what is in it.
func (d *decider) repository(n *node, at around) {
	switch {
	case n.gone:
		d.clash(n, at, DeleteEdit)
	case n.isFolder() && !n.opaque && len(n.kids) == 0:
		// the call opened it, and left it as it was
	default:
		d.clash(n, at, EditEdit)
	}
}

// land notes a change.
func (d *decider) land(n *node, at around) {
	c := Change{Path: n.path, Old: n.low.entry()}
	if n.unkept != "" && (n.low.content() || n.low.isFolder() && (n.opaque || !n.isFolder())) {
		c.Old = &Entry{Name: n.Name, Kind: Failed, Text: n.unkept} // what it has isn't known, and equals nothing
	}
	if !n.gone {
		c.New = &n.Entry
	}
	d.items = append(d.items, item{n, c, at.unit})
}

// clash notes a conflict.
func (d *decider) clash(n *node, at around, kind ConflictKind) {
	c := Conflict{Path: n.path, Kind: kind, Base: d.baseEntry(n.path), User: n.low.entry()}
	if !n.gone {
		e := n.entry()
		c.Call = &e
	}
	d.conflicts = append(d.conflicts, c)
	if at.unit != "" {
		d.broken[at.unit] = true
	}
}

// file decides about a file or link that the call left.
func (d *decider) file(n *node, at around) {
	switch {
	case n.low.isFolder():
		d.fileForFolder(n, at)
	case n.low.there && d.equal(n):
		// the call did not change it, or the user has the same
	case n.low.there && d.expected(n, at):
		d.land(n, at)
	case !n.low.there && d.mayAdd(n, at):
		d.land(n, at)
	case d.untouched(n):
		// the call opened it for writing, and left it as it was
	case at.lost:
		d.clash(n, at, ParentGone)
	case !n.low.there:
		d.clash(n, at, EditDelete)
	case d.turned(n):
		d.clash(n, at, TypeChange)
	case n.origin || d.baseEntry(n.path) != nil:
		d.clash(n, at, EditEdit)
	default:
		d.clash(n, at, AddAdd)
	}
}

// equal reports whether the workspace has what the call left.
func (d *decider) equal(n *node) bool {
	switch {
	case n.unkept == "":
		return alike(&n.low.Entry, &n.Entry)
	case n.Kind == Link:
		return n.low.Kind == Link && n.low.Text == n.Text
	}
	return n.unchanged()
}

// untouched reports whether a file was copied into the layer, and not changed there.
func (d *decider) untouched(n *node) bool {
	was, ok := d.base(n.path)
	return ok && n.origin && n.unkept == "" && alike(&was.Entry, &n.Entry) && (!n.content() || was.mtime == n.mtime)
}

// turned reports whether the workspace has another type of entry than before.
func (d *decider) turned(n *node) bool {
	was, ok := d.base(n.path)
	return ok && was.content() != n.low.content()
}

// fileForFolder decides about a file that replaces a folder.
func (d *decider) fileForFolder(n *node, at around) {
	if at.unit == "" {
		at.unit = n.path
	}
	if !d.folderExpected(n, at) {
		d.clash(n, at, TypeChange)
		return
	}
	d.land(n, at)
	d.kids(n, at)
}

// folderExpected reports whether the folder that the workspace has is the one that the
// call saw. Its content may differ.
func (d *decider) folderExpected(n *node, at around) bool {
	if n.unkept != "" {
		return at.trusted && d.olderBelow(n)
	}
	was, ok := d.base(n.path)
	return at.trusted && d.older(&n.low.st) || ok && was.Kind == Folder
}

// removal decides about a path that the call removed.
func (d *decider) removal(n *node, at around) {
	switch {
	case !n.low.there:
	case !n.low.isFolder() && d.expected(n, at):
		d.land(n, at)
	case !n.low.isFolder() || !d.folderExpected(n, at):
		d.clash(n, at, DeleteEdit)
	default:
		had, first := len(d.conflicts), len(d.items)
		d.land(n, at)
		d.kids(n, at)
		if len(d.conflicts) > had { // the folder stays, with what is in conflict
			d.items = append(d.items[:first], d.items[first+1:]...)
		}
	}
}

// kids decides about what is in a folder of the workspace.
func (d *decider) kids(n *node, at around) {
	trusted := at.trusted && (d.older(&n.low.st) || d.sameFolder(n))
	below := around{trusted: trusted, seen: trusted && d.older(&n.low.st), unit: at.unit}
	for _, k := range n.kids {
		d.node(k, below)
	}
}

// sameFolder reports whether the workspace has the folder that the index has noted, and
// not another one that was moved there: that would not show in the times of what is in it.
func (d *decider) sameFolder(n *node) bool {
	rec := d.ix.dirs.get(n.path)
	return rec != nil && rec.listed.ino != 0 && rec.listed.ino == n.low.st.ino && n.low.st.dev == d.ix.root.dev
}

// folder decides about a folder that the call left.
func (d *decider) folder(n *node, at around) {
	switch {
	case n.low.isFolder() && !n.opaque:
		d.merged(n, at)
	case n.low.isFolder():
		d.replaced(n, at)
	case n.low.there:
		if at.unit == "" {
			at.unit = n.path
		}
		if n.opaque && d.expected(n, at) && n.low.kept() {
			d.made(n, at)
		} else {
			d.clash(n, at, TypeChange)
		}
	case n.origin && !n.opaque && !at.fresh:
		for _, k := range n.kids { // the user removed it
			d.node(k, around{lost: true, unit: at.unit})
		}
	case d.mayAdd(n, at):
		d.made(n, at)
	default:
		if at.unit == "" {
			at.unit = n.path
		}
		d.clash(n, at, EditDelete)
	}
}

// made lands a folder that the workspace does not have, with what is in it.
func (d *decider) made(n *node, at around) {
	d.land(n, at)
	if n.unkept != "" {
		return // it goes as a whole
	}
	for _, k := range n.kids {
		d.node(k, around{trusted: true, fresh: true, unit: at.unit})
	}
}

// merged decides about a folder that both have: its permission bits, and what is in it.
func (d *decider) merged(n *node, at around) {
	was, known := d.base(n.path)
	switch {
	case n.Perm.agrees(n.low.Perm):
	case at.trusted && d.older(&n.low.st), known && was.Perm.agrees(n.low.Perm):
		d.land(n, at)
	case known && was.Perm.agrees(n.Perm):
		// the user changed them, and the call did not
	default:
		d.clash(n, at, EditEdit)
	}
	d.kids(n, at)
}

// replaced decides about a folder that takes the place of another one.
func (d *decider) replaced(n *node, at around) {
	if at.unit == "" {
		at.unit = n.path
	}
	switch {
	case !d.folderExpected(n, at):
		d.clash(n, at, EditEdit)
	case n.unkept != "":
		d.land(n, at)
	default:
		if !n.Perm.agrees(n.low.Perm) {
			d.land(n, at)
		}
		d.kids(n, at)
	}
}

// olderBelow reports whether nothing in a folder of the workspace has changed since the
// call started.
func (d *decider) olderBelow(n *node) bool {
	all := true
	err := d.r.eachBelow(n.path, 0, func(_ string, st *stat) bool {
		all = d.older(st)
		return all
	})
	return err == nil && all && d.older(&n.low.st)
}

// whole takes the changes of units that have a conflict out.
func (d *decider) whole() {
	kept := d.items[:0]
	for _, it := range d.items {
		if it.unit == "" || !d.broken[it.unit] {
			kept = append(kept, it)
			continue
		}
		c := Conflict{Path: it.c.Path, Kind: WholeUnit, User: it.c.Old, Call: it.c.New}
		d.conflicts = append(d.conflicts, c)
	}
	d.items = kept
}
