package cas

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// entry returns what an op leaves.
func (o *op) entry() Entry {
	if o.New == nil {
		return Entry{}
	}
	if o.n != nil {
		return o.n.entry()
	}
	return *o.New
}

// entry returns what states have of what the call left.
func (n *node) entry() Entry {
	if n.unkept == "" || n.gone {
		return n.Entry
	}
	return Entry{Name: n.Name, Kind: Failed, Text: n.unkept, Size: n.Size}
}

// left returns what the call left under a path, in the form of an index: names of one file have
// its inode.
func (n *node) left() cached {
	c := cached{Entry: n.entry()}
	if n.twin != nil && c.content() {
		c.Linked, c.ino = newNames, n.ino
	}
	return c
}

// enter brings the effect of an op into an index. A folder that a rule leaves out is one
// Omitted entry.
func (o *op) enter(e *editor, c cached) {
	if o.n == nil || o.n.unkept == "" {
		if o.New == nil {
			e.remove(o.Path)
		} else {
			e.set(o.Path, c)
		}
		return
	}
	switch {
	case o.n.omittedBy == "":
		if o.New == nil {
			e.remove(o.Path)
		} else {
			e.set(o.Path, cached{Entry: o.n.entry()})
		}
	case o.n.omittedBy != o.Path:
	case o.New == nil:
		e.remove(o.Path)
	default:
		e.set(o.Path, cached{Entry: Entry{Name: o.n.Name, Kind: Omitted, Text: o.n.unkept}})
	}
}

// fromLayer reports whether the content is in the layer alone.
func (o *op) fromLayer() bool { return o.n != nil && o.n.unkept != "" && o.New != nil }

// whole reports whether a folder goes, or comes, with all that is in it, by one rename.
func (o *op) whole() bool { return o.n != nil && o.n.omittedBy != "" && !o.PermsOnly() }

// was returns what the workspace had under the path of an op.
func (m *mover) was(o *op) (cached, bool) {
	if o.n != nil {
		return o.n.low.cached, o.n.low.there
	}
	return m.known.lookup(o.Path)
}

// expect checks by the stat alone that a name is what it was. A rename changes the time
// of change, so that isn't compared.
func (l *lower) expect(st *stat) error {
	if st.form != l.st.form || st.ino != l.st.ino || st.form != folderForm && (st.size != l.st.size || st.mtime != l.st.mtime) {
		return errForeign
	}
	return nil
}

// expectBelow checks that nothing in a folder, which was moved, has changed since the call
// started.
func (l *landing) expectBelow(t *tree, path string) error {
	older := true
	r := &lowerReader{t: t}
	err := r.eachBelow(path, 0, func(_ string, st *stat) bool {
		older = l.p.older(st)
		return older
	})
	if err == nil && !older {
		err = errForeign
	}
	return err
}

// skips reports whether an op isn't carried out.
func (m *mover) skips(i int) bool { return m.dead[i] }

// lateAt makes a conflict of the error of an op, which has been put back, if it is one
// that concerns its path alone. Of a unit it takes back what has been done.
func (m *mover) lateAt(i int, err error) error {
	if err == nil || m.lands == nil {
		return err
	}
	var stuck *UnfinishedError
	kind, why := lateKind(err)
	if kind == "" || errors.As(err, &stuck) {
		return err
	}
	o := &m.ops[i]
	for k := range m.ops {
		if k != i && !m.together(i, k) || m.dead[k] {
			continue
		}
		m.dead[k], m.done[k] = true, false
		c := Conflict{Path: m.ops[k].Path, Kind: WholeUnit, Base: m.ops[k].Old, User: m.ops[k].Old, Call: m.ops[k].New}
		if k == i {
			c.Kind, c.Reason, c.User = kind, why, nil
		}
		m.lands.late = append(m.lands.late, c)
	}
	kept := m.undo[:0:0]
	for _, u := range slices.Backward(m.undo) {
		if !m.dead[u.op] || u.op != i && !m.together(i, u.op) {
			kept = append(kept, u)
			continue
		}
		if err := u.back(); err != nil {
			return stuckAt(o, err)
		}
	}
	slices.Reverse(kept)
	m.undo = kept
	return nil
}

func stuckAt(o *op, err error) error { return stuck(&effectError{o.Path, err}) }

// together reports whether two ops take effect both or not at all.
func (m *mover) together(i, k int) bool {
	a, b := &m.ops[i], &m.ops[k]
	if a.unit != "" && a.unit == b.unit {
		return true
	}
	return b.staged && a.New != nil && a.New.Kind == Folder && within(b.Path, a.Path) && b.Path != a.Path
}

// lateKind returns the kind of conflict that an error of one path is, and its reason.
func lateKind(err error) (ConflictKind, string) {
	switch {
	case errors.Is(err, errForeign):
		return Late, errForeign.Error()
	case gone(err), errors.Is(err, errLink):
		return ParentGone, "its folder was moved or removed"
	case errors.Is(err, syscall.EXDEV):
		return Refused, "it is on another file system than the folder"
	case errors.Is(err, syscall.EROFS):
		return Refused, reasonReadOnly
	case errors.Is(err, syscall.EBUSY):
		return Refused, "something is mounted there, or uses it"
	case errors.Is(err, fs.ErrPermission):
		return Refused, "the system doesn't let it be changed"
	}
	return "", ""
}

