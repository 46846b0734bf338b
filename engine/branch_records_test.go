package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/kv"
)

// plainTree describes the branches of a chat by reading all messages: what the records
// of branches must agree with.
type plainTree struct {
	chat     chat.Chat
	byID     map[string]*chat.Message
	children map[string][]string // the oldest first
	active   map[string]bool
}

func newPlainTree(doc *chat.Document) *plainTree {
	t := &plainTree{chat: doc.Chat, byID: map[string]*chat.Message{}, children: map[string][]string{}, active: map[string]bool{}}
	for i := range doc.Messages {
		m := &doc.Messages[i]
		t.byID[m.ID] = m
		t.children[m.ParentID] = append(t.children[m.ParentID], m.ID)
	}
	for _, ids := range t.children {
		slices.Sort(ids)
	}
	for m := t.byID[doc.Chat.ActiveLeaf]; m != nil; m = t.byID[m.ParentID] {
		t.active[m.ID] = true
	}
	return t
}

func (t *plainTree) depth(m *chat.Message) (n int) {
	for ; m != nil; m = t.byID[m.ParentID] {
		n++
	}
	return n
}

func (t *plainTree) branches() (out []store.Branch) {
	for _, leaf := range t.byID {
		if len(t.children[leaf.ID]) > 0 {
			continue
		}
		first, manifest := leaf, cmp.Or(leaf.LeftManifestID, leaf.ManifestID)
		for m := leaf; m != nil; m = t.byID[m.ParentID] {
			manifest = cmp.Or(manifest, m.ManifestID)
		}
		for m := leaf; m != nil && (t.active[leaf.ID] || !t.active[m.ID]); m = t.byID[m.ParentID] {
			first = m
			if t.active[leaf.ID] && len(t.children[m.ParentID]) > 1 {
				break
			}
		}
		b := store.Branch{
			Leaf: leaf.ID, Active: leaf.ID == t.chat.ActiveLeaf, Place: t.depth(first), Model: leaf.Model,
			Messages: t.depth(leaf), UpdatedAt: leaf.CreatedAt, ManifestID: manifest,
		}
		for m := first; m != nil && b.Title == ""; m = t.byID[m.ParentID] {
			if m.Role == provider.User && !m.AnswersCalls() {
				b.Title = chat.FirstTitle("", m.Parts)
			}
		}
		if b.Active {
			b.ManifestID = t.chat.ActiveManifest
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b store.Branch) int { return cmp.Compare(a.Leaf, b.Leaf) })
	for i := range out {
		out[i].Number = i + 1
	}
	return out
}

func (t *plainTree) siblings() map[string][]string {
	out := map[string][]string{}
	for _, ids := range t.children {
		for _, id := range ids {
			if len(ids) > 1 {
				out[id] = ids
			}
		}
	}
	return out
}

func (t *plainTree) newestBelow(id string) string {
	for len(t.children[id]) > 0 {
		id = t.children[id][len(t.children[id])-1]
	}
	return id
}

// sameBranches compares what the engine reports of the branches of a chat with what its
// messages say. wantStored is whether the store has to have records of them.
func (b *bench) sameBranches(ref store.ChatRef, wantStored bool) *plainTree {
	b.t.Helper()
	doc, _, err := b.ExportChat(b.t.Context(), ref)
	if err != nil {
		b.t.Fatal(err)
	}
	t := newPlainTree(doc)
	b.inStore(func(tx *kv.Tx) error {
		s, err := b.StoredBranches(tx, doc.Chat)
		if (s != nil) != wantStored {
			b.t.Errorf("records of %d messages: %v, not %v", doc.Chat.Messages, s != nil, wantStored)
		}
		return err
	})
	_, got, err := b.Branches(b.t.Context(), ref)
	if err != nil {
		b.t.Fatal(err)
	}
	want := t.branches()
	for i := range got {
		if i < len(want) && !got[i].UpdatedAt.Equal(want[i].UpdatedAt) {
			b.t.Errorf("branch %d is of %v, not %v", i+1, got[i].UpdatedAt, want[i].UpdatedAt)
		} else if i < len(want) {
			got[i].UpdatedAt = want[i].UpdatedAt
		}
	}
	if !reflect.DeepEqual(got, want) {
		b.t.Errorf("branches: %+v\nnot %+v", got, want)
	}
	siblings, err := b.Siblings(b.t.Context(), doc.Chat)
	if err != nil || !reflect.DeepEqual(siblings, t.siblings()) {
		b.t.Errorf("siblings: %v, not %v (%v)", siblings, t.siblings(), err)
	}
	b.samePages(ref, t)
	for _, m := range doc.Messages {
		to, err := b.BranchBelow(b.t.Context(), doc.Chat, m.ID)
		if err != nil || to.Leaf != t.newestBelow(m.ID) {
			b.t.Errorf("the newest way from %s ends at %s, not %s (%v)", m.ID, to.Leaf, t.newestBelow(m.ID), err)
		}
	}
	return t
}

