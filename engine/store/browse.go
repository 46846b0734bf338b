package store

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// StateInfo is a state with what made it.
type StateInfo struct {
	*cas.Manifest
	// Tool is the tool of the call that gave it, if one did, and Args what it
	// was called with. Of an imported state there is the tool alone, and of a turn
	// that still runs neither.
	Tool string
	Args json.RawMessage
	// By is the tool whose page made the call; empty for the calls of models and
	// persons.
	By string
	// Active is set for the state that the chat is at, Undone for a step that
	// redo restores.
	Active, Undone bool
	// Reverted is set for a step that is undone and that redo does not restore: it was
	// undone alone, or something new was done since.
	Reverted bool
}

// postManifest is the state after a call; empty where no record of the call is
// there.
func (s *Store) postManifest(ctx context.Context, call string) (id string, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		c, err := s.Tables.Calls.Get(tx, kv.Str(call))
		if err == nil {
			id = c.PostManifestID
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return "", nil
	}
	return id, err
}

// Files yields what a state has, in the order of paths, folders before what is
// in them. An error ends it.
func (s *Store) Files(ctx context.Context, m *cas.Manifest) iter.Seq2[cas.Located, error] {
	return s.Snapshots.Walk(ctx, m.Root)
}

// FileEntry gives what a state has under a path.
func (s *Store) FileEntry(ctx context.Context, m *cas.Manifest, name string) (cas.Entry, error) {
	entry, err := s.Snapshots.Lookup(ctx, m.Root, name)
	if errors.Is(err, cas.ErrNotFound) {
		return entry, fault.New(fault.NotFound, "there is no file "+cas.EscapePath(name)+" in that state", fault.Try(fault.ListFiles).That("lists what there is"))
	}
	if err != nil {
		return entry, StateFault("look for "+cas.EscapePath(name), err)
	}
	return entry, nil
}

// DiffStates yields what differs between two states, in the order of paths. An
// error ends it.
func (s *Store) DiffStates(ctx context.Context, from, to *cas.Manifest) iter.Seq2[cas.Change, error] {
	var a, b cas.Digest
	if from != nil {
		a = from.Root
	}
	if to != nil {
		b = to.Root
	}
	return s.Snapshots.Diff(ctx, a, b)
}

// StateBefore gives the state that one came after; nil where it was the first,
// or where the one before is not there any more.
func (s *Store) StateBefore(ctx context.Context, m *cas.Manifest) (*cas.Manifest, error) {
	return s.Manifest(ctx, m.ParentID)
}

// ChatsByID gives those chats of some ids that there are, deleted ones
// included.
func (s *Store) ChatsByID(ctx context.Context, ids []string) (map[string]chat.Chat, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return nil, err // a chat whose turns wait in journals is there, too
	}
	out := make(map[string]chat.Chat, len(ids))
	err := s.View(ctx, func(tx *kv.Tx) error {
		for _, id := range ids {
			c, err := s.Tables.Chats.Get(tx, kv.Str(id))
			if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
				continue
			}
			if err != nil {
				return err
			}
			out[id] = *c
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return out, nil // no store yet
	}
	return out, err
}
