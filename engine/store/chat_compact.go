package store

import (
	"context"
	"fmt"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Compacted is what came of it.
type Compacted struct {
	Chat chat.Chat `json:"-"`
	// MessageID is the last message that the summary stands for.
	MessageID string        `json:"message_id"`
	Summary   *chat.Summary `json:"summary"`
	// Added is how many messages it stands for that none did before.
	Added int          `json:"added"`
	Usage *event.Usage `json:"usage,omitempty"`
}

// LockedChat finds a chat and takes its lock.
func (s *Store) LockedChat(ctx context.Context, ref ChatRef, onWait func(string)) (chat.Chat, func(), error) {
	if onWait == nil {
		onWait = func(string) {}
	}
	chat, err := s.Find(ctx, ref, onWait)
	if err != nil {
		return chat, nil, err
	}
	unlock, err := s.LockChat(ctx, chat.ID, func(owner string) {
		onWait(fmt.Sprintf("chat %d is busy, %s", chat.Number, owner))
	})
	return chat, unlock, err
}

// KeepSummary stores a summary and counts what it took, also where there is
// none.
func (s *Store) KeepSummary(ctx context.Context, done *Compacted, model string) error {
	if done.Summary == nil && done.Usage == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // it was paid for
	err := s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		if done.Usage != nil {
			rows := []Spent{{Day: s.Options.Now().Local().Format(spentDay), ChatID: done.Chat.ID, Model: model, Tokens: *done.Usage}}
			if err := s.Tables.Usage.count(tx, rows, done.Chat.Number); err != nil {
				return err
			}
		}
		if done.Summary == nil {
			return nil
		}
		return s.putSummary(tx, done.Chat.ID, done.MessageID, done.Summary)
	})
	if err != nil {
		return s.StoreTrouble(err)
	}
	return nil
}

// ForgetSummaries takes away the summaries on the way to a chat's last message,
// so that the next turn tells the model all of it again, as far as that fits. It
// gives how many there were.
func (s *Store) ForgetSummaries(ctx context.Context, ref ChatRef, onWait func(string)) (chat.Chat, int, error) {
	chat, unlock, err := s.LockedChat(ctx, ref, onWait)
	if err != nil {
		return chat, 0, err
	}
	defer unlock()
	conv, err := s.load(ctx, chat.ID, "")
	if err != nil {
		return chat, 0, err
	}
	n := 0
	err = s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		n = 0
		for _, m := range conv.Path {
			if m.Summary == nil {
				continue
			}
			if err := s.putSummary(tx, chat.ID, m.ID, nil); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return chat, 0, s.StoreTrouble(err)
	}
	return chat, n, nil
}
