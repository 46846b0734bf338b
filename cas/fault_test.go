package cas

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// memoryDir is a folder whose syncs cost nothing, where the system has one: for
// tests that sync a thousand times.
func memoryDir(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "fettle-cas-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// memoryBench is newBench in memory.
func memoryBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: memoryDir(t)}
	b.open()
	b.ws = b.folder(memoryDir(t))
	return b
}

// scene prepares a folder with every kind of change between two states.
func (b *bench) scene() (before, target map[string]string, to *Manifest) {
	b.t.Helper()
	b.write("same", "same in both")
	b.write("edited", "the target's")
	b.write("removed/later/x", "x")
	b.write("removed/y", "y")
	b.write("file-to-folder", "a file")
	b.write("folder-to-file/inner", "i")
	b.mkdir("hollow")
	b.write("large", strings.Repeat("target", smallBlob/6+1))
	if hasModes {
		b.link("same", "link")
		b.write("mode", "m")
		if err := os.Chmod(b.path("mode"), 0o755); err != nil {
			b.t.Fatal(err)
		}
	}
	target = b.look()
	to = b.snap()
	b.write("edited", "now different")
	b.remove("removed")
	b.remove("file-to-folder")
	b.write("file-to-folder/deep/er", "d")
	b.remove("folder-to-file")
	b.write("folder-to-file", "f")
	b.remove("hollow")
	b.write("large", strings.Repeat("before", smallBlob/6+1))
	b.write("extra/new", "n")
	if hasModes {
		b.remove("link")
		b.link("edited", "link")
		if err := os.Chmod(b.path("mode"), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return b.look(), target, to
}

// TestRestoreIsAllOrNothing lets each call to the system fail in turn: whatever
// fails, the folder is as it was, and once nothing fails any more the restore
// can be done.
func TestRestoreIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	step := int64(1)
	if raceEnabled {
		step = 23
	}
	n := int64(1)
	for ; ; n += step {
		b.ws = b.folder(memoryDir(t))
		before, target, to := b.scene()
		if more := restoreFailingAt(t, b, n, before, target, to); !more {
			break
		}
	}
	if n < 100 {
		t.Errorf("only %d calls could fail", n)
	}
	b.mustBeSound()
}

func restoreFailingAt(t *testing.T, b *bench, n int64, before, target map[string]string, to *Manifest) (failed bool) {
	t.Helper()
	restores := b.restores()
	var calls atomic.Int64
	what := ""
	b.s.fault = func(call, name string) error {
		if calls.Add(1) == n {
			what = call + " " + name
			return syscall.EIO
		}
		return nil
	}
	got, err := b.tryRestore(to, RestoreOptions{})
	reached := calls.Load() >= n
	b.s.fault = nil
	// On a slow machine it may be noted by then that nothing is left but a stage.
	j, jerr := b.s.journal(t.Context(), b.ws.key())
	if jerr != nil {
		t.Fatal(jerr)
	}
	if n := b.restores(); err != nil && n != restores && (j == nil || !j.Done) {
		t.Fatalf("call (%s) failed, and the restore is recorded", what)
	}
	if err == nil && !reached {
		if diff := cmp.Diff(target, b.look()); diff != "" {
			t.Fatalf("no call failed (-want +got):\n%s", diff)
		}
		return false
	}
	b.snap()
	now := b.look()
	switch {
	case err == nil: // what couldn't be read was left alone, and named
		want := maps.Clone(target)
		for _, l := range got.Left {
			maps.DeleteFunc(want, func(p, _ string) bool { return within(p, l.Path) })
			maps.DeleteFunc(now, func(p, _ string) bool { return within(p, l.Path) })
		}
		if diff := cmp.Diff(want, now); diff != "" {
			t.Fatalf("call %d (%s) failed, the restore didn't (-want +got):\n%s", n, what, diff)
		}
	default:
		if diff := cmp.Diff(before, now); diff != "" && cmp.Diff(target, now) != "" {
			t.Fatalf("call %d (%s) failed: %v\nthe folder changed (-before +now):\n%s", n, what, err, diff)
		}
		if j, err := b.s.journal(t.Context(), b.ws.key()); j != nil || err != nil {
			t.Fatalf("call %d (%s): the journal is still there", n, what)
		}
	}
	b.restore(to, RestoreOptions{})
	if diff := cmp.Diff(target, b.look()); diff != "" {
		t.Fatalf("after call %d (%s) had failed, restored (-want +got):\n%s", n, what, diff)
	}
	return true
}

// TestSnapshotSurvivesEveryFault lets each call of a snapshot fail in turn: it
// fails, or takes a state that says that it isn't complete, and what is recorded
// is whole.
func TestSnapshotSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	step := int64(1)
	if raceEnabled {
		step = 17
	}
	for n := int64(1); ; n += step {
		b.ws = b.folder(memoryDir(t))
		b.scene()
		want := b.look()
		b.write("large", fmt.Sprint(n, strings.Repeat("n", smallBlob)))
		want["large"] = b.look()["large"]
		var calls atomic.Int64
		b.s.fault = func(string, string) error {
			if calls.Add(1) == n {
				return syscall.EIO
			}
			return nil
		}
		snap, err := b.s.Snapshot(t.Context(), b.ws, SnapshotOptions{About: About{ChatID: "c"}, Limits: Limits{KeepFree: -1}})
		b.s.fault = nil
		if err == nil && snap.Manifest.Complete {
			if diff := cmp.Diff(want, b.entries(snap.Manifest.Root)); diff != "" {
				t.Fatalf("call %d failed, and the state is wrong:\n%s", n, diff)
			}
		}
		if calls.Load() < n {
			break
		}
		again := b.snap()
		if diff := cmp.Diff(want, b.entries(again.Root)); diff != "" {
			t.Fatalf("after call %d failed:\n%s", n, diff)
		}
	}
	b.mustBeSound()
}

