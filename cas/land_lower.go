package cas

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/internal/kv"
)

// lowerReader attaches to each node what the workspace has under its path.
type lowerReader struct {
	t     *tree
	ix    *index // what is known of the workspace
	rules *rules // nil for a managed folder
	upper *tree  // of the layer
	open  map[string]*openRec
}

// known returns what the index has under a path.
func (r *lowerReader) known(path string) (cached, bool) {
	dir, name := split(path)
	o := r.open[dir]
	if o == nil {
		rec := r.ix.dirs.get(dir)
		if rec == nil {
			return cached{}, false
		}
		o = &openRec{rec: rec}
		r.open[dir] = o
	}
	i, ok := o.find(name)
	if !ok {
		return cached{}, false
	}
	return o.rec.ents[i], true
}

// root reads the workspace below the nodes.
func (r *lowerReader) root(top *node) error {
	st, err := selfOf(r.t, "")
	if err != nil {
		return err
	}
	top.low = lower{cached: cached{Entry: Entry{Kind: Folder}}, st: st, there: true}
	return r.below(top)
}

// below attaches what is in a folder. Where the call removed or replaced the folder, each
// name that it has becomes a node of its own.
func (r *lowerReader) below(n *node) error {
	if !n.low.isFolder() {
		return r.nothing(n)
	}
	replaced := n.opaque || !n.isFolder()
	if n.unkept != "" && replaced {
		return nil // it goes as a whole
	}
	d, err := r.t.dir(n.path)
	if gone(err) || errors.Is(err, errLink) {
		n.low = lower{}
		return r.nothing(n)
	}
	if err != nil {
		return err
	}
	defer d.close()
	if replaced {
		names, err := d.names(make([]byte, dirBuffer))
		if err != nil {
			return err
		}
		for _, name := range names {
			if n.kid(name) == nil {
				n.add(&node{cached: cached{Entry: Entry{Name: name}}, path: join(n.path, name), gone: true})
			}
		}
	}
	for _, k := range n.kids {
		if err := r.look(k, d); err != nil {
			return err
		}
		r.inherit(n, k, d)
		if err := r.below(k); err != nil {
			return err
		}
	}
	return nil
}

// nothing marks that the workspace has nothing of what is in a folder of the layer.
func (r *lowerReader) nothing(n *node) error {
	for _, k := range n.kids {
		k.low = lower{}
		r.inherit(n, k, nil)
		if err := r.nothing(k); err != nil {
			return err
		}
	}
	return nil
}

// inherit notes whether states leave a node out, alone or with the folder that it is in.
func (r *lowerReader) inherit(up, n *node, lowDir *dir) {
	if up.unkept != "" {
		n.unkept, n.omittedBy = up.unkept, up.omittedBy
		return
	}
	if why := r.omitted(up, n, lowDir); why != "" {
		n.unkept, n.omittedBy = why, n.path
	}
}

// look reads the stat of one name. What is known of it spares the reading of its content.
func (r *lowerReader) look(n *node, d *dir) error {
	was := n.low
	n.low = lower{}
	st, err := d.lstat(n.Name)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	l := lower{cached: cached{Entry: Entry{Name: n.Name}}, st: st, there: true}
	switch st.form {
	case regular:
		l.remember(&st)
		if known, ok := r.known(n.path); ok && known.content() {
			l.cached = known // captureLower looks whether it is that file still
		}
		if was.there && was.clean(&st) {
			l.cached = was.cached
		}
	case folderForm:
		l.Kind, l.Perm = Folder, permOf(&st)
		l.mode, l.mtime, l.ctime, l.ino = st.mode, st.mtime, st.ctime, st.ino
	case linkForm:
		l.Kind = Link
		l.mtime, l.ctime, l.ino = st.mtime, st.ctime, st.ino
		if l.Text, err = d.readlink(n.Name); err != nil {
			return err
		}
	default:
		l.Kind, l.Text = Special, st.form.String()
		l.mtime, l.ctime, l.ino = st.mtime, st.ctime, st.ino
	}
	n.low = l
	return nil
}

