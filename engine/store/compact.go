package store

import (
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/internal/kv"
)

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
	return PutBounded(s, tx, s.Tables.Messages, m, "message "+id)
}