// samePages compares the pages of a chat's messages with the way to its active message.
func (b *bench) samePages(ref store.ChatRef, t *plainTree) {
	b.t.Helper()
	var want, got []string
	for m := t.byID[t.chat.ActiveLeaf]; m != nil; m = t.byID[m.ParentID] {
		want = append(want, m.ID)
	}
	for before := ""; len(got) < len(want); {
		page, err := b.ChatMessages(b.t.Context(), ref, before, 7)
		if err != nil || page.Total != len(want) || len(page.Messages) == 0 {
			b.t.Fatalf("before %s: %d messages of %d, not of %d (%v)", before, len(page.Messages), page.Total, len(want), err)
		}
		for _, m := range slices.Backward(page.Messages) {
			before, got = m.ID, append(got, m.ID)
		}
	}
	if !slices.Equal(got, want) {
		b.t.Errorf("the pages have %v, not %v", got, want)
	}
	if page, err := b.ChatMessages(b.t.Context(), ref, want[len(want)-1], 7); err != nil || len(page.Messages) > 0 || page.Total != len(want) {
		b.t.Errorf("before the first message there are %d of %d (%v)", len(page.Messages), page.Total, err)
	}
	for id := range t.byID {
		if _, err := b.ChatMessages(b.t.Context(), ref, id, 1); (err == nil) != t.active[id] || err != nil && fault.CodeOf(err) != fault.NotFound {
			b.t.Errorf("before %s, which is on the way: %v: %v", id, t.active[id], err)
		}
	}
}

func (b *bench) inStore(do func(*kv.Tx) error) {
	b.t.Helper()
	if err := b.KV.View(b.t.Context(), do); err != nil {
		b.t.Fatal(err)
	}
}

// branchyDocument is a chat of n messages that parts at random places. The order of
// their ids is not that of their places.
func branchyDocument(r *rand.Rand, number, n int) *chat.Document {
	doc := longDocument(number, n)
	for i, at := range r.Perm(n) {
		doc.Messages[i].ID = fmt.Sprintf("M%04d%08d", number, at)
	}
	for i := range doc.Messages {
		m := &doc.Messages[i]
		switch m.ParentID = ""; {
		case i > 0 && r.IntN(8) > 0:
			m.ParentID = doc.Messages[i-1].ID
		case i > 0 && r.IntN(12) > 0:
			m.ParentID = doc.Messages[r.IntN(i)].ID
		}
	}
	doc.Chat.ActiveLeaf = doc.Messages[r.IntN(n)].ID
	return doc
}

