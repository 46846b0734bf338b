package kv

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// contents are the files of a store by name, to see that nothing changed.
func contents(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = sha256.Sum256(data)
	}
	return out
}

func TestProbeChangesNothing(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "store")
	if h, err := Probe(t.Context(), none); err != nil || h != (Health{}) {
		t.Errorf("a store that isn't there: %+v, %v", h, err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("the store was made")
	}
	dir := wellKept(t)
	before := contents(t, dir)
	want := Health{Exists: true, Clean: true, Opened: !windows}
	if !windows {
		want.Schema = 1
	}
	if h, err := Probe(t.Context(), dir); err != nil || h != want {
		t.Errorf("a clean store: %+v, %v; want %+v", h, err, want)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("a clean store (-before +after):\n%s", diff)
	}
	if err := os.Remove(filepath.Join(dir, sealName)); err != nil { // as after a crash
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(dir, "00007.mem"), nil)
	before = contents(t, dir)
	if h, err := Probe(t.Context(), dir); err != nil || h != (Health{Exists: true}) {
		t.Errorf("a store after a crash: %+v, %v", h, err)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("a store after a crash (-before +after):\n%s", diff)
	}
	left, _ := os.ReadDir(filepath.Dir(dir))
	if len(left) != 1 {
		t.Errorf("beside the store: %v", left)
	}
}

func TestProbeFindsDamageAndLeavesIt(t *testing.T) {
	t.Parallel()
	dir := wellKept(t)
	table := one(t, dir, ".sst")
	flip(t, table, fileSize(t, table)-20)
	before := contents(t, dir)
	var corrupt *CorruptError
	if _, err := Probe(t.Context(), dir); !errors.As(err, &corrupt) || corrupt.File != table {
		t.Errorf("a damaged table: %v", err)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("a damaged store (-before +after):\n%s", diff)
	}
}

func TestProbeDoesNotWait(t *testing.T) {
	t.Parallel()
	dir := wellKept(t)
	s := openAt(t, dir, Options{Hold: true})
	if err := s.View(t.Context(), func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if h, err := Probe(t.Context(), dir); err != nil || h != (Health{Exists: true, Busy: true, PID: os.Getpid()}) {
		t.Errorf("a store that is held: %+v, %v", h, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	newer := openAt(t, dir, Options{Schema: 2})
	if err := newer.Update(t.Context(), func(tx *Tx) error { return chatTable().Delete(tx, Str("0001")) }); err != nil {
		t.Fatal(err)
	}
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	var version *VersionError
	if _, err := Probe(t.Context(), dir); !windows && !errors.As(err, &version) {
		t.Errorf("a newer program's store: %v", err)
	}
}
