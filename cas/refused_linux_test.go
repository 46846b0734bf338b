package cas

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// What the system doesn't let be changed is named as what is in the way, so that it
// can be left out: all of a file system that is read-only by the folder where it is mounted.
func TestARestoreNamesWhatIsInItsWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		blocked, reason string
		make            func(*bench) error
	}{
		"a read-only file system": {"d: x/m", "it is on a file system that is mounted read-only", func(b *bench) error {
			b.readOnly = "d: x/m"
			return unix.Mount("tmpfs", b.path("d: x/m"), "tmpfs", 0, "size=1m")
		}},
		"a mounted file": {"d: x/f", "something is mounted there, or uses it", func(b *bench) error {
			b.write("other", "1")
			return unix.Mount(b.path("other"), b.path("d: x/f"), "", unix.MS_BIND, "")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Getuid() != 0 {
				t.Skip("mounting needs root")
			}
			b := newBench(t)
			b.write("a", "1")
			b.write("d: x/f", "1")
			b.mkdir("d: x/m")
			if err := c.make(b); err != nil {
				t.Skipf("nothing can be mounted here: %v", err)
			}
			t.Cleanup(func() {
				_ = unix.Unmount(b.path("d: x/m"), unix.MNT_DETACH)
				_ = unix.Unmount(b.path("d: x/f"), unix.MNT_DETACH)
			})
			b.write("d: x/m/g", "1")
			before := b.snap()
			for _, path := range []string{"a", "d: x/f", "d: x/m/g"} {
				if err := os.WriteFile(b.path(path), []byte("by a tool"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			o := RestoreOptions{Active: b.snap()}
			if b.readOnly != "" {
				b.remount(b.readOnly, unix.MS_RDONLY)
			}
			was := b.look()
			plan := o
			plan.Plan = true
			if got := b.restore(before, plan); !slices.Contains(got.Blocked, Blocked{Path: c.blocked, Reason: c.reason, Firm: true}) {
				t.Errorf("the plan has %v in the way", got.Blocked)
			}
			_, err := b.tryRestore(before, o)
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("restored: %v", err)
			}
			if diff := cmp.Diff([]Blocked{{Path: c.blocked, Reason: c.reason, Firm: true}}, conflict.Paths); diff != "" {
				t.Errorf("in the way (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(was, b.look()); diff != "" {
				t.Errorf("it was refused, and changed (-want +got):\n%s", diff)
			}
			o.Keep = []string{c.blocked}
			b.restore(before, o)
			if got := b.look(); got["a"] == was["a"] || got[c.blocked] != was[c.blocked] {
				t.Errorf("kept, there is %v", got)
			}
		})
	}
}
