package engine

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/internal/kv"
)

// ListChats asks for chats, the last used first.
type ListChats struct {
	Limit int    // 0 is all
	After []byte // a page's Next
}

// ChatPage is one page of chats; Next is nil at the end.
type ChatPage struct {
	Chats []Chat
	Next  []byte
}

// Chats lists the chats that have a finished turn.
func (e *Engine) Chats(ctx context.Context, q ListChats) (ChatPage, error) {
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return ChatPage{}, err
	}
	var out ChatPage
	err := e.view(ctx, func(tx *kv.Tx) error {
		page, err := e.tables.chats.IndexPage(tx, "recent", nil,
			kv.Range{Reverse: true, Limit: q.Limit, After: kv.Key(q.After)})
		if err != nil {
			return err
		}
		out = ChatPage{Next: page.Next}
		for _, c := range page.Records {
			out.Chats = append(out.Chats, *c)
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return ChatPage{}, nil // no store yet
	}
	return out, err
}

// visible tells whether the chat is shown to people.
func (c *Chat) visible() bool { return true }

// Conversation is a chat with the messages on the way to its leaf.
type Conversation struct {
	Chat     Chat      `json:"chat"`
	Messages []Message `json:"messages"`
}

// Chat gives a chat and the messages from its root to its active leaf. It waits
// for no live turn: Busy says that the chat's first one has not ended yet.
func (e *Engine) Chat(ctx context.Context, ref ChatRef) (Conversation, error) {
	chat, err := e.find(ctx, ref, nil)
	if err != nil {
		return Conversation{}, err
	}
	conv, err := e.load(ctx, chat.ID, ref.Parent)
	if err != nil {
		return Conversation{}, err
	}
	return Conversation{Chat: conv.chat, Messages: conv.path}, nil
}
