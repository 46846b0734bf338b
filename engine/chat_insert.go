package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// insertGroup is how many chats appear together; a transaction holds more than
// that many records.
const insertGroup = 200

// incoming is a chat that is written whole, and not turn by turn.
type incoming struct {
	chat     Chat
	messages []Message
	calls    []ToolCall
	decided  []PayloadDecision
	// artifacts keep the pages that the calls are shown by.
	artifacts []keptArtifact
	// origin is the id of a chat of this data directory that it has states of, and that
	// may be removed by another process meanwhile; empty for none.
	origin string
}

// insert writes chats that are not there yet. They appear at the end, a group
// of insertGroup at once, with numbers in the order of the list; what a crash
// leaves of them before is removed by the next purge.
func (e *Engine) insert(ctx context.Context, in []*incoming) error {
	for group := range slices.Chunk(in, insertGroup) {
		if err := e.insertGroup(ctx, group); err != nil {
			if ctx.Err() == nil {
				err = e.storeTrouble(err)
			}
			return err
		}
	}
	return nil
}

func (e *Engine) insertGroup(ctx context.Context, in []*incoming) error {
	for _, c := range in {
		unlock, err := e.tryChat(ctx, c.chat)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := e.numberChats(ctx, in); err != nil {
		return err
	}
	if err := e.beginInsert(ctx, in); err != nil {
		return err
	}
	e.pause("insert:begun")
	err := e.store.Batch(ctx, func(b *kv.Batch) error {
		for _, c := range in {
			if err := e.putIncoming(b, c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.pause("insert:written")
	if err := e.indexIncoming(ctx, in); err != nil {
		return err
	}
	return e.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		for _, c := range in {
			if err := e.originStays(tx, c.origin); err != nil {
				return err
			}
			err := errors.Join(putBounded(e, tx, e.tables.chats, &c.chat, c.chat.called()), e.tables.deleted.Delete(tx, kv.Str(c.chat.ID)),
				e.tables.search.putRow(tx, c.chat.Number, rowOf(&c.chat)))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// originStays returns a fault if the chat that another one is made of is being removed
// for good, or was. A removal that begins later finds the new chat, and keeps its states.
func (e *Engine) originStays(tx *kv.Tx, chatID string) error {
	if chatID == "" {
		return nil
	}
	there, err := e.tables.chats.Has(tx, kv.Str(chatID))
	if err != nil {
		return err
	}
	d, err := e.tables.deleted.Get(tx, kv.Str(chatID))
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return err
	}
	if !there || err == nil && d.Purging {
		return fault.New(fault.NotFound, "the chat that this one is made of was removed meanwhile", "fettle chats list")
	}
	return nil
}

// indexIncoming brings chats into the search before they appear. What a crash
// leaves there leads to a number that no chat has, or ever will.
func (e *Engine) indexIncoming(ctx context.Context, in []*incoming) error {
	x := e.indexer()
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
func (e *Engine) numberChats(ctx context.Context, in []*incoming) error {
	sync := func() error { return nil }
	for _, c := range in {
		n, s, err := e.counter.Next(ctx, true)
		if err != nil {
			return errors.Join(waitFault(ctx, "give the chat a number", err), sync())
		}
		sync = s // the last one holds for all before it
		c.chat.Number, c.chat.LastTurn = n.Chat, n.Turn
	}
	if err := sync(); err != nil {
		return storeFault("give the chat a number", err)
	}
	return nil
}

// beginInsert notes what is about to be written, and removes what an earlier
// try has left under the same ids.
func (e *Engine) beginInsert(ctx context.Context, in []*incoming) error {
	var stale []string
	err := e.store.UpdateSync(ctx, func(tx *kv.Tx) error {
		if err := e.beginIndex(tx); err != nil {
			return err
		}
		stale = nil
		for _, c := range in {
			there, err := e.tables.chats.Has(tx, kv.Str(c.chat.ID))
			if err == nil && there {
				err = fault.New(fault.Busy, fmt.Sprintf("chat %q has just come in by another process", c.chat.Title))
			}
			if err != nil {
				return err
			}
			d, err := e.tables.deleted.Get(tx, kv.Str(c.chat.ID))
			switch {
			case err == nil && (d.Making || d.Purging):
				stale = append(stale, c.chat.ID)
			case err != nil && !errors.Is(err, kv.ErrNotFound):
				return err
			}
			if err := e.tables.deleted.Put(tx, &deletion{ChatID: c.chat.ID, At: e.o.Now(), Making: true}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range stale {
		if _, err := e.clearChat(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) putIncoming(b *kv.Batch, c *incoming) error {
	for _, m := range c.messages {
		m.ChatID = c.chat.ID
		if err := e.putMessage(b, m); err != nil {
			return err
		}
	}
	if err := e.putCalls(b, c.calls); err != nil {
		return err
	}
	if len(c.messages) > trackedMessages {
		s := branchesOf(c.chat, linksOf(c.messages))
		if err := errors.Join(e.putMarks(b, s.marks), e.putBranches(b, s.list)); err != nil {
			return err
		}
	}
	if err := e.putArtifacts(b, c.chat.ID, c.artifacts); err != nil {
		return err
	}
	return e.putDecisions(b, c.chat.ID, c.decided)
}
