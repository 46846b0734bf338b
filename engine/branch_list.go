package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Branch is one way through a chat, from its root to a message that nothing
// follows.
type Branch struct {
	// Number counts the branches of a chat by when they began, from 1.
	Number int `json:"number"`
	// Leaf is the message that it ends with.
	Leaf   string `json:"leaf_message_id"`
	Active bool   `json:"active"`
	// Place is that of the first of its messages that the active branch
	// does not have, from 1; of the active one it is its first message after
	// the last place where the chat branches.
	Place int `json:"place"`
	// Title is the first line of the question there, or of the question that
	// the answer there answers.
	Title     string    `json:"title"`
	Model     string    `json:"model,omitempty"`
	Messages  int       `json:"messages"`
	UpdatedAt time.Time `json:"updated_at"`
	// ManifestID is the workspace at its end; empty where it has none.
	ManifestID string `json:"manifest_id,omitempty"`
	// Added, Modified and Removed count the files that switching to it would
	// change.
	Added    int `json:"added"`
	Modified int `json:"modified"`
	Removed  int `json:"removed"`
}

// Branches lists the branches of a chat, the first begun first. It reads what it lists,
// and not the messages in between.
func (w *Workspaces) Branches(ctx context.Context, ref ChatRef) (chat.Chat, []Branch, error) {
	chat, err := w.find(ctx, ref, nil)
	if err != nil {
		return chat, nil, err
	}
	set, err := w.branchSet(ctx, chat)
	if err != nil {
		return chat, nil, err
	}
	active, err := w.manifest(ctx, chat.ActiveManifest)
	if err != nil {
		return chat, nil, err
	}
	var out []Branch
	if err := w.view(ctx, func(tx *kv.Tx) error { out, err = w.listBranches(tx, set); return err }); err != nil {
		return chat, nil, err
	}
	for i := range out {
		b := &out[i]
		b.Number = i + 1
		if b.Active {
			b.ManifestID = chat.ActiveManifest
		} else if err := w.countChanges(ctx, chat, active, b); err != nil {
			return chat, nil, err
		}
	}
	return chat, out, nil
}

// listBranches describes all branches of a set, without their changes.
func (s *Store) listBranches(tx *kv.Tx, set *branchSet) (out []Branch, err error) {
	w, err := s.wayIn(tx, set, set.chat.ActiveLeaf)
	if err != nil {
		return nil, err
	}
	for i := range set.list {
		b, err := s.describeBranch(tx, set, &set.list[i])
		if err != nil {
			return nil, err
		}
		on, at := w.divergence(&set.list[i])
		first, err := s.messageOn(tx, set, on, at)
		if err == nil {
			b.Place = at
			b.Title, err = s.branchTitle(tx, set.chat.ID, first)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Branch) int { return cmp.Compare(a.Leaf, b.Leaf) })
	return out, nil
}

// describeBranch describes a branch by its last message.
func (s *Store) describeBranch(tx *kv.Tx, set *branchSet, b *branchRecord) (Branch, error) {
	leaf, err := s.tables.links.Get(tx, messageKey(set.chat.ID, b.Leaf))
	if err != nil && !s.leavesOut(err) {
		return Branch{}, fmt.Errorf("read message %s: %w", b.Leaf, err)
	}
	if err != nil {
		leaf = &chat.MessageLink{ID: b.Leaf}
	}
	return Branch{
		Leaf: b.Leaf, Active: b.Leaf == set.chat.ActiveLeaf, Model: leaf.Model, Messages: b.Length,
		UpdatedAt: leaf.CreatedAt, ManifestID: cmp.Or(leaf.LeftManifestID, b.Manifest),
	}, nil
}

// branchTitle returns the title of a branch by the first of its messages: that one if it
// is a question, else the last question before it.
func (s *Store) branchTitle(tx *kv.Tx, chatID, id string) (string, error) {
	seen := map[string]bool{} // a loop of parents would be damage
	for id != "" && !seen[id] {
		seen[id] = true
		l, err := s.tables.links.Get(tx, messageKey(chatID, id))
		if err == nil && l.Role == provider.User {
			var m *chat.Message
			if m, err = s.message(tx, chatID, id); err == nil && !m.AnswersCalls() {
				return chat.FirstTitle("", m.Parts), nil
			}
		}
		if err != nil && (errors.Is(err, kv.ErrNotFound) || s.leavesOut(err)) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("read message %s: %w", id, err)
		}
		id = l.ParentID
	}
	return "", nil
}

// countChanges counts what switching to a branch would change.
func (w *Workspaces) countChanges(ctx context.Context, chat chat.Chat, active *cas.Manifest, b *Branch) error {
	to, err := w.manifest(ctx, b.ManifestID)
	if err != nil || to == nil || active == nil || to.Root == active.Root {
		return err
	}
	return w.movedCounts(ctx, chat, active, to, b)
}
