package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Existing says what becomes of a chat that is there already.
type Existing int

// What to do: nothing at all is imported, or only that one isn't, or it gets an
// id of its own and is there twice.
const (
	RefuseExisting Existing = iota
	SkipExisting
	CopyExisting
)

// Imported is what became of one document.
type Imported struct {
	Chat Chat // as it is here now
	// Skipped says that the chat was there already and is left as it is.
	Skipped bool
}

// ImportChats brings in chats that [DecodeChats] has read, each with a number
// of its own. They keep their ids, so that the same file is known again.
// Either all come in or none, up to insertGroup of them; a crash among more
// may leave whole groups. What was used in them is not counted here.
func (e *Engine) ImportChats(ctx context.Context, docs []*ChatDocument, there Existing) ([]Imported, error) {
	if _, err := e.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	out := make([]Imported, len(docs))
	var in []*incoming
	places := map[*incoming]int{}
	taken := map[string]bool{}
	for i, d := range docs {
		known, err := e.knownChat(ctx, d.Chat.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case known != nil && there == RefuseExisting:
			return nil, existsFault(d, known)
		case known != nil && there == SkipExisting:
			out[i] = Imported{Chat: *known, Skipped: true}
			continue
		case taken[d.Chat.ID] && there != CopyExisting:
			return nil, fault.New(fault.Usage, fmt.Sprintf("the chat %q is in the files twice", d.Chat.Title), "fettle chats import --copy FILE…   takes both")
		}
		fresh := d.Chat.ID == "" || known != nil || taken[d.Chat.ID]
		taken[d.Chat.ID] = d.Chat.ID != ""
		c, err := e.incomingOf(ctx, d, fresh)
		if err != nil {
			return nil, err
		}
		in, places[c] = append(in, c), i
	}
	if err := e.insert(ctx, in); err != nil {
		return nil, err
	}
	for c, i := range places {
		out[i].Chat = c.chat
	}
	return out, nil
}

// knownChat is the chat with an id, deleted ones included; nil if there is none.
func (e *Engine) knownChat(ctx context.Context, id string) (chat *Chat, err error) {
	if id == "" {
		return nil, nil
	}
	err = e.view(ctx, func(tx *kv.Tx) error {
		chat, err = e.tables.chats.Get(tx, kv.Str(id))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return chat, err
}

func existsFault(d *ChatDocument, known *Chat) error {
	if known.DeletedAt != nil {
		return fault.New(fault.Usage, fmt.Sprintf("%q is here already: it was chat %d and is deleted", d.Chat.Title, known.Number),
			fmt.Sprintf("fettle chats restore %d", known.Number), "fettle chats import --copy FILE…   makes another one")
	}
	return fault.New(fault.Usage, fmt.Sprintf("%q is here already, as chat %d; nothing was imported", d.Chat.Title, known.Number),
		"fettle chats import --skip FILE…   leaves out what is here", "fettle chats import --copy FILE…   makes another one")
}

// incomingOf makes a chat of a document. Calls always get ids of their own:
// they are keys beside those of all other chats.
func (e *Engine) incomingOf(ctx context.Context, d *ChatDocument, fresh bool) (*incoming, error) {
	c := &incoming{chat: d.Chat, messages: d.Messages}
	if fresh {
		c.chat.ID = e.newID()
	}
	if c.chat.CreatedAt.IsZero() {
		c.chat.CreatedAt = e.o.Now()
	}
	if c.chat.UpdatedAt.Before(c.chat.CreatedAt) {
		c.chat.UpdatedAt = c.chat.CreatedAt
	}
	if from := c.chat.ForkedFrom; from != nil {
		known, err := e.knownChat(ctx, from.ChatID)
		if err != nil {
			return nil, err
		}
		origin := Origin{ChatID: from.ChatID, MessageID: from.MessageID} // its number was another store's
		if known != nil {
			origin.Number = known.Number
		}
		c.chat.ForkedFrom = &origin
	}
	for _, call := range d.ToolCalls {
		call.ChatID = c.chat.ID
		c.calls = append(c.calls, call)
	}
	renamed(c.calls, func(string) string { return e.newID() })
	c.decided = d.Payloads
	return c, nil
}
