package gitguard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxDepth bounds how deep a folder is searched; git can't be run deeper than a path can
// be written.
const maxDepth = 1000

// Found holds the repositories of a folder at one moment.
type Found struct {
	repos []repo
	// shut are the folders that could not be listed.
	shut []file
}

// repo is a .git or a bare repository.
type repo struct {
	path string // below the folder, with slashes
	file file
	// above is the folder that contains it, which may be moved with it.
	above file
	dir   bool // it is a folder
	bare  bool
	// empty is a folder named .git that has nothing in it, which git ignores.
	empty bool
	// runs is what git would run of it, by the path of the file.
	runs map[string]part
}

// fileID identifies a file on this machine; zero is unknown.
type fileID struct{ dev, ino uint64 }

// file is one file at one moment.
type file struct {
	id   fileID
	info os.FileInfo // nil in a Found that was decoded
	path string
}

func fileOf(info os.FileInfo, path string) file { return file{idOf(info), info, path} }

// same reports whether two values are of one file. Where the system has no identities that
// can be stored, files at the same path are the same. The number of a device may change
// when the machine starts again, so at the same path that of the file is enough.
func (f file) same(g file) bool {
	switch {
	case f.info != nil && g.info != nil:
		return os.SameFile(f.info, g.info)
	case f.id == fileID{}:
		return f.path == g.path
	}
	return f.id.ino == g.id.ino && (f.id.dev == g.id.dev || f.path == g.path)
}

// Scan finds the repositories below a folder.
func Scan(ctx context.Context, root *os.Root) (*Found, error) { return (*Index)(nil).Scan(ctx, root) }

// search is Scan that leaves the folders open which it had to make readable, until lock
// is called; those that before, if there is one, had readable stay so.
func search(ctx context.Context, root *os.Root, before *Found, ix *Index) (found *Found, lock func(), err error) {
	s := &scan{ctx: ctx, root: root, found: new(Found), before: before}
	lock = func() {
		for _, again := range slices.Backward(s.again) {
			again()
		}
	}
	if ix != nil && s.reachable() {
		s.now, s.last, s.listed = ix.time(), ix.listings(), map[fileID]listing{}
		defer func() { ix.replace(s.listed) }()
	}
	if err := s.folder(place{}); err != nil {
		return nil, lock, fmt.Errorf("look for repositories in %s: %w", root.Name(), err)
	}
	slices.SortFunc(s.found.repos, func(a, b repo) int { return strings.Compare(a.path, b.path) })
	return s.found, lock, nil
}

// Repositories returns the paths of the .git of the folder, with slashes.
func (f *Found) Repositories() []string {
	var out []string
	for _, r := range f.repos {
		if !r.bare {
			out = append(out, r.path)
		}
	}
	return out
}

// BareParts returns the paths of what git would run of the bare repositories.
func (f *Found) BareParts() []string {
	var out []string
	for _, r := range f.repos {
		if r.bare {
			out = append(out, path.Join(r.path, "config"), path.Join(r.path, "hooks"))
		}
	}
	return out
}

// scan is one search.
type scan struct {
	ctx    context.Context
	root   *os.Root
	found  *Found
	before *Found
	again  []func() // restores the permissions of folders that were made readable
	now    time.Time
	// last are the listings of the search before, and listed those of this one; nil where
	// none may be used or kept.
	last, listed map[fileID]listing
}

// place is a folder on the way of a search.
type place struct {
	path  string   // below the root, with slashes; "" is the root
	above *os.Root // the folder that contains it; nil where that was not opened
	depth int
}

// reachable reports whether the path of the root still leads to it, so that folders in it
// can be looked up by their paths.
func (s *scan) reachable() bool {
	byPath, err := os.Lstat(s.root.Name())
	open, openErr := s.root.Stat(".")
	return err == nil && openErr == nil && os.SameFile(byPath, open)
}

// folder searches one folder. An entry that vanishes meanwhile is ignored.
func (s *scan) folder(p place) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	l, dir, err := s.list(p)
	if dir != nil && p.path != "" {
		defer dir.Close()
	}
	if err != nil {
		if p.path == "" {
			return err
		}
		return nil // it was removed, became a link, or can't be entered by git either
	}
	if l.bare && p.path != "" {
		s.add(p.path, true)
	}
	for _, n := range l.names {
		at := path.Join(p.path, n.text)
		if n.git {
			s.add(at, false)
			continue
		}
		if p.depth >= maxDepth {
			continue
		}
		if err := s.folder(place{at, dir, p.depth + 1}); err != nil {
			return err
		}
	}
	return nil
}

