package kv

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// digests returns the digest of every file in a folder.
func digests(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range files(t, dir, "") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = fmt.Sprintf("%d bytes, %x", len(text), sha256.Sum256(text))
	}
	return out
}

// work does what the commands of a day do with a store: short sessions, whose
// records are partly in value logs, and whose tables and logs are merged.
func work(t testing.TB, s *Store, from, sessions int) {
	t.Helper()
	table := chatTable()
	for i := range sessions {
		n := from + i
		put(t, s, table,
			chat{ID: fmt.Sprint("short", n), Title: "short"},
			chat{ID: fmt.Sprint("long", n%7), Title: "long", Body: strings.Repeat("b", 2*valueThreshold+n)})
		letGo(t, s)
	}
}

func TestAFrozenCopyStaysAsItWas(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	work(t, s, 0, 12)
	to := filepath.Join(t.TempDir(), "frozen")
	if err := s.Freeze(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	want := digests(t, to)
	merged := files(t, s.Dir(), ".sst")

	work(t, s, 100, 3*mergeLogs) // merges tables and logs
	for range 2 {
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	left := 0
	for _, path := range merged {
		if exists(path) {
			left++
		}
	}
	if left == len(merged) {
		t.Fatal("no table was merged, so this shows nothing")
	}
	if diff := cmp.Diff(want, digests(t, to)); diff != "" {
		t.Error(diff)
	}
	c := openAt(t, to, Options{})
	view(t, c, func(tx *Tx) error {
		for i := range 12 {
			if _, err := chatTable().Get(tx, Str(fmt.Sprint("short", i))); err != nil {
				t.Errorf("short%d: %v", i, err)
			}
		}
		if c, err := chatTable().Get(tx, Str("long4")); err != nil || len(c.Body) != 2*valueThreshold+11 {
			t.Errorf("long4: %v", err)
		}
		return nil
	})
	if err := c.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// A file that was copied ahead is not copied again, and not kept if it was merged
// since.
func TestFreezeCompletesACopyAhead(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	work(t, s, 0, 3)
	to := filepath.Join(t.TempDir(), "frozen")
	if err := s.CopyAhead(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	ahead := files(t, to, ".sst")
	if len(ahead) == 0 {
		t.Fatal("no table was copied ahead")
	}
	before := map[string]os.FileInfo{}
	for _, path := range ahead {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		before[path] = info
	}
	work(t, s, 3, 1)
	if err := s.Freeze(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	for path, was := range before {
		if info, err := os.Stat(path); err != nil || !os.SameFile(was, info) {
			t.Errorf("%s was copied again: %v", filepath.Base(path), err)
		}
	}

	later := filepath.Join(t.TempDir(), "frozen")
	if err := s.CopyAhead(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Freeze(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	if got, want := len(files(t, later, ".sst")), len(files(t, s.Dir(), ".sst")); got != want {
		t.Errorf("%d tables, want %d", got, want)
	}
}

// A table that has the name of an older one, and its size, is distinguished from it.
func TestFreezeCopiesATableThatWasReplaced(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	work(t, s, 0, 2)
	to := filepath.Join(t.TempDir(), "frozen")
	if err := s.CopyAhead(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	stale := files(t, to, ".sst")[0]
	if err := os.WriteFile(stale, make([]byte, len(mustRead(t, stale))), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(stale, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.Freeze(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if got, want := mustRead(t, stale), mustRead(t, s.file(filepath.Base(stale))); string(got) != string(want) {
		t.Error("the old copy was kept")
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A copy that Badger could not open is an error, and no copy.
func TestFreezeOpensTheCopy(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	work(t, s, 0, 2)
	to := filepath.Join(t.TempDir(), "frozen")
	if err := s.CopyAhead(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	path := files(t, to, ".sst")[0]
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, info.Size()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	mustBe[*CorruptError](t, s.Freeze(t.Context(), to))
}

// Writers are killed while the store is frozen again and again: each copy has what
// was synced before, and stays as it was.
func TestFreezeBesideWritersThatAreKilled(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	work(t, s, 0, 2)
	for i := range several(12, 4) {
		p := start(t, "stream", s.Dir(), fmt.Sprint("w", i))
		for range 3 + i%3 {
			if _, err := p.out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if i%2 == 0 {
			p.kill(t)
		}
		to := filepath.Join(t.TempDir(), "frozen")
		if err := s.Freeze(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			p.kill(t)
		}
		want := digests(t, to)
		work(t, s, 10*i, 10)
		if diff := cmp.Diff(want, digests(t, to)); diff != "" {
			t.Fatal(diff)
		}
		c := Open(to, Options{})
		view(t, c, func(tx *Tx) error {
			_, err := chatTable().Get(tx, Str(fmt.Sprintf("w%d-%05d", i, 2)))
			return err
		})
		if err := c.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
