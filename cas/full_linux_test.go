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

// TestFullDisk runs out of room in the folder of a restore, which must then be
// as it was.
func TestFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
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
		if step == "journal" && once.CompareAndSwap(false, true) {
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
