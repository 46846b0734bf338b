package engine

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// messageTree is a chat's messages by what follows what, without their
// content: a list of branches reads the content of the messages that it shows.
type messageTree struct {
	chat     Chat
	byID     map[string]*messageNode
	children map[string][]*messageNode // the oldest first
}

// messageNode is a message in a messageTree.
type messageNode struct {
	messageLink
	depth    int    // its place on the way from the root, from 1; 0 where damage has made a circle
	manifest string // the last one that is known on that way
	active   bool   // it is on the active branch
}

// treeGroup is how many messages are read while the store is held once.
const treeGroup = 5000

func (e *Engine) messageTree(ctx context.Context, chat Chat) (*messageTree, error) {
	t := &messageTree{chat: chat, byID: map[string]*messageNode{}, children: map[string][]*messageNode{}}
	r := kv.Range{Prefix: kv.Str(chat.ID), Limit: treeGroup}
	for n := treeGroup; n == treeGroup; {
		n = 0
		err := e.view(ctx, func(tx *kv.Tx) error {
			after := r.After
			for l, err := range e.tables.links.Scan(tx, r) {
				n++
				if err != nil && e.leavesOut(err) {
					continue
				}
				if err != nil {
					return err
				}
				t.add(l)
				r.After = e.tables.links.KeyOf(l)
			}
			if bytes.Equal(after, r.After) { // all of the group are damaged
				n = 0
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	t.measure()
	for m := t.byID[chat.ActiveLeaf]; m != nil && !m.active; m = t.byID[m.ParentID] {
		m.active = true
	}
	return t, nil
}

// add adds a message. They come in the order of their ids, which is that of
// time.
func (t *messageTree) add(l *messageLink) {
	n := &messageNode{messageLink: *l}
	t.byID[n.ID] = n
	t.children[n.ParentID] = append(t.children[n.ParentID], n)
}

// measure sets the depth and the manifest of each message.
func (t *messageTree) measure() {
	var level []*messageNode
	for _, n := range t.byID {
		if t.byID[n.ParentID] == nil {
			n.depth, n.manifest = 1, n.ManifestID
			level = append(level, n)
		}
	}
	for ; len(level) > 0; level = level[1:] {
		for _, n := range t.children[level[0].ID] {
			n.depth, n.manifest = level[0].depth+1, cmp.Or(n.ManifestID, level[0].manifest)
			level = append(level, n)
		}
	}
}

// leaves are the messages without a following one, the oldest first.
func (t *messageTree) leaves() []*messageNode {
	var out []*messageNode
	for _, m := range t.byID {
		if len(t.children[m.ID]) == 0 {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b *messageNode) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// leafBelow is the message that the newest way from a message ends with.
func (t *messageTree) leafBelow(id string) string {
	for range t.byID {
		next := t.children[id]
		if len(next) == 0 {
			break
		}
		id = next[len(next)-1].ID
	}
	return id
}

// branch describes the way to a leaf, without a title. It reads the part of
// the way that the active branch does not have; of the active one, the part
// after the last place where the chat divides.
func (t *messageTree) branch(leaf *messageNode) Branch {
	first := leaf
	for m := leaf; m != nil && m.depth > 0; m = t.byID[m.ParentID] {
		if !leaf.active && m.active {
			break
		}
		first = m
		if leaf.active && len(t.children[m.ParentID]) > 1 {
			break
		}
	}
	return Branch{
		Leaf: leaf.ID, Active: leaf.ID == t.chat.ActiveLeaf, Place: first.depth, Model: leaf.Model, Messages: leaf.depth,
		UpdatedAt: leaf.CreatedAt, ManifestID: cmp.Or(leaf.LeftManifestID, leaf.manifest),
	}
}

// titleBranches sets the titles of branches: the last question on the way to
// the first of a branch's own messages, this one included.
func (e *Engine) titleBranches(ctx context.Context, t *messageTree, branches []Branch) error {
	return e.view(ctx, func(tx *kv.Tx) error {
		for i := range branches {
			b := &branches[i]
			n := t.byID[b.Leaf]
			for ; n != nil && n.depth > b.Place; n = t.byID[n.ParentID] {
			}
			for ; n != nil && n.depth > 0; n = t.byID[n.ParentID] {
				if n.Role != provider.User {
					continue
				}
				m, err := e.message(tx, t.chat.ID, n.ID)
				if err != nil {
					return err
				}
				if !m.AnswersCalls() {
					b.Title = title(TurnRequest{Parts: m.Parts})
					break
				}
			}
		}
		return nil
	})
}
