package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// InsertGroup is how many chats become visible together: one transaction has room for
// their records, and a process may have as many locks open.
const InsertGroup = 200

// Incoming is a chat that is written whole, and not turn by turn.
type Incoming struct {
	Chat     chat.Chat
	messages []chat.Message
	calls    []chat.ToolCall
	decided  []chat.PayloadDecision
	// artifacts keep the pages that the calls are shown by.
	artifacts []keptArtifact
	// origin is the id of a chat of this data directory that it has states of, and that
	// may be removed by another process meanwhile; empty for none.
	origin string
}

// Insert writes one chat that is not in the store yet. The chat is visible from the last
// write on; the next purge removes what a crash leaves of an incomplete one.
func (s *Store) Insert(ctx context.Context, c *Incoming) error {
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	in := []*Incoming{c}
	if err := s.announce(ctx, in); err != nil {
		return err
	}
	return s.insertGroup(ctx, in)
}

// announce gives chats their numbers, in the order of the list, and adds them to the
// search index before they are visible. After a crash the index contains numbers that no
// chat has, or will ever have. Many chats are announced together: each call writes the
// values of their common words again. The caller holds the data lock until they are written.
func (s *Store) announce(ctx context.Context, in []*Incoming) error {
	err := s.numberChats(ctx, in)
	if err == nil {
		err = s.KV.Update(ctx, s.beginIndex)
	}
	if err == nil {
		err = s.indexIncoming(ctx, in)
	}
	return s.insertTrouble(ctx, err)
}

// insertGroup writes chats that have been announced, at most insertGroup of them. All of
// them become visible at once.
func (s *Store) insertGroup(ctx context.Context, in []*Incoming) error {
	return s.insertTrouble(ctx, s.writeGroup(ctx, in))
}

// insertTrouble is StoreTrouble, except for the error of a context that has ended.
func (s *Store) insertTrouble(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.StoreTrouble(err)
}

func (s *Store) writeGroup(ctx context.Context, in []*Incoming) error {
	for _, c := range in {
		unlock, err := s.TryChat(ctx, c.Chat)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := s.beginInsert(ctx, in); err != nil {
		return err
	}
	s.Pause("insert:begun")
	err := s.KV.Batch(ctx, func(b *kv.Batch) error {
		for _, c := range in {
			if err := s.putIncoming(b, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.Pause("insert:written")
	return s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		for _, c := range in {
			if err := s.originStays(tx, c.origin); err != nil {
				return err
			}
			err := errors.Join(PutBounded(s.In(tx), s.Tables.Chats, &c.Chat, c.Chat.Called()), s.Tables.Deleted.Delete(tx, kv.Str(c.Chat.ID)),
				s.Tables.Search.putRow(tx, c.Chat.Number, rowOf(&c.Chat)))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// originStays returns a fault if the chat that another one is made of is being removed
// for good, or was. A removal that begins later finds the new chat, and keeps its states.
func (s *Store) originStays(tx *kv.Tx, chatID string) error {
	if chatID == "" {
		return nil
	}
	Exists, err := s.Tables.Chats.Has(tx, kv.Str(chatID))
	if err != nil {
		return err
	}
	d, err := s.Tables.Deleted.Get(tx, kv.Str(chatID))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	if !Exists || err == nil && d.Purging {
		return fault.New(fault.NotFound, "the chat that this one is made of was removed meanwhile", fault.Try(fault.ListChats))
	}
	return nil
}

// indexIncoming adds the titles and messages of chats to the search index.
func (s *Store) indexIncoming(ctx context.Context, in []*Incoming) error {
	x := s.indexer()
	for _, c := range in {
		if err := x.add(ctx, c.Chat.Number, headTerms(&c.Chat)); err != nil {
			return err
		}
		for i := range c.messages {
			if err := x.message(ctx, c.Chat.Number, &c.messages[i]); err != nil {
				return err
			}
		}
	}
	return x.flush(ctx)
}

// numberChats gives the chats their numbers and their places among all turns:
// they count as used now.
func (s *Store) numberChats(ctx context.Context, in []*Incoming) error {
	sync := func() error { return nil }
	for _, c := range in {
		n, synced, err := s.Counter.Next(ctx, true)
		if err != nil {
			return errors.Join(WaitFault(ctx, "give the chat a number", err), sync())
		}
		sync = synced // the last one holds for all before it
		c.Chat.Number, c.Chat.LastTurn = n.Chat, n.Turn
	}
	if err := sync(); err != nil {
		return StoreFault("give the chat a number", err)
	}
	return nil
}

// beginInsert notes what is about to be written, and removes what an earlier
// try has left under the same ids.
func (s *Store) beginInsert(ctx context.Context, in []*Incoming) error {
	var stale []string
	err := s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		stale = nil
		for _, c := range in {
			Exists, err := s.Tables.Chats.Has(tx, kv.Str(c.Chat.ID))
			if err == nil && Exists {
				err = fault.New(fault.Busy, fmt.Sprintf("chat %q has just come in by another process", c.Chat.Title))
			}
			if err != nil {
				return err
			}
			d, err := s.Tables.Deleted.Get(tx, kv.Str(c.Chat.ID))
			switch {
			case err == nil && (d.Making || d.Purging):
				stale = append(stale, c.Chat.ID)
			case err != nil && !errors.Is(err, kv.ErrNotFound):
				return err
			}
			if err := s.Tables.Deleted.Put(tx, &deletion{ChatID: c.Chat.ID, At: s.Options.Now(), Making: true}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range stale {
		if _, err := s.clearChat(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) putIncoming(b *kv.Batch, c *Incoming) error {
	for _, m := range c.messages {
		m.ChatID = c.Chat.ID
		if err := s.PutMessage(b, m); err != nil {
			return err
		}
	}
	if err := s.putCalls(b, c.calls); err != nil {
		return err
	}
	if len(c.messages) > TrackedMessages {
		set := BranchesOf(c.Chat, chat.LinksOf(c.messages))
		if err := errors.Join(s.putMarks(b, set.marks), s.putBranches(b, set.List)); err != nil {
			return err
		}
	}
	if err := s.PutArtifacts(b, c.Chat.ID, c.artifacts); err != nil {
		return err
	}
	return s.putDecisions(b, c.Chat.ID, c.decided)
}

// NewTitle is the title of a chat in which nothing was asked yet.
const NewTitle = "new chat"

// NewChat makes a chat with no messages, for a page that wants one before
// anything is asked. An empty title is NewTitle. It counts as used now.
func (s *Store) NewChat(ctx context.Context, title string) (chat.Chat, error) {
	if title = chat.CleanTitle(title); title == "" {
		title = NewTitle
	}
	now := s.Options.Now()
	c := &Incoming{Chat: chat.Chat{ID: s.NewID(), Title: title, CreatedAt: now, UpdatedAt: now}}
	if err := s.Insert(ctx, c); err != nil {
		return chat.Chat{}, err
	}
	return c.Chat, nil
}
