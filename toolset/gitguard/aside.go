package gitguard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Moved is a file or folder that was given another name.
type Moved struct {
	// Path is where it was, and To its new name, both below the folder with slashes.
	Path, To string
	// Restored reports that the file from before the call was written at Path.
	Restored bool
	// Lost reports that the repository that was at Path was removed. Nothing has a copy
	// of it, and To is empty.
	Lost bool
}

// Options select what a check does in addition to moving new repositories.
type Options struct {
	// Restore reverts changes of the files from which git runs commands, in the
	// repositories that existed. It is for processes that nothing prevented from such
	// changes.
	Restore bool
	// Index makes the search for what was added faster; nil reads every folder.
	Index *Index
	// Under is the folder of which the searched one is a layer; nil if it is not one. A .git
	// that Under has as well is not renamed: package cas lands nothing in it.
	Under *os.Root
}

// keeps reports whether Under has a .git of its own under the path of one.
func (o *Options) keeps(r repo) bool {
	if o.Under == nil || r.bare || !strings.EqualFold(path.Base(r.path), ".git") {
		return false
	}
	_, err := o.Under.Lstat(native(r.path))
	return err == nil
}

// SetAside renames the repositories that were added to the folder since f, so that git
// doesn't use them. It returns what it moved, also with an error, which names a
// repository that could not be moved.
func (f *Found) SetAside(ctx context.Context, root *os.Root, o Options) ([]Moved, error) {
	var moved []Moved
	// A .git with its new name is a bare repository, which the next round finds.
	const rounds = 8
	for range rounds {
		m, err := f.setAside(ctx, root, o)
		moved = append(moved, m...)
		if err != nil || len(m) == 0 {
			return append(moved, f.lost(root)...), err
		}
	}
	return moved, errors.New("set repositories aside: something adds more of them all the time")
}

func (f *Found) setAside(ctx context.Context, root *os.Root, o Options) ([]Moved, error) {
	found, lock, err := search(ctx, root, f, o.Index)
	defer lock()
	if err != nil {
		return nil, err
	}
	var moved []Moved
	var errs []error
	if o.Restore {
		if moved, err = f.bringBack(root, found); len(moved) > 0 || err != nil {
			return moved, err // the rest is searched for with the names as they are now
		}
	}
	for _, now := range slices.Backward(found.repos) { // those inside of another one before that
		var m []Moved
		var err error
		switch was := f.known(now); {
		case now.empty, o.keeps(now):
		case was == nil || was.empty:
			m, err = setAside(root, now)
		case o.Restore:
			m, err = restore(root, *was, now)
		}
		moved, errs = append(moved, m...), append(errs, err)
	}
	if o.Restore {
		m, err := f.missing(root)
		moved, errs = append(moved, m...), append(errs, err)
	}
	return moved, errors.Join(errs...)
}

// bringBack renames the repositories that were moved away from the folders that they
// belong to. One that was moved with its folder stays.
func (f *Found) bringBack(root *os.Root, found *Found) (moved []Moved, err error) {
	var errs []error
	for _, was := range f.repos {
		if _, err := root.Lstat(native(was.path)); !was.dir || was.bare || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, now := range found.repos {
			if !now.dir || !now.file.same(was.file) || now.above.same(was.above) && now.bare == was.bare && isGit(path.Base(now.path)) {
				continue
			}
			above, err := root.Lstat(native(path.Dir(was.path)))
			if err != nil || !fileOf(above, path.Dir(was.path)).same(was.above) {
				continue // its folder was removed or replaced
			}
			if err := root.Rename(native(now.path), native(was.path)); err != nil {
				errs = append(errs, fmt.Errorf("restore %s: %w", was.path, err))
				continue
			}
			moved = append(moved, Moved{Path: was.path, Restored: true})
		}
	}
	return moved, errors.Join(errs...)
}

// lost returns the repositories that no longer exist although their folders do. A folder
// that was moved is found by what contains it.
func (f *Found) lost(root *os.Root) (out []Moved) {
	for _, was := range f.repos {
		if !was.dir || was.empty || was.bare {
			continue
		}
		above, err := root.Lstat(native(path.Dir(was.path)))
		if err != nil || !fileOf(above, path.Dir(was.path)).same(was.above) {
			continue
		}
		if _, err := root.Lstat(native(was.path)); errors.Is(err, fs.ErrNotExist) {
			out = append(out, Moved{Path: was.path, Lost: true})
		}
	}
	return out
}

