package cas

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crashStep says how far apart the moments of a crash are that are tried: at the
// tests' full size it is each.
func crashStep() int { return sized(1, 3, 37) }

// TestKilledRestore kills a restore at each of its calls and steps: the next
// operation finds the folder as it was, or as it was wanted.
func TestKilledRestore(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	finished, n := 0, 1
	for ; finished == 0; n += crashStep() {
		b.ws = b.folder(memoryDir(t))
		before, target, to := b.scene()
		restores := b.restores()
		b.close()
		err := b.run("restore", to.ID, fmt.Sprint(n))
		b.open()
		if err == nil {
			finished++
		} else if !killed(err) {
			t.Fatalf("killed at %d: %v", n, err)
		}
		// A person's work of the meantime stays, whatever is found.
		b.write("meanwhile", "by a person")
		b.write("hers/too", "by a person")
		b.snap()
		now := b.look()
		for _, p := range []string{"meanwhile", "hers", "hers/too"} {
			delete(now, p)
		}
		want := before
		if now["edited"] == target["edited"] {
			want = target
			restores++
		}
		if got := b.restores(); got != restores {
			t.Fatalf("killed at %d: %d restores are recorded instead of %d", n, got, restores)
		}
		if diff := cmp.Diff(want, now); diff != "" {
			t.Fatalf("killed at %d, the folder is neither (-want +got):\n%s", n, diff)
		}
		b.remove("meanwhile")
		b.remove("hers")
		b.restore(to, RestoreOptions{})
		if diff := cmp.Diff(target, b.look()); diff != "" {
			t.Fatalf("killed at %d, then restored (-want +got):\n%s", n, diff)
		}
	}
	if n < 100 {
		t.Errorf("only %d moments", n)
	}
	t.Logf("killed at %d moments", n/crashStep())
	b.mustBeSound()
	b.mustCount()
}

// restores is how many restores are recorded.
func (b *bench) restores() (n int) {
	b.t.Helper()
	list, err := b.s.Manifests(b.t.Context(), "c")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range list {
		if m.Source == Restored {
			n++
		}
	}
	return n
}

// mustCount compares the count that is kept with what there is.
func (b *bench) mustCount() {
	b.t.Helper()
	kept, err := b.s.Summary(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	found, err := b.s.Stats(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if kept.States != found.Manifests {
		b.t.Errorf("%d states are counted, and %d are there", kept.States, found.Manifests)
	}
}

// What a restore is recorded as is on its way while names are moved; until all is
// done nobody sees it, and it goes with a restore that is taken back.
func TestARestoreIsSeenWhenItIsDone(t *testing.T) {
	t.Parallel()
	for name, edited := range map[string]string{"done": "", "taken back": "saved at this very moment"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			_, _, to := b.scene()
			recorded := make(chan struct{})
			b.s.pause = func(step string) {
				switch step {
				case "recorded":
					defer close(recorded)
					last, err := b.s.Latest(t.Context(), "c")
					if err != nil || last.Source == Restored || b.restores() != 0 {
						t.Errorf("the restore is seen before it is done: %+v, %v", last, err)
					}
				case "removed": // in the middle of it
					<-recorded
					if edited != "" {
						b.write("edited", edited)
					}
				}
			}
			got, err := b.tryRestore(to, RestoreOptions{About: About{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}})
			b.s.pause = func(string) {}
			want := 0
			if edited == "" {
				want = 1
				if last, lerr := b.s.Latest(t.Context(), "c"); err != nil || lerr != nil || last.ID < got.After.ID {
					t.Errorf("the restore isn't there: %v, %v", err, lerr)
				}
			} else if err == nil {
				t.Error("a person's edit was overwritten")
			}
			if n := b.restores(); n != want {
				t.Errorf("%d restores are recorded, want %d", n, want)
			}
			b.mustCount()
		})
	}
}

