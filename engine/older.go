package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// older is the part of a way that a summary stands for. A turn reads it only
// where it looks for something in it.
type older struct {
	chatID string    // whose messages they are
	leaf   string    // the last of them; empty where there are none
	at     time.Time // when that one was made
}

// older is what is before the conversation's path.
func (c *conversation) older() older {
	if c.summed == nil {
		return older{}
	}
	return older{chatID: c.recordsOf(), leaf: c.summed.ID, at: c.summed.CreatedAt}
}

// recordsOf is the chat whose records have the path: a fork that begins with a
// question has its own only once that turn is folded.
func (c *conversation) recordsOf() string {
	if from := c.chat.ForkedFrom; c.isNew && from != nil {
		return from.ChatID
	}
	return c.chat.ID
}

// olderMessages reads them all, the first one first.
func (s *Store) olderMessages(ctx context.Context, o older) (path []chat.Message, err error) {
	if o.leaf == "" {
		return nil, nil
	}
	err = s.view(ctx, func(tx *kv.Tx) error {
		path, err = s.pathTo(tx, o.chatID, o.leaf)
		return err
	})
	return path, err
}

// untold are the decisions about older payloads that no summary tells of: they
// were made after the last question that it stands for. It reads backwards and
// stops when it has found all that there may be.
func (s *Store) untold(ctx context.Context, o older, decided map[string]chat.PayloadDecision, path []chat.Message) ([]chat.PayloadDecision, error) {
	late := map[string]chat.PayloadDecision{}
	for id, d := range decided {
		if since, any := d.Since(o.at); any && o.leaf != "" {
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
	err := s.view(ctx, func(tx *kv.Tx) error {
		out = nil
		for id := o.leaf; id != "" && len(out) < len(late); {
			m, err := s.tables.messages.Get(tx, kv.Str(o.chatID).Str(id))
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
