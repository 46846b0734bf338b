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
)

// maxDepth bounds how deep a folder is searched; git can't be run deeper than a path can
// be written.
const maxDepth = 1000

// Found holds the repositories of a folder at one moment.
type Found struct {
	repos []repo
	// shut are the folders that could not be listed.
	shut []os.FileInfo
}

// repo is a .git or a bare repository.
type repo struct {
	path string // below the folder, with slashes
	info os.FileInfo
	bare bool
	// empty is a folder named .git that has nothing in it, which git ignores.
	empty bool
	// runs is what git would run of it, by the path of the file.
	runs map[string]part
}

// Scan finds the repositories below a folder.
func Scan(ctx context.Context, root *os.Root) (*Found, error) {
	found, lock, err := search(ctx, root, new(Found))
	lock()
	return found, err
}

// search is Scan that leaves the folders open which it had to make readable, until lock
// is called; those that before had readable stay so.
func search(ctx context.Context, root *os.Root, before *Found) (found *Found, lock func(), err error) {
	s := &scan{ctx: ctx, found: new(Found), before: before}
	lock = func() {
		for _, again := range slices.Backward(s.again) {
			again()
		}
	}
	if err := s.folder(root, "", 0); err != nil {
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
	found  *Found
	before *Found
	again  []func() // restores the permissions of folders that were made readable
}

// folder searches one folder. An entry that vanishes meanwhile is ignored.
func (s *scan) folder(dir *os.Root, at string, depth int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	entries, err := list(dir)
	if err != nil && at == "" {
		return err
	}
	if looksBare(entries) && at != "" {
		s.add(dir, ".", at, true)
	}
	for _, e := range entries {
		if isGit(e.Name()) {
			s.add(dir, e.Name(), path.Join(at, e.Name()), false)
			continue
		}
		if !e.IsDir() || depth >= maxDepth {
			continue
		}
		sub, err := dir.OpenRoot(e.Name())
		if errors.Is(err, fs.ErrPermission) && s.unlock(dir, e.Name()) {
			sub, err = dir.OpenRoot(e.Name())
		}
		if err != nil {
			continue // it was removed, became a link, or can't be entered by git either
		}
		err = s.folder(sub, path.Join(at, e.Name()), depth+1)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// unlock makes a folder readable for its owner and reports whether it did. One that a
// call made unreadable stays readable: git could still find a .git in it by name.
func (s *scan) unlock(dir *os.Root, name string) bool {
	const owner = 0o700
	info, err := dir.Lstat(name)
	if err != nil || !info.IsDir() || info.Mode().Perm()&owner == owner || dir.Chmod(name, info.Mode().Perm()|owner) != nil {
		return false
	}
	s.found.shut = append(s.found.shut, info)
	first := s.before.repos == nil && s.before.shut == nil
	if first || slices.ContainsFunc(s.before.shut, func(b os.FileInfo) bool { return os.SameFile(b, info) }) {
		path := filepath.Join(dir.Name(), name)
		s.again = append(s.again, func() { os.Chmod(path, info.Mode().Perm()) })
	}
	return true
}

// add notes a repository.
func (s *scan) add(dir *os.Root, name, at string, bare bool) {
	info, err := dir.Lstat(name)
	if err != nil {
		return
	}
	r := repo{path: at, info: info, bare: bare}
	switch {
	case info.IsDir():
		inner, err := dir.OpenRoot(name)
		if err != nil {
			break
		}
		entries, err := list(inner)
		r.empty = err == nil && len(entries) == 0
		r.runs = partsOf(inner, entries)
		inner.Close()
	default:
		r.runs = map[string]part{"": partOf(dir, name)}
	}
	s.found.repos = append(s.found.repos, r)
}

func list(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// looksBare reports whether git accepts a folder with these names as a repository. On
// systems that ignore case it does so in any case.
func looksBare(entries []fs.DirEntry) bool {
	var head, objects, refs, common bool
	for _, e := range entries {
		switch strings.ToLower(e.Name()) {
		case "head":
			head = true
		case "objects":
			objects = true
		case "refs":
			refs = true
		case "commondir":
			common = true
		}
	}
	return head && (objects && refs || common)
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
