package engine

import (
	"context"

	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Live tells whether a turn runs in this process now.
func (e *Engine) Live(id store.TurnID) bool {
	t := e.turn(id)
	if t == nil {
		return false
	}
	_, _, done, _ := t.feed.after(0)
	return !done
}

// Open opens the store now, and makes it where there is none, for an Engine that
// holds it: from then on no other process has it. What others need without it is
// written: the counter of numbers, and toolsets.json.
func (e *Engine) Open(ctx context.Context) error {
	release, err := e.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = e.KV.UpdateSync(ctx, func(*kv.Tx) error { return nil })
	if err == nil {
		err = e.Counter.Raise(ctx, journal.Numbers{Turn: 1}) // a counter of 0 counts as a lost one
	}
	if err != nil && ctx.Err() == nil {
		return e.StoreTrouble(err)
	}
	if err == nil {
		err = e.ToolsetFault("write toolsets.json", e.Installed().Refresh(ctx))
	}
	return err
}
