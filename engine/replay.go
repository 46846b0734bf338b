package engine

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// TurnAnswer tells where the answer of a turn that has ended is: its chat and its
// message. A later turn can go on from there.
func (e *Engine) TurnAnswer(ctx context.Context, id store.TurnID) (chatID, messageID string, err error) {
	if e.Live(id) {
		return "", "", fault.New(fault.Busy, "turn "+string(id)+" has not ended yet")
	}
	if _, err := e.Fold(ctx, store.FoldAll); err != nil {
		return "", "", err
	}
	turn, err := e.TurnRecord(ctx, id)
	if err != nil {
		return "", "", err
	}
	return turn.ChatID, turn.MessageID, nil
}

// AnsweredTurn gives a turn's own messages, whatever else is in its chat. NotFound
// says that it has no answer, or that the chat is deleted.
func (e *Engine) AnsweredTurn(ctx context.Context, id store.TurnID) (store.AnsweredTurn, error) {
	chatID, messageID, err := e.TurnAnswer(ctx, id)
	if err != nil {
		return store.AnsweredTurn{}, err
	}
	var out store.AnsweredTurn
	err = e.View(ctx, func(tx *kv.Tx) error {
		out = store.AnsweredTurn{}
		chat, err := e.Tables.Chats.Get(tx, kv.Str(chatID))
		if err != nil {
			return err
		}
		if err := chat.Usable(); err != nil {
			return err
		}
		out.Chat = *chat
		return e.ReadTurn(tx, &out, messageID, id)
	})
	if errors.Is(err, kv.ErrNotFound) {
		return store.AnsweredTurn{}, fault.New(fault.NotFound, "turn "+string(id)+" has no answer")
	}
	return out, err
}
