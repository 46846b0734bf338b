package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Older is the part of a way that a summary stands for. A turn reads it only
// where it looks for something in it.
type Older struct {
	chatID string    // whose messages they are
	Leaf   string    // the last of them; empty where there are none
	at     time.Time // when that one was made
}

// Older is what is before the conversation's path.
func (c *OpenChat) Older() Older {
	if c.Summed == nil {
		return Older{}
	}
	return Older{chatID: c.RecordsOf(), Leaf: c.Summed.ID, at: c.Summed.CreatedAt}
}

// RecordsOf is the chat whose records have the path: a fork that begins with a
// question has its own only once that turn is folded.
func (c *OpenChat) RecordsOf() string {
	if from := c.Chat.ForkedFrom; c.IsNew && from != nil {
		return from.ChatID
	}
	return c.Chat.ID
}

// OlderMessages reads them all, the first one first.
func (s *Store) OlderMessages(ctx context.Context, o Older) (path []chat.Message, err error) {
	if o.Leaf == "" {
		return nil, nil
	}
	err = s.View(ctx, func(tx *kv.Tx) error {
		path, err = s.PathTo(tx, o.chatID, o.Leaf)
		return err
	})
	return path, err
}

// Untold are the decisions about older payloads that no summary tells of: they
// were made after the last question that it stands for. It reads backwards and
// stops when it has found all that there may be.
func (s *Store) Untold(ctx context.Context, o Older, decided map[string]chat.PayloadDecision, path []chat.Message) ([]chat.PayloadDecision, error) {
	late := map[string]chat.PayloadDecision{}
	for id, d := range decided {
		if since, any := d.Since(o.at); any && o.Leaf != "" {
			late[id] = since
		}
	}
	for _, m := range path {
		for _, id := range m.PayloadIDs() {
			delete(late, id)
		}
	}
	if len(late) == 0 {
		return nil, nil
	}
	var out []chat.PayloadDecision
	err := s.View(ctx, func(tx *kv.Tx) error {
		out = nil
		for id := o.Leaf; id != "" && len(out) < len(late); {
			m, err := s.Tables.Messages.Get(tx, kv.Str(o.chatID).Str(id))
			if err == nil {
				err = s.loadParts(tx, m)
			}
			if err != nil {
				return fmt.Errorf("read message %s: %w", id, err)
			}
			out = append(out, m.DecidedIn(late)...)
			id = m.ParentID
		}
		return nil
	})
	slices.SortFunc(out, func(a, b chat.PayloadDecision) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.PayloadID, b.PayloadID))
	})
	return out, err
}
