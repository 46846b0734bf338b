package engine

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
)

// feedWindow is how many events a live turn keeps in memory; a follower that
// is further behind reads the journal. A thousand events are some hundred
// kilobytes, and more than a terminal ever lags.
const feedWindow = 1024

// feed hands a live turn's events to any number of followers. Showing never
// waits for one.
type feed struct {
	mu     sync.Mutex
	window []event.Event // the last ones
	keep   int           // how many stay; 0 is all (no journal to read from)
	done   bool
	news   chan struct{} // closed and replaced when something comes
}

func newFeed(keep int) *feed { return &feed{keep: keep, news: make(chan struct{})} }

func (f *feed) show(events []event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window = append(f.window, events...)
	if f.keep > 0 && len(f.window) > 2*f.keep { // cut rarely, so that it costs little
		f.window = append([]event.Event(nil), f.window[len(f.window)-f.keep:]...)
	}
	close(f.news)
	f.news = make(chan struct{})
}

func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	close(f.news)
	f.news = make(chan struct{})
}

// after gives the events behind seq that are in the window. behind is set
// where the window no longer holds the next one.
func (f *feed) after(seq event.Seq) (events []event.Event, behind, done bool, news <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.window) == 0 {
		return nil, false, f.done, f.news
	}
	first := f.window[0].Seq
	if seq+1 < first {
		return nil, true, f.done, f.news
	}
	from := min(int(seq+1-first), len(f.window))
	return f.window[from:len(f.window):len(f.window)], false, f.done, f.news
}

// Follow yields the events of a turn that come after a Seq: first those that
// are there, then, while the turn lives, each as it is written. The sequence
// ends with the turn's last event. An error ends it too: NotFound for a turn
// that nobody knows, Busy for one that another process owns, ctx's error when
// ctx ends. Stopping early costs the turn nothing.
func (e *Engine) Follow(ctx context.Context, id TurnID, after event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		var err error
		if t := e.turn(id); t != nil {
			err = t.follow(ctx, after, yield)
		} else {
			err = e.replay(ctx, id, after, yield)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(event.Event{}, err)
		}
	}
}

// errStopped says that the follower wants no more.
var errStopped = errors.New("the follower stopped")

type yieldFunc func(event.Event, error) bool

func (t *turn) follow(ctx context.Context, after event.Seq, yield yieldFunc) error {
	for {
		events, behind, done, news := t.feed.after(after)
		if behind {
			var err error
			if after, err = t.catchUp(ctx, after, yield); err != nil {
				return err
			}
			continue
		}
		for i, e := range events {
			e.More = i+1 < len(events)
			after = e.Seq
			if !yield(e, nil) {
				return errStopped
			}
		}
		if len(events) > 0 {
			continue
		}
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-news:
		}
	}
}

// catchUp yields from the journal what has left the window.
func (t *turn) catchUp(ctx context.Context, after event.Seq, yield yieldFunc) (event.Seq, error) {
	r, err := t.eng.journals.Read(string(t.id))
	if errors.Is(err, journal.ErrNoJournal) { // ended and folded meanwhile
		if err := t.eng.replay(ctx, t.id, after, yield); err != nil {
			return after, err
		}
		return after, errStopped // all of it was yielded
	}
	if err != nil {
		return after, fault.Wrap(fault.Store, "read the turn", err)
	}
	defer r.Close()
	for line, err := range r.Events() {
		if err != nil {
			return after, fault.Wrap(fault.Store, "read the turn", err)
		}
		if line.Event.Seq <= after {
			continue
		}
		if err := ctx.Err(); err != nil {
			return after, context.Cause(ctx)
		}
		after = line.Event.Seq
		line.Event.More = true
		if !yield(line.Event, nil) {
			return after, errStopped
		}
	}
	return after, nil
}
