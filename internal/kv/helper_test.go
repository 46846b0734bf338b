package kv

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds what a test waits for; it is never reached where the code
// works.
const patience = 60 * time.Second

func TestMain(m *testing.M) {
	if task := os.Getenv(childEnv); task != "" {
		if err := child(task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if underRace { // the default, which -rapid.checks still overrides
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	// Badger does not end these two if it can't open a database. The other goroutines of
	// one that is not closed are found.
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/dgraph-io/badger/v4.(*DB).monitorCache"),
		goleak.IgnoreTopFunction("github.com/dgraph-io/ristretto/v2/z.(*AllocatorPool).freeupAllocators"))
}

// several is n, or a part of it where sessions are slow or time is short.
func several(n, part int) int {
	if underRace || testing.Short() {
		return part
	}
	return n
}

// chat is a record with a unique, a plain and a many-valued index.
type chat struct {
	ID     string   `json:"id"`
	Number int64    `json:"number"`
	Title  string   `json:"title"`
	Tags   []string `json:"tags,omitempty"`
	Body   string   `json:"body,omitempty"`
}

func chatTable() *Table[chat] {
	return NewTable("chats", func(c *chat) Key { return Str(c.ID) },
		UniqueOn("number", func(c *chat) Key {
			if c.Number == 0 {
				return nil
			}
			return Int(c.Number)
		}),
		On("title", func(c *chat) Key { return Str(c.Title).Int(c.Number) }),
		Index[chat]{Name: "tag", Keys: func(c *chat) (keys []Key) {
			for _, tag := range c.Tags {
				keys = append(keys, Str(tag))
			}
			return keys
		}},
	)
}

// newStore opens a store of its own, closed at the end of the test.
func newStore(t testing.TB, opts Options) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "store"), opts)
}

func openAt(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	s := Open(dir, opts)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func update(t testing.TB, s *Store, fn func(*Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t testing.TB, s *Store, fn func(*Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, s *Store, table *Table[chat], records ...chat) {
	t.Helper()
	update(t, s, func(tx *Tx) error {
		for i := range records {
			if err := table.Put(tx, &records[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func letGo(t testing.TB, s *Store) {
	t.Helper()
	if err := s.LetGo(); err != nil {
		t.Fatal(err)
	}
}

// eventually waits for something that another goroutine or process does.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("it did not come about that %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func mustBe[E error](t testing.TB, err error) E {
	t.Helper()
	var typed E
	if !errors.As(err, &typed) {
		t.Fatalf("got %v (%T), want a %T", err, err, typed)
	}
	return typed
}

// files lists what is in a folder with this ending.
func files(t testing.TB, dir, ext string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
