package engine

import (
	"context"

	"github.com/fettle-cli/fettle/engine/journal"
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
// holds it: from then on no other process has it. What others need without it is
// written: the counter of numbers, and toolsets.json.
func (e *Engine) Open(ctx context.Context) error {
	release, err := e.shareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = e.store.UpdateSync(ctx, func(*kv.Tx) error { return nil })
	if err == nil {
		err = e.counter.Raise(ctx, journal.Numbers{Turn: 1}) // a counter of 0 counts as a lost one
	}
	if err != nil && ctx.Err() == nil {
		return e.storeTrouble(err)
	}
	if err == nil {
		err = e.toolsetFault("write toolsets.json", e.installed().Refresh(ctx))
	}
	return err
}

// ShareStore has an Engine that holds the store take turns with other processes
// until end is called, as Engines without Options.Hold do.
func (s *Store) ShareStore() (end func()) { return s.store.Share() }
