package engine

import (
	"cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
)

// The mode of approvals and plan mode belong to a chat: what the user chose for it holds
// for its later turns, on each of its branches, and in its forks. A chat without a choice
// has the mode of the engine's policy. No call of a model changes either.

// Mode returns the mode in which calls of a chat's next turn are decided: the chat's own or
// the configured one.
func (e *Engine) Mode(c chat.Chat) permission.Mode {
	return cmp.Or(c.Approvals, e.o.Policy.Approvals, permission.Calls)
}

// checkMode checks the mode that the request has.
func (t *turn) checkMode() error { return store.CheckMode(t.req.Policy.Approvals) }

// modeChange is what the request chooses.
func (t *turn) modeChange() store.ModeChange {
	m := store.ModeChange{Plan: t.req.Plan}
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
