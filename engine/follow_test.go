package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// Followers of one live turn, each at its own speed and from its own point: all
// get the same events, each once, in order, and the turn waits for none.
func TestFollowersAtDifferentSpeeds(t *testing.T) {
	t.Parallel()
	const n = 4 * feedWindow
	b, _ := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		for i := range n {
			if !yield([]provider.Delta{says(fmt.Sprintf("%d ", i))}, nil) {
				return
			}
		}
		yield([]provider.Delta{stops("stop")}, nil)
	})
	id := b.start(ask("go"))
	followers := map[string]func(seen int){
		"at once": func(int) { /* as fast as it can */ },
		"in fits": func(seen int) {
			if seen%(2*feedWindow) == 100 {
				time.Sleep(20 * time.Millisecond)
			}
		},
		"slow at first": func(seen int) {
			if seen == 1 {
				until(t, "most of the turn", func() bool { return b.turn(id).feed.shown() > 3*feedWindow })
			}
		},
		"after the end": func(seen int) {
			if seen == 1 {
				until(t, "the end of the turn", func() bool { _, _, done, _ := b.turn(id).feed.after(0); return done })
			}
		},
	}
	var wg sync.WaitGroup
	for name, pace := range followers {
		for _, after := range []event.Seq{0, 2*feedWindow + 7} {
			wg.Go(func() { followAll(t, b, follower{name, id, after, n + 2, pace}) })
		}
	}
	wg.Wait()
}

type follower struct {
	name  string
	id    store.TurnID
	after event.Seq
	last  event.Seq
	pace  func(seen int)
}

// followAll checks one follower, which comes back from time to time as a page
// does that reconnects.
func followAll(t *testing.T, b *bench, f follower) {
	seen, at := 0, f.after
	for at < f.last {
		before := at
		for e, err := range b.Follow(context.Background(), f.id, at) {
			if err != nil {
				t.Errorf("%s after %d: %v", f.name, f.after, err)
				return
			}
			if at++; e.Seq != at {
				t.Errorf("%s after %d: event %d where %d should be", f.name, f.after, e.Seq, at)
				return
			}
			if e.Ends() != (at == f.last) || e.More && e.Ends() {
				t.Errorf("%s after %d: event %d of %d is %s", f.name, f.after, at, f.last, e.Type())
			}
			seen++
			f.pace(seen)
			if seen%(3*feedWindow) == 0 {
				break
			}
		}
		if at == before {
			t.Errorf("%s after %d: it ends at %d", f.name, f.after, at)
			return
		}
	}
}

// What a follower reads from the journal ends with an event that says so: else
// whoever prints would hold it back until the model goes on.
func TestTheLastEventThatIsThereSaysSo(t *testing.T) {
	t.Parallel()
	const n = 3 * feedWindow
	b, _ := newRogue(t, func(ctx context.Context, _ int, yield func([]provider.Delta, error) bool) {
		for range n {
			yield([]provider.Delta{says("x")}, nil)
		}
		<-ctx.Done()
		yield(nil, ctx.Err())
	})
	id := b.start(ask("go"))
	held := b.turn(id)
	until(t, "the text", func() bool { return held.feed.shown() == n })
	var got []event.Event
	_, err := held.catchUp(t.Context(), 0, func(e event.Event, _ error) bool { got = append(got, e); return true })
	if err != nil || len(got) != n {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for i, e := range got {
		if e.More != (i < n-1) {
			t.Fatalf("event %d of %d says more: %v", i+1, n, e.More)
		}
	}
	b.Cancel(t.Context(), id)
	for e, err := range b.Follow(t.Context(), id, n) {
		if err != nil || e.Type() != event.TypeCancelled {
			t.Errorf("the end is %+v, %v", e, err)
		}
	}
}

// Events that were shown and could not be kept are an error for one who comes
// late, not a wait without end.
func TestEventsThatWereNotKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, yes)
	id := b.start(ask("go"))
	b.follow(id)
	held := b.turn(id)
	held.feed.mu.Lock()
	held.feed.window = []event.Event{{TurnID: string(id), Seq: 9, Body: event.Cancelled{}}}
	held.feed.last = 9
	held.feed.mu.Unlock()
	var got error
	for _, err := range b.Follow(t.Context(), id, 5) {
		got = err
	}
	if got == nil || errors.Is(got, store.ErrStopped) {
		t.Errorf("ended with %v", got)
	}
}
