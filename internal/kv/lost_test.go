package kv

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var errLost = errors.New("the disk said no")

// losing makes the next close of a Store fail, which leaves its writes in the logs.
func losing(s *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closing = nil
		return errLost
	}
}

// The error of what a close could not write to the disk is returned once, by whichever
// of Sync, LetGo and Close comes first; later syncs write it to the disk and return no
// error.
func TestErrorOfACloseIsReturnedOnce(t *testing.T) {
	t.Parallel()
	table := chatTable()
	for name, first := range map[string]func(t *testing.T, s *Store) error{
		"by LetGo": func(_ *testing.T, s *Store) error { return s.LetGo() },
		"by Sync":  func(t *testing.T, s *Store) error { idle(t, s); return s.Sync(t.Context()) },
		"by Sync of a later one": func(t *testing.T, s *Store) error {
			idle(t, s)
			put(t, s, table, chat{ID: "z"})
			return s.Sync(t.Context())
		},
		"by LetGo of a later one": func(t *testing.T, s *Store) error { idle(t, s); put(t, s, table, chat{ID: "z"}); return s.LetGo() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, Options{})
			put(t, s, table, chat{ID: "a"})
			losing(s)
			if err := first(t, s); !errors.Is(err, errLost) {
				t.Fatalf("the first to ask got %v", err)
			}
			for range 3 {
				if err := s.Sync(t.Context()); err != nil {
					t.Errorf("a later sync: %v", err)
				}
				put(t, s, table, chat{ID: "b"})
				if err := s.Sync(t.Context()); err != nil {
					t.Errorf("a sync of a later write: %v", err)
				}
				letGo(t, s)
			}
			view(t, s, func(tx *Tx) error {
				if ok, err := table.Has(tx, Str("a")); !ok || err != nil {
					t.Errorf("the write before that close: %v, %v", ok, err)
				}
				return nil
			})
		})
	}
	s := Open(filepath.Join(t.TempDir(), "store"), Options{})
	put(t, s, table, chat{ID: "a"})
	losing(s)
	if err := s.Close(); !errors.Is(err, errLost) {
		t.Errorf("Close gave %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close again gave %v", err)
	}
}

// idle waits until a session was closed by itself.
func idle(t *testing.T, s *Store) {
	t.Helper()
	eventually(t, "the idle session is closed", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.sess == nil && !s.moving
	})
}

// A sync that can't be repeated after the error was returned fails again.
func TestErrorOfACloseStaysWhileNothingCanBeSynced(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Wait: 50 * time.Millisecond})
	put(t, s, chatTable(), chat{ID: "a"})
	losing(s)
	if err := s.LetGo(); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	release, free, err := s.try(s.lockPath())
	if !free || err != nil {
		t.Fatal(free, err)
	}
	mustBe[*BusyError](t, s.Sync(t.Context()))
	release()
	if err := s.Sync(t.Context()); err != nil {
		t.Error(err)
	}
}

// A failure to merge or remove loses nothing: it is not an error of a write.
func TestTidyingLosesNothing(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	s := openAt(t, filepath.Join(base, "store"), Options{})
	put(t, s, chatTable(), chat{ID: "a"})
	block := filepath.Join(base, "block")
	if err := os.MkdirAll(filepath.Join(block, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.sess.dead = append(s.sess.dead, block)
	s.mu.Unlock()
	if err := errors.Join(s.LetGo(), s.Sync(t.Context())); err != nil {
		t.Error(err)
	}
	if !exists(s.file(sealName)) {
		t.Error("the store counts as one that has crashed")
	}
}

// An operation that encounters a close of its own process waits for it, for longer than
// it would for another process, and does not fail because this process holds the store.
func TestWaitingForACloseOfTheOwnProcess(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Wait: 10 * time.Millisecond})
	put(t, s, chatTable(), chat{ID: "a"})
	longAgo := time.Now().Add(-time.Hour)
	asked := false
	s.closing = func() error {
		asked = true
		if more, err := s.mayWait(longAgo); more <= 0 || err != nil {
			t.Errorf("an operation may wait %v while the database is closed, %v", more, err)
		}
		return nil
	}
	letGo(t, s)
	if _, err := s.mayWait(time.Now()); !asked || err != nil {
		t.Errorf("right after the close: %v (closed %v)", err, asked)
	}
	s.nearer = longAgo
	mustBe[*BusyError](t, func() error { _, err := s.mayWait(longAgo); return err }())
}

// A close that does not end in time is a separate error to every waiter until it has
// ended, and loses nothing then.
func TestCloseThatIsLate(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Wait: 10 * time.Millisecond})
	put(t, s, chatTable(), chat{ID: "a"})
	let := make(chan struct{})
	s.closing = func() error {
		close(s.sess.full) // as of a full disk
		<-let
		return nil
	}
	mustBe[*FullError](t, s.LetGo())
	mustBe[*FullError](t, s.View(t.Context(), func(*Tx) error { return nil }))
	mustBe[*FullError](t, s.Sync(t.Context()))
	s.mu.Lock()
	s.closing = nil
	s.mu.Unlock()
	close(let)
	idle(t, s)
	if err := s.Sync(t.Context()); err != nil {
		t.Error(err)
	}
	view(t, s, func(tx *Tx) error {
		if ok, err := chatTable().Has(tx, Str("a")); !ok || err != nil {
			t.Errorf("the write: %v, %v", ok, err)
		}
		return nil
	})
}

// A watcher of a closed session does not end the next one.
func TestWatcherEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Hold: true})
	put(t, s, chatTable(), chat{ID: "a"})
	gone := &session{store: s, gone: make(chan struct{})} // no call closes it: the ticks decide
	release, free, err := s.try(s.placePath(0))           // another process waits
	if !free || err != nil {
		t.Fatal(free, err)
	}
	defer release()
	s.watchers.Add(1)
	s.watch(gone)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		t.Error("the open session is to close")
	}
}
