package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/cas"
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
func (e *Engine) Branches(ctx context.Context, ref ChatRef) (Chat, []Branch, error) {
	chat, err := e.find(ctx, ref, nil)
	if err != nil {
		return chat, nil, err
	}
	s, err := e.branchSet(ctx, chat)
	if err != nil {
		return chat, nil, err
	}
	active, err := e.manifest(ctx, chat.ActiveManifest)
	if err != nil {
		return chat, nil, err
	}
	var out []Branch
	if err := e.view(ctx, func(tx *kv.Tx) error { out, err = e.listBranches(tx, s); return err }); err != nil {
		return chat, nil, err
	}
	for i := range out {
		b := &out[i]
		b.Number = i + 1
		if b.Active {
			b.ManifestID = chat.ActiveManifest
		} else if err := e.countChanges(ctx, chat, active, b); err != nil {
			return chat, nil, err
		}
	}
	return chat, out, nil
}

// listBranches describes all branches of a set, without their changes.
func (e *Engine) listBranches(tx *kv.Tx, s *branchSet) (out []Branch, err error) {
	w, err := e.wayIn(tx, s, s.chat.ActiveLeaf)
	if err != nil {
		return nil, err
	}
	for i := range s.list {
		b, err := e.describeBranch(tx, s, &s.list[i])
		if err != nil {
			return nil, err
		}
		on, at := w.divergence(&s.list[i])
		first, err := e.messageOn(tx, s, on, at)
		if err == nil {
			b.Place = at
			b.Title, err = e.branchTitle(tx, s.chat.ID, first)
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
func (e *Engine) describeBranch(tx *kv.Tx, s *branchSet, b *branchRecord) (Branch, error) {
	leaf, err := e.tables.links.Get(tx, messageKey(s.chat.ID, b.Leaf))
	if err != nil && !e.leavesOut(err) {
		return Branch{}, fmt.Errorf("read message %s: %w", b.Leaf, err)
	}
	if err != nil {
		leaf = &messageLink{ID: b.Leaf}
	}
	return Branch{
		Leaf: b.Leaf, Active: b.Leaf == s.chat.ActiveLeaf, Model: leaf.Model, Messages: b.Length,
		UpdatedAt: leaf.CreatedAt, ManifestID: cmp.Or(leaf.LeftManifestID, b.Manifest),
	}, nil
}

// branchTitle returns the title of a branch by the first of its messages: that one if it
// is a question, else the last question before it.
func (e *Engine) branchTitle(tx *kv.Tx, chatID, id string) (string, error) {
	seen := map[string]bool{} // a loop of parents would be damage
	for id != "" && !seen[id] {
		seen[id] = true
		l, err := e.tables.links.Get(tx, messageKey(chatID, id))
		if err == nil && l.Role == provider.User {
			var m *Message
			if m, err = e.message(tx, chatID, id); err == nil && !m.AnswersCalls() {
				return title(TurnRequest{Parts: m.Parts}), nil
			}
		}
		if err != nil && (errors.Is(err, kv.ErrNotFound) || e.leavesOut(err)) {
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
func (e *Engine) countChanges(ctx context.Context, chat Chat, active *cas.Manifest, b *Branch) error {
	to, err := e.manifest(ctx, b.ManifestID)
	if err != nil || to == nil || active == nil || to.Root == active.Root {
		return err
	}
	return e.movedCounts(ctx, chat, active, to, b)
}
