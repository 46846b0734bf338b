package store

import (
	"context"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/internal/kv"
)

// ModeChange changes how a chat's calls are decided. Fields that are nil stay as they are.
type ModeChange struct {
	// Approvals is the mode; empty returns the chat to the configured one.
	Approvals *permission.Mode
	Plan      *bool
}

// Apply changes a chat's record.
func (m ModeChange) Apply(c *chat.Chat, now time.Time) {
	c.ModeChosenAt = now
	if m.Approvals != nil {
		c.Approvals = *m.Approvals
	}
	if m.Plan != nil {
		c.Plan = *m.Plan
	}
}

// SetMode changes the mode of a chat for its turns from the next one on. A turn that runs
// keeps the mode that it began with.
func (s *Store) SetMode(ctx context.Context, ref ChatRef, m ModeChange) (chat.Chat, error) {
	if m.Approvals != nil {
		if err := CheckMode(*m.Approvals); err != nil {
			return chat.Chat{}, err
		}
	}
	return s.changeChat(ctx, ref, func(tx *kv.Tx, chat *chat.Chat) error {
		m.Apply(chat, s.Options.Now())
		return PutBounded(s.In(tx), s.Tables.Chats, chat, chat.Called())
	})
}

// CheckMode refuses a name that is not a mode's. Empty is one: the mode by default.
func CheckMode(m permission.Mode) error {
	if m == "" {
		return nil
	}
	if _, err := permission.ParseMode(string(m)); err != nil {
		return fault.New(fault.Usage, err.Error())
	}
	return nil
}
