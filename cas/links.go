package cas

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
)

// Names of one file. An entry that has other names in the workspace has Linked, a digest of
// the paths of all of them, so that a state shows which names are one file. It is not
// compared by [Entry.Same]: which names are one file is never a change by itself. A restore
// that writes one of the names makes it a name of the file that the others are.

// linkedSize is the length of Entry.Linked: enough that no two groups have the same.
const linkedSize = 16

// linkedOf returns the Linked of entries with these paths, which it sorts; "" for one alone.
func linkedOf(paths []string) string {
	if len(paths) < 2 {
		return ""
	}
	slices.Sort(paths)
	sum := sha256.Sum256([]byte(strings.Join(paths, "\x00")))
	return string(sum[:linkedSize])
}

// fileID identifies a file on this machine.
type fileID struct{ dev, ino uint64 }

// linkedNames collects the names of files that have several.
type linkedNames struct {
	mu    sync.Mutex
	paths map[fileID][]string
}

func (l *linkedNames) add(path string, st *stat) {
	if st.nlink < 2 || inStage(path) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths == nil {
		l.paths = make(map[fileID][]string)
	}
	id := fileID{st.dev, st.ino}
	l.paths[id] = append(l.paths[id], path)
}

// groups returns the Linked of each path.
func (l *linkedNames) groups() map[string]string {
	out := make(map[string]string)
	for _, paths := range l.paths {
		if linked := linkedOf(paths); linked != "" {
			for _, p := range paths {
				out[p] = linked
			}
		}
	}
	return out
}

// link brings the groups of a scan into what it found. Records that are shared with the old
// index are copied.
func (s *scanner) link(found map[string]*folderScan) {
	byDir := make(map[string]map[string]string)
	for path, linked := range s.names.groups() {
		dir, name := split(path)
		if byDir[dir] == nil {
			byDir[dir] = make(map[string]string)
		}
		byDir[dir][name] = linked
	}
	for dir, names := range byDir {
		if f := found[dir]; f != nil && f.rec != nil {
			f.rec = f.rec.withLinked(names, s.old.dirs.get(dir))
		}
	}
	if s.old.dirs.sum.linked == 0 {
		return
	}
	for dir, old := range s.old.dirs.all() { // those that have no other name any more
		if f := found[dir]; old.linked > 0 && byDir[dir] == nil && f != nil && f.rec != nil {
			f.rec = f.rec.withLinked(nil, old)
		}
	}
}

// withLinked returns the record with the Linked of its entries as given. old is the record
// that may not be changed.
func (r *dirRec) withLinked(names map[string]string, old *dirRec) *dirRec {
	shared := r == old || old != nil && sameArray(r.ents, old.ents)
	for i := range r.ents {
		e := &r.ents[i]
		pending := e.Kind == 0 // its content is still to be read
		if !pending && !e.content() || e.Linked == names[e.Name] {
			continue
		}
		if shared {
			r = &dirRec{ents: slices.Clone(r.ents), listed: r.listed}
			shared = false
			e = &r.ents[i]
		}
		e.Linked = names[e.Name]
	}
	return r
}

// group is the names that are one file in the state that is restored.
type group struct {
	paths []string // all of them
	ops   []int    // those that are written
	rep   string   // one that stays as it is, and that the others become names of; "" is none
}

// linkGroups finds the groups of what a restore writes. Where it does not write all names of
// a group, one of the others has to be what the state has there.
func (r *restore) linkGroups(ctx context.Context) error {
	groups := make(map[string]*group)
	for i := range r.todo.ops {
		e := r.todo.ops[i].New
		if e == nil || e.Linked == "" || !e.content() {
			continue
		}
		if groups[e.Linked] == nil {
			groups[e.Linked] = new(group)
		}
		g := groups[e.Linked]
		g.ops = append(g.ops, i)
		g.paths = append(g.paths, r.todo.ops[i].Path)
	}
	open := make(map[string]*group)
	for linked, g := range groups {
		if linkedOf(slices.Clone(g.paths)) != linked {
			open[linked] = g
		}
	}
	r.groups = groups
	if len(open) == 0 {
		return nil
	}
	written := make(map[string]bool)
	for i := range r.todo.ops {
		written[r.todo.ops[i].Path] = true
	}
	for l, err := range r.s.Walk(ctx, r.target) {
		if err != nil {
			return err
		}
		g := open[l.Linked]
		if g == nil || written[l.Path] {
			continue
		}
		g.paths = append(g.paths, l.Path)
		if now, ok := r.f.index.lookup(l.Path); ok && g.rep == "" && now.Entry.Same(l.Entry) {
			g.rep = l.Path
		}
	}
	return nil
}

