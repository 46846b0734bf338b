//go:build unix

package cas

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/internal/kv"
)

func (b *bench) chmod(name string, mode os.FileMode) {
	b.t.Helper()
	if err := os.Chmod(b.path(name), mode); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) mode(name string) os.FileMode {
	b.t.Helper()
	info, err := os.Lstat(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return info.Mode()
}

// TestPermissionBitsComeBack changes the bits of files and folders, alone and with the
// content, and restores all twelve of them.
func TestPermissionBitsComeBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, mode := range map[string]os.FileMode{
		"key": 0o600, "run": 0o700, "shared": 0o664, "tool": os.ModeSetuid | 0o755, "read-only": 0o444, "gone": 0o640,
		"edited": 0o604,
	} {
		b.write(name, "content of "+name)
		b.chmod(name, mode)
	}
	for name, mode := range map[string]os.FileMode{
		"private": 0o700, "group": os.ModeSetgid | 0o775, "drop": os.ModeSticky | 0o777, "sealed": 0o555, "lost/deep": 0o500,
	} {
		b.write(name+"/inside", "x")
		b.chmod(name, mode)
	}
	was := b.look()
	m := b.snap()

	for name := range was {
		if strings.Contains(name, "inside") {
			continue
		}
		if info, err := os.Lstat(b.path(name)); err == nil && info.IsDir() {
			b.chmod(name, 0o755)
			continue
		}
		b.chmod(name, 0o644)
	}
	b.remove("gone")
	b.remove("lost")
	b.write("edited", "another content")
	b.chmod("edited", 0o666)
	now := b.look()
	got := b.restore(m, RestoreOptions{})
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if got.After.Root != m.Root || b.snapshot(SnapshotOptions{Parent: got.After}).New {
		t.Error("the restored folder is not the state")
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

// TestChangedBitsAreAChange covers a file and a folder of which nothing else changed.
func TestChangedBitsAreAChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("file", "one")
	b.write("folder/inside", "two")
	before := b.snap()
	b.chmod("file", 0o600)
	b.chmod("folder", 0o700)
	after := b.snapshot(SnapshotOptions{Parent: before})
	if !after.New || after.Added != 0 {
		t.Fatalf("the snapshot is %+v", after)
	}
	var got []string
	for c, err := range b.s.Diff(t.Context(), before.Root, after.Manifest.Root) {
		if err != nil {
			t.Fatal(err)
		}
		if !c.PermsOnly() {
			t.Errorf("%s is more than a change of its bits", c.Path)
		}
		got = append(got, c.Path+" "+c.PermsText())
	}
	want := []string{"file mode 0644 → 0600", "folder mode 0755 → 0700"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var entries bytes.Buffer
	if err := b.s.WriteEntries(t.Context(), &entries, after.Manifest.Root); err != nil {
		t.Fatal(err)
	}
	if want := `{"file":{"kind":"file","mode":"0600"},"folder":{"kind":"folder","mode":"0700"}}`; entries.String() != want {
		t.Errorf("entries %s, want %s", entries.String(), want)
	}
}

// TestRestoreKeepsTheFileThatOnlyGetsOtherBits checks that another name of the file, or a
// program that has it open, still has the same file.
func TestRestoreKeepsTheFileThatOnlyGetsOtherBits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("file", "one")
	m := b.snap()
	b.chmod("file", 0o600)
	before, err := os.Stat(b.path("file"))
	if err != nil {
		t.Fatal(err)
	}
	b.restore(m, RestoreOptions{})
	after, err := os.Stat(b.path("file"))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || after.Mode() != 0o644 {
		t.Errorf("the file is another one, or its mode is %v", after.Mode())
	}
}

// TestPrivateFilesAreNeverOpenToOthers looks at everything in the folder between the
// steps of a restore: what is private in the state is so wherever its content is.
func TestPrivateFilesAreNeverOpenToOthers(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	b := newBench(t)
	secret := "a secret " + strings.Repeat("s", smallBlob)
	for _, name := range []string{"key", "dir/key", "big", "sealed/key"} {
		b.write(name, secret[:20])
		if name == "big" {
			b.write(name, secret)
		}
		b.chmod(name, 0o600)
	}
	b.chmod("dir", 0o700)
	b.chmod("sealed", 0o500)
	b.chmod("big", 0o400)
	m := b.snap()
	b.write("key", "public")
	b.chmod("key", 0o666)
	for _, name := range []string{"dir", "big", "sealed"} {
		b.remove(name)
	}
	look := func(string) {
		_ = filepath.WalkDir(b.ws.Path, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return nil // it was moved meanwhile
			}
			info, err := e.Info()
			if err != nil {
				return nil
			}
			if e.IsDir() && info.Mode()&0o077 == 0 && path != b.ws.Path {
				return filepath.SkipDir // other users can not open it
			}
			if content, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(content), "a secret") && info.Mode()&0o077 != 0 {
				t.Errorf("%s can be read by others: %v", path, info.Mode())
			}
			return nil
		})
	}
	b.s.pause = look
	b.s.fault = func(call, name string) error { look(call); return nil }
	b.restore(m, RestoreOptions{})
	if got := b.mode("sealed"); got != os.ModeDir|0o500 {
		t.Errorf("the mode of a folder is %v", got)
	}
}