// mustBeSound verifies the store.
func (b *bench) mustBeSound() {
	b.t.Helper()
	report, err := b.s.Verify(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, p := range report.Problems {
		b.t.Errorf("verify: %s %s: %s, used by %v", p.What, p.Digest, p.Reason, p.Uses)
	}
}

func TestSomeoneElsesWork(t *testing.T) {
	t.Parallel()
	t.Run("conflict in a bound folder", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.ws.Bound = true
		b.write("a", "1")
		b.write("b", "1")
		first := b.snap()
		b.write("a", "2")
		b.write("b", "2")
		active := b.snap()
		b.write("a", "a person's")
		was := b.look()
		_, err := b.tryRestore(first, RestoreOptions{Active: active})
		var conflict *ConflictError
		if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0].Path != "a" {
			t.Fatalf("got %v", err)
		}
		if diff := cmp.Diff(was, b.look()); diff != "" {
			t.Errorf("a refused restore changed something:\n%s", diff)
		}
		plan := b.restore(first, RestoreOptions{Active: active, Plan: true})
		if len(plan.Blocked) != 1 || len(plan.Changes) != 2 {
			t.Errorf("plan %+v", plan)
		}
		kept := b.restore(first, RestoreOptions{Active: active, Keep: []string{"a"}})
		if got := b.look(); got["a"] != "file a person's" || got["b"] != "file 1" {
			t.Errorf("with --keep: %v", got)
		}
		if len(kept.Left) != 1 || kept.Left[0].Path != "a" {
			t.Errorf("left %v", kept.Left)
		}
		over := b.restore(first, RestoreOptions{Active: active, Overwrite: true})
		if got := b.look(); got["a"] != "file 1" {
			t.Errorf("with --overwrite: %v", got)
		}
		b.restore(over.Before, RestoreOptions{})
		if got := b.look(); got["a"] != "file a person's" {
			t.Errorf("what was overwritten doesn't come back: %v", got)
		}
	})
	for _, step := range []string{"staged", "removed"} {
		t.Run("an edit at the step "+step, func(t *testing.T) {
			t.Parallel()
			if !hasModes {
				t.Skip("names are exchanged in one step on Linux only")
			}
			b := newBench(t)
			before, target, to := b.scene()
			b.s.pause = func(at string) {
				if at == step {
					b.write("edited", "saved at this very moment")
				}
			}
			_, err := b.tryRestore(to, RestoreOptions{})
			b.s.pause = func(string) {}
			var conflict *ConflictError
			if !errors.As(err, &conflict) || conflict.Paths[0].Path != "edited" {
				t.Fatalf("got %v", err)
			}
			before["edited"] = "file saved at this very moment"
			if diff := cmp.Diff(before, b.look()); diff != "" {
				t.Errorf("folder (-want +got):\n%s", diff)
			}
			b.restore(to, RestoreOptions{})
			if diff := cmp.Diff(target, b.look()); diff != "" {
				t.Errorf("restored (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("an edit that its stat doesn't show", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.write("a", "one")
		first := b.snap()
		b.settle()
		stamp := time.Now().Add(time.Hour)
		edit := func(text string) {
			b.write("a", text)
			if err := os.Chtimes(b.path("a"), stamp, stamp); err != nil {
				t.Error(err)
			}
		}
		// The stat of a file is not believed while its last change is recent. On a busy
		// machine the scan may begin too late for that, and the round is repeated.
		var err error
		for edited, round := false, 0; !edited; round++ {
			if round == 200 {
				t.Skip("the machine is too slow for a scan within the margin")
			}
			changed := time.Now()
			edit("two")
			b.s.pause = func(at string) {
				if at == "staged" && time.Since(changed) < racyMargin {
					edited = true
					edit("six")
				}
			}
			_, err = b.tryRestore(first, RestoreOptions{})
			b.s.pause = func(string) {}
		}
		var conflict *ConflictError
		if !errors.As(err, &conflict) || b.look()["a"] != "file six" {
			t.Errorf("got %v, and the folder has %v", err, b.look())
		}
	})
	t.Run("a new file where one is to come", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		_, _, to := b.scene()
		b.s.pause = func(at string) {
			if at == "staged" {
				b.write("removed", "a person's")
			}
		}
		_, err := b.tryRestore(to, RestoreOptions{})
		b.s.pause = func(string) {}
		var conflict *ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("got %v", err)
		}
		if got := b.look(); got["removed"] != "file a person's" {
			t.Errorf("folder %v", got)
		}
	})
	t.Run("a file put into a folder that goes", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		_, _, to := b.scene()
		b.s.pause = func(at string) {
			if at == "staged" {
				b.write("extra/theirs", "a person's")
			}
		}
		got := b.restore(to, RestoreOptions{})
		b.s.pause = func(string) {}
		if look := b.look(); look["extra/theirs"] != "file a person's" || look["extra/new"] != "" {
			t.Errorf("folder %v", look)
		}
		if len(got.Left) != 1 || got.Left[0].Path != "extra" {
			t.Errorf("left %v", got.Left)
		}
	})
}

func TestRestoreOfSomePaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before, target, to := b.scene()
	got := b.restore(to, RestoreOptions{Paths: []string{"removed/later", "/edited/", "file-to-folder"}})
	want := map[string]string{}
	for p, v := range before {
		if !within(p, "file-to-folder") {
			want[p] = v
		}
	}
	for _, p := range []string{"removed", "removed/later", "removed/later/x", "edited", "file-to-folder"} {
		want[p] = target[p]
	}
	if diff := cmp.Diff(want, b.look()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if b.snapshot(SnapshotOptions{Parent: got.After}).New {
		t.Error("the folder isn't what the restore recorded")
	}
}

func TestDamageKeepsARestoreFromBeginning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before, _, to := b.scene()
	e, err := b.s.Lookup(t.Context(), to.Root, "large")
	if err != nil {
		t.Fatal(err)
	}
	path := b.s.blobPath(e.Digest)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err = b.tryRestore(to, RestoreOptions{})
	var damage *DamageError
	if !errors.As(err, &damage) || damage.Digest != e.Digest {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(before, b.look()); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
	report, err := b.s.Verify(t.Context(), nil)
	if err != nil || len(report.Problems) != 1 || len(report.Problems[0].Uses) != 1 || report.Problems[0].Uses[0].Path != "large" {
		t.Errorf("verify says %+v, %v", report, err)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", strings.Repeat("a", 10_000))
	first := b.snap()
	b.write("b", strings.Repeat("b", 10_000))
	try := func(l Limits) error {
		l.KeepFree = -1
		_, err := b.s.Snapshot(t.Context(), b.ws, SnapshotOptions{About: About{ChatID: "c"}, Parent: first, Limits: l})
		return err
	}
	var quota *QuotaError
	if err := try(Limits{Chat: 15_000}); !errors.As(err, &quota) || quota.Have != 20_000 || quota.Limit != 15_000 {
		t.Errorf("over the chat's quota: %v", err)
	}
	if err := try(Limits{Total: 15_000}); !errors.As(err, &quota) {
		t.Errorf("over the store's quota: %v", err)
	}
	list, err := b.s.Manifests(t.Context(), "c")
	if err != nil || len(list) != 1 {
		t.Errorf("a failed snapshot recorded something: %v, %v", list, err)
	}
	if err := try(Limits{Chat: 20_000, Total: 20_000}); err != nil {
		t.Errorf("at the quota: %v", err)
	}
	b.write("c", strings.Repeat("a", 10_000))
	if err := try(Limits{Chat: 20_000, Total: 20_000}); err != nil {
		t.Errorf("a copy takes no room: %v", err)
	}
	// More than any disk has: what is free now, others may make more of at any moment.
	b.write("large", strings.Repeat("x", smallBlob+1))
	_, err = b.s.Snapshot(t.Context(), b.ws, SnapshotOptions{Limits: Limits{KeepFree: math.MaxInt64}})
	if !errors.As(err, &quota) {
		t.Errorf("with too little left on the disk: %v", err)
	}
}

func TestBeginCanRefuse(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a", "12345")
	b.write("d/b", "123")
	no := errors.New("no")
	var est Estimate
	_, err := b.s.Snapshot(t.Context(), b.ws, SnapshotOptions{Begin: func(e Estimate) error { est = e; return no }})
	if !errors.Is(err, no) || est != (Estimate{First: true, Files: 2, Bytes: 8}) {
		t.Errorf("got %v, %+v", err, est)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "blobs")); err == nil {
		t.Error("a refused snapshot left something")
	}
}
