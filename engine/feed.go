package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/engine/store"
)

const (
	// feedWindow is how many events a live turn keeps in memory; a follower
	// that is further behind reads the journal. So many are some ten kilobytes,
	// of which a server has a hundred, and more than a terminal commonly lags.
	feedWindow = 128
	// feedBytes bounds their size, for events that hold results.
	feedBytes = 1 << 20
	// feedAll keeps every event: there is no journal to read them from.
	feedAll = 0
)

// feed hands a live turn's events to any number of followers. Showing never
// waits for one.
type feed struct {
	mu     sync.Mutex
	window []event.Event // the last ones
	size   int           // of the window, in bytes
	keep   int           // how many stay, or feedAll
	last   event.Seq     // of the last event shown
	done   bool
	lost   error         // why the turn's end is not shown; nil where it is
	news   chan struct{} // closed and replaced when something comes
}

func newFeed(keep int) *feed { return &feed{keep: keep, news: make(chan struct{})} }

func (f *feed) show(events []event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		f.size += weight(e)
		f.last = e.Seq
	}
	f.window = append(f.window, events...)
	if f.keep != feedAll && (len(f.window) > 2*f.keep || f.size > 2*feedBytes) { // rarely, so that it costs little
		f.cut()
	}
	f.wake()
}

// cut keeps the last events, the very last one in any case. Followers may hold
// the old window, so what stays is copied.
func (f *feed) cut() {
	from, size := len(f.window), 0
	for from > 0 && len(f.window)-from < f.keep {
		w := weight(f.window[from-1])
		if size+w > feedBytes && from < len(f.window) {
			break
		}
		from, size = from-1, size+w
	}
	f.window, f.size = slices.Clone(f.window[from:]), size
}

// weight is about how many bytes an event takes in memory.
func weight(e event.Event) int {
	const header = 200
	switch b := e.Body.(type) {
	case event.TextDelta:
		return header + len(b.Text)
	case event.Reasoning:
		return header + len(b.Text) + len(b.Details)
	case event.ToolStart:
		return header + len(b.Input)
	case event.ToolProgress:
		return header + len(b.Message) + len(b.Data)
	case event.ToolComplete:
		return header + len(b.Result) + len(b.Error) + len(b.Data) + len(b.WorkspacePayload) + len(b.Payload)
	case event.Payload:
		return header + len(b.Data) + len(b.RenderPlan)
	case event.Complete:
		n := header + len(b.Payload.Message) + len(b.Payload.WorkspacePayload)
		for _, h := range b.Payload.ToolHistory {
			n += len(h.Input) + len(h.Output) + len(h.WorkspacePayload) + len(h.Payload)
		}
		if b.Payload.CustomPayload != nil {
			n += len(b.Payload.CustomPayload.Data)
		}
		return n
	}
	return header
}

// wake tells followers to look again. The caller has f.mu.
func (f *feed) wake() {
	close(f.news)
	f.news = make(chan struct{})
}

// end notifies followers that no more events come. lost is why the turn's last event
// was not shown; nil if it was.
func (f *feed) end(lost error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done, f.lost = true, lost
	f.wake()
}

// ending is what followers of a turn that is done get after the last event.
func (f *feed) ending() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// shown is the last event that followers may see.
func (f *feed) shown() event.Seq {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
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

// Follow yields the events of a turn that come after a Seq: first those that exist, then, while
// the turn is running, each as it is written. The sequence ends with the turn's last event. An
// error ends it too: NotFound for a turn that does not exist, Busy for one that another process
// owns, Store if the turn's last event could not be kept, ctx's error when ctx ends. Stopping
// early costs the turn nothing.
func (e *Engine) Follow(ctx context.Context, id store.TurnID, after event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		var err error
		if t := e.turn(id); t != nil {
			err = t.follow(ctx, after, yield)
		} else {
			err = e.Replay(ctx, id, after, yield)
		}
		if err != nil && !errors.Is(err, store.ErrStopped) {
			yield(event.Event{}, err)
		}
	}
}

func (t *turn) follow(ctx context.Context, after event.Seq, yield store.Yield) error {
	for {
		events, behind, done, news := t.feed.after(after)
		if behind {
			upTo, err := t.catchUp(ctx, after, yield)
			if err != nil {
				return err
			}
			if upTo == after { // they were shown but could not be kept
				return fault.New(fault.Store, fmt.Sprintf("events of turn %s after %d were not kept", t.id, after))
			}
			after = upTo
			continue
		}
		for i, e := range events {
			e.More = i+1 < len(events)
			after = e.Seq
			if !yield(e, nil) {
				return store.ErrStopped
			}
		}
		if len(events) > 0 {
			continue
		}
		if done {
			return t.feed.ending()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-news:
		}
	}
}

// catchUp yields from the journal what has left the window, and goes on as far
// as events have been shown: what is written may still wait for a sync.
func (t *turn) catchUp(ctx context.Context, after event.Seq, yield store.Yield) (event.Seq, error) {
	r, err := t.eng.Journals.Read(string(t.id))
	if errors.Is(err, journal.ErrNoJournal) { // ended and folded meanwhile
		if err := t.eng.Replay(ctx, t.id, after, yield); err != nil {
			return after, err
		}
		return after, store.ErrStopped // all of it was yielded
	}
	if err != nil {
		return after, fault.Wrap(fault.Store, "read the turn", err)
	}
	defer r.Close()
	for line, err := range r.Events() {
		if err != nil {
			return after, fault.Wrap(fault.Store, "read the turn", err)
		}
		shown := t.feed.shown()
		switch {
		case line.Event.Seq <= after:
			continue
		case line.Event.Seq > shown:
			return after, nil
		case ctx.Err() != nil:
			return after, context.Cause(ctx)
		}
		after = line.Event.Seq
		line.Event.More = after < shown
		if !yield(line.Event, nil) {
			return after, store.ErrStopped
		}
	}
	return after, nil
}
