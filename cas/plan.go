package cas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// plan is what a restore is going to do, complete before it does anything.
type plan struct {
	ops     []op
	left    []Left
	blocked []Blocked
	bytes   int64 // of content to be written
}

// contents counts what is to be written.
func (p *plan) contents() (files int, bytes int64) {
	for i := range p.ops {
		if e := p.ops[i].New; e != nil && e.content() && !p.ops[i].PermsOnly() {
			files++
		}
	}
	return files, p.bytes
}

// op changes one path: PermsOnly ones where it is, the others by giving the name to
// something else. Ops are in the order of paths, folders before what is in
// them.
type op struct {
	Change
	// staged tells that the path comes into being within a folder that an
	// earlier op makes.
	staged bool
	// n and unit are those of a landing; nil and "" in a restore.
	n    *node
	unit string
}

// PermsOnly reports whether the op only sets permission bits. A file with other names is
// written again for that, or names that the restore leaves alone would change, too.
func (o *op) PermsOnly() bool {
	return o.Change.PermsOnly() && o.Old.Linked == "" && o.New.Linked == "" && (o.n == nil || o.n.twin == nil)
}

// planner makes a plan from the differences between what is there and what is
// wanted.
type planner struct {
	bound     bool
	paths     *scope // nil takes all
	exact     bool   // paths are meant without what is below them
	overwrite bool
	foreign   bool // the state is another store's
	keep      *scope
	mounts    []mountPoint
	conflicts map[string]string // path → why it must not be changed

	plan
	masked    bool   // an op differs from the state
	skip      string // a path that is left alone, with all below
	skipping  bool
	replacing string // a folder that gives way to something else
	inReplace bool
	making    string // a folder that is made
	inMake    bool
	removing  string // a folder that goes with all that is in it
	inRemove  bool
	stays     []string // folders that nobody asked for, in one that goes
}

// take looks at one difference, in the order of paths.
func (p *planner) take(c Change) {
	p.leaveScopes(c.Path)
	if p.foreign && c.New != nil && c.New.content() && c.New.Perm&idBits != 0 {
		safe := *c.New
		safe.Perm &^= idBits // another machine's owner may not decide who runs what as this user
		c.New, p.masked = &safe, true
		if c.Old != nil && c.Old.Same(safe) {
			return
		}
	}
	switch {
	case p.skipping:
		return
	case !p.wanted(c):
		p.above(c)
		p.others(c)
		return
	case p.keep.covers(c.Path):
		p.leave(c, "it is kept as it is")
		return
	}
	if why := p.untouchable(c); why != "" {
		p.leave(c, why)
		p.left[len(p.left)-1].Lost = c.New != nil && !c.New.kept() && (c.Old == nil || c.Old.kept())
		return
	}
	if at, why := p.mounted(c); why != "" {
		p.blocked = append(p.blocked, Blocked{Path: at, Reason: why, Firm: true})
		p.skip, p.skipping = at, true
		return
	}
	if why := p.conflicts[c.Path]; why != "" {
		p.blocked = append(p.blocked, Blocked{Path: c.Path, Reason: why})
	}
	if runtime.GOOS == "windows" && c.New != nil {
		if why := windowsName(c.New.Name); why != "" {
			p.blocked = append(p.blocked, Blocked{Path: c.Path, Reason: why, Firm: true})
		}
	}
	p.add(c)
}

// wanted tells whether a difference is one of those that were asked for.
func (p *planner) wanted(c Change) bool {
	switch {
	case p.paths == nil:
		return true
	case p.exact:
		return p.paths.has[c.Path] || p.inReplace && p.overwrite
	}
	return p.paths.covers(c.Path)
}

// others leaves what wasn't asked for in a folder that goes or gives way.
func (p *planner) others(c Change) {
	switch {
	case !p.inRemove && !p.inReplace || c.Old == nil:
	case c.Old.Kind == Folder: // what is in it is told, and may be asked for
		p.stays = append(p.stays, c.Path)
	default:
		p.leave(c, "somebody else put it there")
	}
}

// spare takes folders out of the plan whose removal would fail, since something in
// them is left alone.
func (p *planner) spare() {
	if len(p.left) == 0 && len(p.stays) == 0 {
		return
	}
	holds := make(map[string]bool)
	for _, l := range p.left {
		p.stays = append(p.stays, l.Path)
	}
	for _, at := range p.stays {
		for at != "" {
			if at, _ = split(at); holds[at] {
				break
			}
			holds[at] = true
		}
	}
	p.ops = slices.DeleteFunc(p.ops, func(o op) bool {
		if o.New != nil || o.Old.Kind != Folder || !holds[o.Path] {
			return false
		}
		p.left = append(p.left, Left{Path: o.Path, Kind: Folder, Reason: "it holds what is left alone"})
		return true
	})
}

// leaveScopes ends what the path is no longer below of.
func (p *planner) leaveScopes(path string) {
	p.skipping = p.skipping && within(path, p.skip)
	p.inReplace = p.inReplace && within(path, p.replacing)
	p.inMake = p.inMake && within(path, p.making)
	p.inRemove = p.inRemove && within(path, p.removing)
}

