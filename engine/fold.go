package engine

import (
	"context"
	"time"

	"github.com/fettle-cli/fettle/engine/store"
)

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
