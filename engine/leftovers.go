package engine

import (
	"context"
	"errors"
)

// sweepTemporaries removes the leftovers that are cheap to find, and checks the folders
// in which tools were cut off.
func (e *Engine) sweepTemporaries(ctx context.Context) error {
	e.NoticeCutOff(ctx)
	_, err := e.Temporaries.Sweep()
	return errors.Join(err, e.Journals.Sweep(ctx))
}
