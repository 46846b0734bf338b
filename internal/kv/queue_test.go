package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Locks left by killed processes don't keep anyone from anything, and are
// removed by those who come by.
func TestStaleLocks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := openAt(t, dir, Options{})
	paths := []string{s.lockPath(), s.placePath(0), s.placePath(1), s.placePath(5)}
	stale := func(paths []string) {
		for _, path := range paths {
			if err := os.WriteFile(path, []byte("\x00pid 4194304\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	stale(paths)
	put(t, s, chatTable(), chat{ID: "a"}) // free for the taking
	letGo(t, s)
	holder := start(t, "nap", dir)
	holder.expect(t, "held")
	stale(paths[1:])
	done := make(chan error)
	go func() {
		done <- s.Update(context.Background(), func(tx *Tx) error { return chatTable().Put(tx, &chat{ID: "b"}) })
	}()
	eventually(t, "the place behind the stale ones is taken, and left", func() bool {
		return !exists(s.placePath(5)) && taken(s.placePath(0))
	})
	if err := errors.Join(holder.in.Close(), <-done); err != nil {
		t.Fatal(err)
	}
	letGo(t, s)
	if left := files(t, filepath.Dir(s.dir), ".lock"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// A process that is killed while it waits or while it holds the store is passed
// over by those behind it.
func TestKilledInTheQueue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	holder := start(t, "nap", dir)
	holder.expect(t, "held")
	s := openAt(t, dir, Options{})
	var waiting []*process
	for i := range 3 {
		waiting = append(waiting, start(t, "updates", dir, fmt.Sprint("w", i), "1"))
		eventually(t, "the child stands in the queue", func() bool { return taken(s.placePath(i)) })
	}
	done := make(chan error)
	go func() { done <- s.Update(context.Background(), func(*Tx) error { return nil }) }()
	eventually(t, "this process stands in the queue", func() bool { return taken(s.placePath(3)) })
	waiting[0].kill(t)
	waiting[1].kill(t)
	holder.kill(t)
	if err := errors.Join(<-done, waiting[2].cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(tx *Tx) error {
		var ids []string
		for c, err := range chatTable().Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			ids = append(ids, c.ID)
		}
		if !slices.Equal(ids, []string{"w2-000"}) {
			t.Errorf("records %q", ids)
		}
		return nil
	})
}

// Who waits is served in the order of coming.
func TestTurnsInOrder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	holder := start(t, "nap", dir)
	holder.expect(t, "held")
	const n = 8
	turns := make(chan int, n)
	for i := range n {
		s := openAt(t, dir, Options{})
		go func() {
			err := s.Update(context.Background(), func(tx *Tx) error {
				turns <- i
				return chatTable().Put(tx, &chat{ID: fmt.Sprint(i)})
			})
			if err != nil {
				t.Error(err)
			}
		}()
		eventually(t, "it stands in the queue", func() bool { return taken(s.placePath(i)) })
	}
	if err := holder.in.Close(); err != nil {
		t.Fatal(err)
	}
	for want := range n {
		if got := <-turns; got != want {
			t.Errorf("turn %d went to the one that came as %d", want, got)
		}
	}
}

// A queue that moves is waited for longer than Wait, by every operation of the
// process; one that doesn't is given up.
func TestWaitEndsOnlyWithoutProgress(t *testing.T) {
	t.Parallel()
	const wait, step = 2500 * time.Millisecond, 1500 * time.Millisecond
	s := newStore(t, Options{Wait: wait})
	if err := s.makeDir(); err != nil {
		t.Fatal(err)
	}
	var before []func()
	for _, path := range []string{s.lockPath(), s.placePath(0)} {
		release, free, err := lockfile.Try(path)
		if !free || err != nil {
			t.Fatal(free, err)
		}
		before = append(before, release)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if err := s.Update(t.Context(), func(*Tx) error { return nil }); err != nil {
				t.Error(err)
			}
			if waited := time.Since(start); waited < step {
				t.Errorf("let in after %v, before its turn", waited)
			}
		})
	}
	eventually(t, "it stands in the queue", func() bool { return taken(s.placePath(1)) })
	for _, release := range slices.Backward(before) {
		time.Sleep(step)
		release()
	}
	wg.Wait()
	letGo(t, s)
	release, free, err := lockfile.Try(s.lockPath())
	if !free || err != nil {
		t.Fatal(free, err)
	}
	defer release()
	s.opts.Wait = 50 * time.Millisecond
	busy := mustBe[*BusyError](t, s.Update(t.Context(), func(*Tx) error { return nil }))
	if busy.Waited < s.opts.Wait || busy.PID != os.Getpid() {
		t.Errorf("got %+v", busy)
	}
}
