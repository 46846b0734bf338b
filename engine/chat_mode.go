package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/internal/kv"
)

// The mode of approvals and plan mode belong to a chat: what the user chose for it holds
// for its later turns, on each of its branches, and in its forks. A chat without a choice
// has the mode of the engine's policy. No call of a model changes either.

// ModeChange changes how a chat's calls are decided. Fields that are nil stay as they are.
type ModeChange struct {
	// Approvals is the mode; empty returns the chat to the configured one.
	Approvals *permission.Mode
	Plan      *bool
}

// apply changes a chat's record.
func (m ModeChange) apply(c *chat.Chat, now time.Time) {
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
		if err := checkMode(*m.Approvals); err != nil {
			return chat.Chat{}, err
		}
	}
	return s.changeChat(ctx, ref, func(tx *kv.Tx, chat *chat.Chat) error {
		m.apply(chat, s.o.Now())
		return putBounded(s, tx, s.tables.chats, chat, chat.Called())
	})
}

// Mode returns the mode in which calls of a chat's next turn are decided: the chat's own or
// the configured one.
func (e *Engine) Mode(c chat.Chat) permission.Mode {
	return cmp.Or(c.Approvals, e.o.Policy.Approvals, permission.Calls)
}

// checkMode refuses a name that is not a mode's. Empty is one: the mode by default.
func checkMode(m permission.Mode) error {
	if m == "" {
		return nil
	}
	if _, err := permission.ParseMode(string(m)); err != nil {
		return fault.New(fault.Usage, err.Error())
	}
	return nil
}

// checkMode checks the mode that the request has.
func (t *turn) checkMode() error { return checkMode(t.req.Policy.Approvals) }

// modeChange is what the request chooses.
func (t *turn) modeChange() ModeChange {
	m := ModeChange{Plan: t.req.Plan}
	if t.req.KeepMode && t.req.Policy.Approvals != "" {
		m.Approvals = &t.req.Policy.Approvals
	}
	return m
}

// chooseMode sets the mode in which the turn's calls are decided. The user's own calls are
// not subject to plan mode, which is about what a model does.
func (t *turn) chooseMode(chat chat.Chat) {
	t.policy.Approvals = cmp.Or(t.req.Policy.Approvals, t.eng.Mode(chat))
	t.plan = chat.Plan
	if t.req.Plan != nil {
		t.plan = *t.req.Plan
	}
	t.plan = t.plan && len(t.req.Calls) == 0
}
