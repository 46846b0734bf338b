package provider

import (
	"context"
	"time"
)

// Puller is a Provider that can fetch models to where it runs them, and remove
// them again.
type Puller interface {
	// Pull fetches a model, or what is missing of it. progress is told how far
	// it is, often and from within the call; it must not block. What had come
	// when a Pull failed or its context ended is kept there, and the next one
	// goes on from it. Ending ctx ends the call at once.
	Pull(ctx context.Context, name string, progress func(Progress)) error
	// Remove deletes a model. One that isn't there is an *Error of kind
	// UnknownModel.
	Remove(ctx context.Context, name string) error
}

// Runner is a Provider that can tell which models it has in memory.
type Runner interface {
	// Running lists these models, the one that was used last first.
	Running(ctx context.Context) ([]Running, error)
}

// Running is a model in memory.
type Running struct {
	Name   string
	Digest string
	// Size is in bytes, VRAM is the part of it that is in the memory of graphics cards.
	Size, VRAM    int64
	ContextLength int // tokens; 0 is unknown
	Expires       time.Time
}

// Progress is how far a Pull is.
type Progress struct {
	// Stage is what is being done, in the provider's words on one line.
	Stage string
	// Fetching tells that a layer is on its way, as opposed to other work.
	Fetching bool
	// Done and Total are bytes over all layers that are known so far, so that
	// Total may grow; it is 0 before the first. Done may fall where a layer
	// has to be fetched anew.
	Done, Total int64
	// Fetched is how much of Done was brought by this Pull.
	Fetched int64
}

// PullWithRetry pulls, and goes on after failures that may pass, as
// RetryOptions say. A try that came further than all before it counts as the
// first one again: a line that breaks every few gigabytes ends no pull.
func PullWithRetry(ctx context.Context, p Puller, name string, progress func(Progress), o RetryOptions) error {
	r := &retrier{o: o.orDefault()}
	var best int64
	for attempt := 1; ; attempt++ {
		before := best
		err := p.Pull(ctx, name, func(at Progress) {
			best = max(best, at.Done)
			progress(at)
		})
		if err == nil || ctx.Err() != nil {
			return err
		}
		if before > 0 && best > before {
			attempt = 1
		}
		if !r.again(err, attempt) {
			return err
		}
		wait := r.wait(err, attempt)
		if r.o.OnRetry != nil {
			r.o.OnRetry(err, wait, attempt+1)
		}
		if !sleep(ctx, wait) {
			return err
		}
	}
}