// branchOff is a turn that begins at a random place of a chat.
func (b *bench) branchOff(r *rand.Rand, t *plainTree) {
	b.t.Helper()
	ids := make([]string, 0, len(t.byID))
	for id := range t.byID {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	m := t.byID[ids[r.IntN(len(ids))]]
	req := ask("and so?")
	req.Chat = store.ChatRef{ID: t.chat.ID}
	switch {
	case r.IntN(3) == 0: // it goes on from the active message
	case m.Role == provider.User:
		req.Chat.Instead = m.ID
		if r.IntN(2) == 0 {
			req.Parts = nil
		}
	default:
		req.Chat.Parent = m.ID
	}
	b.run(req)
	if _, err := b.Fold(b.t.Context(), store.FoldAll); err != nil {
		b.t.Fatal(err)
	}
}

// The records of branches say what the messages say, whatever tree these are, and
// through turns that begin anywhere in it.
func TestBranchRecordsAgreeWithTheMessages(t *testing.T) {
	t.Parallel()
	b := heldBench(t)
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(7, seed))
		doc := branchyDocument(r, int(seed), []int{40, 61, 64, 65, 130, 200}[seed])
		if _, err := b.importChats(t.Context(), []*chat.Document{doc}, store.RefuseExisting); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			tree := b.sameBranches(lastChat, b.lastUsed().Messages > store.TrackedMessages)
			b.branchOff(r, tree)
		}
		b.sameBranches(lastChat, b.lastUsed().Messages > store.TrackedMessages)
	}
}

// A chat that an older fettle has made, or has added to, gets its records by the first
// list of its branches.
func TestBranchRecordsOfAnOlderStore(t *testing.T) {
	t.Parallel()
	b := heldBench(t)
	doc := branchyDocument(rand.New(rand.NewPCG(8, 1)), 1, 300)
	if _, err := b.importChats(t.Context(), []*chat.Document{doc}, store.RefuseExisting); err != nil {
		t.Fatal(err)
	}
	chat := b.lastUsed()
	forget := func(all bool) {
		t.Helper()
		err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
			for n := 1; n < 300; n++ {
				if err := b.Tables.Branches.Delete(tx, kv.Str(chat.ID).Int(int64(n))); err != nil || !all {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, all := range []bool{true, false} {
		forget(all)
		b.branchOff(rand.New(rand.NewPCG(8, 2)), newPlainTree(doc))
		b.sameBranches(lastChat, false)
		b.sameBranches(lastChat, true)
	}
}

// A list of branches, the turn of a chat with many of them and a switch cost what they
// show, and not what the chat is long.
func TestBranchesOfALongChat(t *testing.T) {
	t.Parallel()
	small, large := heldBench(t), heldBench(t)
	for b, n := range map[*bench]int{small: 300, large: 300 + 60*store.MarkEvery} {
		doc := longDocument(0, n)
		doc.Messages[n-5].Summary = &chat.Summary{Text: "so far", Messages: n - 4, Model: "script/m.yaml"}
		if _, err := b.importChats(t.Context(), []*chat.Document{doc}, store.RefuseExisting); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			b.again(1, doc.Messages[n-1-2*(i%2)].ID)
		}
	}
	end := func(b *bench) string {
		_, all, err := b.Branches(t.Context(), lastChat)
		if err != nil || len(all) < 5 {
			t.Fatalf("%d branches, %v", len(all), err)
		}
		return all[0].Leaf
	}
	sameReads(t, small, large, map[string]func(*bench) error{
		"branches": func(b *bench) error { end(b); return nil },
		"the last page": func(b *bench) error {
			page, err := b.ChatMessages(t.Context(), lastChat, "", 10)
			if err == nil && len(page.Messages) != 10 {
				t.Errorf("%d messages", len(page.Messages))
			}
			return err
		},
		"the page before": func(b *bench) error {
			page, err := b.ChatMessages(t.Context(), lastChat, "", 10)
			if err != nil {
				return err
			}
			_, err = b.ChatMessages(t.Context(), lastChat, page.Messages[0].ID, 10)
			return err
		},
		"siblings": func(b *bench) error { _, err := b.Siblings(t.Context(), b.lastUsed()); return err },
		"retry": func(b *bench) error {
			b.run(TurnRequest{Chat: store.ChatRef{Last: true, Instead: b.lastUsed().ActiveLeaf}})
			_, err := b.Fold(t.Context(), store.FoldAll)
			return err
		},
		"go on": goOn,
		"switch": func(b *bench) error {
			was := b.lastUsed().ActiveLeaf
			for _, to := range []string{end(b), was} {
				if _, err := b.Switch(t.Context(), workspace.SwitchRequest{Chat: lastChat, Message: to}); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
