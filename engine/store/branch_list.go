package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

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

// ListBranches describes all branches of a set, without their changes.
func (s *Store) ListBranches(tx *kv.Tx, set *branchSet) (out []Branch, err error) {
	w, err := s.wayIn(tx, set, set.chat.ActiveLeaf)
	if err != nil {
		return nil, err
	}
	for i := range set.List {
		b, err := s.describeBranch(tx, set, &set.List[i])
		if err != nil {
			return nil, err
		}
		on, at := w.divergence(&set.List[i])
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
	leaf, err := s.Tables.links.Get(tx, MessageKey(set.chat.ID, b.Leaf))
	if err != nil && !s.LeavesOut(err) {
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
		l, err := s.Tables.links.Get(tx, MessageKey(chatID, id))
		if err == nil && l.Role == provider.User {
			var m *chat.Message
			if m, err = s.Message(tx, chatID, id); err == nil && !m.AnswersCalls() {
				return chat.FirstTitle("", m.Parts), nil
			}
		}
		if err != nil && (errors.Is(err, kv.ErrNotFound) || s.LeavesOut(err)) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("read message %s: %w", id, err)
		}
		id = l.ParentID
	}
	return "", nil
}
