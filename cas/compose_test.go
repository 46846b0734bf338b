package cas

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestARestoreTakesPathsOfSeveralStates covers files, folders and removals that come from
// other states than the rest.
func TestARestoreTakesPathsOfSeveralStates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "1")
	b.write("d/x", "1")
	b.write("d/y", "1")
	b.write("f/g/h", "1")
	one := b.snapshot(SnapshotOptions{}).Manifest
	b.write("a", "2")
	b.remove("d")
	b.write("d", "a file")
	b.remove("f")
	b.write("new", "2")
	two := b.snapshot(SnapshotOptions{Parent: one}).Manifest
	b.remove("d")
	b.write("a", "3")
	b.write("d/x", "3")
	b.write("new", "3")
	three := b.snapshot(SnapshotOptions{Parent: two}).Manifest

	from := map[string]*Manifest{"d": one, "d/y": one, "f/g/h": one, "new": one}
	got := b.restore(two, RestoreOptions{Active: three, Paths: []string{"a", "d", "d/y", "f/g/h", "new"}, Exact: true, From: from})
	want := map[string]string{"a": "file 2", "d/x": "file 3", "d/y": "file 1", "f/g/h": "file 1"}
	for path, was := range b.look() {
		if was[:4] == "file" && want[path] != was {
			t.Errorf("%s is %q, want %q", path, was, want[path])
		}
		delete(want, path)
	}
	if diff := cmp.Diff(map[string]string{}, want); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	b.restore(three, RestoreOptions{Active: got.After})
	if diff := cmp.Diff(b.entries(three.Root), b.entries(b.snapshot(SnapshotOptions{}).Manifest.Root)); diff != "" {
		t.Errorf("afterwards (-want +got):\n%s", diff)
	}
}
