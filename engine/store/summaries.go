package store

import (
	"context"
	"errors"
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

// CutSummed leaves of the way what is behind its last summary.
func (c *OpenChat) CutSummed() {
	for i := len(c.Path) - 1; i >= 0; i-- {
		if c.Path[i].Summary != nil {
			c.Summed, c.Path = &c.Path[i], c.Path[i+1:]
			return
		}
	}
}

// putSummaries keeps a turn's summaries with the messages that they stand for.
func (s *Store) putSummaries(tx *kv.Tx, f *Folding) error {
	for _, sum := range f.summaries {
		err := s.putSummary(tx, f.Accept.Chat.ID, sum.MessageID, &chat.Summary{
			Text: sum.Text, Messages: sum.Messages, Model: sum.Model, CreatedAt: f.Accept.Time, Outside: sum.Outside,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// putSummary gives a message a summary; nil takes it away. A message that is no
// longer there needs none.
func (s *Store) putSummary(tx *kv.Tx, chatID, id string, sum *chat.Summary) error {
	m, err := s.Tables.Messages.Get(tx, MessageKey(chatID, id))
	if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read message %s: %w", id, err)
	}
	m.Summary = sum
	return PutBounded(s.In(tx), s.Tables.Messages, m, "message "+id)
}