// newNames is the Linked of files whose names regroup is still to find.
const newNames = "?"

// namesOf separates the names that are added to a file which is written for another name, or
// stays as it is.
func (m *mover) namesOf(files []fileJob) (write, links []fileJob) {
	began := make(map[*group]bool)
	for _, j := range files {
		g := m.groups[m.ops[j.op].New.Linked]
		if g == nil || !began[g] && g.rep == "" {
			write = append(write, j)
		} else {
			links = append(links, j)
		}
		if g != nil {
			began[g] = true
		}
	}
	return write, links
}

// linkNames gives files their further names in the stage. What the file system does not link
// is written as a file of its own.
func (m *mover) linkNames(ctx context.Context, write, links []fileJob) error {
	first := make(map[*group]fileJob)
	for _, j := range write {
		if g := m.groups[m.ops[j.op].New.Linked]; g != nil {
			first[g] = j
		}
	}
	reps := make(map[*group]cached)
	var alone []fileJob
	for _, j := range links {
		o := &m.ops[j.op]
		g := m.groups[o.New.Linked]
		from, was := g.rep, cached{}
		if from == "" {
			f := first[g]
			from, was = join(f.dir, f.name), m.made[f.op]
		} else if known, ok := reps[g]; ok {
			was = known
		} else {
			var err error
			if was, err = m.unchangedName(from); err != nil { // before another name changes its stat
				return effectAt(o, err)
			}
			reps[g] = was
		}
		if m.link(from, j) != nil {
			alone = append(alone, j)
			continue
		}
		was.Entry = *o.New
		was.Name = strings.Clone(o.New.Name)
		if err := m.rememberAt(&was, j); err != nil {
			return effectAt(o, err)
		}
		m.made[j.op] = was
	}
	return m.writeAll(ctx, alone)
}

// link gives a file another name in the stage.
func (m *mover) link(from string, j fileJob) error {
	d, name, err := m.parent(from)
	if err != nil {
		return err
	}
	defer d.close()
	to, err := m.t.dir(j.dir)
	if err != nil {
		return err
	}
	defer to.close()
	return d.link(name, to, j.name)
}

// unchangedName returns what is known of a file that gets further names, after it has
// checked that it is so still.
func (m *mover) unchangedName(path string) (cached, error) {
	was, _ := m.known.lookup(path)
	d, name, err := m.parent(path)
	if err != nil {
		return was, err
	}
	defer d.close()
	st, err := d.lstat(name)
	if err != nil || !was.unchanged(&st) {
		return was, errForeign
	}
	if was.racy {
		err = m.expectContent(d, name, was.Digest)
	}
	return was, err
}

// rememberAt notes the stat of a name in the stage.
func (m *mover) rememberAt(c *cached, j fileJob) error {
	d, err := m.t.dir(j.dir)
	if err != nil {
		return err
	}
	defer d.close()
	st, err := d.lstat(j.name)
	if err == nil {
		c.remember(&st)
	}
	return err
}

// regroup sets the Linked of all files to what their inodes show, where it has been set at
// all. It reports whether that changed one.
func (e *editor) regroup() (changed bool) {
	type file struct {
		ino    uint64
		digest Digest
	}
	names := make(map[file][]string)
	each := func(fn func(path string, c *cached)) {
		of := func(dir string, rec *dirRec) {
			for i := range rec.ents {
				if c := &rec.ents[i]; c.content() && c.Linked != "" {
					fn(join(dir, c.Name), c)
				}
			}
		}
		for dir, f := range e.found {
			if f != nil && f.rec != nil {
				of(dir, f.rec)
			}
		}
		if e.ix.dirs.sum.linked == 0 {
			return
		}
		for dir, rec := range e.ix.dirs.all() {
			if _, edited := e.found[dir]; !edited && rec.linked > 0 {
				of(dir, rec)
			}
		}
	}
	each(func(path string, c *cached) {
		id := file{c.ino, c.Digest}
		names[id] = append(names[id], path)
	})
	wrong := make(map[string]string)
	each(func(path string, c *cached) {
		if linked := linkedOf(names[file{c.ino, c.Digest}]); linked != c.Linked {
			wrong[path] = linked
		}
	})
	for path, linked := range wrong {
		e.setLinked(path, linked)
	}
	return len(wrong) > 0
}

// setLinked sets the Linked of one file.
func (e *editor) setLinked(path, linked string) {
	dir, name := split(path)
	o := e.edit(dir)
	if i, ok := o.find(name); ok {
		o.rec.ents[i].Linked = linked
	}
}
