package cas

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// landingChange is a call with every kind of change to a landingScene.
const landingChange = `echo new > a; rm b; rm -r e; rm -r d; mkdir d; echo n > d/n; rm -r t; echo t > t
	mkdir -p n/m; echo 1 > n/m/x; ln n/m/x n/y; rm link; ln -s n link; rmdir hollow; echo h > hollow
	head -c 1200000 /dev/zero > large; chmod 700 large; ln stays linked; ln stays n/linked`

// landingChanged makes a workspace and a call that has run over it. It returns what the
// workspace is before and after the landing.
func landingChanged(t *testing.T, b *bench) (call *overlayCall, parent *Manifest, before, after map[string]string) {
	t.Helper()
	b.write("stays", "stays")
	landingScene(b)
	parent = b.snap()
	before = b.look()
	call = b.call(landingChange).run()
	after = maps.Clone(before)
	for _, p := range []string{"b", "e", "e/f", "d/x", "d/y", "d/sub", "d/sub/z", "t/q"} {
		delete(after, p)
	}
	maps.Copy(after, map[string]string{
		"a": "file new\n", "d/n": "file n\n", "t": "file t\n", "n": "folder", "n/m": "folder", "n/m/x": "file 1\n", "n/y": "file 1\n",
		"linked": "file stays", "n/linked": "file stays", "link": "link n", "hollow": "file h\n", "large": "executable(0700) " + short(strings.Repeat("\x00", 1_200_000)),
	})
	return call, parent, before, after
}

// TestALandingIsAllOrNothing lets each call to the system fail in turn, by two errors
// alternately, while a layer is read and while it lands: the workspace is as it was, and once nothing fails any more the
// layer lands.
func TestALandingIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := landingBench(t)
	call, parent, before, after := landingChanged(t, b)
	faults := []syscall.Errno{syscall.EIO, syscall.ENOSPC}
	n := int64(1)
	for landFailingAt(t, b, call, parent, n, faults[n%2], before, after) {
		n++
	}
	t.Logf("each of %d calls to the system failed in turn", n-1)
	if n < 100 {
		t.Errorf("only %d calls could fail", n-1)
	}
	b.mustBeSound()
}

func landFailingAt(t *testing.T, b *bench, call *overlayCall, parent *Manifest, n int64, fault syscall.Errno, before, after map[string]string) (failed bool) {
	t.Helper()
	states := b.landed()
	var calls atomic.Int64
	what := ""
	b.s.fault = func(call, name string) error {
		if calls.Add(1) == n {
			what = call + " " + name
			return fault
		}
		return nil
	}
	var got *Landing
	plan, err := b.s.ReadLayer(t.Context(), b.ws, call.layer, LayerOptions{ChatID: "c", Limits: Limits{KeepFree: -1}})
	if err == nil {
		got, err = b.s.Land(t.Context(), b.ws, plan, landOptions(parent))
		plan.Close()
	}
	reached := calls.Load() >= n
	b.s.fault = nil
	now := b.look()
	switch {
	case err != nil && cmp.Diff(before, now) == "":
		if b.landed() != states {
			t.Fatalf("call %d (%s) failed, and the landing is recorded", n, what)
		}
		return true
	case err != nil && cmp.Diff(after, now) == "": // only what comes after the last change failed
		b.snap()
		if diff := cmp.Diff(before, b.look()); diff != "" {
			t.Fatalf("call %d (%s) failed: %v\nafter its taking back (-before +now):\n%s", n, what, err, diff)
		}
		return true
	case err != nil:
		b.snap() // what could not be taken back at once is taken back now
		if diff := cmp.Diff(before, b.look()); diff != "" {
			t.Fatalf("call %d (%s) failed: %v\nthe workspace changed (-before +now):\n%s", n, what, err, diff)
		}
		return true
	}
	if reached && len(got.Conflicts) > 0 { // what could not be read is not replaced
		for p, v := range now {
			if v != before[p] && v != after[p] {
				t.Fatalf("call %d (%s) failed, and %s is %q", n, what, p, v)
			}
		}
		has := b.entries(got.Call.Root)
		for p := range has {
			if v := now[p]; has[p] != after[p] && has[p] != v {
				t.Fatalf("call %d (%s) failed, and the call's version has %s as %q", n, what, p, has[p])
			}
		}
		b.restore(got.Before, RestoreOptions{})
		return true
	}
	if diff := cmp.Diff(after, now); diff != "" {
		t.Fatalf("call %d (%s) failed, the landing didn't: conflicts %v, left %v (-want +got):\n%s", n, what, got.Conflicts, got.Left, diff)
	}
	if reached { // what failed wasn't needed
		b.restore(got.Before, RestoreOptions{})
		return true
	}
	if b.snapshot(SnapshotOptions{Parent: got.After}).New {
		t.Fatalf("the workspace isn't what the landing recorded: %v", b.diffText(got.After.Root, b.snap().Root))
	}
	return false
}