// missing rewrites the .git files that were removed: without one git looks for a
// repository above.
func (f *Found) missing(root *os.Root) (moved []Moved, err error) {
	var errs []error
	for _, was := range f.repos {
		p := was.runs[""]
		if _, err := root.Lstat(native(was.path)); p.body == nil || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := root.Lstat(native(path.Dir(was.path))); err != nil {
			continue // its folder was removed, too
		}
		if err := rewrite(root, was.path, p); err != nil {
			errs = append(errs, err)
			continue
		}
		moved = append(moved, Moved{Path: was.path, Restored: true})
	}
	return moved, errors.Join(errs...)
}

// known returns the repository from before that a found one is. A folder is recognized
// wherever it is now. A file is recognized at the same path, if it is the same file or has
// the same content.
func (f *Found) known(now repo) *repo {
	for i := range f.repos {
		was := &f.repos[i]
		same := was.file.same(now.file)
		if !now.dir {
			same = was.path == now.path && (same || was.runs[""].equal(now.runs[""]))
		}
		if same && was.bare == now.bare {
			return was
		}
	}
	return nil
}

// setAside renames a .git, or the HEAD of a bare repository.
func setAside(root *os.Root, r repo) ([]Moved, error) {
	if !r.bare {
		return rename(root, r.path, "git-set-aside")
	}
	dir, err := root.OpenRoot(native(r.path))
	if err != nil {
		return nil, fmt.Errorf("set %s aside: %w", r.path, err)
	}
	defer dir.Close()
	entries, err := list(dir)
	if err != nil {
		return nil, fmt.Errorf("set %s aside: %w", r.path, err)
	}
	var moved []Moved
	for _, e := range entries {
		if !strings.EqualFold(e.name, "HEAD") {
			continue
		}
		m, err := rename(root, path.Join(r.path, e.name), "HEAD-set-aside")
		if moved = append(moved, m...); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// rename moves a file to the first free name next to it.
func rename(root *os.Root, from, base string) ([]Moved, error) {
	const most = 10_000
	for n := 1; n < most; n++ {
		to := path.Join(path.Dir(from), base)
		if n > 1 {
			to += "-" + strconv.Itoa(n)
		}
		if _, err := root.Lstat(native(to)); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		switch err := root.Rename(native(from), native(to)); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil // it no longer exists
		case err != nil:
			return nil, fmt.Errorf("set %s aside: %w", from, err)
		}
		return []Moved{{Path: from, To: to}}, nil
	}
	return nil, fmt.Errorf("set %s aside: there is no free name", from)
}

// restore reverts the changes in a repository that existed.
func restore(root *os.Root, was, now repo) (moved []Moved, err error) {
	var errs []error
	for name, p := range now.runs {
		old, had := was.runs[name]
		if had && old.equal(p) {
			continue
		}
		m, err := rename(root, path.Join(now.path, name), path.Base(path.Join(now.path, name))+"-set-aside")
		errs = append(errs, err)
		if err == nil && had {
			err = rewrite(root, path.Join(now.path, name), old)
			errs = append(errs, err)
			for i := range m {
				m[i].Restored = err == nil
			}
		}
		moved = append(moved, m...)
	}
	for name, old := range was.runs {
		if _, has := now.runs[name]; !has {
			errs = append(errs, rewrite(root, path.Join(now.path, name), old))
			moved = append(moved, Moved{Path: path.Join(now.path, name), Restored: true})
		}
	}
	slices.SortFunc(moved, func(a, b Moved) int { return strings.Compare(b.Path, a.Path) }) // SetAside reverses it
	return moved, errors.Join(errs...)
}

// rewrite writes a file as it was.
func rewrite(root *os.Root, name string, p part) error {
	if p.body == nil {
		return fmt.Errorf("restore %s: its content from before the call was not kept", name)
	}
	if err := root.MkdirAll(native(path.Dir(name)), 0o755); err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	f, err := root.OpenFile(native(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, p.mode.Perm())
	if err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	_, err = f.Write(p.body)
	if err = errors.Join(err, f.Chmod(p.mode.Perm()), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("restore %s: %w", name, err)
	}
	return nil
}
