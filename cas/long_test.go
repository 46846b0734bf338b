package cas

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/internal/kv"
)

// long tells that tests which are long by nature are to be done at their full
// size, which takes minutes: FETTLE_TEST_LONG=1.
func long() bool { return os.Getenv("FETTLE_TEST_LONG") != "" }

// sized chooses how much a test does: at its full size, in a plain run, and under
// the race detector.
func sized(full, plain, race int) int {
	switch {
	case long():
		return full
	case raceEnabled:
		return race
	}
	return plain
}

// fill writes n small files, a hundred a folder.
func (b *bench) fill(n int) {
	b.t.Helper()
	for i := range n {
		path := b.path(manyPath(i))
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				b.t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "content of file %d", i), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

func manyPath(i int) string {
	return fmt.Sprintf("pkg%02d/module_%04d/source_file_%06d.go", i/10_000, i/100, i)
}

// TestVeryManyFiles takes and brings back 200,000 files at its full size.
func TestVeryManyFiles(t *testing.T) {
	b := memoryBench(t)
	n := sized(200_000, 5000, 1000)
	b.fill(n)
	first := b.snap()
	if first.Files != n || !first.Complete {
		t.Fatalf("the state has %+v", first)
	}
	b.settle()
	b.snap() // now all is at rest
	for i := 0; i < n; i += n / 100 {
		b.write(manyPath(i), "edited")
	}
	b.remove("pkg00/module_0001")
	b.write("extra/one", "1")
	got := b.restore(first, RestoreOptions{})
	const removed, added = 101, 2 // a folder with its files; a file and its folder
	if len(got.Changes) < removed+added+90 || len(got.Changes) > removed+added+100 {
		t.Errorf("%d paths were changed", len(got.Changes)) // some edits were in that folder
	}
	b.reopen()
	if err := b.s.Forget(t.Context(), b.ws); err != nil {
		t.Fatal(err)
	}
	if again := b.snap(); again.Root != first.Root {
		t.Errorf("read anew, the folder isn't the first state: %v", b.diffText(first.Root, again.Root)[:5])
	}
	b.mustBeSound()
}

// TestMemoryOfManyFiles holds what a process takes for 100,000 files at its full
// size; a smaller folder may take no more.
func TestMemoryOfManyFiles(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("this system doesn't tell anonymous memory")
	}
	if raceEnabled {
		t.Skip("the race detector takes memory of its own")
	}
	b := memoryBench(t)
	b.fill(sized(100_000, 5000, 0))
	b.close()
	out, err := b.command("memory").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	peak, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("peak of anonymous memory: %d MB", peak>>20)
	if peak < 1<<20 || peak > 200_000_000 {
		t.Errorf("a snapshot and a restore took %d bytes", peak)
	}
	b.open()
}

// rssAnon is this process's anonymous memory.
func rssAnon() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("RssAnon:"))
	line, _, _ := strings.Cut(string(rest), "kB")
	kb, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}

// TestNamesThatComeAndGo changes names in folders that were at rest, where their
// own stat alone tells a scan that they must be listed again.
func TestNamesThatComeAndGo(t *testing.T) {
	t.Parallel()
	stamp := time.Now().Add(-time.Hour)
	for name, edit := range map[string]func(b *bench) error{
		"a new file":     func(b *bench) error { return os.WriteFile(b.path("d/new"), []byte("n"), 0o644) },
		"a file is gone": func(b *bench) error { return os.Remove(b.path("d/a")) },
		"a file is renamed": func(b *bench) error {
			return os.Rename(b.path("d/a"), b.path("d/z"))
		},
		"two files change places": func(b *bench) error {
			return errors.Join(os.Rename(b.path("d/a"), b.path("d/t")), os.Rename(b.path("d/b"), b.path("d/a")), os.Rename(b.path("d/t"), b.path("d/b")))
		},
		"another folder of the same names": func(b *bench) error {
			return errors.Join(os.Rename(b.path("d"), b.path("was")), os.Rename(b.path("twin"), b.path("d")), os.Rename(b.path("was"), b.path("twin")))
		},
		"a file becomes a folder": func(b *bench) error {
			return errors.Join(os.Remove(b.path("d/a")), os.Mkdir(b.path("d/a"), 0o755))
		},
		"a new file, and the folder's time put back": func(b *bench) error {
			return errors.Join(os.WriteFile(b.path("d/new"), []byte("n"), 0o644), os.Chtimes(b.path("d"), stamp, stamp))
		},
		"a folder below": func(b *bench) error { return os.MkdirAll(b.path("d/sub/deep/er"), 0o755) },
		"an edit in place": func(b *bench) error {
			return os.WriteFile(b.path("d/a"), []byte("edited"), 0o644)
		},
	} {
		for _, rests := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, at rest: %v", name, rests), func(t *testing.T) {
				t.Parallel()
				b := newBench(t)
				b.write("d/a", "one")
				b.write("d/b", "two")
				b.write("d/sub/c", "three")
				b.write("twin/a", "four")
				b.write("twin/b", "five")
				if err := os.Chtimes(b.path("d"), stamp, stamp); err != nil {
					t.Fatal(err)
				}
				b.settle()
				b.snap()
				b.reopen() // also as it was stored
				last := b.snap()
				if err := edit(b); err != nil {
					t.Fatal(err)
				}
				if rests {
					b.settle()
				}
				look := b.look()
				next := b.snapshot(SnapshotOptions{Parent: last})
				if diff := cmp.Diff(look, b.entries(next.Manifest.Root)); diff != "" || !next.New {
					t.Errorf("the state isn't the folder (-folder +state):\n%s", diff)
				}
				b.settle()
				b.snap()
				b.restore(last, RestoreOptions{})
				b.restore(next.Manifest, RestoreOptions{})
				if diff := cmp.Diff(look, b.look()); diff != "" {
					t.Errorf("there and back (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestACacheOfTwoMoments puts together what a crash among many writes can leave
// of the stat cache: some records of one state, the others of the next.
func TestACacheOfTwoMoments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 40 {
		b.write(fmt.Sprintf("a/b/f%02d", i), "one")
		b.write(fmt.Sprintf("c/f%02d", i), "one")
	}
	b.settle()
	b.snap()
	b.snap()
	before := b.index()
	for half := range 16 {
		b.write("a/b/f00", fmt.Sprint("two ", half))
		for i := range half {
			b.write(fmt.Sprintf("c/f%02d", i), fmt.Sprint("two ", half)) // soon more than a patch holds
		}
		b.settle()
		want := b.look()
		b.snap()
		changes := b.index().changes(before)
		if len(changes) < 3 {
			t.Fatalf("%d changes", len(changes))
		}
		// The store as it was, and then some of the writes.
		if err := b.s.dropCache(t.Context(), b.ws.key()); err != nil {
			t.Fatal(err)
		}
		whole := before.changes(new(index))
		some := changes[:1+half%(len(changes)-1)]
		if err := b.kv.Update(t.Context(), func(tx *kv.Tx) error {
			return errors.Join(b.s.writeCache(tx, b.ws.key(), whole), b.s.writeCache(tx, b.ws.key(), some))
		}); err != nil {
			t.Fatal(err)
		}
		b.reopen()
		if diff := cmp.Diff(want, b.entries(b.snap().Root)); diff != "" {
			t.Fatalf("after %d of %d writes the state isn't the folder (-folder +state):\n%s", len(some), len(changes), diff)
		}
		b.snap()
		before = b.index()
	}
}