// twins separates the further names of files that are written already.
func (m *mover) twins(files []fileJob) (write, links []fileJob) {
	if m.lands == nil {
		return m.namesOf(files)
	}
	wrote := make(map[*node]bool)
	for _, j := range files {
		f := m.ops[j.op].n.twin
		if f == nil || !wrote[f] {
			write = append(write, j)
			if f != nil {
				wrote[f] = true
			}
			continue
		}
		links = append(links, j)
	}
	return write, links
}

// linkTwins gives files that are staged their further names.
func (m *mover) linkTwins(ctx context.Context, write, links []fileJob) error {
	if len(links) == 0 {
		return nil
	}
	if m.lands == nil {
		return m.linkNames(ctx, write, links)
	}
	at := make(map[*node]fileJob)
	for _, j := range write {
		if f := m.ops[j.op].n.twin; f != nil {
			at[f] = j
		}
	}
	for _, j := range links {
		first := at[m.ops[j.op].n.twin]
		if err := m.link(join(first.dir, first.name), j); err != nil {
			return effectAt(&m.ops[j.op], err)
		}
		m.made[first.op].Linked = newNames
		name := m.made[j.op].Name
		m.made[j.op] = m.made[first.op]
		m.made[j.op].Name = name
	}
	return nil
}

func effectAt(o *op, err error) error { return &effectError{o.Path, err} }

// dress gives a file that is written the attributes and the time of modification that the
// call gave it.
func (n *node) dress(d *dir, name string, f *os.File) (stat, error) {
	err := setAttrs(f, n.attrs)
	if err == nil && n.mtime != 0 {
		err = d.chtimes(name, n.mtime)
	}
	if err != nil {
		return stat{}, err
	}
	return fstat(f)
}

// copyBelow copies what only the layer has into the stage: a file, a link, or a folder
// with all that is in it.
func (m *mover) copyBelow(ctx context.Context, d *dir, name string, n *node) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case n.gone:
		return nil
	case n.Kind == Link:
		return d.symlink(n.Text, name)
	case n.Kind == Folder:
		return m.copyFolder(ctx, d, name, n)
	}
	dir, base := split(n.path)
	from, err := m.lands.p.upper.dir(dir)
	if err != nil {
		return err
	}
	defer from.close()
	in, err := from.open(base)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := d.create(name, 0o600)
	if err != nil {
		return err
	}
	if m.s.check("clone", "") != nil || clone(out, in) != nil {
		c := copier{ctx: ctx, sum: sha256.New()}
		_, err = c.copy(out, in)
	}
	if err == nil {
		_, err = setFilePerm(out, n.Perm.Bits())
	}
	if err == nil {
		_, err = n.dress(d, name, out)
	}
	m.wrote(1, n.Size)
	return errors.Join(err, out.Close())
}

// copyFolder copies a folder of the layer. The folder itself gets its permission bits
// once it is in its place: one that can't be written to can't be moved either.
func (m *mover) copyFolder(ctx context.Context, d *dir, name string, n *node) error {
	if err := d.mkdir(name, 0o700); err != nil {
		return err
	}
	sub, err := d.sub(name)
	if err != nil {
		return err
	}
	defer sub.close()
	for _, k := range n.kids {
		if err := m.copyBelow(ctx, sub, k.Name, k); err != nil {
			return err
		}
		if k.isFolder() {
			if _, err := sub.setPerm(k.Name, k.Perm); err != nil {
				return err
			}
			if err := sub.chtimes(k.Name, k.mtime); err != nil {
				return err
			}
		}
	}
	return nil
}

// polish gives the folders that have landed, and those in which something has, the times
// that the call left, the deepest first. A folder that refuses is reported, and nothing is
// taken back for it.
func (l *landing) polish(m *mover) {
	l.done = m.done
	into := make(map[string]bool)
	for i := range m.ops {
		if m.done[i] {
			dir, _ := split(m.ops[i].Path)
			into[dir] = true
		}
	}
	var folders []*node
	l.p.top.each(func(n *node) {
		if n.path != "" && n.isFolder() && n.mtime != 0 && into[n.path] && n.low.isFolder() {
			folders = append(folders, n)
		}
	})
	for i := range m.ops {
		if o := &m.ops[i]; m.done[i] && o.New != nil && o.New.Kind == Folder {
			folders = append(folders, o.n)
		}
	}
	slices.SortFunc(folders, func(a, b *node) int { return len(b.path) - len(a.path) })
	for _, n := range folders {
		d, name, err := m.parent(n.path)
		if err == nil {
			err = d.chtimes(name, n.mtime)
			d.close()
		}
		if err != nil {
			l.out.Left = append(l.out.Left, Left{Path: n.path, Kind: Folder, Reason: "its time of modification could not be set"})
		}
	}
}
