package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// glanceJournals bounds how many journals Glance looks into: there are rarely
// more than wait for a fold, and its caller has no time.
const glanceJournals = 2 * FoldBacklog

// Glance lists chats as far as that can be told without writing anything, the
// last used first and at most limit of them: what the store has, and the turns
// that still wait in journals, live ones too. It folds nothing, so it is quick,
// and what can't be read is left out. It is for suggestions; [Store.Chats] is
// the list that holds.
func (s *Store) Glance(ctx context.Context, limit int) ([]chat.Chat, error) {
	chats := map[string]chat.Chat{}
	err := s.View(ctx, func(tx *kv.Tx) error {
		page, err := s.recentPage(tx, kv.Range{Reverse: true, Limit: limit})
		for _, c := range page.Records {
			chats[c.ID] = *c
		}
		return err
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	turns, err := s.Journals.Turns()
	if err != nil {
		return nil, StoreFault("list the journals", err)
	}
	for _, turn := range turns[max(0, len(turns)-glanceJournals):] {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if c, ok := s.accepted(turn); ok && c.LastTurn > chats[c.ID].LastTurn {
			if known, ok := chats[c.ID]; ok {
				c.Title = known.Title // it may have been renamed since the turn began
			}
			chats[c.ID] = c
		}
	}
	out := make([]chat.Chat, 0, len(chats))
	for _, c := range chats {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b chat.Chat) int { return cmp.Compare(b.LastTurn, a.LastTurn) })
	return out[:min(len(out), limit)], nil
}

// accepted gives the chat of a turn that has a journal, as it was accepted.
func (s *Store) accepted(turn string) (chat.Chat, bool) {
	r, err := s.Journals.Read(turn)
	if err != nil {
		return chat.Chat{}, false
	}
	defer r.Close()
	var a struct {
		Version int       `json:"journal"`
		Order   int64     `json:"order"`
		Chat    chat.Chat `json:"chat"`
		Time    time.Time `json:"time"`
	}
	if r.Accept(&a) != nil || a.Version != chat.JournalVersion || a.Chat.ID == "" {
		return chat.Chat{}, false
	}
	a.Chat.LastTurn, a.Chat.UpdatedAt = a.Order, a.Time
	return a.Chat, true
}