// omitted returns the reason why states leave a node out, or "". The rules are those of
// the workspace as it is, which the call has not written.
func (r *lowerReader) omitted(up, n *node, lowDir *dir) string {
	if known, ok := r.known(n.path); ok && known.Kind == Omitted {
		return known.Text
	}
	if r.rules == nil {
		return ""
	}
	folder := n.isFolder() || n.gone && n.low.isFolder()
	why, kept := r.rules.omitName(up.path, n.Name, folder, r.siblings(up, lowDir))
	was := r.ix.dirs.get(n.path)
	content := was != nil && len(was.ents) > 0
	switch {
	case why == omitNode || why == omitTarget:
		if content {
			return ""
		}
		return why
	case why != "" || kept || !folder || content:
		return why
	}
	return r.omittedFor(n)
}

// siblings returns the names of a folder that the rules ask for.
func (r *lowerReader) siblings(up *node, lowDir *dir) []string {
	var names []string
	for _, name := range []string{"package.json", "Cargo.toml"} {
		if k := up.kid(name); k != nil {
			if !k.gone {
				names = append(names, name)
			}
			continue
		}
		if lowDir == nil || up.opaque {
			continue
		}
		if _, err := lowDir.lstat(name); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// omittedFor returns why a folder is left out for what is in it, or "".
func (r *lowerReader) omittedFor(n *node) string {
	t := r.upper
	if n.gone {
		t = r.t
	}
	d, err := t.dir(n.path)
	if err != nil {
		return ""
	}
	defer d.close()
	var names []string
	for _, name := range []string{"pyvenv.cfg", "CACHEDIR.TAG"} {
		if _, err := d.lstat(name); err == nil {
			names = append(names, name)
		}
	}
	return omitFolder(d, names)
}

// files collects the cached entries whose content has to be read, by folder.
type files map[string][]*cached

func (f files) add(path string, c *cached) {
	dir, _ := split(path)
	f[dir] = append(f[dir], c)
}

// capture reads files of a tree into the store, and fills in their entries. An entry of a
// file that is gone meanwhile loses its kind; one that can't be read becomes Failed.
func (f files) capture(ctx context.Context, c *capturer, b *kv.Batch) error {
	if len(f) == 0 {
		return nil
	}
	found := make(map[string]*folderScan, len(f))
	for dir, list := range f {
		scan := &folderScan{rec: new(dirRec)}
		for i, e := range list {
			scan.rec.ents = append(scan.rec.ents, *e)
			scan.todo = append(scan.todo, i)
		}
		found[dir] = scan
	}
	if err := c.run(ctx, b, found); err != nil {
		return err
	}
	for dir, list := range f {
		if scan := found[dir]; scan.rec == nil && !scan.gone {
			return fmt.Errorf("read %s: %s", EscapePath(dir), scan.fail)
		}
		got := make(map[string]*cached, len(list))
		if rec := found[dir].rec; rec != nil {
			for i := range rec.ents {
				got[rec.ents[i].Name] = &rec.ents[i]
			}
		}
		for _, e := range list {
			if is := got[e.Name]; is != nil {
				*e = *is
			} else {
				e.Kind = 0
			}
		}
	}
	return nil
}

// capture brings the content on both sides into the store: what the call wrote, and what
// that replaces or removes.
func (p *LandingPlan) capture(ctx context.Context, r *lowerReader, limits Limits) error {
	upper, lowers := files{}, files{}
	var nodes, below []*node
	p.top.each(func(n *node) {
		if n.unkept != "" {
			return
		}
		if !n.gone && n.content() && n.Digest.IsZero() && (n.twin == nil || n.twin == n || n.twin.unkept != "") {
			nodes = append(nodes, n)
			upper.add(n.path, &n.cached)
		}
		if n.low.there && n.low.st.form == regular && (n.low.Digest.IsZero() || !n.low.clean(&n.low.st)) {
			below = append(below, n)
			lowers.add(n.path, &n.low.cached)
		}
	})
	if len(nodes) == 0 && len(below) == 0 {
		return nil
	}
	was := make([]cached, len(nodes))
	for i, n := range nodes {
		was[i] = n.cached
	}
	c := p.capturer(r.upper, limits)
	if err := p.s.accounts(ctx, c, p.options.ChatID); err != nil {
		return err
	}
	lc := p.capturer(r.t, limits)
	lc.scan.old = r.ix
	err := p.s.keepObjects(ctx, func(b *kv.Batch) error {
		if err := upper.capture(ctx, c, b); err != nil {
			return err
		}
		lc.used, lc.all = c.used+c.added.Load(), c.all+c.added.Load()
		return lowers.capture(ctx, lc, b)
	})
	p.added += c.added.Load() + lc.added.Load()
	if err != nil {
		return err
	}
	return errors.Join(p.takeUpper(nodes, was), p.takeLower(below))
}

func (p *LandingPlan) capturer(t *tree, limits Limits) *capturer {
	scan := &scanner{t: t, old: &index{}, now: p.s.now().UnixNano()}
	c := &capturer{s: p.s, scan: scan, limits: limits, found: present{s: p.s}, moved: func(int, int64) {}}
	c.foreign = remote(t.top)
	return c
}

// takeUpper fills in the digests of what the call wrote.
func (p *LandingPlan) takeUpper(nodes []*node, was []cached) error {
	for i, n := range nodes {
		got := n.cached
		n.cached = was[i] // its mode may have been widened for the reading
		switch {
		case got.content() && got.Size == was[i].Size:
			n.Digest = got.Digest
		case got.Kind == Failed && got.Text == reasonTooLarge:
			n.unkept = got.Text
		default:
			return &LayerError{Layer: p.layer, Path: n.path, Reason: "it changed while it was read, or can't be read: " + got.Text}
		}
	}
	p.top.each(func(n *node) {
		if n.twin != nil && n.unkept == "" && n.Digest.IsZero() {
			n.Digest, n.unkept = n.twin.Digest, n.twin.unkept
		}
	})
	return nil
}

// takeLower brings the stats up to the moment at which the contents were read.
func (p *LandingPlan) takeLower(below []*node) error {
	for _, n := range below {
		l := &n.low
		switch {
		case l.Kind == 0:
			*l = lower{}
		case l.content():
			l.st.size, l.st.mode, l.st.mtime, l.st.ctime, l.st.ino = l.Size, l.mode, l.mtime, l.ctime, l.ino
		case l.Kind == Failed && l.Text == reasonUnstable:
			return fmt.Errorf("read %s: %s", EscapePath(n.path), l.Text)
			// A Failed entry is larger than the limit, or can't be read: what replaces it lands,
			// although the store does not have it.
		}
	}
	return nil
}

// eachBelow calls fn with the path and stat of everything below a folder of the workspace,
// until fn returns false.
func (r *lowerReader) eachBelow(path string, depth int, fn func(path string, st *stat) bool) error {
	if depth > maxDepth {
		return fmt.Errorf("read %s: more than %d folders deep", EscapePath(path), maxDepth)
	}
	d, err := r.t.dir(path)
	if err != nil {
		return err
	}
	defer d.close()
	names, err := d.names(make([]byte, dirBuffer))
	if err != nil {
		return err
	}
	for _, name := range names {
		st, err := d.lstat(name)
		if err != nil {
			return err
		}
		if !fn(join(path, name), &st) {
			return nil
		}
		if st.form == folderForm {
			if err := r.eachBelow(join(path, name), depth+1, fn); err != nil {
				return err
			}
		}
	}
	return nil
}
