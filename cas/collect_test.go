package cas

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCollectionSurvivesEveryFault lets each call of a collection fail in turn: it
// fails, what is needed stays, and the next one does the rest.
func TestCollectionSurvivesEveryFault(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	live := func(m *Manifest) bool { return m.ChatID != "dead" }
	n := int64(1)
	for ; ; n++ {
		b.ws = b.folder(memoryDir(t))
		b.scene()
		kept, want := b.snap(), b.look()
		b.write("small", fmt.Sprint("dead", n))
		b.write("large", fmt.Sprint("dead", n, strings.Repeat("x", smallBlob)))
		b.snapshot(SnapshotOptions{About: About{ChatID: "dead"}})
		var calls atomic.Int64
		b.s.fault = func(string, string) error {
			if calls.Add(1) == n {
				return syscall.EIO
			}
			return nil
		}
		_, err := b.s.GC(t.Context(), GCOptions{Live: fixed(live)})
		b.s.fault = nil
		if reached := calls.Load() >= n; reached != (err != nil) {
			t.Fatalf("call %d of %d failed, the collection said %v", n, calls.Load(), err)
		}
		b.mustBeSound()
		b.restore(kept, RestoreOptions{})
		if diff := cmp.Diff(want, b.look()); diff != "" {
			t.Fatalf("after call %d failed (-want +got):\n%s", n, diff)
		}
		if err == nil {
			break
		}
	}
	if n < 6 {
		t.Errorf("only %d calls could fail", n)
	}
	if _, err := b.s.GC(t.Context(), GCOptions{Live: fixed(live)}); err != nil {
		t.Fatal(err)
	}
	stats, err := b.s.Stats(t.Context())
	if err != nil || stats.Unreached != 0 {
		t.Errorf("what a failed collection left stays: %+v, %v", stats, err)
	}
}

// TestOneNameThatCantBeLookedAt keeps no other from being kept.
func TestOneNameThatCantBeLookedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("d/bad", "1")
	b.write("d/good", "2")
	b.s.fault = func(call, name string) error {
		if call == "lstat" && name == "bad" {
			return syscall.EIO
		}
		return nil
	}
	snap := b.snapshot(SnapshotOptions{})
	again := b.snapshot(SnapshotOptions{Parent: snap.Manifest})
	b.s.fault = nil
	got := b.entries(snap.Manifest.Root)
	if !strings.HasPrefix(got["d/bad"], "failed "+reasonIO) || got["d/good"] != "file 2" || snap.Manifest.Complete || again.New {
		t.Errorf("the state is %v, %+v; once more: %v", got, snap.Manifest, again.New)
	}
	b.write("d/good", "3")
	b.restore(snap.Manifest, RestoreOptions{})
	if got := b.look(); got["d/bad"] != "file 1" || got["d/good"] != "file 2" {
		t.Errorf("restored %v", got)
	}
}
