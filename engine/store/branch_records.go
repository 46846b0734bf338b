package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

const (
	// TrackedMessages is how many messages a chat has at most whose branches are read
	// from the messages themselves. Longer chats have records of their branches.
	TrackedMessages = 64
	// MarkEvery is how many places are between two marks of a branch. It bounds how
	// many messages are read to find the place of one.
	MarkEvery = 64
)

// branchRecord describes one branch of a long chat. The branches of a chat share
// messages: a branch owns those from First to Leaf, and the ones up to Parent belong
// to branch From and to those that it branches off from.
type branchRecord struct {
	ChatID string `json:"chat_id"`
	Number int    `json:"number"` // from 1, in the order in which the records were made
	First  string `json:"first"`
	At     int    `json:"at"` // the place of First in the chat, from 1
	Parent string `json:"parent,omitempty"`
	From   int    `json:"from,omitempty"` // 0: First is a root
	// Beside is the message of branch From that follows Parent.
	Beside   string `json:"beside,omitempty"`
	Leaf     string `json:"leaf"`
	Length   int    `json:"length"`             // the place of Leaf
	Manifest string `json:"manifest,omitempty"` // the last one up to Leaf
}

// BranchMark is the place of a message: of every MarkEvery-th one of a branch.
type BranchMark struct {
	ChatID   string `json:"chat_id"`
	ID       string `json:"id"`
	Branch   int    `json:"branch"`
	At       int    `json:"at"`
	Manifest string `json:"manifest,omitempty"` // the last one up to the message
}

func branchesTable() *kv.Table[branchRecord] {
	return kv.NewTable("branches", func(b *branchRecord) kv.Key { return kv.Str(b.ChatID).Int(int64(b.Number)) },
		kv.On("leaf", func(b *branchRecord) kv.Key { return kv.Str(b.ChatID).Str(b.Leaf) }))
}

func marksTable() *kv.Table[BranchMark] {
	return kv.NewTable("branch_marks", func(m *BranchMark) kv.Key { return kv.Str(m.ChatID).Str(m.ID) },
		kv.On("place", func(m *BranchMark) kv.Key { return kv.Str(m.ChatID).Int(int64(m.Branch)).Int(int64(m.At)) }))
}

// branchSet holds all branches of a chat.
type branchSet struct {
	chat  chat.Chat
	List  []branchRecord // the one with number n is at n-1
	marks []BranchMark   // of a set that was made from messages
	// stored reports that the store has the records, and so the marks.
	stored bool
	// whole reports that the set has every message that it was made from.
	whole bool
}

func (s *branchSet) record(number int) *branchRecord { return &s.List[number-1] }

// messages returns how many messages the branches have.
func (s *branchSet) messages() (n int) {
	for _, b := range s.List {
		n += b.Length - b.At + 1
	}
	return n
}

// branchStart is a branch of which only the first message is known.
type branchStart struct {
	first    *chat.MessageLink
	from, at int
	beside   string
	manifest string
}

// BranchesOf makes the branches of a chat from its messages. A message whose parent is
// missing counts as a root.
func BranchesOf(c chat.Chat, links []chat.MessageLink) *branchSet {
	slices.SortFunc(links, func(a, b chat.MessageLink) int { return cmp.Compare(a.ID, b.ID) })
	known := make(map[string]bool, len(links))
	for _, l := range links {
		known[l.ID] = true
	}
	s := &branchSet{chat: c, whole: true}
	children := map[string][]*chat.MessageLink{}
	var starts []branchStart
	for i := range links {
		l := &links[i]
		if known[l.ParentID] {
			children[l.ParentID] = append(children[l.ParentID], l)
			continue
		}
		s.whole = s.whole && l.ParentID == ""
		starts = append(starts, branchStart{first: l, at: 1})
	}
	for ; len(starts) > 0; starts = starts[1:] {
		starts = append(starts, s.addBranch(starts[0], children)...)
	}
	s.whole = s.whole && s.messages() == len(links) // else damage has made a circle
	return s
}

