package provider

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// The defaults of RetryOptions.
const (
	// DefaultAttempts is the first try and four more: with the waits below a
	// minute in all, which outlasts most rate limits and restarts.
	DefaultAttempts = 5
	// DefaultFirstWait doubles with each try.
	DefaultFirstWait = time.Second
	// DefaultLongestWait bounds what doubling comes to.
	DefaultLongestWait = 30 * time.Second
	// DefaultLongestAsked is the longest that a provider's wish to be asked
	// again later is waited for. Whoever asks for more is not asked again: a
	// person would rather be told, and another model may take over.
	DefaultLongestAsked = 2 * time.Minute
)

// slowAttempts is how often a model that gave nothing in time is asked in all:
// each try may have taken ten minutes.
const slowAttempts = 2

// RetryOptions are the choices of Retry; zero values mean the defaults.
type RetryOptions struct {
	Attempts     int
	FirstWait    time.Duration
	LongestWait  time.Duration
	LongestAsked time.Duration
	// OnRetry is told before each wait: what went wrong, how long it takes,
	// and the number of the try that follows, from 2. It must not block.
	OnRetry func(err error, wait time.Duration, attempt int)
}

func (o RetryOptions) orDefault() RetryOptions {
	if o.Attempts <= 0 {
		o.Attempts = DefaultAttempts
	}
	if o.FirstWait <= 0 {
		o.FirstWait = DefaultFirstWait
	}
	if o.LongestWait <= 0 {
		o.LongestWait = DefaultLongestWait
	}
	if o.LongestAsked <= 0 {
		o.LongestAsked = DefaultLongestAsked
	}
	return o
}

// Retry wraps a provider so that a retryable failure is tried again, as long
// as nothing was yielded that a second try would repeat: no content, reasoning
// or call. The wait doubles with each try and varies at random, so that many
// clients don't come back at once; it is never less than the provider asks for.
// One that asks for more than LongestAsked is not asked again. Ending
// the context ends a wait. What p can do beyond Provider stays reachable
// through Unwrap; a Lister stays one.
func Retry(p Provider, o RetryOptions) Provider {
	r := &retrier{Provider: p, o: o.orDefault()}
	if l, ok := p.(Lister); ok {
		return &retryLister{retrier: r, Lister: l}
	}
	return r
}

type retrier struct {
	Provider
	o RetryOptions
}

type retryLister struct {
	*retrier
	Lister
}

// Unwrap gives the provider that is retried.
func (r *retrier) Unwrap() Provider { return r.Provider }

// Stream streams with retries; see Retry.
func (r *retrier) Stream(ctx context.Context, req *Request) iter.Seq2[[]Delta, error] {
	return func(yield func([]Delta, error) bool) {
		noted := map[string]bool{} // the footnotes that were yielded
		for attempt := 1; ; attempt++ {
			shown, err := r.try(ctx, req, noted, yield)
			if err == nil {
				return
			}
			if shown || ctx.Err() != nil || !r.again(err, attempt) {
				yield(nil, err)
				return
			}
			wait := r.wait(err, attempt)
			if r.o.OnRetry != nil {
				r.o.OnRetry(err, wait, attempt+1)
			}
			if !sleep(ctx, wait) {
				yield(nil, err)
				return
			}
		}
	}
}

// try passes one response on. It returns the error that ended it, nil also
// where the consumer stopped, and whether anything was shown before.
func (r *retrier) try(ctx context.Context, req *Request, noted map[string]bool, yield func([]Delta, error) bool) (shown bool, _ error) {
	for batch, err := range r.Provider.Stream(ctx, req) {
		if err != nil {
			return shown, err
		}
		fresh := batch[:0]
		for _, d := range batch {
			if d.Kind == Footnote && noted[d.Text] {
				continue
			}
			if d.Kind == Footnote {
				noted[d.Text] = true
			} else {
				shown = true
			}
			fresh = append(fresh, d)
		}
		if len(fresh) > 0 && !yield(fresh, nil) {
			return shown, nil
		}
	}
	return shown, nil
}

// again tells whether one more try may help.
func (r *retrier) again(err error, attempt int) bool {
	var e *Error
	if !errors.As(err, &e) || !e.Retryable() {
		return false
	}
	if e.Kind == SlowStart && attempt >= slowAttempts || e.RetryAfter > r.o.LongestAsked {
		return false
	}
	return attempt < r.o.Attempts
}

// wait is how long to wait before the next try.
func (r *retrier) wait(err error, attempt int) time.Duration {
	wait := r.o.LongestWait
	if doubled := r.o.FirstWait << (attempt - 1); doubled > 0 && attempt < 32 {
		wait = min(wait, doubled)
	}
	wait = wait/2 + rand.N(wait/2+1)
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > wait {
		wait = e.RetryAfter + rand.N(e.RetryAfter/spread+1)
	}
	return wait
}

// spread is the part of an asked wait that is added at random at most.
const spread = 10

// sleep waits, and reports whether it wasn't cut short.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
