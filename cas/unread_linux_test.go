package cas

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/internal/kv"
)

// TestTheFirstLandingOfAProcessReadsFewRecords covers an index that is not in memory: the
// landing reads the records of the folders that the call changed, and records what a
// snapshot finds.
func TestTheFirstLandingOfAProcessReadsFewRecords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call string
		most int // records that are read
	}{
		"one file":        {"echo new > d07/a", 2},
		"a new file":      {"echo new > new", 1},
		"a new folder":    {"mkdir -p d03/n/m; echo new > d03/n/m/x", 2},
		"a removed one":   {"rm -r d05", 3},
		"a replaced one":  {"rm -r d05; mkdir d05; echo n > d05/n", 3},
		"a changed mode":  {"chmod 700 d09; chmod 600 d09/a", 2},
		"a linked file":   {"ln d09/a d10/b", 3},
		"a renamed file":  {"mv d09/a d10/b", 3},
		"a whole new one": {"cp -r d01 copy", 3},
		"many folders":    {"for d in d*; do echo new > $d/a; done", 101},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := landingBench(t)
			for i := range 100 {
				b.write(fmt.Sprintf("d%02d/a", i), "a")
				b.write(fmt.Sprintf("d%02d/sub/b", i), "b")
			}
			b.settle()
			parent := b.snap()
			call := b.call(c.call).run()
			b.reopen()
			got := call.land(parent)
			if len(got.Conflicts) > 0 {
				t.Fatalf("conflicts %v", got.Conflicts)
			}
			u := b.index().dirs.base.rest
			if u == nil || u.all || read(u) > c.most {
				t.Errorf("it has read %d records", read(u))
			}
			after := b.snapshot(SnapshotOptions{Parent: got.After})
			if after.New {
				t.Errorf("the folder has another state than recorded: %v", b.diffText(got.After.Root, after.Manifest.Root))
			}
			b.reopen() // what is stored is of one moment
			if _, recs, err := b.s.readRecords(t.Context(), b.ws.key()); err != nil || len(recs) == 0 {
				t.Errorf("%d records: %v", len(recs), err)
			}
			b.mustBeSound()
		})
	}
}

// TestALandingOverRecordsOfTwoMoments puts together what a crash among many writes can leave of
// the stat cache. The landing finds it, reads the folder, and lands the same.
func TestALandingOverRecordsOfTwoMoments(t *testing.T) {
	t.Parallel()
	b := landingBench(t)
	for i := range 20 {
		b.write(fmt.Sprintf("a/b/f%02d", i), "one")
		b.write(fmt.Sprintf("c/f%02d", i), "one")
	}
	b.settle()
	b.snap()
	for half := range 8 {
		before := b.index()
		text := fmt.Sprint("two ", half)
		b.write("a/b/f00", text)
		b.write("c/f00", text)
		b.settle()
		parent := b.snap()
		want := b.look()
		want["a/b/f01"], want["c/new"] = "file "+text+"\n", "file "+text+"\n"
		call := b.call(fmt.Sprintf("echo '%s' > a/b/f01; echo '%s' > c/new", text, text)).run()
		changes := b.index().changes(before)
		if err := b.s.dropCache(t.Context(), b.ws.key()); err != nil {
			t.Fatal(err)
		}
		whole := before.changes(new(index))
		some := changes[:half%(len(changes)+1)]
		if err := b.kv.Update(t.Context(), func(tx *kv.Tx) error {
			return errors.Join(b.s.writeCache(tx, b.ws.key(), whole), b.s.writeCache(tx, b.ws.key(), some))
		}); err != nil {
			t.Fatal(err)
		}
		b.reopen()
		got := call.land(parent)
		if diff := cmp.Diff(want, b.look()); diff != "" || len(got.Conflicts) > 0 {
			t.Fatalf("after %d of %d writes: conflicts %v, landed (-want +got):\n%s", len(some), len(changes), got.Conflicts, diff)
		}
		after := b.entries(got.After.Root)
		for _, path := range []string{"a/b/f01", "c/new"} {
			if after[path] != want[path] {
				t.Fatalf("after %d of %d writes, recorded %s as %q, want %q", len(some), len(changes), path, after[path], want[path])
			}
		}
		if diff := cmp.Diff(want, b.entries(b.snap().Root)); diff != "" {
			t.Fatalf("after %d of %d writes, the next state (-folder +state):\n%s", len(some), len(changes), diff)
		}
		b.remove("c/new")
		b.settle()
		b.snap()
	}
	b.mustBeSound()
}

// read counts the records that were read.
func read(u *unread) (n int) {
	for _, r := range u.recs {
		if r != nil {
			n++
		}
	}
	return n
}
