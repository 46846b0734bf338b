package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOpenDoesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "store")
	s := Open(dir, Options{})
	if err := errors.Join(s.LetGo(), s.Sync(t.Context()), s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

func TestClosedStore(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	put(t, s, chatTable(), chat{ID: "a"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	nothing := func(*Tx) error { return nil }
	for name, err := range map[string]error{
		"View":   s.View(t.Context(), nothing),
		"Update": s.Update(t.Context(), nothing),
		"Batch": s.Batch(t.Context(), func(b *Batch) error {
			return chatTable().Put(b, &chat{ID: "b"})
		}),
		"Verify":  s.Verify(t.Context()),
		"Compact": s.Compact(t.Context()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := files(t, filepath.Dir(s.dir), ".lock"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestCloseWaitsForOperations(t *testing.T) {
	t.Parallel()
	s := Open(filepath.Join(t.TempDir(), "store"), Options{})
	inside, proceed := make(chan struct{}), make(chan struct{})
	updated := make(chan error, 1)
	go func() {
		updated <- s.Update(context.Background(), func(tx *Tx) error {
			close(inside)
			<-proceed
			return chatTable().Put(tx, &chat{ID: "a"})
		})
	}()
	<-inside
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	eventually(t, "the store refuses operations", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		return errors.Is(s.View(ctx, func(*Tx) error { return nil }), ErrClosed)
	})
	select {
	case err := <-closed:
		t.Fatalf("closed while an operation ran: %v", err)
	default:
	}
	close(proceed)
	if err := errors.Join(<-updated, <-closed); err != nil {
		t.Fatal(err)
	}
	view(t, openAt(t, s.dir, Options{}), func(tx *Tx) error {
		_, err := chatTable().Get(tx, Str("a"))
		return err
	})
}

func TestNothingOutlivesItsTransaction(t *testing.T) {
	t.Parallel()
	table := chatTable()
	s := newStore(t, Options{})
	put(t, s, table, chat{ID: "a"}, chat{ID: "b"}, chat{ID: "c"})
	for name, run := range map[string]func(context.Context, func(*Tx) error) error{"view": s.View, "update": s.Update} {
		var kept *Tx
		var late iter.Seq2[*chat, error]
		var next func() (*chat, error, bool)
		var stop func()
		err := run(t.Context(), func(tx *Tx) error {
			kept, late = tx, table.Scan(tx, Range{})
			next, stop = iter.Pull2(table.Scan(tx, Range{}))
			c, err, ok := next()
			if err != nil || !ok || c.ID != "a" {
				t.Errorf("%s: pulled %v, %v", name, c, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range late {
			if c != nil || !errors.Is(err, ErrTxDone) {
				t.Errorf("%s: a late loop gave %v, %v", name, c, err)
			}
		}
		if c, err, ok := next(); ok && (c != nil || !errors.Is(err, ErrTxDone)) {
			t.Errorf("%s: a late pull gave %v, %v", name, c, err)
		}
		stop()
		_, err = table.Get(kept, Str("a"))
		for what, err := range map[string]error{"Get": err, "Put": table.Put(kept, &chat{ID: "d"}), "Delete": table.Delete(kept, Str("a"))} {
			if !errors.Is(err, ErrTxDone) && !(name == "view" && errors.Is(err, ErrReadOnly)) {
				t.Errorf("%s: late %s: %v", name, what, err)
			}
		}
	}
	var kept *Batch
	if err := s.Batch(t.Context(), func(b *Batch) error { kept = b; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := table.Put(kept, &chat{ID: "d"}); !errors.Is(err, ErrTxDone) {
		t.Errorf("late write to a batch: %v", err)
	}
}

func TestViewCannotWrite(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	put(t, s, table, chat{ID: "a"}) // a session for writing is open
	for range 2 {
		view(t, s, func(tx *Tx) error {
			for _, err := range []error{table.Put(tx, &chat{ID: "b"}), table.Delete(tx, Str("a"))} {
				if !errors.Is(err, ErrReadOnly) {
					t.Errorf("got %v", err)
				}
			}
			return nil
		})
		letGo(t, s) // and then one for reading
	}
}

// Reading opens the database for reading alone, which makes no files, and a
// write in between opens it again.
func TestReadingLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	put(t, s, table, chat{ID: "a"})
	letGo(t, s)
	before := files(t, s.dir, "")
	for range 3 {
		view(t, s, func(tx *Tx) error { _, err := table.Get(tx, Str("a")); return err })
		if s.sess.access != reading && !windows {
			t.Error("opened for writing")
		}
	}
	letGo(t, s)
	if after := files(t, s.dir, ""); !slices.Equal(after, before) {
		t.Errorf("before %q, after %q", before, after)
	}
	var wg sync.WaitGroup
	for i := range 8 { // some of them find the session for reading in their way
		wg.Go(func() {
			id := fmt.Sprint("n", i)
			if err := s.Update(t.Context(), func(tx *Tx) error { return table.Put(tx, &chat{ID: id}) }); err != nil {
				t.Error(err)
			}
			err := s.View(t.Context(), func(tx *Tx) error { _, err := table.Get(tx, Str(id)); return err })
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestConcurrentUpdatesAreSerial(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	const goroutines, each = 8, 25
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range each {
				// A phantom read: the new number depends on all records.
				err := s.Update(t.Context(), func(tx *Tx) error {
					n, err := table.Count(tx, Range{})
					if err != nil {
						return err
					}
					return table.Put(tx, &chat{ID: fmt.Sprintf("%04d", n), Number: int64(n + 1)})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	view(t, s, func(tx *Tx) error {
		if n, err := table.Count(tx, Range{}); n != goroutines*each || err != nil {
			t.Errorf("%d records, want %d (%v)", n, goroutines*each, err)
		}
		return nil
	})
}

func TestUpdateWaitsItsTurnWithTheContext(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	err := s.Update(t.Context(), func(*Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		done := make(chan error)
		go func() { done <- s.Update(ctx, func(*Tx) error { return nil }) }()
		return <-done
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestCancelledContextStopsAScan(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	put(t, s, table, chat{ID: "a"}, chat{ID: "b"}, chat{ID: "c"})
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := s.View(ctx, func(tx *Tx) error {
		for _, err := range table.Scan(tx, Range{}) {
			if err != nil {
				return err
			}
			n++
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%d records, then %v", n, err)
	}
}

func TestPanicLeavesTheStoreUsable(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	table := chatTable()
	for _, run := range []func(context.Context, func(*Tx) error) error{s.Update, s.View} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = run(t.Context(), func(tx *Tx) error {
				_ = table.Put(tx, &chat{ID: "a"})
				for range table.Scan(tx, Range{}) {
					panic("in a loop")
				}
				panic("outside")
			})
		}()
	}
	put(t, s, table, chat{ID: "b"})
	view(t, s, func(tx *Tx) error {
		if has, err := table.Has(tx, Str("a")); has || err != nil {
			t.Errorf("the write of a panicking Update is there (%v)", err)
		}
		return nil
	})
}

func TestFolderInTrouble(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(base, "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		dir  string
		skip bool
	}{
		"a file in the way":      {file, false},
		"a file above":           {filepath.Join(file, "store"), false},
		"a folder without write": {filepath.Join(locked, "store"), os.Getuid() == 0 || windows},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.skip {
				t.Skip("permissions don't bind this user")
			}
			s := Open(c.dir, Options{})
			for range 2 {
				err := s.Update(t.Context(), func(*Tx) error { return nil })
				if got := mustBe[*DirError](t, err); got.Dir != c.dir || !strings.Contains(err.Error(), c.dir) {
					t.Errorf("got %v", err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
