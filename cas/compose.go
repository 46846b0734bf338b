package cas

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/kv"
)

// compose stores the tree of a state in which some paths are as other states have them,
// and returns its digest. A folder among these paths brings itself alone: what is in it is
// named by paths of its own. The caller holds the collector's lock.
func (s *Store) compose(ctx context.Context, base Digest, from map[string]*Manifest) (Digest, error) {
	if len(from) == 0 {
		return base, nil
	}
	c := &composer{s: s, ctx: ctx, edits: map[string]map[string]*Entry{}}
	for path, m := range from {
		if err := c.edit(path, m.Root); err != nil {
			return Digest{}, err
		}
	}
	root, err := c.folder("", base)
	if err == nil {
		err = s.keepObjects(ctx, func(b *kv.Batch) error { return s.writeTrees(ctx, b, c.trees) })
	}
	return root, err
}

// composer makes the trees of a composed state.
type composer struct {
	s     *Store
	ctx   context.Context //nolint:containedctx // of the one state
	edits map[string]map[string]*Entry
	trees []newTree
}

// edit notes what a state has under a path, nil if that is nothing, and that the folders
// above it are to be there.
func (c *composer) edit(path string, root Digest) error {
	e, err := c.s.Lookup(c.ctx, root, path)
	missing := errors.Is(err, ErrNotFound)
	if err != nil && !missing {
		return err
	}
	dir, name := split(path)
	if c.edits[dir] == nil {
		c.edits[dir] = map[string]*Entry{}
	}
	c.edits[dir][name] = nil
	if !missing {
		c.edits[dir][name] = &e
	}
	for at := dir; at != ""; {
		up, name := split(at)
		if c.edits[up] == nil {
			c.edits[up] = map[string]*Entry{}
		}
		if _, ok := c.edits[up][name]; !ok && !missing {
			above, err := c.s.Lookup(c.ctx, root, at)
			if err != nil {
				return err
			}
			c.edits[up][name] = &above
		}
		at = up
	}
	return nil
}

// folder makes the tree of a folder that is base apart from the edits.
func (c *composer) folder(path string, base Digest) (Digest, error) {
	var entries []Entry
	if !base.IsZero() {
		var err error
		if entries, err = c.s.Tree(c.ctx, base); err != nil {
			return Digest{}, err
		}
	}
	for name, e := range c.edits[path] {
		i, found := slices.BinarySearchFunc(entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
		switch {
		case e == nil && found:
			entries = slices.Delete(entries, i, i+1)
		case e == nil:
		case e.Kind == Folder && found && entries[i].Kind == Folder: // what is in it is the base's
			entries[i].Perm = e.Perm
		default:
			is := *e
			if is.Kind == Folder {
				is.Digest = Digest{} // made below
			}
			if found {
				entries[i] = is
			} else {
				entries = slices.Insert(entries, i, is)
			}
		}
	}
	for i := range entries {
		sub := join(path, entries[i].Name)
		if entries[i].Kind != Folder || c.edits[sub] == nil && !entries[i].Digest.IsZero() {
			continue
		}
		d, err := c.folder(sub, entries[i].Digest)
		if err != nil {
			return Digest{}, err
		}
		entries[i].Digest = d
	}
	enc := encodeTree(entries)
	t := newTree{path, Sum(enc), enc}
	c.trees = append(c.trees, t)
	return t.digest, nil
}
