package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// chatWay is the way to a message of a chat, for the most the active one: by the number
// of each branch that owns a part of it, the place of the last message in that branch.
type chatWay struct {
	set *branchSet
	end map[int]int
	// leaf is the branch that owns the message; nil if the chat does not have it.
	leaf   *branchRecord
	length int // the place of the message
}

func (s *Store) wayIn(tx *kv.Tx, all *branchSet, to string) (*chatWay, error) {
	w := &chatWay{set: all, end: map[int]int{}}
	b, at, err := s.locate(tx, all, to)
	if b == nil || err != nil {
		return w, err
	}
	w.length = at
	for w.leaf = b; ; b = all.record(b.From) {
		w.end[b.Number] = at
		if at = b.At - 1; b.From == 0 {
			return w, nil
		}
	}
}

// has reports whether the way has the message at a place of a branch.
func (w *chatWay) has(branch, at int) bool { return w.end[branch] >= at }

// divergence returns the first message of a branch that the way does not have. Of
// the branch that the way leads to the end of, it is the first message after the
// last place where the chat branches.
func (w *chatWay) divergence(b *branchRecord) (on *branchRecord, at int) {
	if w.has(b.Number, b.Length) {
		return w.lastDivergence()
	}
	at = b.Length + 1
	for on = b; ; b = w.set.record(b.From) {
		if end, active := w.end[b.Number]; active && end >= at-1 {
			return on, at
		} else if active {
			return b, end + 1
		}
		if on, at = b, b.At; b.From == 0 {
			return on, at
		}
	}
}

// lastDivergence returns the message of the way after the last place where another
// branch leaves it.
func (w *chatWay) lastDivergence() (on *branchRecord, at int) {
	for i := range w.set.List {
		b := &w.set.List[i]
		switch {
		case b.At <= at:
		case w.has(b.Number, b.At) && (b.From != 0 || at == 0):
			on, at = b, b.At
		case b.From != 0 && w.has(b.From, b.At):
			on, at = w.set.record(b.From), b.At
		}
	}
	return on, at
}

// locate returns the branch that owns a message, and the message's place in it. The
// branch is nil if the chat doesn't have the message.
func (s *Store) locate(tx *kv.Tx, set *branchSet, id string) (*branchRecord, int, error) {
	first := make(map[string]*branchRecord, len(set.List))
	for i := range set.List {
		b := &set.List[i]
		if b.Leaf == id {
			return b, b.Length, nil
		}
		first[b.First] = b
	}
	for steps := 0; id != "" && steps <= set.messages(); steps++ {
		if b := first[id]; b != nil {
			return b, b.At + steps, nil
		}
		if m, err := s.mark(tx, set, id); err != nil {
			return nil, 0, err
		} else if m != nil {
			return set.record(m.Branch), m.At + steps, nil
		}
		l, err := s.Tables.links.Get(tx, MessageKey(set.chat.ID, id))
		if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
			break
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read message %s: %w", id, err)
		}
		id = l.ParentID
	}
	return nil, 0, nil
}

// mark returns a message's mark; nil if it has none.
func (s *Store) mark(tx *kv.Tx, set *branchSet, id string) (*BranchMark, error) {
	if !set.stored {
		return nil, nil
	}
	m, err := s.Tables.Marks.Get(tx, MessageKey(set.chat.ID, id))
	if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) || err == nil && m.Branch > len(set.List) {
		return nil, nil
	}
	return m, err
}

// messageOn returns the id of the message of a branch at a place.
func (s *Store) messageOn(tx *kv.Tx, set *branchSet, b *branchRecord, at int) (string, error) {
	if b == nil {
		return "", nil
	}
	if at == b.At {
		return b.First, nil
	}
	for i := range set.List {
		if other := &set.List[i]; other.From == b.Number && other.At == at {
			return other.Beside, nil
		}
	}
	id, last := b.Leaf, b.Length
	if set.stored {
		after := kv.Range{From: kv.Int(int64(at)), Limit: 1}
		for m, err := range Legible(s, s.Tables.Marks.ByIndex(tx, "place", kv.Str(set.chat.ID).Int(int64(b.Number)), after)) {
			if err != nil {
				return "", err
			}
			id, last = m.ID, m.At
		}
	}
	for ; last > at; last-- {
		l, err := s.Tables.links.Get(tx, MessageKey(set.chat.ID, id))
		if err != nil {
			return "", fmt.Errorf("read message %s: %w", id, err)
		}
		id = l.ParentID
	}
	return id, nil
}

// manifestAt returns the last manifest up to a message.
func (s *Store) manifestAt(tx *kv.Tx, set *branchSet, id string) (string, error) {
	for steps := 0; id != "" && steps <= set.messages(); steps++ {
		m, err := s.mark(tx, set, id)
		if err != nil {
			return "", err
		}
		if m != nil {
			return m.Manifest, nil
		}
		l, err := s.Tables.links.Get(tx, MessageKey(set.chat.ID, id))
		if err != nil {
			return "", fmt.Errorf("read message %s: %w", id, err)
		}
		if l.ManifestID != "" {
			return l.ManifestID, nil
		}
		id = l.ParentID
	}
	return "", nil
}

// BranchBelow describes the branch that the newest way from a message leads to the end
// of.
func (s *Store) BranchBelow(ctx context.Context, chat chat.Chat, message string) (out Branch, err error) {
	set, err := s.BranchSet(ctx, chat)
	if err != nil {
		return out, err
	}
	err = s.View(ctx, func(tx *kv.Tx) error {
		b, at, err := s.locate(tx, set, message)
		if b == nil || err != nil {
			return err
		}
		out, err = s.describeBranch(tx, set, set.newestFrom(b, at))
		return err
	})
	if err == nil && out.Leaf == "" {
		err = fault.New(fault.NotFound, fmt.Sprintf("chat %d has no message %s", chat.Number, message),
			fault.Try(fault.ListBranches, fmt.Sprint(chat.Number)))
	}
	return out, err
}

// newestFrom follows the newest message of each place where the chat branches, from a place
// of a branch to the end of one.
func (s *branchSet) newestFrom(b *branchRecord, at int) *branchRecord {
	for {
		next := b
		place, newest := b.Length+1, ""
		for i := range s.List {
			other := &s.List[i]
			if other.From != b.Number || other.At <= at || other.At > place {
				continue
			}
			if other.At < place {
				place, newest, next = other.At, other.Beside, b
			}
			if other.First > newest {
				newest, next = other.First, other
			}
		}
		if at = place; place > b.Length {
			return b
		}
		b = next
	}
}

// Siblings returns, by the id of a message, the ids of all messages that follow what it
// follows: the ways that a chat continues from there, the oldest first. Messages that
// have no sibling are left out.
func (s *Store) Siblings(ctx context.Context, chat chat.Chat) (map[string][]string, error) {
	set, err := s.BranchSet(ctx, chat)
	if err != nil {
		return nil, err
	}
	children := map[string][]string{}
	for _, b := range set.List {
		ids := children[b.Parent]
		if b.Beside != "" && !slices.Contains(ids, b.Beside) {
			ids = append(ids, b.Beside)
		}
		children[b.Parent] = append(ids, b.First)
	}
	out := map[string][]string{}
	for _, ids := range children {
		if len(ids) < 2 {
			continue
		}
		slices.SortFunc(ids, cmp.Compare)
		for _, id := range ids {
			out[id] = ids
		}
	}
	return out, nil
}
