package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// beginIndex marks the index as whole in a store that has no message yet: all
// that is written from then on is indexed when it is written.
func (s *Store) beginIndex(tx *kv.Tx) error {
	whole, err := s.Tables.Search.State.Has(tx, kv.Str(SearchWhole))
	if err != nil || whole {
		return err
	}
	for _, err := range s.Tables.Messages.Keys(tx, kv.Range{Limit: 1}) {
		return err // an older store, or one that can't be read
	}
	return s.Tables.Search.State.Put(tx, &searchState{Name: SearchWhole, At: s.Options.Now()})
}

// oldIndex is the indexing of a store from before there was an index.
type oldIndex struct {
	e        *Store
	at       searchState
	total    int    // chats
	chat     string // the one that the last message was of
	progress func(done, total int)
}

// indexOldChats indexes the messages that were recorded before there was an
// index, once for a store. It may be stopped anywhere, goes on from there the
// next time, and may be run by several processes at once, which then do some of
// it twice.
func (s *Store) indexOldChats(ctx context.Context, progress func(done, total int)) error {
	o := oldIndex{e: s, progress: progress}
	whole, err := o.look(ctx)
	if errors.Is(err, kv.ErrNotFound) || err == nil && whole {
		return nil
	}
	if err == nil {
		err = o.all(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return s.StoreTrouble(fmt.Errorf("index the chats for search: %w", err))
	}
	return err
}

// rebuildIndex replaces an index of which an entry is damaged.
func (s *Store) rebuildIndex(ctx context.Context, progress func(done, total int)) error {
	s.Options.Notice("the index of the search is damaged; it is built again from the chats")
	t := s.Tables.Search
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	err = s.KV.Update(ctx, func(tx *kv.Tx) error {
		return errors.Join(t.State.Delete(tx, kv.Str(SearchWhole)), t.State.Delete(tx, kv.Str(searchCursor)))
	})
	for _, table := range []Keyed{t.Words, t.Pairs, t.Chats} {
		if err == nil {
			err = s.ClearKeys(ctx, table, kv.Range{Limit: WordsUpdate})
		}
	}
	release()
	if err != nil {
		return s.StoreTrouble(fmt.Errorf("remove the damaged index of the search: %w", err))
	}
	return s.indexOldChats(ctx, progress)
}

// all removes the entries of an index of an older form, and indexes what is left.
func (o *oldIndex) all(ctx context.Context) error {
	release, err := o.e.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	defer o.e.KV.KeepOpen()()
	for _, table := range o.e.Tables.Search.old {
		if err := o.e.ClearKeys(ctx, table, kv.Range{Limit: WordsUpdate}); err != nil {
			return err
		}
	}
	for done := false; err == nil && !done; {
		done, err = o.step(ctx)
	}
	return err
}

// look finds out whether there is anything to do, and how far it has come.
func (o *oldIndex) look(ctx context.Context) (whole bool, err error) {
	t := o.e.Tables
	err = o.e.View(ctx, func(tx *kv.Tx) (err error) {
		if whole, err = t.Search.State.Has(tx, kv.Str(SearchWhole)); err != nil || whole {
			return err
		}
		at, err := t.Search.State.Get(tx, kv.Str(searchCursor))
		if err == nil {
			o.at = *at
		} else if !Unreadable(err) { // a damaged one begins again
			return err
		}
		o.total, err = t.Chats.Count(tx, kv.Range{})
		return err
	})
	return whole, err
}

// StepMessages is how many messages are indexed before they are written with
// the cursor: a flush for fewer writes the values of common words too often.
const StepMessages = 2000

// step indexes some messages, and writes how far it has come.
func (o *oldIndex) step(ctx context.Context) (done bool, err error) {
	x, last := o.e.indexer(), o.at.Last
	for n := 0; n < StepMessages; {
		messages, next, err := o.e.someMessages(ctx, kv.Range{After: last}, o.e.LeavesOut)
		if err != nil {
			return false, err
		}
		if err := o.index(ctx, x, messages); err != nil {
			return false, err
		}
		n += len(messages)
		if last = next; next == nil {
			break
		}
	}
	if err := x.flush(ctx); err != nil {
		return false, err
	}
	if o.progress != nil {
		o.progress(min(o.at.Chats, o.total), o.total)
	}
	return last == nil, o.note(ctx, last)
}

// index adds the terms of messages, and the rows of their chats.
func (o *oldIndex) index(ctx context.Context, x *indexer, messages []*chat.Message) error {
	var ids []string
	for _, m := range messages {
		if m.ChatID != o.chat {
			o.chat, o.at.Chats = m.ChatID, o.at.Chats+1
			ids = append(ids, m.ChatID)
		} else if len(ids) == 0 {
			ids = append(ids, m.ChatID) // the messages before this one are of the same chat
		}
	}
	numbers, err := o.e.indexRows(ctx, ids)
	if err != nil {
		return err
	}
	for _, m := range messages {
		number, ok := numbers[m.ChatID]
		if !ok {
			continue // its chat is gone
		}
		if err := x.message(ctx, number, m); err != nil {
			return err
		}
	}
	return nil
}

// note keeps how far it has come, or that it is done.
func (o *oldIndex) note(ctx context.Context, last kv.Key) error {
	state := o.e.Tables.Search.State
	o.at.Name, o.at.At, o.at.Last = searchCursor, o.e.Options.Now(), last
	return o.e.KV.Update(ctx, func(tx *kv.Tx) error {
		if last != nil {
			return state.Put(tx, &o.at)
		}
		return errors.Join(state.Put(tx, &searchState{Name: SearchWhole, At: o.at.At}), state.Delete(tx, kv.Str(searchCursor)))
	})
}
