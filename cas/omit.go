package cas

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// heldState is a state that decides, against the rules, what a scan takes in: a call that
// writes a file which marks a folder as made by a program must not take the user's files
// out of what undo restores, and a restore restores all that its state has.
type heldState struct {
	root Digest
	// restored is set for the state that is to be restored. It overrides the user's own
	// rules too, for what it has alone: the rest of a folder stays left out. The state
	// before a call decides about whole folders, and leaves the user's rules in force.
	restored bool
	paths    *scope // that are to be restored; nil is all
}

// held decides by states what is taken in although a rule leaves it out.
type held struct {
	s      *Store
	ctx    context.Context //nolint:containedctx // of the one scan
	old    *index
	states []heldState
}

// takes reports whether something is taken in that is left out for a reason. If only is
// set, that is so for what the state to be restored has of it.
func (h *held) takes(path, why string) (take, only bool, err error) {
	if why == omitGit {
		return false, false, nil
	}
	if why != omitIgnore {
		if old := h.old.dirs.get(path); old != nil && len(old.ents) > 0 {
			return true, false, nil
		}
	}
	for _, st := range h.states {
		if !st.restored && (why == omitIgnore || h.old.is(st.root)) {
			continue
		}
		if st.paths != nil && !st.paths.covers(path) && !st.paths.reaches(path) {
			continue
		}
		has, err := h.s.hasContent(h.ctx, st.root, path)
		if err != nil {
			return false, false, err
		}
		if has {
			return true, st.restored, nil
		}
	}
	return false, false, nil
}

// is reports whether the index is of a state.
func (ix *index) is(root Digest) bool {
	top := ix.dirs.get("")
	return top != nil && top.tree == root
}

// hasContent reports whether a state has a file or link under a path, or a folder with
// something in it.
func (s *Store) hasContent(ctx context.Context, root Digest, path string) (bool, error) {
	e, err := s.Lookup(ctx, root, path)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return e.kept() && (e.Kind != Folder || e.Digest != emptyTree()), err
}

// venvNames are what a virtual environment has at its top. A folder with anything else
// there is also the user's.
var venvNames = []string{
	"pyvenv.cfg", "bin", "lib", "lib64", "include", "share", "etc", "man", "local", "scripts", "__pycache__",
	".gitignore", ".lock", "cachedir.tag", "pip-selfcheck.json",
}

// omitFolder returns why a folder is left out because of what is in it, or "".
func omitFolder(d *dir, names []string) string {
	if slices.Contains(names, "pyvenv.cfg") {
		for _, name := range names {
			if !slices.Contains(venvNames, strings.ToLower(name)) {
				return ""
			}
		}
		return omitVenv
	}
	if slices.Contains(names, cacheTagFile) && isCache(d, names) {
		return omitCache
	}
	return ""
}

// cacheTagFile marks the folder of a cache, if it begins with cacheTag; otherwise it is a
// file as any other.
const (
	cacheTagFile = "CACHEDIR.TAG"
	cacheTag     = "Signature: 8a477f597d28d172789f06886806bc55"
	// cacheMargin is by how much a file must be older than the tag to count as another
	// program's or the user's: the cache may write it just before.
	cacheMargin = 10 * time.Second
)

// isCache reports whether a folder is a cache's by its tag, and has no file at its top
// that was there before the tag was.
func isCache(d *dir, names []string) bool {
	f, err := d.open(cacheTagFile)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	tag, err := fstat(f)
	if err != nil || tag.form != regular {
		return false
	}
	head := make([]byte, len(cacheTag))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != cacheTag {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		st, err := d.lstat(name)
		return err == nil && st.form == regular && st.mtime < tag.mtime-int64(cacheMargin)
	})
}