// landed counts the states after landings.
func (b *bench) landed() int {
	b.t.Helper()
	list, err := b.s.Manifests(b.t.Context(), "c")
	if err != nil {
		b.t.Fatal(err)
	}
	n := 0
	for _, m := range list {
		if m.Source == ToolRun && m.SourceRef == "call" {
			n++
		}
	}
	return n
}

// TestKilledAtEachStepOfALanding kills a process at each of its steps: the workspace is
// taken back to what it was, and the layer can be landed again.
func TestKilledAtEachStepOfALanding(t *testing.T) {
	t.Parallel()
	b := landingBench(t)
	call, parent, before, after := landingChanged(t, b)
	step := sized(1, 11, 61)
	for n := 1; ; n += step {
		b.close()
		err := b.run("land", call.layer, parent.ID, fmt.Sprint(n))
		b.open()
		if err != nil && !killed(err) {
			t.Fatalf("step %d: %v", n, err)
		}
		if err == nil {
			if n < 100 {
				t.Errorf("only %d steps", n)
			}
			if diff := cmp.Diff(after, b.look()); diff != "" {
				t.Errorf("landed (-want +got):\n%s", diff)
			}
			break
		}
		edit := fmt.Sprint("saved after kill ", n)
		b.write("theirs", edit)
		b.snap() // takes the landing back, or finishes it
		now := b.look()
		if now["theirs"] != "file "+edit {
			t.Fatalf("step %d: the user's file is %q", n, now["theirs"])
		}
		b.remove("theirs")
		delete(now, "theirs")
		switch {
		case cmp.Diff(before, now) == "":
		case cmp.Diff(after, now) == "": // it was recorded, so that the landing is finished
			m, err := b.s.Latest(t.Context(), "c")
			if err != nil {
				t.Fatal(err)
			}
			for m.ParentID != "" && m.SourceRef != "call" {
				if m, err = b.s.Manifest(t.Context(), m.ParentID); err != nil {
					t.Fatal(err)
				}
			}
			b.restore(parent, RestoreOptions{})
		default:
			t.Fatalf("step %d: the workspace is neither as before nor as after (-before +now):\n%s", n, cmp.Diff(before, now))
		}
		b.mustBeSound()
	}
}

// TestKilledWhileLeftOutPathsLand kills a process at each step of a landing of paths that
// no state has: each of them is taken back.
func TestKilledWhileLeftOutPathsLand(t *testing.T) {
	t.Parallel()
	step := sized(1, 13, 61)
	b := landingBench(t)
	for n := 1; ; n += step {
		b.newWorkspace()
		b.ws.Bound = true
		for _, p := range []string{"package.json", "node_modules/m/i", "node_modules/m/j", "p/package.json", "p/node_modules/m/i", "r/package.json", "r/node_modules/m/i"} {
			b.write(p, "old")
		}
		b.settle()
		parent := b.snap()
		before := b.look()
		call := b.call(`echo new > node_modules/m/i; rm node_modules/m/j; mkdir node_modules/n; echo n > node_modules/n/i
			rm -r p/node_modules; mkdir p/node_modules; echo n > p/node_modules/i; rm -r r/node_modules; echo new > package.json
			mkdir q; echo > q/package.json; mkdir q/node_modules; echo n > q/node_modules/i`).run()
		b.close()
		err := b.run("landbound", call.layer, parent.ID, fmt.Sprint(n))
		b.open()
		if err == nil {
			if n < 50 {
				t.Errorf("only %d steps", n)
			}
			return
		}
		if !killed(err) {
			t.Fatalf("step %d: %v", n, err)
		}
		after := b.look()
		maps.DeleteFunc(after, func(p, _ string) bool { return strings.HasPrefix(p, stagePrefix) })
		b.snap()
		now := b.look()
		if diff := cmp.Diff(before, now); diff != "" && (after["package.json"] != "file new\n" || cmp.Diff(after, now) != "" || now["q/node_modules/i"] == "") {
			t.Fatalf("step %d: taken back (-before +now):\n%s", n, diff)
		}
		b.mustBeSound()
	}
}

