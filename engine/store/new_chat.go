package store

import (
	"context"

	"github.com/fettle-cli/fettle/engine/chat"
)

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
