package engine

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
func (s *Store) storeGroup(ctx context.Context, group []*folding) error {
	if len(group) == 0 {
		return nil
	}
	slices.SortFunc(group, byOrder)
	err := s.store.Update(ctx, func(tx *kv.Tx) error { // reads, and opens the store for what follows
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
	err = s.store.Batch(ctx, func(b *kv.Batch) error {
		for _, f := range group {
			if err := s.putParts(b, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.pause("fold:parts")
	for _, f := range group {
		var given journal.Numbers
		err := s.store.Update(ctx, func(tx *kv.Tx) (err error) {
			given, err = s.record(tx, f)
			return err
		})
		if err != nil {
			return err
		}
		s.raise(ctx, given)
	}
	s.pause("fold:recorded")
	if err := s.indexGroup(ctx, group); err != nil {
		return fmt.Errorf("index chats for search: %w", err)
	}
	s.pause("fold:written")
	return s.store.Sync(ctx)
}

// lookBefore finds what the store knows of a turn that is to be folded.
func (s *Store) lookBefore(tx *kv.Tx, f *folding) (err error) {
	a := f.accept
	if f.recorded, err = s.tables.turns.Has(tx, kv.Str(a.TurnID)); err != nil || f.recorded {
		return err // a crash between sync and unlink makes a fold come twice
	}
	from := a.Chat.ForkedFrom
	there, err := s.tables.chats.Has(tx, kv.Str(a.Chat.ID))
	if err != nil || there || from == nil || a.ParentID == "" {
		return err
	}
	f.brought, err = s.pathTo(tx, from.ChatID, from.MessageID)
	if err != nil && unreadable(err) {
		s.o.Notice(fmt.Sprintf("chat %d begins without the messages of chat %d, which it was forked from: %v",
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

// putParts writes the events, messages and calls of a turn.
func (s *Store) putParts(b *kv.Batch, f *folding) error {
	if f.recorded {
		return nil
	}
	for i, seg := range f.segments {
		key := kv.Str(f.accept.TurnID).Int(int64(i))
		if err := s.tables.events.Put(b, key, seg, kv.WithTTL(eventsKept)); err != nil {
			return err
		}
	}
	for _, m := range f.added() {
		m.ChatID = f.accept.Chat.ID
		if err := s.putMessage(b, m); err != nil {
			return err
		}
	}
	if err := s.putCalls(b, slices.Concat(f.broughtCalls, f.calls)); err != nil {
		return err
	}
	if err := s.putArtifacts(b, f.accept.Chat.ID, f.artifacts); err != nil {
		return err
	}
	return s.putDecisions(b, f.accept.Chat.ID, f.decided)
}

// putDecisions gives a chat the decisions of the one that its messages are from.
func (s *Store) putDecisions(w kv.Writer, chatID string, all []chat.PayloadDecision) error {
	for _, d := range all {
		d.ChatID = chatID
		if err := putBounded(s, w, s.tables.payloads, &d, "the decision about payload "+d.PayloadID); err != nil {
			return err
		}
	}
	return nil
}

// record writes the turn's record and moves its chat on. It gives the numbers
// that the counter has to be told of, if any.
func (s *Store) record(tx *kv.Tx, f *folding) (given journal.Numbers, err error) {
	if f.recorded {
		return given, nil
	}
	a := f.accept
	c, err := s.tables.chats.Get(tx, kv.Str(a.Chat.ID))
	if errors.Is(err, kv.ErrNotFound) {
		c, given, err = s.newChat(tx, f)
	}
	if err != nil {
		return given, err
	}
	if err := s.leave(tx, c, f.accept); err != nil {
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
		StartedAt: a.Time, FinishedAt: f.finished, LastSeq: f.lastSeq, Segments: len(f.segments), Counted: true,
	}
	return given, errors.Join(putBounded(s, tx, s.tables.chats, c, c.Called()), putBounded(s, tx, s.tables.turns, &turn, "turn "+turn.ID), s.countTurn(tx, f, c))
}

// leave notes the workspace of the branch that a turn has left, on the message
// that it ended with.
func (s *Store) leave(tx *kv.Tx, chat *chat.Chat, a *chat.Acceptance) error {
	if !a.Branches() || chat.ActiveLeaf != a.ActiveBefore() {
		return nil
	}
	return s.noteLeft(tx, chat, cmp.Or(a.LeftManifestID, chat.ActiveManifest))
}

// noteLeft notes the workspace at a chat's leaf, which is about to move to
// another branch.
func (s *Store) noteLeft(tx *kv.Tx, chat *chat.Chat, manifest string) error {
	m, err := s.tables.messages.Get(tx, messageKey(chat.ID, chat.ActiveLeaf))
	if err != nil && unreadable(err) {
		s.o.Notice(fmt.Sprintf("chat %d: the state of the files where it was left is not noted: read message %s: %v",
			chat.Number, chat.ActiveLeaf, err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("read message %s: %w", chat.ActiveLeaf, err)
	}
	m.LeftManifestID = manifest
	return putBounded(s, tx, s.tables.messages, m, "message "+m.ID)
}

// advance moves the chat on by a turn. The leaf moves only if it still is
// where it was when the turn began; else the turn is a branch.
func (f *folding) advance(c *chat.Chat) {
	a, at := f.accept, f.finished
	there := c.ActiveLeaf == a.ActiveBefore()
	if there && f.answer.ManifestID != "" {
		c.CutShort = c.CutShort && c.ActiveManifest == f.answer.ManifestID
		c.ActiveManifest = f.answer.ManifestID
	}
	if a.App != "" { // nothing is said, and `-c` goes on where something was
		c.CutShort = c.CutShort || f.answer.Status == chat.CutShort || f.answer.StateUnknown
		return
	}
	if there {
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
func (s *Store) newChat(tx *kv.Tx, f *folding) (*chat.Chat, journal.Numbers, error) {
	var given journal.Numbers
	chat := f.accept.Chat
	chat.ActiveLeaf, chat.Messages, chat.LastTurn = f.accept.ParentID, len(f.brought), f.accept.Order
	_, err := s.tables.chats.Find(tx, "number", kv.Int(chat.Number))
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
	s.o.Notice(fmt.Sprintf("chat %d is now chat %d: the number was given twice, since %s was lost or put back",
		chat.Number, given.Chat, "counter.json"))
	chat.Number, f.accept.Chat.Number = given.Chat, given.Chat
	return &chat, given, nil
}

// raise tells the counter of numbers that it doesn't know. No operation of the
// store runs meanwhile: a counter that was lost asks the store.
func (s *Store) raise(ctx context.Context, above journal.Numbers) {
	if above == (journal.Numbers{}) {
		return
	}
	if err := s.counter.Raise(ctx, above); err != nil {
		s.o.Notice(err.Error())
	}
}

// highest tells the highest numbers in store and journals, for a counter that
// was lost.
func (s *Store) highest(ctx context.Context) (journal.Numbers, error) {
	var n journal.Numbers
	turns, err := s.journals.Turns()
	if err != nil {
		return n, err
	}
	for _, turn := range turns {
		if a, err := s.acceptanceIn(turn); err == nil {
			n.Turn, n.Chat = max(n.Turn, a.Order), max(n.Chat, a.Chat.Number)
		}
	}
	err = s.view(ctx, func(tx *kv.Tx) error {
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
	turn, hidden, err := lastLegible(tx, s.tables.turns, "order")
	if err != nil {
		return n, err
	}
	if turn != nil {
		n.Turn = turn.Order
	}
	n.Turn += hidden
	recent, hidden, err := lastLegible(tx, s.tables.chats, "recent")
	if err != nil {
		return n, err
	}
	if recent != nil {
		n.Turn = max(n.Turn, recent.LastTurn+hidden) // one that was imported has no turn
	}
	chat, hidden, err := lastLegible(tx, s.tables.chats, "number")
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
		if err != nil && damaged(err) {
			hidden++
			continue
		}
		return rec, hidden, err
	}
	return nil, hidden, nil
}