// addBranch adds a branch with all of its messages, and returns the starts of those that
// branch off from it.
func (s *branchSet) addBranch(b branchStart, children map[string][]*chat.MessageLink) (off []branchStart) {
	rec := branchRecord{
		ChatID: s.chat.ID, Number: len(s.List) + 1, First: b.first.ID, At: b.at, Parent: b.first.ParentID, From: b.from, Beside: b.beside,
	}
	manifest := b.manifest
	for l, at := b.first, b.at; l != nil; at++ {
		manifest = cmp.Or(l.ManifestID, manifest)
		rec.Leaf, rec.Length, rec.Manifest = l.ID, at, manifest
		if at%MarkEvery == 0 {
			s.marks = append(s.marks, BranchMark{s.chat.ID, l.ID, rec.Number, at, manifest})
		}
		next := children[l.ID]
		if l = nil; len(next) == 0 {
			continue
		}
		l = next[0]
		for _, other := range next[1:] {
			off = append(off, branchStart{other, rec.Number, at + 1, l.ID, manifest})
		}
	}
	s.List = append(s.List, rec)
	return off
}

// BranchSet reads the branches of a chat: the records if there are any, else the
// messages. In the second case it makes the records of a long chat.
func (s *Store) BranchSet(ctx context.Context, chat chat.Chat) (*branchSet, error) {
	var set *branchSet
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		set, err = s.StoredBranches(tx, chat)
		return err
	})
	if err != nil || set != nil {
		return set, err
	}
	links, damaged, err := s.chatLinks(ctx, chat.ID)
	if err != nil {
		return nil, err
	}
	set = BranchesOf(chat, links)
	set.whole = set.whole && !damaged
	if len(links) > TrackedMessages && set.whole {
		// Without the records the next list reads the messages again: an error of the
		// store is reported by what has to be written.
		if err := s.trackChat(ctx, set); err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
	return set, nil
}