// list returns the entries of a folder, and the folder if it had to be opened for that.
func (s *scan) list(p place) (l listing, dir *os.Root, err error) {
	var id fileID
	var changed stamp
	if s.listed != nil {
		if id, changed, err = look(filepath.Join(s.root.Name(), native(p.path))); err != nil {
			changed = stamp{} // such as a path that is too long; opening it may work
		}
		if l, ok := s.last[id]; ok && l.stamp == changed && changed != (stamp{}) {
			s.listed[id] = l
			return l, nil, nil
		}
	}
	if dir, err = s.open(p); err != nil {
		return listing{}, nil, err
	}
	entries, err := list(dir)
	l = listingOf(entries)
	// The times are from before the listing, so a change in between makes it outdated.
	if l.stamp = changed; err == nil && s.listed != nil && changed.fresh(s.now) && len(s.listed) < maxListed {
		if info, err := dir.Stat("."); err == nil && idOf(info) == id {
			s.listed[id] = l
		}
	}
	return l, dir, err
}

// open opens a folder, and makes it readable if it must.
func (s *scan) open(p place) (*os.Root, error) {
	if p.path == "" {
		return s.root, nil
	}
	open := func() (*os.Root, error) {
		if p.above != nil {
			return p.above.OpenRoot(path.Base(p.path))
		}
		return s.root.OpenRoot(native(p.path))
	}
	dir, err := open()
	if errors.Is(err, fs.ErrPermission) && s.unlock(p.path) {
		dir, err = open()
	}
	return dir, err
}

// unlock makes a folder readable for its owner and reports whether it did. One that a
// call made unreadable stays readable: git could still find a .git in it by name.
func (s *scan) unlock(at string) bool {
	const owner = 0o700
	info, err := s.root.Lstat(native(at))
	if err != nil || !info.IsDir() || info.Mode().Perm()&owner == owner || s.root.Chmod(native(at), info.Mode().Perm()|owner) != nil {
		return false
	}
	shut := fileOf(info, at)
	s.found.shut = append(s.found.shut, shut)
	if s.before == nil || slices.ContainsFunc(s.before.shut, shut.same) {
		path := filepath.Join(s.root.Name(), native(at))
		s.again = append(s.again, func() { os.Chmod(path, info.Mode().Perm()) })
	}
	return true
}

// add notes a repository.
func (s *scan) add(at string, bare bool) {
	info, err := s.root.Lstat(native(at))
	if err != nil {
		return
	}
	r := repo{path: at, file: fileOf(info, at), dir: info.IsDir(), bare: bare}
	if above, err := s.root.Lstat(native(path.Dir(at))); err == nil {
		r.above = fileOf(above, path.Dir(at))
	}
	switch {
	case r.dir:
		inner, err := s.root.OpenRoot(native(at))
		if err != nil {
			break
		}
		entries, err := list(inner)
		r.empty = err == nil && len(entries) == 0
		r.runs = partsOf(inner, entries)
		inner.Close()
	default:
		r.runs = map[string]part{"": s.partAt(at)}
	}
	s.found.repos = append(s.found.repos, r)
}

// partAt reads a .git that is a file or a link.
func (s *scan) partAt(at string) part {
	if dir := path.Dir(at); dir != "." {
		inner, err := s.root.OpenRoot(native(dir))
		if err != nil {
			return part{}
		}
		defer inner.Close()
		return partOf(inner, path.Base(at))
	}
	return partOf(s.root, at)
}

// entry is a name in a folder.
type entry struct {
	name  string
	isDir bool
}

// list returns the entries of a folder.
func list(dir *os.Root) ([]entry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return entriesOf(dir, f)
}

// looksBare reports whether git accepts a folder as a repository. has reports whether the
// folder has a name; on systems that ignore case git finds it in any case.
func looksBare(has func(name string) bool) bool {
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// among returns a function for looksBare about the entries of a folder, in any case.
func among(entries []entry) func(string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(entries, func(e entry) bool { return strings.EqualFold(e.name, name) })
	}
}

// isGit reports whether a name is .git to git on some system: Windows ignores dots and
// blanks at the end and what follows a colon, and has the short name GIT~1 for it;
// macOS ignores some invisible characters.
func isGit(name string) bool {
	if len(name) < len(".git") {
		return false
	}
	name = strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// native is a path with the separators of the system.
func native(p string) string { return filepath.FromSlash(p) }
