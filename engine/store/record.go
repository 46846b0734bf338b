package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/internal/kv"
)

// storeGroup writes a group and syncs. What may be large goes first, in as many
// transactions as it takes; each turn's record comes last, together with its
// chat, so that a turn that has its record has all.
func (s *Store) storeGroup(ctx context.Context, group []*Folding) error {
	if len(group) == 0 {
		return nil
	}
	slices.SortFunc(group, byOrder)
	err := s.KV.Update(ctx, func(tx *kv.Tx) error { // reads, and opens the store for what follows
		if err := s.beginIndex(tx); err != nil {
			return err
		}
		for _, f := range group {
			if err := s.lookBefore(tx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = s.KV.Batch(ctx, func(b *kv.Batch) error {
		for _, f := range group {
			if err := s.PutParts(b, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Pause("fold:parts")
	for _, f := range group {
		var given journal.Numbers
		err := s.KV.Update(ctx, func(tx *kv.Tx) (err error) {
			given, err = s.record(tx, f)
			return err
		})
		if err != nil {
			return err
		}
		s.raise(ctx, given)
	}
	s.Pause("fold:recorded")
	if err := s.indexGroup(ctx, group); err != nil {
		return fmt.Errorf("index chats for search: %w", err)
	}
	s.Pause("fold:written")
	return s.KV.Sync(ctx)
}

// lookBefore finds what the store knows of a turn that is to be folded.
func (s *Store) lookBefore(tx *kv.Tx, f *Folding) (err error) {
	a := f.Accept
	if f.recorded, err = s.Tables.Turns.Has(tx, kv.Str(a.TurnID)); err != nil || f.recorded {
		return err // a crash between sync and unlink makes a fold come twice
	}
	from := a.Chat.ForkedFrom
	Exists, err := s.Tables.Chats.Has(tx, kv.Str(a.Chat.ID))
	if err != nil || Exists || from == nil || a.ParentID == "" {
		return err
	}
	f.brought, err = s.PathTo(tx, from.ChatID, from.MessageID)
	if err != nil && Unreadable(err) {
		s.Options.Notice(fmt.Sprintf("chat %d begins without the messages of chat %d, which it was forked from: %v",
			a.Chat.Number, from.Number, err))
		a.ParentID, err = "", nil
	}
	if err == nil && len(f.brought) > 0 {
		f.decided, err = s.decisionsIn(tx, from.ChatID)
	}
	if err == nil && len(f.brought) > 0 {
		f.artifacts, err = s.artifactsIn(tx, from.ChatID)
	}
	if err == nil && len(f.brought) > 0 {
		f.broughtCalls, err = s.callsFor(tx, from.ChatID, f.brought, a.Chat.ID)
	}
	return err
}

// PutParts writes the events, messages and calls of a turn.
func (s *Store) PutParts(b *kv.Batch, f *Folding) error {
	if f.recorded {
		return nil
	}
	for i, seg := range f.Segments {
		key := kv.Str(f.Accept.TurnID).Int(int64(i))
		if err := s.Tables.Events.Put(b, key, seg, kv.WithTTL(eventsKept)); err != nil {
			return err
		}
	}
	for _, m := range f.added() {
		m.ChatID = f.Accept.Chat.ID
		if err := s.PutMessage(b, m); err != nil {
			return err
		}
	}
	if err := s.putCalls(b, slices.Concat(f.broughtCalls, f.calls)); err != nil {
		return err
	}
	if err := s.PutArtifacts(b, f.Accept.Chat.ID, f.artifacts); err != nil {
		return err
	}
	return s.putDecisions(b, f.Accept.Chat.ID, f.decided)
}

// putDecisions gives a chat the decisions of the one that its messages are from.
func (s *Store) putDecisions(w kv.Writer, chatID string, all []chat.PayloadDecision) error {
	for _, d := range all {
		d.ChatID = chatID
		if err := PutBounded(s.In(w), s.Tables.Payloads, &d, "the decision about payload "+d.PayloadID); err != nil {
			return err
		}
	}
	return nil
}

// record writes the turn's record and moves its chat on. It gives the numbers
// that the counter has to be told of, if any.
func (s *Store) record(tx *kv.Tx, f *Folding) (given journal.Numbers, err error) {
	if f.recorded {
		return given, nil
	}
	a := f.Accept
	c, err := s.Tables.Chats.Get(tx, kv.Str(a.Chat.ID))
	if errors.Is(err, kv.ErrNotFound) {
		c, given, err = s.newChat(tx, f)
	}
	if err != nil {
		return given, err
	}
	if err := s.leave(tx, c, f.Accept); err != nil {
		return given, err
	}
	if err := s.putSummaries(tx, f); err != nil {
		return given, err
	}
	if err := s.keepBranches(tx, *c, f); err != nil {
		return given, err
	}
	f.advance(c)
	turn := chat.Turn{
		ID: a.TurnID, ChatID: a.Chat.ID, Order: a.Order, ParentID: a.ParentID,
		UserMessageID: a.UserMessageID, MessageID: a.MessageID, Model: f.answer.Model, Status: f.answer.Status,
		StartedAt: a.Time, FinishedAt: f.finished, LastSeq: f.LastSeq, Segments: len(f.Segments), Counted: true,
	}
	return given, errors.Join(PutBounded(s.In(tx), s.Tables.Chats, c, c.Called()), PutBounded(s.In(tx), s.Tables.Turns, &turn, "turn "+turn.ID), s.countTurn(tx, f, c))
}

// leave notes the workspace of the branch that a turn has left, on the message
// that it ended with.
func (s *Store) leave(tx *kv.Tx, chat *chat.Chat, a *chat.Acceptance) error {
	if !a.Branches() || chat.ActiveLeaf != a.ActiveBefore() {
		return nil
	}
	return s.NoteLeft(tx, chat, cmp.Or(a.LeftManifestID, chat.ActiveManifest))
}

// NoteLeft notes the workspace at a chat's leaf, which is about to move to
// another branch.
func (s *Store) NoteLeft(tx *kv.Tx, chat *chat.Chat, manifest string) error {
	m, err := s.Tables.Messages.Get(tx, MessageKey(chat.ID, chat.ActiveLeaf))
	if err != nil && Unreadable(err) {
		s.Options.Notice(fmt.Sprintf("chat %d: the state of the files where it was left is not noted: read message %s: %v",
			chat.Number, chat.ActiveLeaf, err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("read message %s: %w", chat.ActiveLeaf, err)
	}
	m.LeftManifestID = manifest
	return PutBounded(s.In(tx), s.Tables.Messages, m, "message "+m.ID)
}

// advance moves the chat on by a turn. The leaf moves only if it still is
// where it was when the turn began; else the turn is a branch.
func (f *Folding) advance(c *chat.Chat) {
	a, at := f.Accept, f.finished
	Exists := c.ActiveLeaf == a.ActiveBefore()
	if Exists && f.answer.ManifestID != "" {
		c.CutShort = c.CutShort && c.ActiveManifest == f.answer.ManifestID
		c.ActiveManifest = f.answer.ManifestID
	}
	if a.App != "" { // nothing is said, and `-c` goes on where something was
		c.CutShort = c.CutShort || f.answer.Status == chat.CutShort || f.answer.StateUnknown
		return
	}
	if Exists {
		c.ActiveLeaf = a.MessageID
	}
	c.Messages++
	if !a.Again {
		c.Messages++
	}
	if a.Order > c.LastTurn {
		c.LastTurn, c.Model, c.System, c.Agent = a.Order, a.Chat.Model, a.Chat.System, a.Chat.Agent
		c.AgentMode = a.Chat.AgentMode
		c.TakeMode(a)
	}
	if at.After(c.UpdatedAt) {
		c.UpdatedAt = at
	}
}

// newChat makes the chat of a first turn. A number that another chat has is
// not what stops it: the chat gets the next free one.
func (s *Store) newChat(tx *kv.Tx, f *Folding) (*chat.Chat, journal.Numbers, error) {
	var given journal.Numbers
	chat := f.Accept.Chat
	chat.ActiveLeaf, chat.Messages, chat.LastTurn = f.Accept.ParentID, len(f.brought), f.Accept.Order
	_, err := s.Tables.Chats.Find(tx, "number", kv.Int(chat.Number))
	if errors.Is(err, kv.ErrNotFound) {
		return &chat, given, nil
	}
	if err != nil {
		return nil, given, err
	}
	if given, err = s.highestStored(tx); err != nil {
		return nil, given, err
	}
	given.Chat++
	s.Options.Notice(fmt.Sprintf("chat %d is now chat %d: the number was given twice, since %s was lost or put back",
		chat.Number, given.Chat, "counter.json"))
	chat.Number, f.Accept.Chat.Number = given.Chat, given.Chat
	return &chat, given, nil
}

// raise tells the counter of numbers that it doesn't know. No operation of the
// store runs meanwhile: a counter that was lost asks the store.
func (s *Store) raise(ctx context.Context, above journal.Numbers) {
	if above == (journal.Numbers{}) {
		return
	}
	if err := s.Counter.Raise(ctx, above); err != nil {
		s.Options.Notice(err.Error())
	}
}

// highest tells the highest numbers in store and journals, for a counter that
// was lost.
func (s *Store) highest(ctx context.Context) (journal.Numbers, error) {
	var n journal.Numbers
	turns, err := s.Journals.Turns()
	if err != nil {
		return n, err
	}
	for _, turn := range turns {
		if a, err := s.acceptanceIn(turn); err == nil {
			n.Turn, n.Chat = max(n.Turn, a.Order), max(n.Chat, a.Chat.Number)
		}
	}
	err = s.View(ctx, func(tx *kv.Tx) error {
		stored, err := s.highestStored(tx)
		n.Turn, n.Chat = max(n.Turn, stored.Turn), max(n.Chat, stored.Chat)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return n, nil
	}
	return n, err
}

// highestStored returns the highest numbers in the store. Each damaged record that
// comes first in an index may have had the next number above those that can be read.
func (s *Store) highestStored(tx *kv.Tx) (n journal.Numbers, err error) {
	turn, hidden, err := lastLegible(tx, s.Tables.Turns, "order")
	if err != nil {
		return n, err
	}
	if turn != nil {
		n.Turn = turn.Order
	}
	n.Turn += hidden
	recent, hidden, err := lastLegible(tx, s.Tables.Chats, "recent")
	if err != nil {
		return n, err
	}
	if recent != nil {
		n.Turn = max(n.Turn, recent.LastTurn+hidden) // one that was imported has no turn
	}
	chat, hidden, err := lastLegible(tx, s.Tables.Chats, "number")
	if err != nil {
		return n, err
	}
	if chat != nil {
		n.Chat = chat.Number
	}
	n.Chat += hidden
	return n, nil
}

// lastLegible returns the last record of an index that can be read, or nil if there is
// none, and how many damaged ones come after it.
func lastLegible[T any](tx *kv.Tx, table *kv.Table[T], index string) (last *T, hidden int64, err error) {
	for rec, err := range table.ByIndex(tx, index, nil, kv.Range{Reverse: true}) {
		if err != nil && Damaged(err) {
			hidden++
			continue
		}
		return rec, hidden, err
	}
	return nil, hidden, nil
}
