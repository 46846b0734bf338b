package engine

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

func TestWhenACollectionIsDue(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(hours int) time.Time { return begin.Add(time.Duration(hours) * time.Hour) }
	for name, c := range map[string]struct {
		u         store.Upkeep
		due, tidy time.Time
	}{
		"nothing yet":            {store.Upkeep{Since: begin}, at(7 * 24), at(7 * 24)},
		"collected":              {store.Upkeep{Since: begin, CollectedAt: at(30)}, at(30 + 7*24), at(30 + 7*24)},
		"dropped, never before":  {store.Upkeep{Since: begin, Dropped: 1, DroppedAt: at(5)}, at(5), at(5)},
		"dropped right after":    {store.Upkeep{Since: begin, CollectedAt: at(5), Dropped: 1, DroppedAt: at(5)}, at(6), at(6)},
		"dropped long after":     {store.Upkeep{Since: begin, CollectedAt: at(5), Dropped: 2, DroppedAt: at(50)}, at(50), at(50)},
		"tried, and too short":   {store.Upkeep{Since: begin, Dropped: 1, DroppedAt: at(5), TriedAt: at(6)}, at(5), at(30)},
		"tried long ago":         {store.Upkeep{Since: begin, CollectedAt: at(90), Dropped: 1, DroppedAt: at(100), TriedAt: at(6)}, at(100), at(100)},
		"dropped after it's due": {store.Upkeep{Since: begin, Dropped: 1, DroppedAt: at(8 * 24)}, at(7 * 24), at(7 * 24)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !c.u.Due().Equal(c.due) || !c.u.DueInTidy().Equal(c.tidy) {
				t.Errorf("due at %s and for a command at %s, want %s and %s", c.u.Due(), c.u.DueInTidy(), c.due, c.tidy)
			}
		})
	}
}

// clock is one that a test moves.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// dropped makes a chat with files, deletes it, and lets its time pass.
func dropped(t *testing.T, b *bench, c *clock) {
	t.Helper()
	b.did(store.ChatRef{}, `{"put":{"keep":"kept"}}`)
	b.did(store.ChatRef{}, `{"put":{"a":"gone with its chat"}}`)
	if err := b.DeleteChats(t.Context(), b.chat(2).Chat); err != nil {
		t.Fatal(err)
	}
	c.advance(store.DeletedKept + time.Hour)
}

func (b *bench) upkeep() store.Upkeep {
	b.t.Helper()
	u, err := b.Upkeep(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

// A command that has answered collects when that is due, and not before; what it
// has no time for it leaves to another day.
func TestACommandCollectsAfterItsAnswer(t *testing.T) {
	t.Parallel()
	b, c := changer(t, t.TempDir()), new(clock)
	b.o.Now = c.now
	tidy := func() {
		t.Helper()
		if err := b.Tidy(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	dropped(t, b, c)
	tidy()
	first := b.upkeep()
	if first.CollectedAt.IsZero() || first.Dropped != 0 || first.Bytes == 0 {
		t.Fatalf("after the chat's time was over: %+v", first)
	}
	stats, err := b.StateStats(t.Context())
	if err != nil || len(stats.Chats) != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	for _, wait := range []time.Duration{time.Minute, store.CollectAlways - time.Hour} {
		c.advance(wait)
		tidy()
		if now := b.upkeep(); !now.CollectedAt.Equal(first.CollectedAt) {
			t.Fatalf("collected again after %s", wait)
		}
	}
	c.advance(time.Hour)
	tidy()
	if now := b.upkeep(); !now.CollectedAt.After(first.CollectedAt) {
		t.Error("not collected after a week")
	}
	b.sees(1, map[string]string{"keep": "kept"})
	wholeStore(t, b)
}

// Too short a time is noted, and the next command doesn't try at once.
func TestACollectionThatHadNoTime(t *testing.T) {
	t.Parallel()
	b, c := changer(t, t.TempDir()), new(clock)
	b.o.Now = c.now
	beside := 0
	b.o.Collect = func(context.Context) error { beside++; return nil }
	dropped(t, b, c)
	if _, err := b.PurgeChats(t.Context(), store.Purge{OlderThan: store.DeletedKept}); err != nil {
		t.Fatal(err)
	}
	if err := b.CollectWithin(t.Context(), time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	u := b.upkeep()
	if u.Dropped != 1 || u.TriedAt.IsZero() || beside != 0 {
		t.Fatalf("%+v, and %d times beside the store", u, beside)
	}
	if err := b.Tidy(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if now := b.upkeep(); !now.CollectedAt.IsZero() {
		t.Error("tried again at once")
	}
	c.advance(store.CollectAgain)
	if err := b.Tidy(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if now := b.upkeep(); now.CollectedAt.IsZero() || now.Dropped != 0 || !now.TriedAt.IsZero() {
		t.Errorf("a day later: %+v", now)
	}
	if beside != 1 {
		t.Errorf("what lies beside the store was collected %d times", beside)
	}
}

// An engine that lives on collects by itself, never while a turn runs.
func TestALongLivedEngineCollects(t *testing.T) {
	t.Parallel()
	b, c := changer(t, t.TempDir()), new(clock)
	b.o.Now = c.now
	b.upkeepEvery = 5 * time.Millisecond
	dropped(t, b, c)
	until(t, "a collection", func() bool { return !b.upkeep().CollectedAt.IsZero() })
	wholeStore(t, b)

	ahead := new(clock)
	working := newBench(t, `{responses: [{calls: [{name: slow, args: {}}]}]}`, slow(nil))
	working.o.Now = ahead.now
	id := working.start(ask("go"))
	until(t, "the call", func() bool { live, err := working.AnyLive(t.Context()); return live && err == nil })
	ahead.advance(30 * 24 * time.Hour)
	if err := working.CollectWithin(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if u := working.upkeep(); !u.CollectedAt.IsZero() {
		t.Error("collected while a turn ran")
	}
	if err := working.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	working.follow(id)
}

// A turn that begins doesn't wait for a collection of its own engine.
func TestATurnStopsACollection(t *testing.T) {
	t.Parallel()
	b, c := changer(t, t.TempDir()), new(clock)
	b.o.Now = c.now
	dropped(t, b, c)
	b.chat(1)
	reached, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b.Pause = func(step string) {
		if step == "collect:journals" {
			close(reached)
			<-goOn
		}
	}
	go func() {
		defer close(ended)
		b.keepUp()
	}()
	select {
	case <-reached:
	case <-ended:
		t.Fatal("it did not collect")
	}
	req := ask(`{"put":{"b":"1"}}`)
	req.Chat, req.Policy.AllowAll = lastChat, true
	id := b.start(req) // ends the collection, which keeps states from being taken
	close(goOn)
	last[event.Complete](t, b.follow(id))
	<-ended
	if u := b.upkeep(); !u.CollectedAt.IsZero() || u.Dropped != 1 {
		t.Errorf("it went on: %+v", u)
	}
}

// The states of a turn that has ended and waits for its fold are needed, however
// long it has run.
func TestTheStatesOfAWaitingJournalAreKept(t *testing.T) {
	t.Parallel()
	b := changer(t, t.TempDir())
	b.did(store.ChatRef{}, `{"put":{"a":"1"}}`)
	known, err := b.KnownChats(t.Context())
	if err != nil || len(known) != 1 {
		t.Errorf("known are %v, %v", known, err)
	}
	if _, err := os.Stat(b.StoreDir()); errors.Is(err, os.ErrNotExist) {
		t.Error("there is no store")
	}
}
