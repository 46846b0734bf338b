//go:build unix

package cas

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// hardLink gives a file of the workspace another name.
func (b *bench) hardLink(from, name string) {
	b.t.Helper()
	dir := filepath.Dir(b.path(name))
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Link(b.path(from), b.path(name))); err != nil {
		b.t.Fatal(err)
	}
}

// oneFile checks whether some names are one file, and have a content.
func (b *bench) oneFile(want bool, content string, names ...string) {
	b.t.Helper()
	var first os.FileInfo
	for _, name := range names {
		info, err := os.Stat(b.path(name))
		if err != nil {
			b.t.Fatal(err)
		}
		if got, err := os.ReadFile(b.path(name)); err != nil || string(got) != content {
			b.t.Errorf("%s is %q, want %q: %v", name, got, content, err)
		}
		if first == nil {
			first = info
		} else if os.SameFile(first, info) != want {
			b.t.Errorf("%s and %s are one file: %t, want %t", names[0], name, !want, want)
		}
	}
}

// replace makes a new file under a name, as programs do that save by renaming.
func (b *bench) replace(name, content string) {
	b.t.Helper()
	b.remove(name)
	b.write(name, content)
}

// TestARestoreRestoresNamesOfOneFile covers what becomes of the names of a file, with the
// cache of stats and without it.
func TestARestoreRestoresNamesOfOneFile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){
		"written":               func(b *bench) { b.write("a", "2") },
		"one is replaced":       func(b *bench) { b.replace("d/b", "2") },
		"the first is replaced": func(b *bench) { b.replace("a", "2") },
		"all are replaced":      func(b *bench) { b.replace("a", "2"); b.replace("d/b", "3"); b.replace("e/c", "4") },
		"one is removed":        func(b *bench) { b.remove("e") },
		"all are removed":       func(b *bench) { b.remove("a"); b.remove("d"); b.remove("e") },
		"one is a folder":       func(b *bench) { b.remove("a"); b.write("a/x", "2") },
		"a mode":                func(b *bench) { _ = os.Chmod(b.path("a"), 0o600) },
		"replaced and written":  func(b *bench) { b.replace("a", "2"); b.write("d/b", "3") },
	} {
		for _, forget := range []bool{false, true} {
			b := newBench(t)
			b.ws.Bound = true
			b.write("a", "1")
			b.hardLink("a", "d/b")
			b.hardLink("a", "e/c")
			b.write("alone", "1")
			before := b.snapshot(SnapshotOptions{}).Manifest
			change(b)
			after := b.snapshot(SnapshotOptions{Parent: before}).Manifest
			was := b.look()
			if forget {
				if err := b.s.Forget(t.Context(), b.ws); err != nil {
					t.Fatal(err)
				}
			}
			got := b.restore(before, RestoreOptions{Active: after})
			b.oneFile(true, "1", "a", "d/b", "e/c")
			b.oneFile(false, "1", "a", "alone")
			// What is recorded is what there is.
			again := b.snapshot(SnapshotOptions{Parent: got.After})
			if again.New || got.After.Root != before.Root {
				t.Errorf("%s, forgotten %t: the folder has another state than recorded: %t, %t", name, forget, again.New, got.After.Root != before.Root)
			}
			b.restore(after, RestoreOptions{Active: got.After})
			if now := b.look(); len(now) != len(was) {
				t.Errorf("%s, forgotten %t: restored again: %v, want %v", name, forget, now, was)
			}
		}
	}
}

// TestOtherNamesAreNoChange covers links that come and go without another content, states
// without them, and names outside of the workspace.
func TestOtherNamesAreNoChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "1")
	b.write("d/x", "x")
	plain := b.snapshot(SnapshotOptions{}).Manifest
	if err := os.Link(b.path("a"), filepath.Join(t.TempDir(), "outside")); err != nil {
		t.Fatal(err)
	}
	if got := b.snapshot(SnapshotOptions{Parent: plain}); got.New {
		t.Errorf("a name outside is a change: %v", b.diffText(plain.Root, got.Manifest.Root))
	}
	b.hardLink("d/x", "y")
	linked := b.snapshot(SnapshotOptions{Parent: plain}).Manifest
	if got := b.diffText(plain.Root, linked.Root); len(got) != 1 || got[0] != "A y" {
		t.Errorf("another name changed %v", got)
	}
	b.replace("y", "x")
	parted := b.snapshot(SnapshotOptions{Parent: linked}).Manifest
	if got := b.diffText(linked.Root, parted.Root); len(got) != 0 {
		t.Errorf("names that part changed %v", got)
	}
	b.remove("y")
	if got := b.snapshot(SnapshotOptions{Parent: parted}).Manifest; got.Root != plain.Root {
		t.Error("without other names a state has another digest")
	}
}

// TestARestoreOfOneNameLeavesTheOthers covers paths and kept ones: the name becomes one of
// the file again where the others have its content.
func TestARestoreOfOneNameLeavesTheOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "1")
	b.hardLink("a", "b")
	b.hardLink("a", "c")
	before := b.snapshot(SnapshotOptions{}).Manifest
	b.replace("b", "2")
	after := b.snapshot(SnapshotOptions{Parent: before}).Manifest
	got := b.restore(before, RestoreOptions{Active: after, Paths: []string{"b"}, Exact: true})
	b.oneFile(true, "1", "a", "b", "c")
	if again := b.snapshot(SnapshotOptions{Parent: got.After}); again.New {
		t.Error("the folder has another state than recorded")
	}
	b.write("a", "3") // all three
	third := b.snapshot(SnapshotOptions{Parent: got.After}).Manifest
	got = b.restore(before, RestoreOptions{Active: third, Keep: []string{"c"}})
	b.oneFile(true, "1", "a", "b")
	b.oneFile(true, "3", "c")
	if again := b.snapshot(SnapshotOptions{Parent: got.After}); again.New {
		t.Error("the folder has another state than recorded, with one kept")
	}
}
