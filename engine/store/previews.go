package store

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Previews gives the beginning of the first question of each chat that has one, by
// the chat's id.
func (s *Store) Previews(ctx context.Context, chats []chat.Chat) (map[string]string, error) {
	out := make(map[string]string, len(chats))
	err := s.View(ctx, func(tx *kv.Tx) error {
		for _, c := range chats {
			if c.Messages == 0 {
				continue
			}
			m, err := s.rootOf(tx, c)
			if err != nil && !Unreadable(err) {
				return err
			}
			if m == nil {
				continue
			}
			if p := chat.PreviewOf(m); p != "" {
				out[c.ID] = p
			}
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return out, nil // no store yet
	}
	return out, err
}

// rootOf is the first of a chat's questions; nil where none is found.
func (s *Store) rootOf(tx *kv.Tx, c chat.Chat) (*chat.Message, error) {
	for l, err := range Legible(s, s.Tables.links.Scan(tx, kv.Range{Prefix: kv.Str(c.ID), Limit: chat.FirstFew})) {
		if err != nil {
			return nil, err
		}
		if l.ParentID == "" {
			return s.Message(tx, c.ID, l.ID)
		}
	}
	return nil, nil
}
