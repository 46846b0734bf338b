package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// mount mounts a tmpfs, or a folder, at a path of the workspace.
func (b *bench) mount(from, name string) {
	b.t.Helper()
	if os.Getuid() != 0 {
		b.t.Skip("mounting needs root")
	}
	at := b.path(name)
	var err error
	if from == "tmpfs" {
		err = unix.Mount("tmpfs", at, "tmpfs", 0, "size=16m")
	} else {
		err = unix.Mount(from, at, "", unix.MS_BIND, "")
	}
	if err != nil {
		b.t.Skipf("nothing can be mounted here: %v", err)
	}
	b.t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
}

// remount changes the flags of a mount of the workspace.
func (b *bench) remount(name string, flags uintptr) {
	b.t.Helper()
	if err := unix.Mount("", b.path(name), "", unix.MS_REMOUNT|unix.MS_BIND|flags, ""); err != nil {
		b.t.Fatal(err)
	}
}

// mountKinds are what can be mounted on a folder "m" of a workspace.
func mountKinds() map[string]func(b *bench) {
	return map[string]func(b *bench){
		"tmpfs":                        func(b *bench) { b.mount("tmpfs", "m") },
		"bind mount":                   func(b *bench) { b.mount(memoryDir(b.t), "m") },
		"bind mount of the same files": func(b *bench) { b.mount(b.path("m"), "m") },
		"mount within a mount": func(b *bench) {
			b.mount(memoryDir(b.t), "m")
			b.mkdir("m/sub")
			b.mount("tmpfs", "m/sub")
		},
		"mount that hides another one": func(b *bench) {
			b.mkdir("m/sub")
			b.mount("tmpfs", "m/sub")
			b.mount(memoryDir(b.t), "m")
		},
	}
}

// mountedScene writes files next to and below the mounts, takes a state, and changes all.
func (b *bench) mountedScene() (before *Manifest, was map[string]string) {
	b.t.Helper()
	for _, dir := range []string{"", "m/", "m/sub/"} {
		b.write(dir+"edited", "1")
		b.write(dir+"private", "1")
		b.write(dir+"removed/x", "1")
		b.write(dir+"turns/x", "1")
		b.write(dir+"into", "1")
		b.link("edited", dir+"link")
		if err := os.Chmod(b.path(dir+"private"), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	b.write("m/large", strings.Repeat("1", smallBlob+1))
	b.hardLink("m/edited", "m/other")
	before, was = b.snap(), b.look()
	for _, dir := range []string{"", "m/", "m/sub/"} {
		b.write(dir+"edited", "22")
		b.write(dir+"added/y", "2")
		b.remove(dir + "removed")
		b.remove(dir + "turns")
		b.write(dir+"turns", "2")
		b.remove(dir + "into")
		b.write(dir+"into/x", "2")
		b.remove(dir + "link")
		b.link("private", dir+"link")
		if err := os.Chmod(b.path(dir+"private"), 0o640); err != nil {
			b.t.Fatal(err)
		}
	}
	b.write("m/large", strings.Repeat("2", smallBlob+2))
	return before, was
}

// noStage checks that no folder of a restore is left, at any depth.
func (b *bench) noStage() {
	b.t.Helper()
	err := filepath.WalkDir(b.ws.Path, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), stagePrefix) {
			b.t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
}

// TestARestoreWritesThroughMounts restores files on each side of a mount point, and restores
// what was replaced again. The plan has exactly the changes that are made.
func TestARestoreWritesThroughMounts(t *testing.T) {
	t.Parallel()
	for name, mount := range mountKinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := memoryBench(t)
			b.mkdir("m")
			mount(b)
			before, was := b.mountedScene()
			after := b.snap()
			edited := b.look()
			plan := b.restore(before, RestoreOptions{Active: after, Plan: true})
			if len(plan.Blocked) > 0 || len(plan.Left) > 0 {
				t.Fatalf("the plan has in the way %v, left %v", plan.Blocked, plan.Left)
			}
			if diff := cmp.Diff(edited, b.look()); diff != "" {
				t.Fatalf("the plan changed the folder:\n%s", diff)
			}
			got := b.restore(before, RestoreOptions{Active: after})
			if diff := cmp.Diff(plan.Changes, got.Changes); diff != "" || len(got.Left) > 0 {
				t.Errorf("left %v, changes (-planned +made):\n%s", got.Left, diff)
			}
			if diff := cmp.Diff(was, b.look()); diff != "" {
				t.Errorf("restored (-want +got):\n%s", diff)
			}
			b.oneFile(true, "1", "m/edited", "m/other")
			b.noStage()
			if b.snapshot(SnapshotOptions{Parent: got.After}).New {
				t.Error("the folder has another state than recorded")
			}
			b.restore(after, RestoreOptions{Active: got.After, Paths: []string{"m/edited", "m/sub", "added"}})
			for _, path := range []string{"m/edited", "m/sub/edited", "added/y", "m/sub/turns"} {
				if now := b.look()[path]; now != edited[path] {
					t.Errorf("%s is %q, want %q", path, now, edited[path])
				}
			}
			b.restore(after, RestoreOptions{})
			if diff := cmp.Diff(edited, b.look()); diff != "" {
				t.Errorf("restored again (-want +got):\n%s", diff)
			}
			b.noStage()
			b.mustBeSound()
		})
	}
}

