package cas

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leftPaths are the paths that a restore left alone, in their order.
func leftPaths(r *Restoration) []string {
	var out []string
	for _, l := range r.Left {
		out = append(out, l.Path)
	}
	slices.Sort(out)
	return out
}

// What somebody has put into a folder that goes stays, with the folders that it is
// in, where paths are meant exactly; a plan says so before.
func TestExactPathsLeaveWhatIsBelow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("ground", "1")
	before := b.snap()
	b.write("n/made", "by a tool")
	b.write("n/sub/made", "by a tool")
	b.write("gone/made", "by a tool")
	b.snap()
	b.write("n/sub/mine", "by hand")
	b.mkdir("n/room")
	active := b.snap()
	o := RestoreOptions{Active: active, Exact: true, Paths: []string{"n", "n/made", "n/sub", "n/sub/made", "gone", "gone/made"}}
	planned := o
	planned.Plan = true
	want := []string{"n", "n/sub", "n/sub/mine"}
	for name, r := range map[string]*Restoration{"plan": b.restore(before, planned), "restore": b.restore(before, o)} {
		if diff := cmp.Diff(want, leftPaths(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(r.Changes) != 4 || len(r.Blocked) != 0 {
			t.Errorf("%s: it changes %v, blocked is %v", name, r.Changes, r.Blocked)
		}
	}
	got := slices.Sorted(maps.Keys(b.look()))
	if diff := cmp.Diff([]string{"ground", "n", "n/room", "n/sub", "n/sub/mine"}, got); diff != "" {
		t.Errorf("the folder (-want +got):\n%s", diff)
	}
	if got := b.snapshot(SnapshotOptions{Parent: active}); got.Manifest.Root == before.Root {
		t.Error("it was recorded as the whole state")
	}
}

// A folder in which somebody has put something doesn't give way to a file, unless
// that was asked for.
func TestExactPathsKeepAFolderFromBecomingAFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("n", "a file")
	before := b.snap()
	b.remove("n")
	b.write("n/made", "by a tool")
	b.snap()
	b.write("n/mine", "by hand")
	o := RestoreOptions{Active: b.snap(), Exact: true, Paths: []string{"n", "n/made"}}
	was := b.look()
	_, err := b.tryRestore(before, o)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0].Path != "n" {
		t.Fatalf("a folder with somebody's file gave way: %v", err)
	}
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Fatalf("it was refused, and changed (-want +got):\n%s", diff)
	}
	o.Overwrite = true
	b.restore(before, o)
	if got := slices.Sorted(maps.Keys(b.look())); !slices.Equal(got, []string{"n"}) {
		t.Errorf("overwritten, there is %v", got)
	}
}