// TestEditsAtEachStepOfALanding has the user edit at each step of a landing: what
// they wrote stays, and the call's version of it is in a state.
func TestEditsAtEachStepOfALanding(t *testing.T) {
	t.Parallel()
	edits := map[string]struct {
		do   func(b *bench)
		path string
		want string
	}{
		"a write in place": {func(b *bench) { b.write("a", "user") }, "a", "file user"},
		"a save by rename": {func(b *bench) { b.write(".t", "user"); _ = os.Rename(b.path(".t"), b.path("a")) }, "a", "file user"},
		"a new file of a new name": {func(b *bench) {
			if _, err := os.Lstat(b.path("n")); err != nil {
				b.write("n", "user")
			}
		}, "n", "file user"},
		"a file in a folder that goes": {func(b *bench) { b.write("e/user", "user") }, "e/user", "file user"},
		"an edit in a folder that is replaced": {func(b *bench) {
			if _, err := os.Lstat(b.path("d/x")); err == nil {
				b.write("d/x", "user")
			}
		}, "d/x", "file user"},
		"an edit in a folder that becomes a file": {func(b *bench) {
			if _, err := os.Lstat(b.path("t/q")); err == nil {
				b.write("t/q", "user")
			}
		}, "t/q", "file user"},
		"a removal": {func(b *bench) { b.remove("a") }, "a", ""},
	}
	for name, e := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := landingBench(t)
			for at := 0; ; at += sized(1, 2, 9) {
				b.newWorkspace()
				call, parent, _, after := landingChanged(t, b)
				steps, edited, where := 0, false, ""
				plan := call.plan()
				b.s.pause = func(step string) {
					// At the others another goroutine is at work in the workspace.
					if !slices.Contains([]string{"compared", "recorded", "planned", "staged", "removed", "moved", "carried"}, step) {
						return
					}
					if steps == at {
						where = step
						had := b.look()
						e.do(b)
						edited = cmp.Diff(had, b.look()) != ""
					}
					steps++
				}
				got, err := b.s.Land(t.Context(), b.ws, plan, landOptions(parent))
				b.s.pause = func(string) {}
				if err != nil {
					t.Fatalf("step %d: %v", at, err)
				}
				if steps <= at {
					if at < 5 {
						t.Errorf("only %d steps", at)
					}
					if diff := cmp.Diff(after, b.look()); diff != "" {
						t.Errorf("landed (-want +got):\n%s", diff)
					}
					return
				}
				if !edited {
					continue
				}
				look := b.look()
				if look[e.path] != e.want {
					t.Fatalf("step %d, %s: the user's %s is %q, want %q; conflicts %v", at, where, e.path, look[e.path], e.want, got.Conflicts)
				}
				for p := range look {
					if strings.HasPrefix(p, stagePrefix) {
						t.Fatalf("step %d: %s is still there", at, p)
					}
				}
				if len(got.Conflicts) > 0 {
					has := b.entries(got.Call.Root)
					for _, p := range []string{"a", "t", "hollow", "d/n", "n/m/x"} {
						if has[p] != after[p] {
							t.Errorf("step %d: the call's version has %s as %q", at, p, has[p])
						}
					}
				}
				b.mustBeSound()
			}
		})
	}
}
