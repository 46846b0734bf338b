package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/kv"
)

// rowsUpdate is how many chats' records one transaction indexes: a title has a
// hundred terms, and a hostile one some five hundred.
const rowsUpdate = 8

// indexGroup brings the turns of a group into the index, after they were
// recorded and before their journals go: a crash in between leaves journals
// whose turns are recorded, and they come here again.
func (s *Store) indexGroup(ctx context.Context, group []*Folding) error {
	ids := make([]string, 0, len(group))
	for _, f := range group {
		ids = append(ids, f.Accept.Chat.ID)
	}
	numbers, err := s.indexRows(ctx, ids)
	if err != nil {
		return err
	}
	x := s.indexer()
	for _, f := range group {
		number, ok := numbers[f.Accept.Chat.ID]
		if !ok {
			continue // it was removed meanwhile
		}
		if f.recorded { // what it brought along is not known any more
			if err := s.indexAgain(ctx, x, f.Accept.Chat.ID, number); err != nil {
				return err
			}
			continue
		}
		for _, m := range f.added() {
			if err := x.message(ctx, number, &m); err != nil {
				return err
			}
		}
	}
	return x.flush(ctx)
}

// indexRows brings titles, models and rows of chats into the index, and gives
// the numbers of those that are there.
func (s *Store) indexRows(ctx context.Context, ids []string) (map[string]int64, error) {
	slices.Sort(ids)
	numbers := map[string]int64{}
	for some := range slices.Chunk(slices.Compact(ids), rowsUpdate) {
		err := s.KV.Update(ctx, func(tx *kv.Tx) error {
			x := s.indexer()
			for _, id := range some {
				chat, err := s.Tables.Chats.Get(tx, kv.Str(id))
				if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
					continue
				}
				if err != nil {
					return err
				}
				numbers[id] = chat.Number
				x.gather(chat.Number, headTerms(chat))
				if err := s.Tables.Search.putRow(tx, chat.Number, rowOf(chat)); err != nil {
					return err
				}
			}
			return x.within(tx)
		})
		if err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// headTerms are the terms of a chat's record.
func headTerms(c *chat.Chat) search.Terms {
	terms := search.NewTerms()
	terms.Add(search.Title, cutBytes(c.Title, 4*chat.TitleLength))
	if c.Model != "" {
		terms.Words[modelTerm(c.Model)] = struct{}{}
	}
	return terms
}

// indexAgain brings all messages of a chat into the index, or takes them out.
func (s *Store) indexAgain(ctx context.Context, x *indexer, chatID string, number int64) error {
	for last := kv.Key(nil); ; {
		messages, next, err := s.someMessages(ctx, kv.Range{Prefix: kv.Str(chatID), After: last}, s.LeavesOut)
		if err != nil {
			return err
		}
		for _, m := range messages {
			if err := x.message(ctx, number, m); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		last = next
	}
}

const (
	// SomeCount and someBytes are where a reading of many messages ends, so
	// that the store is let go and memory stays small.
	SomeCount = 200
	someBytes = 4 << 20
)

// someMessages reads messages in the order of their keys, and returns the key
// of the last where there may be more. A limit of r ends it earlier. leave decides
// about a message that cannot be read: false ends the reading with its error.
func (s *Store) someMessages(ctx context.Context, r kv.Range, leave func(error) bool) (out []*chat.Message, next kv.Key, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		out, next, err = s.messagesIn(tx, r, leave)
		return err
	})
	return out, next, err
}

// messagesIn is someMessages within a transaction.
func (s *Store) messagesIn(tx *kv.Tx, r kv.Range, leave func(error) bool) (out []*chat.Message, next kv.Key, err error) {
	count, size := SomeCount, 0
	if r.Limit > 0 {
		count = r.Limit
	}
	for m, err := range s.Tables.Messages.Scan(tx, r) {
		if err == nil {
			err = s.loadParts(tx, m)
		}
		if err != nil && leave(err) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read messages: %w", err)
		}
		out, size = append(out, m), size+sizeOf(m)
		if len(out) == count || size >= someBytes {
			return out, s.Tables.Messages.KeyOf(m), nil
		}
	}
	return out, nil, nil
}

// sizeOf is about what a message takes in memory.
func sizeOf(m *chat.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Data)
		if p.Result != nil {
			n += len(p.Result.Text)
		}
	}
	return n
}

// UnindexChat takes a chat out of the index, for good. Call it before its
// messages are removed, while nothing is added to it; it may be stopped and
// called again. A search shows no chat that isn't [chat.Chat.visible], so until
// then there is no hurry.
func (s *Store) UnindexChat(ctx context.Context, chat *chat.Chat) error {
	x := s.indexer()
	x.remove = true
	if err := s.indexAgain(ctx, x, chat.ID, chat.Number); err != nil {
		return err
	}
	if err := x.add(ctx, chat.Number, headTerms(chat)); err != nil {
		return err
	}
	if err := x.flush(ctx); err != nil {
		return err
	}
	return s.KV.Update(ctx, func(tx *kv.Tx) error { return s.Tables.Search.putRow(tx, chat.Number, row{}) })
}

// Retitle changes the index for a chat whose title was changed, in the
// transaction that changes it. was is the chat as it was before.
func (s *Store) Retitle(tx *kv.Tx, was *chat.Chat, title string) error {
	is := *was
	is.Title = title
	old, now := headTerms(was), headTerms(&is)
	x := s.indexer()
	x.remove = true
	old.Without(now)
	x.gather(was.Number, old)
	if err := x.within(tx); err != nil {
		return err
	}
	x.remove = false
	x.gather(was.Number, now)
	return x.within(tx)
}