// TestAMountPointStays covers a state in which the path of a mount is not a folder, or does
// not exist: that is in the way, and nothing is done.
func TestAMountPointStays(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(b *bench){
		"absent":            func(*bench) {},
		"a file":            func(b *bench) { b.write("d/m", "1") },
		"its folder absent": func(*bench) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := memoryBench(t)
			b.write("a", "1")
			if name != "its folder absent" {
				b.mkdir("d")
			}
			before(b)
			state := b.snap()
			b.remove("d/m")
			b.mkdir("d/m")
			b.mount("tmpfs", "d/m")
			b.write("d/m/x", "2")
			b.write("a", "2")
			active, was := b.snap(), b.look()
			want := []Blocked{{Path: "d/m", Reason: reasonMount, Firm: true}}
			if got := b.restore(state, RestoreOptions{Active: active, Plan: true}); !cmp.Equal(got.Blocked, want) {
				t.Errorf("the plan has %v in the way", got.Blocked)
			}
			_, err := b.tryRestore(state, RestoreOptions{Active: active})
			var conflict *ConflictError
			if !errors.As(err, &conflict) || !cmp.Equal(conflict.Paths, want) {
				t.Errorf("restored: %v", err)
			}
			if diff := cmp.Diff(was, b.look()); diff != "" {
				t.Errorf("it was refused, and changed:\n%s", diff)
			}
			b.restore(state, RestoreOptions{Active: active, Keep: []string{"d/m"}})
			if got := b.look(); got["a"] != "file 1" || got["d/m/x"] != "file 2" {
				t.Errorf("kept, there is %v", got)
			}
		})
	}
}

// TestAMountThatBecomesReadOnly has a mount refuse once the plan is made: nothing is changed.
func TestAMountThatBecomesReadOnly(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	b.mkdir("m")
	b.mount("tmpfs", "m")
	before, _ := b.mountedScene()
	after, edited := b.snap(), b.look()
	b.s.pause = func(step string) {
		if step == "planned" {
			b.remount("m", unix.MS_RDONLY)
		}
	}
	_, err := b.tryRestore(before, RestoreOptions{Active: after})
	b.s.pause = func(string) {}
	var conflict *ConflictError
	if !errors.As(err, &conflict) || !cmp.Equal(conflict.Paths, []Blocked{{Path: "m", Reason: reasonReadOnly, Firm: true}}) {
		t.Errorf("restored: %v", err)
	}
	if diff := cmp.Diff(edited, b.look()); diff != "" {
		t.Errorf("it was refused, and changed:\n%s", diff)
	}
	b.noStage()
}

// TestKilledWhileAMountIsWrittenThrough kills a process at each step of a restore below mount
// points: what it has changed is taken back there, too, and no stage is left.
func TestKilledWhileAMountIsWrittenThrough(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	b.mkdir("m")
	b.mount("tmpfs", "m")
	b.mkdir("m/sub")
	b.mount(memoryDir(t), "m/sub")
	before, was := b.mountedScene()
	b.snap()
	edited := b.look()
	kill := func(at string) (done bool) {
		b.close()
		err := b.run("restore", before.ID, at)
		b.open()
		if err != nil && !killed(err) {
			t.Fatalf("step %s: %v", at, err)
		}
		b.snap()
		now := b.look()
		if cmp.Diff(edited, now) != "" && cmp.Diff(was, now) != "" {
			t.Fatalf("step %s: the folder is neither as before nor as after (-before +now):\n%s", at, cmp.Diff(edited, now))
		}
		b.noStage()
		if cmp.Diff(was, now) == "" { // that was recorded
			last, lerr := b.s.Latest(t.Context(), "c")
			if lerr != nil {
				t.Fatal(lerr)
			}
			if err == nil {
				return true
			}
			up, lerr := b.s.Manifest(t.Context(), last.ParentID)
			if lerr != nil {
				t.Fatal(lerr)
			}
			b.restore(up, RestoreOptions{})
		}
		return err == nil
	}
	steps := 1
	for ; !kill(fmt.Sprint("pause", steps)); steps++ {
	}
	if steps < 20 {
		t.Errorf("only %d steps", steps)
	}
	b.restore(b.stateOf(edited), RestoreOptions{})
	for n := 1; !kill(fmt.Sprint(n)); n += sized(1, 41, 199) {
	}
	b.mustBeSound()
}