// TestStatesWithoutBits covers those of older programs: their folders count as unchanged,
// and a restore leaves the bits as they are.
func TestStatesWithoutBits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("key", "one")
	b.chmod("key", 0o600)
	b.write("dir/run", "two")
	b.chmod("dir/run", 0o775)
	b.chmod("dir", 0o775)
	b.write("gone", "three")
	m := b.snap()
	old := *m
	old.Root = b.withoutPerms(m.Root)
	if old.Root == m.Root {
		t.Fatal("the tree of an older program is the same one")
	}
	if got := b.diffText(old.Root, m.Root); len(got) > 0 {
		t.Errorf("an unchanged folder differs from the state of an older program: %v", got)
	}
	b.write("key", "changed")
	b.chmod("dir", 0o750)
	b.remove("gone")
	got := b.restore(&old, RestoreOptions{})
	if b.mode("key") != 0o600 || b.mode("dir") != os.ModeDir|0o750 {
		t.Errorf("modes %v and %v", b.mode("key"), b.mode("dir"))
	}
	if diff := cmp.Diff([]string{"A gone", "M key"}, b.diffText(got.Before.Root, got.After.Root)); diff != "" {
		t.Error(diff)
	}
	// What is recorded now has the bits, so that a change of them alone is one.
	b.chmod("dir/run", 0o700)
	after := b.snapshot(SnapshotOptions{Parent: got.After}).Manifest
	if diff := cmp.Diff([]string{"M dir/run"}, b.diffText(got.After.Root, after.Root)); diff != "" {
		t.Error(diff)
	}
}

// withoutPerms stores a state as an older program would have.
func (b *bench) withoutPerms(root Digest) Digest {
	b.t.Helper()
	entries, err := b.s.Tree(b.t.Context(), root)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range entries {
		entries[i].Perm = 0
		if entries[i].Kind == Folder {
			entries[i].Digest = b.withoutPerms(entries[i].Digest)
		}
	}
	enc := encodeTree(entries)
	if err := b.kv.Batch(b.t.Context(), func(w *kv.Batch) error { return b.s.putTree(w, newTree{digest: Sum(enc), enc: enc}) }); err != nil {
		b.t.Fatal(err)
	}
	return Sum(enc)
}

// TestImportedStatesGiveNoSetuid restores a history that another machine exported.
func TestImportedStatesGiveNoSetuid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("tool", "#!/bin/sh")
	b.chmod("tool", os.ModeSetuid|os.ModeSetgid|0o755)
	b.write("key", "secret")
	b.chmod("key", 0o600)
	m := b.snap()
	var file bytes.Buffer
	if err := b.s.Export(t.Context(), &file, "c"); err != nil {
		t.Fatal(err)
	}
	there := newBench(t)
	in, err := there.s.Import(t.Context(), &file, ImportOptions{ChatID: "c", Limits: Limits{KeepFree: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if in.Manifests[0].Root != m.Root {
		t.Errorf("the state came as another one")
	}
	got := there.restore(in.Manifests[0], RestoreOptions{})
	if there.mode("tool") != 0o755 || there.mode("key") != 0o600 {
		t.Errorf("modes %v and %v", there.mode("tool"), there.mode("key"))
	}
	if there.snapshot(SnapshotOptions{Parent: got.After}).New {
		t.Error("what is recorded is not what there is")
	}
	if got := b.restore(m, RestoreOptions{}); len(got.Changes) > 0 || b.mode("tool")&os.ModeSetuid == 0 {
		t.Error("the state of this machine lost its bits")
	}
}

// TestBitsAreRevertedWithTheRest lets a restore fail at its last step.
func TestBitsAreRevertedWithTheRest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "one")
	b.chmod("a", 0o600)
	b.write("dir/z", "two")
	b.chmod("dir", 0o700)
	m := b.snap()
	b.chmod("a", 0o664)
	b.chmod("dir", 0o775)
	b.write("dir/z", "changed")
	was := b.look()
	chmods := 0
	b.s.fault = func(call, name string) error {
		if call == "chmod" {
			if chmods++; chmods == 2 {
				return syscall.EIO
			}
		}
		return nil
	}
	if _, err := b.tryRestore(m, RestoreOptions{}); err == nil {
		t.Fatal("the restore did not fail")
	}
	b.s.fault = nil
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("after the failed restore (-want +got):\n%s", diff)
	}
	b.restore(m, RestoreOptions{})
	if b.mode("a") != 0o600 || b.mode("dir") != os.ModeDir|0o700 {
		t.Errorf("modes %v and %v", b.mode("a"), b.mode("dir"))
	}
}