// TestEditDuringACrash changes what a killed restore had in its hands.
func TestEditDuringACrash(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	for n := 60; ; n += 7 * crashStep() {
		b.ws = b.folder(memoryDir(t))
		_, _, to := b.scene()
		b.close()
		err := b.run("restore", to.ID, fmt.Sprint(n))
		b.open()
		if err == nil {
			return
		}
		if !killed(err) {
			t.Fatal(err)
		}
		b.write("edited", "saved during the crash")
		b.remove("same")
		b.snap()
		got := b.look()
		if got["edited"] != "file saved during the crash" || got["same"] != "" {
			t.Fatalf("killed at %d: a person's work was reverted: %v", n, got)
		}
		for p := range got {
			if strings.HasPrefix(p, stagePrefix) {
				t.Fatalf("killed at %d: %s is left", n, p)
			}
		}
	}
}

func TestKilledSnapshot(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	for n := 1; ; n += crashStep() {
		b.ws = b.folder(memoryDir(t))
		b.scene()
		b.write("large", fmt.Sprint(n, strings.Repeat("x", smallBlob)))
		b.write("small", fmt.Sprint(n))
		want := b.look()
		b.close()
		err := b.run("snapshot", fmt.Sprint(n))
		b.open()
		if err != nil && !killed(err) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.entries(b.snap().Root)); diff != "" {
			t.Fatalf("killed at %d (-folder +state):\n%s", n, diff)
		}
		if err == nil {
			break
		}
	}
	b.mustBeSound()
}

func TestKilledCollection(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	for n := 1; ; n += 1 + crashStep()/6 {
		b.ws = b.folder(memoryDir(t))
		b.scene()
		kept := b.snap()
		want := b.look()
		for i := range 3 {
			b.write("small", fmt.Sprint("dead", n, i))
			b.write("large", fmt.Sprint("dead", n, i, strings.Repeat("x", smallBlob)))
			b.snapshot(SnapshotOptions{About: About{ChatID: "dead"}})
		}
		b.close()
		err := b.run("gc", fmt.Sprint(n))
		b.open()
		if err != nil && !killed(err) {
			t.Fatal(err)
		}
		b.mustBeSound()
		if plan := b.restore(kept, RestoreOptions{Plan: true}); len(plan.Changes) != 2 {
			t.Fatalf("killed at %d: %v %v %v", n, b.diffText(plan.Before.Root, kept.Root), want, b.look())
		}
		b.restore(kept, RestoreOptions{})
		if diff := cmp.Diff(want, b.look()); diff != "" {
			t.Fatalf("killed at %d (-want +got):\n%s", n, diff)
		}
		if err == nil {
			break
		}
	}
	if _, err := b.s.GC(t.Context(), GCOptions{Live: fixed(func(m *Manifest) bool { return false })}); err != nil {
		t.Fatal(err)
	}
	stats, err := b.s.Stats(t.Context())
	if err != nil || stats.Files != 0 || stats.Blobs != 0 {
		t.Errorf("after all was dropped: %+v, %v", stats, err)
	}
	left, err := b.s.temps()
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestProcessesBesideACollector lets two processes take and bring back states
// of the same contents while a third one collects what they drop.
func TestProcessesBesideACollector(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	b.close()
	rounds := "12"
	if raceEnabled {
		rounds = "5"
	}
	var children []*exec.Cmd
	var outs []*strings.Builder
	for _, args := range [][]string{{"edits", "x", rounds}, {"edits", "y", rounds}, {"collect", rounds}} {
		b.ws = b.folder(memoryDir(t))
		cmd := b.command(args...)
		out := new(strings.Builder)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children, outs = append(children, cmd), append(outs, out)
	}
	for i, cmd := range children {
		if err := cmd.Wait(); err != nil {
			t.Errorf("child %d: %v: %s", i, err, outs[i])
		}
	}
	b.open()
	b.mustBeSound()
	if left, err := b.s.journals(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("journals are left: %v, %v", left, err)
	}
}