// StoredBranches reads the records of a chat's branches; nil if there are none, or not
// of all messages. An older fettle adds messages without records.
func (s *Store) StoredBranches(tx *kv.Tx, chat chat.Chat) (*branchSet, error) {
	if chat.Messages <= TrackedMessages {
		return nil, nil
	}
	set := &branchSet{chat: chat, stored: true, whole: true}
	for b, err := range s.Tables.Branches.Scan(tx, kv.Range{Prefix: kv.Str(chat.ID)}) {
		if err != nil && s.LeavesOut(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if set.List = append(set.List, *b); b.Number != len(set.List) || b.From >= b.Number {
			return nil, nil
		}
	}
	if set.messages() != chat.Messages {
		return nil, nil
	}
	return set, nil
}

// trackChat stores the branches of a chat that were made from its messages, unless the
// chat has others by now.
func (s *Store) trackChat(ctx context.Context, set *branchSet) error {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	if err := s.KV.Batch(ctx, func(b *kv.Batch) error { return s.putMarks(b, set.marks) }); err != nil {
		return err
	}
	return s.KV.Update(ctx, func(tx *kv.Tx) error {
		chat, err := s.Tables.Chats.Get(tx, kv.Str(set.chat.ID))
		if err != nil || chat.Messages != set.messages() {
			return err
		}
		old := kv.Range{Prefix: kv.Str(chat.ID), From: kv.Str(chat.ID).Int(int64(len(set.List) + 1))}
		for key, err := range s.Tables.Branches.Keys(tx, old) {
			if err == nil {
				err = s.Tables.Branches.Delete(tx, key)
			}
			if err != nil {
				return err
			}
		}
		return s.putBranches(tx, set.List)
	})
}

func (s *Store) putMarks(w kv.Writer, marks []BranchMark) error {
	for i := range marks {
		if err := s.Tables.Marks.Put(w, &marks[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) putBranches(w kv.Writer, list []branchRecord) error {
	for i := range list {
		if err := s.Tables.Branches.Put(w, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// keepBranches adds the messages of a turn to the records of a long chat's branches.
// chat is the one before the turn. A chat whose records lack a message, because one is
// damaged or the chat is older than the records, is left to branchSet.
func (s *Store) keepBranches(tx *kv.Tx, chat chat.Chat, f *Folding) error {
	added := f.added()
	messages := chat.Messages + len(added) - len(f.brought)
	if len(added) == 0 || messages <= TrackedMessages {
		return nil
	}
	err := s.extendBranches(tx, chat, added)
	if err != nil && Unreadable(err) {
		return nil
	}
	return err
}

func (s *Store) extendBranches(tx *kv.Tx, chat chat.Chat, added []chat.Message) error {
	b, err := s.Tables.Branches.Find(tx, "leaf", kv.Str(chat.ID).Str(added[0].ParentID))
	if errors.Is(err, kv.ErrNotFound) {
		if len(added) > TrackedMessages || chat.Messages <= 2*TrackedMessages {
			return s.trackFew(tx, chat, added)
		}
		b, err = s.newBranch(tx, chat, added[0])
	}
	if b == nil || err != nil {
		return err
	}
	for _, m := range added {
		b.Leaf, b.Length, b.Manifest = m.ID, b.Length+1, cmp.Or(m.ManifestID, b.Manifest)
		if b.Length%MarkEvery != 0 {
			continue
		}
		mark := BranchMark{chat.ID, m.ID, b.Number, b.Length, b.Manifest}
		if err := s.Tables.Marks.Put(tx, &mark); err != nil {
			return err
		}
	}
	return s.Tables.Branches.Put(tx, b)
}

// trackFew makes the records of a chat that has just become long, or of one that begins
// with the messages of another.
func (s *Store) trackFew(tx *kv.Tx, c chat.Chat, added []chat.Message) error {
	links := chat.LinksOf(added)
	if len(added) <= TrackedMessages {
		links = nil
		for l, err := range s.Tables.links.Scan(tx, kv.Range{Prefix: kv.Str(c.ID)}) {
			if err != nil {
				return err
			}
			links = append(links, *l)
		}
		if len(links) != c.Messages+len(added) {
			return nil // another turn of the chat is being folded
		}
	}
	set := BranchesOf(c, links)
	if !set.whole {
		return nil
	}
	return errors.Join(s.putMarks(tx, set.marks), s.putBranches(tx, set.List))
}

// newBranch returns the record of a branch that begins with a message, without its
// messages; nil if the chat's records are not complete.
func (s *Store) newBranch(tx *kv.Tx, chat chat.Chat, first chat.Message) (*branchRecord, error) {
	set, err := s.StoredBranches(tx, chat)
	if set == nil || err != nil {
		return nil, err
	}
	b := &branchRecord{ChatID: chat.ID, Number: len(set.List) + 1, First: first.ID, At: 1}
	if b.Parent = first.ParentID; b.Parent != "" {
		from, at, err := s.locate(tx, set, b.Parent)
		if from == nil || err != nil {
			return nil, err
		}
		b.From, b.At = from.Number, at+1
		if b.Beside, err = s.messageOn(tx, set, from, at+1); err != nil {
			return nil, err
		}
		if b.Manifest, err = s.manifestAt(tx, set, b.Parent); err != nil {
			return nil, err
		}
	}
	b.Length = b.At - 1
	return b, nil
}

// BranchMove is the record of a folder that is given the files of another branch
// before the chat is there: before a turn is accepted, or a switch noted. It is
// in the store before the first file changes. A process that is killed in
// between leaves it, and who next works with the folder takes the move back: else
// the other branch's files would count as somebody's change to this one.
type BranchMove struct {
	ChatID string `json:"chat_id"`
	// MessageID is the answer of the turn that the folder is moved for; with it
	// in the store the chat is there. A switch removes the record as it is noted.
	MessageID string `json:"message_id,omitempty"`
	// Active is the state that the chat was at. Found is the state in which the
	// folder was, if it differed, Moved the one that it was given: the ids that
	// these get, if there are such.
	Active string `json:"active"`
	Found  string `json:"found"`
	Moved  string `json:"moved"`
}