// above takes a folder that must be made because a wanted path is in it.
func (p *planner) above(c Change) {
	if c.New == nil || c.New.Kind != Folder || c.PermsOnly() {
		return
	}
	if p.paths.reaches(c.Path) {
		p.add(c)
	}
}

func (p *planner) add(c Change) {
	o := op{Change: c, staged: p.inMake}
	p.ops = append(p.ops, o)
	if o.PermsOnly() {
		return
	}
	if c.New != nil && c.New.content() {
		p.bytes += c.New.Size
	}
	if c.New != nil && c.New.Kind == Folder && !p.inMake {
		p.making, p.inMake = c.Path, true
	}
	if c.Old != nil && c.Old.Kind == Folder && c.New != nil && !p.inReplace {
		p.replacing, p.inReplace = c.Path, true
	}
	if c.Old != nil && c.Old.Kind == Folder && c.New == nil && !p.inRemove {
		p.removing, p.inRemove = c.Path, true
	}
}

// leave leaves a path alone, and all below it.
func (p *planner) leave(c Change, why string) {
	e := c.New
	if e == nil || e.kept() {
		e = c.Old
	}
	kind := Failed
	if e != nil && !e.kept() {
		kind = e.Kind
	}
	p.left = append(p.left, Left{Path: c.Path, Kind: kind, Reason: why})
	p.skip, p.skipping = c.Path, true
	if p.inReplace {
		p.blocked = append(p.blocked, Blocked{Path: p.replacing, Reason: "it holds what is left alone: " + EscapePath(c.Path)})
	}
}

// untouchable tells why a difference isn't one to be undone, or "".
func (p *planner) untouchable(c Change) string {
	switch {
	case p.bound && slices.ContainsFunc(strings.Split(c.Path, "/"), isGit):
		return omitGit
	case c.Old != nil && !c.Old.kept():
		return "now: " + c.Old.Text
	case c.New != nil && !c.New.kept():
		return "it wasn't kept: " + c.New.Text
	case !hasModes && c.Old != nil && c.New != nil && c.Old.content() && c.New.content() && c.Old.Digest == c.New.Digest:
		return "this system has no executable bit"
	}
	return ""
}

// windowsName tells why Windows can't have a name, or "".
func windowsName(name string) string {
	if strings.ContainsAny(name, `<>:"|?*\`) || strings.IndexFunc(name, func(r rune) bool { return r < ' ' }) >= 0 {
		return "Windows has no such characters in names"
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return "Windows has no names that end in a dot or a space"
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return "the name is a device on Windows"
	}
	for _, port := range []string{"COM", "LPT"} {
		if rest, ok := strings.CutPrefix(stem, port); ok && (len(rest) == 1 && rest >= "0" && rest <= "9" || rest == "¹" || rest == "²" || rest == "³") {
			return "the name is a device on Windows"
		}
	}
	return ""
}

// twins lists names that a file system takes for one another if it folds case
// or composes accents.
func twins(names []string) [][2]string {
	fold := cases.Fold()
	seen := make(map[string]string, len(names))
	var out [][2]string
	for _, name := range names {
		key := norm.NFC.String(fold.String(norm.NFD.String(name)))
		if other, ok := seen[key]; ok {
			out = append(out, [2]string{other, name})
		}
		seen[key] = name
	}
	return out
}

// checkTwins blocks what would fall together where it is written to. Only folders that get
// new names are looked at, and a file system is only asked if there are such names.
func (r *restore) checkTwins(ctx context.Context, t *tree) error {
	dirs := make(map[string]bool)
	for _, o := range r.todo.ops {
		if o.New != nil && (o.Old == nil || o.staged) {
			dir, _ := split(o.Path)
			dirs[dir] = true
		}
	}
	pairs := make(map[string][]Blocked) // by mount point
	for dir := range dirs {
		e, err := r.s.Lookup(ctx, r.target, dir)
		if err != nil {
			return err
		}
		entries, err := r.s.Tree(ctx, e.Digest)
		if err != nil {
			return err
		}
		names := make([]string, len(entries))
		for i := range entries {
			names[i] = entries[i].Name
		}
		for _, pair := range twins(names) {
			b := Blocked{Path: join(dir, pair[1]), Reason: fmt.Sprintf("this file system takes it for %s", EscapePath(pair[0])), Firm: true}
			at := mountOf(r.mounts, b.Path).path
			pairs[at] = append(pairs[at], b)
		}
	}
	for at, blocked := range pairs {
		folds, err := foldsNames(t, at)
		if err != nil {
			return err
		}
		if folds {
			r.todo.blocked = append(r.todo.blocked, blocked...)
		}
	}
	return nil
}

// foldsNames asks the file system of a folder, by a folder that is made in it and removed.
func foldsNames(t *tree, at string) (bool, error) {
	d, err := t.dir(at)
	if err != nil {
		return false, err
	}
	defer d.close()
	const (
		probe = ".fettle-probe-\u00e9-a"
		twin  = ".fettle-probe-\u0065\u0301-A"
		upper = ".fettle-probe-\u00e9-A"
	)
	// One that is there was left by a crash.
	if err := d.mkdir(probe, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("look how the file system takes names: %w", err)
	}
	_, errTwin := d.lstat(twin)
	_, errUpper := d.lstat(upper)
	return errTwin == nil || errUpper == nil, d.rmdir(probe)
}
