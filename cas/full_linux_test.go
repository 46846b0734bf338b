package cas

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/kv"
)

// small mounts a file system of so many megabytes.
func small(t *testing.T, megabytes int) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// TestFullStore runs out of room where the store is: a snapshot says so and has
// recorded nothing, all that was there before stays whole, and once there is room
// the same snapshot is taken.
func TestFullStore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	data := small(t, 110)
	b.dir = data
	b.open()
	b.write("a", "1")
	first := b.snap()
	for name, grow := range map[string]func(){
		"by large files": func() {
			for i := range 3 {
				b.write(fmt.Sprint("large", i), strings.Repeat(fmt.Sprint(i), 40_000_000))
			}
		},
		"by small ones": func() {
			for i := range 100 {
				b.write(fmt.Sprint("small", i), strings.Repeat(fmt.Sprintf("%07d", i), 100_000))
			}
		},
	} {
		grow()
		want := b.look()
		before, err := b.s.Manifests(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.s.Snapshot(t.Context(), b.ws, SnapshotOptions{About: About{ChatID: "c"}, Limits: Limits{KeepFree: -1}})
		var full *kv.FullError
		var quota *QuotaError
		if !errors.As(err, &full) && !errors.As(err, &quota) && !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%s: got %v", name, err)
		}
		after, err := b.s.Manifests(t.Context(), "c")
		if err != nil || len(after) != len(before) {
			t.Errorf("%s: a failed snapshot recorded something: %v, %v", name, after, err)
		}
		b.mustBeSound()
		if _, err := b.s.GC(t.Context(), GCOptions{}); err != nil {
			t.Errorf("%s: collecting what it left: %v", name, err)
		}
		if err := unix.Mount("", data, "tmpfs", unix.MS_REMOUNT, "size=600m"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.entries(b.snap().Root)); diff != "" {
			t.Errorf("%s, with room (-folder +state):\n%s", name, diff)
		}
		b.restore(first, RestoreOptions{})
		if _, err := b.s.GC(t.Context(), GCOptions{Live: fixed(func(m *Manifest) bool { return m.Root == first.Root }), Compact: true}); err != nil {
			t.Fatal(err)
		}
		b.reopen()
		if err := unix.Mount("", data, "tmpfs", unix.MS_REMOUNT, "size=110m"); err != nil {
			t.Skipf("%s: it can't be made small again: %v", name, err)
		}
	}
}

// TestFullDisk runs out of room in the folder of a restore, which must then be
// as it was.
func TestFullDisk(t *testing.T) {
	dir := small(t, 8)
	b := newBench(t)
	b.ws = b.folder(dir)
	for i := range 6 {
		b.write(fmt.Sprint("file", i), strings.Repeat(fmt.Sprint(i), 1_000_000))
	}
	m := b.snap()
	b.remove("file1")
	b.remove("file2")
	b.remove("file3")
	b.write("file0", "small")
	b.write("filler", strings.Repeat("x", 3_500_000))
	before := b.look()
	b.write("zeros", "")
	_, err := b.tryRestore(m, RestoreOptions{Keep: []string{"filler", "zeros"}})
	var space *SpaceError
	if !errors.As(err, &space) {
		t.Fatalf("with too little room: %v", err)
	}
	b.remove("zeros")
	if diff := cmp.Diff(before, b.look()); diff != "" {
		t.Errorf("folder (-before +now):\n%s", diff)
	}
	// And where the room goes while the stage is filled.
	b.remove("filler")
	before = b.look()
	var once atomic.Bool
	b.s.pause = func(step string) {
		if step == "planned" && once.CompareAndSwap(false, true) {
			b.write("filler", strings.Repeat("x", 4_500_000))
		}
	}
	_, err = b.tryRestore(m, RestoreOptions{Keep: []string{"filler"}})
	b.s.pause = func(string) {}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("filled up meanwhile: %v", err)
	}
	b.remove("filler")
	if diff := cmp.Diff(before, b.look()); diff != "" {
		t.Errorf("folder (-before +now):\n%s", diff)
	}
	b.restore(m, RestoreOptions{})
	if free, _, err := kv.Free(dir); err != nil || free > 4<<20 {
		t.Errorf("after the restore %d bytes are free, %v", free, err)
	}
}
