package cas

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// names are few, so that edits meet, and awkward.
func names() []string {
	all := []string{"a", "b", "A", ".hidden", "with space", "-dash", ".git", ".fettleignore", "node_modules", "ünï", "u\u0308ni\u0308", "*", "con"}
	if runtime.GOOS == "linux" {
		all = append(all, "new\nline", "back\\slash", "not\xffutf8", strings.Repeat("n", 255), "tab\t", `quo"te`)
	}
	return all
}

// modes let the owner list and change a folder, who need not be root. They include bits
// that no umask gives.
func modes() []os.FileMode {
	return []os.FileMode{
		0o644, 0o755, 0o600, 0o700, 0o664, 0o775, 0o777, 0o711,
		os.ModeSetgid | 0o775, os.ModeSticky | 0o777, os.ModeSetuid | 0o755,
	}
}

// edit does one random thing to a folder, whatever is there.
func edit(t *rapid.T, dir string) {
	depth := rapid.IntRange(1, 3).Draw(t, "depth")
	path := dir
	for range depth {
		path = filepath.Join(path, rapid.SampledFrom(names()).Draw(t, "name"))
	}
	up := filepath.Dir(path)
	clear := func() {
		for at := up; at != dir; at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && !info.IsDir() {
				must(t, os.Remove(at))
			}
		}
		must(t, os.MkdirAll(up, 0o755))
	}
	what := rapid.IntRange(0, 7).Draw(t, "what")
	if what == 0 || what == 3 {
		for at := up; at != dir; at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err != nil || !info.IsDir() {
				return // through a link it would be another folder's
			}
		}
	}
	switch what {
	case 0:
		must(t, os.RemoveAll(path))
	case 1:
		clear()
		must(t, os.RemoveAll(path))
		must(t, os.Mkdir(path, 0o755))
	case 2:
		if runtime.GOOS == "windows" {
			return
		}
		clear()
		must(t, os.RemoveAll(path))
		must(t, os.Symlink(rapid.SampledFrom([]string{"a", "..", "/etc/passwd", ".", "loop", "not\xffutf8"}).Draw(t, "target"), path))
	case 3:
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink == 0 {
			must(t, os.Chmod(path, rapid.SampledFrom(modes()).Draw(t, "mode")))
		}
	default:
		clear()
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
			must(t, os.RemoveAll(path))
		}
		content := rapid.SampledFrom([]string{"", "one", "two", "six", "a longer content", strings.Repeat("x", 5000)}).Draw(t, "content")
		must(t, os.WriteFile(path, []byte(content), 0o644))
	}
}

func must(t *rapid.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// TestAnyStateComesBack is the promise of the package: after any edits, in any
// order, every state that was taken can be given back, byte for byte and mode
// for mode, and Diff tells exactly what differs.
func TestAnyStateComesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		if round++; raceEnabled && round > raceRounds {
			return
		}
		dir := filepath.Join(t.TempDir(), fmt.Sprint(round))
		must(rt, os.Mkdir(dir, 0o755))
		b.ws = b.folder(dir)
		type state struct {
			m    *Manifest
			look map[string]string
		}
		var states []state
		active := (*Manifest)(nil)
		for range rapid.IntRange(2, 6).Draw(rt, "steps") {
			for range rapid.IntRange(0, 8).Draw(rt, "edits") {
				edit(rt, dir)
			}
			look := b.look()
			snap := b.snapshot(SnapshotOptions{About: About{ChatID: "c", Source: ToolRun}, Parent: active})
			if diff := cmp.Diff(look, b.entries(snap.Manifest.Root)); diff != "" {
				rt.Fatalf("the state isn't the folder (-folder +state):\n%s", diff)
			}
			states = append(states, state{snap.Manifest, look})
			active = snap.Manifest
			if rapid.Bool().Draw(rt, "restore") {
				to := rapid.SampledFrom(states).Draw(rt, "to")
				got := b.restore(to.m, RestoreOptions{Active: active})
				if diff := cmp.Diff(to.look, b.look()); diff != "" {
					rt.Fatalf("restored (-want +got):\n%s", diff)
				}
				if got.After.Root != to.m.Root {
					rt.Fatalf("restored root %s, want %s", got.After.Root, to.m.Root)
				}
				active = got.After
				b.treesMustHold(rt)
			}
			if again := b.snapshot(SnapshotOptions{Parent: active}); again.New {
				rt.Fatalf("an unchanged folder gave another state: %v", b.diffText(active.Root, again.Manifest.Root))
			}
		}
		x, y := rapid.SampledFrom(states).Draw(rt, "x"), rapid.SampledFrom(states).Draw(rt, "y")
		if diff := cmp.Diff(naiveDiff(x.look, y.look), b.diffText(x.m.Root, y.m.Root)); diff != "" {
			rt.Fatalf("Diff (-naive +got):\n%s", diff)
		}
		must(rt, b.s.Forget(t.Context(), b.ws))
		if again := b.snapshot(SnapshotOptions{Parent: active}); again.New {
			rt.Fatalf("without the cache the folder gave another state: %v", b.diffText(active.Root, again.Manifest.Root))
		}
	})
}

// treesMustHold checks that what is known of the folder's trees after a restore,
// which makes none of them anew, is what they are.
func (b *bench) treesMustHold(rt *rapid.T) {
	f, release, err := b.s.folder(b.t.Context(), b.ws.key())
	must(rt, err)
	defer release()
	for path, r := range f.index.dirs.all() {
		if tree := Sum(encodeTree(r.sorted())); tree != r.tree {
			rt.Fatalf("the tree of %q is %s, and noted as %s", path, tree, r.tree)
		}
	}
}

// naiveDiff compares two looks path by path.
func naiveDiff(x, y map[string]string) []string {
	var out []string
	all := make(map[string]string)
	for p := range x {
		all[p] = ""
	}
	for p := range y {
		all[p] = ""
	}
	for _, p := range sortedKeys(all) {
		was, inX := x[p]
		is, inY := y[p]
		switch {
		case !inX:
			out = append(out, "A "+p)
		case !inY:
			out = append(out, "D "+p)
		case was != is:
			out = append(out, "M "+p)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return slices.Compare(strings.Split(a[2:], "/"), strings.Split(b[2:], "/")) })
	return out
}
