package cas

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one")
	b.write("empty", "")
	b.write("dir/b.txt", "two")
	b.write("dir/sub/big.bin", strings.Repeat("large ", smallBlob/4))
	b.mkdir("hollow/inner")
	if hasModes {
		b.write("run.sh", "#!/bin/sh")
		if err := os.Chmod(b.path("run.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
		b.link("a.txt", "link")
		b.link("/nowhere/at/all", "dangling")
	}
	m := b.snap()
	if diff := cmp.Diff(b.look(), b.entries(m.Root)); diff != "" {
		t.Errorf("folder against state (-folder +state):\n%s", diff)
	}
	if !m.Complete || m.Failed != 0 || m.ChatID != "c" || m.Source != ToolRun || m.ID == "" {
		t.Errorf("manifest %+v", m)
	}
	b.reopen()
	again, err := b.s.Manifest(t.Context(), m.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, again); diff != "" {
		t.Errorf("the stored manifest differs:\n%s", diff)
	}
}

func TestUnchangedFolderGivesTheSameState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"a", "b/c", "b/d/e"} {
		b.write(name, "content of "+name)
	}
	b.settle()
	first := b.snapshot(SnapshotOptions{})
	if first.Read != 3 || !first.New {
		t.Errorf("the first snapshot read %d files, new %v", first.Read, first.New)
	}
	same := b.snapshot(SnapshotOptions{Parent: first.Manifest})
	if same.New || same.Manifest != first.Manifest || same.Read != 0 || same.Added != 0 {
		t.Errorf("an unchanged folder: %+v", same)
	}
	b.reopen()
	same = b.snapshot(SnapshotOptions{Parent: first.Manifest})
	if same.New || same.Read != 0 {
		t.Errorf("an unchanged folder in another process: %+v", same)
	}
	if err := b.s.Forget(t.Context(), b.ws); err != nil {
		t.Fatal(err)
	}
	same = b.snapshot(SnapshotOptions{Parent: first.Manifest})
	if same.New || same.Read != 3 || same.Added != 0 {
		t.Errorf("without the cache: %+v", same)
	}
}

func TestRestoreGivesBackExactlyTheState(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("keep", "as it is")
	b.write("edit", "before")
	b.write("gone/deep/er", "was here")
	b.write("kind", "a file")
	b.mkdir("kinds/folder")
	b.mkdir("hollow")
	b.write("big", strings.Repeat("0123456789", smallBlob/5))
	was := b.look()
	m := b.snap()

	b.write("edit", "after!")
	b.remove("gone")
	b.remove("kind")
	b.write("kind/now/a/folder", "x")
	b.remove("kinds/folder")
	b.write("kinds/folder", "now a file")
	b.remove("hollow")
	b.write("extra/one", "1")
	b.write("big", "small now")
	now := b.look()

	got := b.restore(m, RestoreOptions{})
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if got.After.Root != m.Root || got.After.Source != Restored || got.Before.Source != External {
		t.Errorf("restoration %+v, after %+v", got, got.After)
	}
	if b.snapshot(SnapshotOptions{Parent: got.After}).New {
		t.Error("the snapshot after a restore differs from it")
	}
	b.restore(got.Before, RestoreOptions{})
	if diff := cmp.Diff(now, b.look()); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
	b.reopen()
	if b.snapshot(SnapshotOptions{Parent: got.Before}).New {
		t.Error("another process finds another state")
	}
}
