package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// A store that is held is let go of while it is shared, and for no longer: both
// sides see each other's work, and what was known of the store is known to be old.
func TestHolderSharesItsStore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	holder := openAt(t, dir, Options{Hold: true})
	table := chatTable()
	put(t, holder, table, chat{ID: "first"})
	seen := holder.Generation()

	asked := new(atomic.Int32)
	var end func()
	other := openAt(t, dir, Options{Wait: patience, Taken: func(context.Context) error {
		if asked.Add(1) == 1 {
			end = holder.Share()
		}
		return nil
	}})
	for i := range 5 {
		put(t, other, table, chat{ID: fmt.Sprint("other", i)})
		put(t, holder, table, chat{ID: fmt.Sprint("holder", i)})
	}
	view(t, holder, func(tx *Tx) error {
		if n, err := table.Count(tx, Range{}); n != 11 || err != nil {
			t.Errorf("%d records, want 11 (%v)", n, err)
		}
		return nil
	})
	if asked.Load() == 0 || holder.Generation() == seen {
		t.Errorf("asked %d times; the generation went from %d to %d", asked.Load(), seen, holder.Generation())
	}

	end()
	end() // once is enough
	letGo(t, other)
	put(t, holder, table, chat{ID: "held again"})
	late := openAt(t, dir, Options{Wait: 50 * time.Millisecond})
	var busy *BusyError
	if err := late.View(t.Context(), func(*Tx) error { return nil }); !errors.As(err, &busy) {
		t.Errorf("the store is not held after the sharing: %v", err)
	}
}

// An idle database is being released to the waiting process when Share returns, and not
// only at the next check for processes that wait.
func TestSharingClosesAnIdleDatabase(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	put(t, s, chatTable(), chat{ID: "first"})
	end := s.Share()
	s.mu.Lock()
	closing := s.sess == nil || s.moving
	s.mu.Unlock()
	if !closing {
		t.Error("the database is still open")
	}
	end()
	put(t, s, chatTable(), chat{ID: "again"})
	view(t, s, func(tx *Tx) error {
		if s.sharing > 0 {
			t.Errorf("%d share it", s.sharing)
		}
		return nil
	})
	// An operation that runs has the database to its end.
	view(t, s, func(*Tx) error {
		defer s.Share()()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.sess == nil || s.moving {
			t.Error("the database is closed under an operation")
		}
		return nil
	})
}

// Sharing that begins and ends over and over, while both sides write, loses
// nothing, and ends with the store.
func TestSharingComesAndGoes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	holder := openAt(t, dir, Options{Hold: true})
	table := chatTable()
	put(t, holder, table, chat{ID: "first"})
	other := openAt(t, dir, Options{Wait: patience, Taken: func(context.Context) error {
		end := holder.Share()
		time.AfterFunc(5*time.Millisecond, func() { // too soon at times: then it is asked for again
			end()
			again := holder.Share()
			time.AfterFunc(20*time.Millisecond, again)
		})
		return nil
	}})
	n := several(15, 5)
	done := make(chan error, 1)
	go func() {
		for i := range n {
			err := holder.Update(context.Background(), func(tx *Tx) error {
				return table.Put(tx, &chat{ID: fmt.Sprint("holder", i)})
			})
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range n {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := other.Update(ctx, func(tx *Tx) error { return table.Put(tx, &chat{ID: fmt.Sprint("other", i)}) })
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		letGo(t, other)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	view(t, holder, func(tx *Tx) error {
		if got, err := table.Count(tx, Range{}); got != 2*n+1 || err != nil {
			t.Errorf("%d records, want %d (%v)", got, 2*n+1, err)
		}
		return nil
	})
}

// Where the holder says that it won't let go, nobody waits for it.
func TestTakenStoreThatIsNotShared(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	holder := openAt(t, dir, Options{Hold: true})
	put(t, holder, chatTable(), chat{ID: "first"})
	no := errors.New("it is mine")
	other := openAt(t, dir, Options{Wait: patience, Taken: func(context.Context) error { return no }})
	if err := other.View(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, no) {
		t.Errorf("it ended with %v", err)
	}
}
