package engine

import (
	"context"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Live tells whether a turn runs in this process now.
func (e *Engine) Live(id TurnID) bool {
	t := e.turn(id)
	if t == nil {
		return false
	}
	_, _, done, _ := t.feed.after(0)
	return !done
}

// Open opens the store now, and makes it where there is none, for an Engine that
// holds it: from then on no other process has it.
func (e *Engine) Open(ctx context.Context) error {
	if err := e.store.UpdateSync(ctx, func(*kv.Tx) error { return nil }); err != nil && ctx.Err() == nil {
		return e.storeTrouble(err)
	}
	return ctx.Err()
}
