package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// insertGroup is how many chats become visible together: one transaction has room for
// their records, and a process may have as many locks open.
const insertGroup = 200

// incoming is a chat that is written whole, and not turn by turn.
type incoming struct {
	chat     chat.Chat
	messages []chat.Message
	calls    []chat.ToolCall
	decided  []chat.PayloadDecision
	// artifacts keep the pages that the calls are shown by.
	artifacts []keptArtifact
	// origin is the id of a chat of this data directory that it has states of, and that
	// may be removed by another process meanwhile; empty for none.
	origin string
}

// insert writes one chat that is not in the store yet. The chat is visible from the last
// write on; the next purge removes what a crash leaves of an incomplete one.
func (s *Store) insert(ctx context.Context, c *incoming) error {
	release, err := s.shareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	in := []*incoming{c}
	if err := s.announce(ctx, in); err != nil {
		return err
	}
	return s.insertGroup(ctx, in)
}

// announce gives chats their numbers, in the order of the list, and adds them to the
// search index before they are visible. After a crash the index contains numbers that no
// chat has, or will ever have. Many chats are announced together: each call writes the
// values of their common words again. The caller holds the data lock until they are written.
func (s *Store) announce(ctx context.Context, in []*incoming) error {
	err := s.numberChats(ctx, in)
	if err == nil {
		err = s.store.Update(ctx, s.beginIndex)
	}
	if err == nil {
		err = s.indexIncoming(ctx, in)
	}
	return s.insertTrouble(ctx, err)
}

// insertGroup writes chats that have been announced, at most insertGroup of them. All of
// them become visible at once.
func (s *Store) insertGroup(ctx context.Context, in []*incoming) error {
	return s.insertTrouble(ctx, s.writeGroup(ctx, in))
}

// insertTrouble is storeTrouble, except for the error of a context that has ended.
func (s *Store) insertTrouble(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return s.storeTrouble(err)
}

func (s *Store) writeGroup(ctx context.Context, in []*incoming) error {
	for _, c := range in {
		unlock, err := s.tryChat(ctx, c.chat)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := s.beginInsert(ctx, in); err != nil {
		return err
	}
	s.pause("insert:begun")
	err := s.store.Batch(ctx, func(b *kv.Batch) error {
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
	s.pause("insert:written")
	return s.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		for _, c := range in {
			if err := s.originStays(tx, c.origin); err != nil {
				return err
			}
			err := errors.Join(putBounded(s, tx, s.tables.chats, &c.chat, c.chat.Called()), s.tables.deleted.Delete(tx, kv.Str(c.chat.ID)),
				s.tables.search.putRow(tx, c.chat.Number, rowOf(&c.chat)))
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
	there, err := s.tables.chats.Has(tx, kv.Str(chatID))
	if err != nil {
		return err
	}
	d, err := s.tables.deleted.Get(tx, kv.Str(chatID))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	if !there || err == nil && d.Purging {
		return fault.New(fault.NotFound, "the chat that this one is made of was removed meanwhile", "fettle chats list")
	}
	return nil
}

// indexIncoming adds the titles and messages of chats to the search index.
func (s *Store) indexIncoming(ctx context.Context, in []*incoming) error {
	x := s.indexer()
	for _, c := range in {
		if err := x.add(ctx, c.chat.Number, headTerms(&c.chat)); err != nil {
			return err
		}
		for i := range c.messages {
			if err := x.message(ctx, c.chat.Number, &c.messages[i]); err != nil {
				return err
			}
		}
	}
	return x.flush(ctx)
}

// numberChats gives the chats their numbers and their places among all turns:
// they count as used now.
func (s *Store) numberChats(ctx context.Context, in []*incoming) error {
	sync := func() error { return nil }
	for _, c := range in {
		n, synced, err := s.counter.Next(ctx, true)
		if err != nil {
			return errors.Join(waitFault(ctx, "give the chat a number", err), sync())
		}
		sync = synced // the last one holds for all before it
		c.chat.Number, c.chat.LastTurn = n.Chat, n.Turn
	}
	if err := sync(); err != nil {
		return storeFault("give the chat a number", err)
	}
	return nil
}

// beginInsert notes what is about to be written, and removes what an earlier
// try has left under the same ids.
func (s *Store) beginInsert(ctx context.Context, in []*incoming) error {
	var stale []string
	err := s.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		stale = nil
		for _, c := range in {
			there, err := s.tables.chats.Has(tx, kv.Str(c.chat.ID))
			if err == nil && there {
				err = fault.New(fault.Busy, fmt.Sprintf("chat %q has just come in by another process", c.chat.Title))
			}
			if err != nil {
				return err
			}
			d, err := s.tables.deleted.Get(tx, kv.Str(c.chat.ID))
			switch {
			case err == nil && (d.Making || d.Purging):
				stale = append(stale, c.chat.ID)
			case err != nil && !errors.Is(err, kv.ErrNotFound):
				return err
			}
			if err := s.tables.deleted.Put(tx, &deletion{ChatID: c.chat.ID, At: s.o.Now(), Making: true}); err != nil {
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

func (s *Store) putIncoming(b *kv.Batch, c *incoming) error {
	for _, m := range c.messages {
		m.ChatID = c.chat.ID
		if err := s.putMessage(b, m); err != nil {
			return err
		}
	}
	if err := s.putCalls(b, c.calls); err != nil {
		return err
	}
	if len(c.messages) > trackedMessages {
		set := branchesOf(c.chat, chat.LinksOf(c.messages))
		if err := errors.Join(s.putMarks(b, set.marks), s.putBranches(b, set.list)); err != nil {
			return err
		}
	}
	if err := s.putArtifacts(b, c.chat.ID, c.artifacts); err != nil {
		return err
	}
	return s.putDecisions(b, c.chat.ID, c.decided)
}
