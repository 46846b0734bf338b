package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// The store is collected by the engine itself, without being asked: after chats
// were removed for good, and now and then for what crashes have left behind. A
// command does it after it has answered, within a bound; an engine that lives
// longer does it while no turn runs.
const (
	// collectIdle bounds one of an engine that lives on. Turns of other
	// processes would have to wait for it.
	collectIdle = 30 * time.Second
	// upkeepEvery is how often an engine that lives on looks whether one is
	// due; a command is over before the first look.
	upkeepEvery = 10 * time.Minute
)

// beginUpkeep starts the goroutine that looks after the store, once; Close ends
// and awaits it. A collection that it is at is stopped: a turn begins. The
// caller has e.mu.
func (e *Engine) beginUpkeep() {
	if e.collecting != nil {
		e.collecting()
	}
	if e.keeping {
		return
	}
	e.keeping = true
	e.wg.Go(func() {
		tick := time.NewTicker(e.upkeepEvery)
		defer tick.Stop()
		for {
			select {
			case <-e.base.Done():
				return
			case <-tick.C:
				e.keepUp()
			}
		}
	})
}

// keepUp removes deleted chats whose time is over, and collects if that is due
// and nobody would have to wait.
func (e *Engine) keepUp() {
	ctx, cancel := context.WithCancel(e.base)
	defer cancel()
	e.mu.Lock()
	e.collecting = cancel
	e.mu.Unlock()
	err := e.keepUpWith(ctx)
	e.mu.Lock()
	e.collecting = nil
	e.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		e.o.Notice("look after the store: " + sanitize.Line(err.Error()))
	}
}

func (e *Engine) keepUpWith(ctx context.Context) error {
	c, err := e.ReadCatalog()
	if err != nil || !e.HasStore() {
		return err
	}
	if c.PurgeDue != nil && !e.o.Now().Before(*c.PurgeDue) {
		if _, err := e.PurgeChats(ctx, store.Purge{OlderThan: store.DeletedKept}); err != nil {
			return err
		}
	}
	u, err := e.Upkeep(ctx)
	switch {
	case err != nil:
		return err
	case u.Since.IsZero():
		return e.NoteUpkeep(ctx, func(*store.Upkeep) {})
	case e.o.Now().Before(u.Due()):
		return nil
	}
	return e.CollectWithin(ctx, collectIdle)
}

// Tidy is what a command does after it has answered: it folds for a little
// while where many journals wait, removes what dead processes left, and goes on
// with removing deleted chats whose time is over.
func (e *Engine) Tidy(ctx context.Context, budget time.Duration) error {
	begun := time.Now()
	turns, err := e.Journals.Turns()
	if err != nil {
		return err
	}
	if len(turns) > store.FoldBacklog {
		if _, err := e.Fold(ctx, budget); err != nil {
			return err
		}
	}
	if err := e.sweepTemporaries(ctx); err != nil {
		return err
	}
	if err := e.PurgeDue(ctx, budget-time.Since(begun)); err != nil || ctx.Err() != nil {
		return err
	}
	return e.CollectDue(ctx)
}

// sweepTemporaries removes the leftovers that are cheap to find, and checks the folders
// in which tools were cut off.
func (e *Engine) sweepTemporaries(ctx context.Context) error {
	e.NoticeCutOff(ctx)
	_, err := e.Temporaries.Sweep()
	return errors.Join(err, e.Journals.Sweep(ctx))
}
