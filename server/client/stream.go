package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/sse"
	"github.com/fettle-cli/fettle/server"
)

// maxFrame bounds one event: the engine bounds one response of a model to half of
// it, and its complete event has it once more.
const maxFrame = 96 << 20

// source is where a stream is opened, and opened again.
type source struct {
	open func(ctx context.Context, after event.Seq) (*http.Response, error)
	// again is called before each further try; nil has nothing to do.
	again func(context.Context) error
	// most is how long it is tried again while nothing comes.
	most time.Duration
}

// follow yields the events of a stream that may break.
func follow(ctx context.Context, after event.Seq, from source) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		f := &follower{ctx: ctx, after: after, from: from, yield: yield}
		if err := f.run(); err != nil {
			yield(event.Event{}, err)
		}
	}
}

type follower struct {
	ctx   context.Context
	after event.Seq // the last event that was yielded
	from  source
	yield func(event.Event, error) bool
	done  bool // the turn has ended, or the caller wants no more
	// opened is when the last stream was; zero where it couldn't be.
	opened time.Time
}

// run reads streams until the turn has ended. What comes resets the time in which
// one is tried again, and so does a stream that was open for longer than that, in
// which nothing happened.
func (f *follower) run() error {
	since, pause := time.Now(), resumePause
	for {
		before := f.after
		f.opened = time.Time{}
		err := f.stream()
		switch {
		case f.done:
			return nil
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		case err != nil && !gone(err):
			return err
		}
		if f.after > before || !f.opened.IsZero() && time.Since(f.opened) > f.from.most {
			since, pause = time.Now(), resumePause
		}
		if time.Since(since) > f.from.most {
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
		select {
		case <-f.ctx.Done():
			return context.Cause(f.ctx)
		case <-time.After(pause):
		}
		pause *= 2
		if f.from.again == nil {
			continue
		}
		if err := f.from.again(f.ctx); errors.Is(err, ErrOther) {
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
}

var errEnd = errors.New("the stream ended before its turn")

// stream reads one stream to its end.
func (f *follower) stream() error {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	res, err := f.from.open(ctx, f.after)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	f.opened = time.Now()
	if res.StatusCode == http.StatusNoContent { // its end was the last event that we had
		f.done = true
		return nil
	}
	in := sse.NewReader(res.Body, sse.Options{Limit: maxFrame})
	for {
		frame, err := in.Next()
		if errors.Is(err, io.EOF) {
			return errEnd
		}
		if err != nil {
			return err
		}
		if !frame.HasID { // a frame beside the turn, such as an approval's
			continue
		}
		var e event.Event
		if err := e.UnmarshalJSON(frame.Data); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		if e.Seq <= f.after {
			continue
		}
		e.More = frame.Name == server.MoreName
		f.after, f.done = e.Seq, e.Ends()
		if !f.yield(e, nil) {
			f.done = true
		}
		if f.done {
			return nil
		}
	}
}