// stateOf finds the state that has some files.
func (b *bench) stateOf(files map[string]string) *Manifest {
	b.t.Helper()
	list, err := b.s.Manifests(b.t.Context(), "c")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range list {
		if maps.Equal(b.entries(m.Root), files) {
			return m
		}
	}
	b.t.Fatal("no state has these files")
	return nil
}

// TestFaultsWhileAMountIsWrittenThrough lets calls to the system fail while files below mount
// points are restored: nothing has changed then.
func TestFaultsWhileAMountIsWrittenThrough(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	b.mkdir("m")
	b.mount("tmpfs", "m")
	before, was := b.mountedScene()
	after, edited := b.snap(), b.look()
	for n := int64(1); ; n += int64(sized(1, 7, 61)) {
		var calls atomic.Int64
		b.s.fault = func(string, string) error {
			if calls.Add(1) == n {
				return syscall.EIO
			}
			return nil
		}
		_, err := b.tryRestore(before, RestoreOptions{Active: after})
		b.s.fault = nil
		if err == nil {
			for path, v := range b.look() { // what could not be read is left as it is
				if v != was[path] && v != edited[path] {
					t.Fatalf("call %d failed, and %s is %q", n, path, v)
				}
			}
			if calls.Load() < n {
				break
			}
			b.restore(after, RestoreOptions{})
			continue
		}
		b.snap() // what could not be taken back at once is taken back now
		if diff := cmp.Diff(edited, b.look()); diff != "" {
			t.Fatalf("call %d failed: %v\nthe folder changed (-before +now):\n%s", n, err, diff)
		}
		b.noStage()
	}
	b.mustBeSound()
}

// TestALandingWritesThroughMounts lands a call in a folder in which something was mounted
// since, and names what a read-only mount refuses.
func TestALandingWritesThroughMounts(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{false, true} {
		t.Run(fmt.Sprint("read-only ", readOnly), func(t *testing.T) {
			t.Parallel()
			b := landingBench(t)
			landingScene(b)
			parent := b.snap()
			call := b.call("echo new > a; echo new > d/x; rm d/y; mkdir d/n; echo n > d/n/f; ln d/n/f d/g; rm e/f").run()
			b.mount(b.path("d"), "d")
			if readOnly {
				b.remount("d", unix.MS_RDONLY)
			}
			found := b.look()
			got := call.land(parent)
			want := maps.Clone(found)
			delete(want, "e/f")
			want["a"] = "file new\n"
			var refused []string
			if readOnly {
				refused = []string{"d/g", "d/n", "d/n/f", "d/x", "d/y"}
			} else {
				delete(want, "d/y")
				maps.Copy(want, map[string]string{"d/x": "file new\n", "d/n": "folder", "d/n/f": "file n\n", "d/g": "file n\n"})
			}
			if diff := cmp.Diff(want, b.look()); diff != "" {
				t.Errorf("landed (-want +got):\n%s", diff)
			}
			var conflicts []string
			for _, c := range got.Conflicts {
				conflicts = append(conflicts, c.Path)
			}
			slices.Sort(conflicts)
			if diff := cmp.Diff(refused, conflicts); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
			b.noStage()
			if b.snapshot(SnapshotOptions{Parent: got.After}).New {
				t.Error("the folder has another state than recorded")
			}
			b.restore(got.Before, RestoreOptions{Active: got.After})
			if diff := cmp.Diff(found, b.look()); diff != "" {
				t.Errorf("undone (-want +got):\n%s", diff)
			}
			b.mustBeSound()
		})
	}
}
