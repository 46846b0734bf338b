package cas

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"
)

// landingPaths are what random calls and users write to: few, so that they meet.
var landingPaths = []string{"a", "b", "d", "d/x", "d/y", "d/s", "d/s/z", "e", "e/x"}

// merged is what a call sees: a model of the overlay, from which an upper layer is made.
type merged struct {
	t     *testing.T
	upper string
	lower string
}

// write has the call write a file, making the folders above it as mkdir -p does.
func (m *merged) write(path, content string) {
	up, _ := split(path)
	m.folder(up)
	at := filepath.Join(m.upper, path)
	m.must(os.RemoveAll(at), os.WriteFile(at, []byte(content), 0o644))
}

// folder makes sure that the upper layer has a folder. It replaces a file, or what was
// removed, by an opaque one.
func (m *merged) folder(path string) {
	if path == "" {
		return
	}
	up, _ := split(path)
	m.folder(up)
	at := filepath.Join(m.upper, path)
	info, err := os.Lstat(at)
	if err == nil && info.IsDir() {
		return
	}
	low, lerr := os.Lstat(filepath.Join(m.lower, path))
	hidden := err == nil || m.hidden(path)
	m.must(os.RemoveAll(at), os.Mkdir(at, 0o755))
	switch {
	case hidden || lerr == nil && !low.IsDir():
		m.must(unix.Setxattr(at, attrOpaque, []byte("y"), 0))
	case lerr == nil:
		m.must(unix.Setxattr(at, attrOrigin, nil, 0))
	}
}

// hidden reports whether a folder above hides what the workspace has under a path.
func (m *merged) hidden(path string) bool {
	for path != "" {
		path, _ = split(path)
		var value [4]byte
		if n, err := unix.Getxattr(filepath.Join(m.upper, path), attrOpaque, value[:]); path != "" && err == nil && string(value[:n]) == "y" {
			return true
		}
		if path != "" {
			if low, err := os.Lstat(filepath.Join(m.lower, path)); err != nil || !low.IsDir() {
				return true
			}
		}
	}
	return false
}

// remove has the call remove a path, if there is one.
func (m *merged) remove(path string) {
	up, _ := split(path)
	at := filepath.Join(m.upper, path)
	_, uerr := os.Lstat(at)
	_, lerr := os.Lstat(filepath.Join(m.lower, path))
	for p := up; p != ""; p, _ = split(p) { // its folder may be gone, or a file
		info, err := os.Lstat(filepath.Join(m.upper, p))
		low, lowErr := os.Lstat(filepath.Join(m.lower, p))
		if err == nil && !info.IsDir() || err != nil && (lowErr != nil || !low.IsDir()) {
			return
		}
	}
	if lerr != nil || m.hidden(path) {
		if uerr == nil {
			m.must(os.RemoveAll(at))
		}
		return
	}
	m.folder(up)
	m.must(os.RemoveAll(at), unix.Mknod(at, unix.S_IFCHR|0o600, 0))
}

func (m *merged) must(errs ...error) {
	m.t.Helper()
	for _, err := range errs {
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// TestNothingOfTheUserIsLost lets a call and a user do random things to few paths: the
// user at any moment from the mount to the end of the landing. What the user wrote last to
// a path is there, or, if it was not changed after the mount, in the state before; what
// the call wrote is there, or in the call's version; and undoing brings back what was.
func TestNothingOfTheUserIsLost(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can make the device that marks a removal")
	}
	b := landingBench(t)
	rounds := sized(5000, 300, raceRounds)
	for round := range rounds {
		randomLanding(t, b, rand.New(rand.NewPCG(7, uint64(round))), round)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	b.mustBeSound()
}

func randomLanding(t *testing.T, b *bench, r *rand.Rand, round int) {
	b.newWorkspace()
	serial := 0
	user := make(map[string]bool) // contents that the user wrote since the mount
	over := make(map[string]bool) // contents that the user replaced or removed
	edit := func(mine bool) {
		had := b.look()
		defer func() {
			now := b.look()
			for p, v := range had {
				if now[p] != v {
					over[v] = true
				}
			}
		}()
		path := landingPaths[r.IntN(len(landingPaths))]
		serial++
		switch r.IntN(4) {
		case 0:
			_ = os.RemoveAll(b.path(path))
		case 1: // a save by rename
			tmp := b.path("." + filepath.Base(path))
			if os.WriteFile(tmp, fmt.Appendf(nil, "user %d", serial), 0o644) != nil || os.Rename(tmp, b.path(path)) != nil {
				_ = os.Remove(tmp)
				return
			}
			user[fmt.Sprintf("file user %d", serial)] = mine
		default:
			_ = os.MkdirAll(filepath.Dir(b.path(path)), 0o755)
			if os.WriteFile(b.path(path), fmt.Appendf(nil, "user %d", serial), 0o644) == nil {
				user[fmt.Sprintf("file user %d", serial)] = mine
			}
		}
	}
	for range 3 + r.IntN(8) {
		edit(false)
	}
	parent := b.snap()
	for range r.IntN(3) {
		edit(false)
	}
	b.settle()
	layer := filepath.Join(filepath.Dir(b.ws.Path), fmt.Sprint("layer-", round))
	if _, err := NewLayer(layer, b.ws, LayerMeta{ChatID: "c", CallID: "call", ManifestID: parent.ID}); err != nil {
		t.Fatal(err)
	}
	m := &merged{t: t, upper: filepath.Join(layer, layerUpper), lower: b.ws.Path}
	for i := range 1 + r.IntN(5) {
		path := landingPaths[r.IntN(len(landingPaths))]
		switch r.IntN(3) {
		case 0:
			m.remove(path)
		case 1:
			m.remove(path)
			m.folder(path)
		default:
			m.remove(path)
			m.write(path, fmt.Sprint("call ", i))
		}
	}
	during := r.IntN(3)
	for range during {
		edit(true)
	}
	plan, err := b.s.ReadLayer(t.Context(), b.ws, layer, LayerOptions{ChatID: "c", Limits: Limits{KeepFree: -1}})
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	defer plan.Close()
	if r.IntN(2) == 0 {
		edit(true)
		during++
	}
	late, steps := r.IntN(24), 0
	last := b.look()
	b.s.pause = func(step string) {
		if !slices.Contains([]string{"compared", "recorded", "planned", "staged", "removed", "moved"}, step) {
			return
		}
		if steps == late {
			last = b.look()
			edit(true)
			was := last
			last = b.look()
			if cmp.Diff(was, last) != "" {
				during++
			}
		}
		steps++
	}
	was := b.look()
	got, err := b.s.Land(t.Context(), b.ws, plan, landOptions(parent))
	b.s.pause = func(string) {}
	if err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	now := b.look()
	checkUsers(t, b, got, user, over, was, last, now)
	if during == 0 && len(got.Conflicts) > 0 {
		t.Errorf("conflicts without an edit: %+v", got.Conflicts)
	}
	if len(got.Changes) == 0 || during > 0 {
		return
	}
	b.restore(got.Before, RestoreOptions{Active: got.After, Paths: pathsOf(got.Changes), Exact: true})
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("undone (-before +now), changes %v:\n%s", pathsOf(got.Changes), diff)
	}
}

func pathsOf(changes []Change) (paths []string) {
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// checkUsers checks that everything that the workspace had when the landing began, or that
// the user wrote while it was under way, is there or was replaced by the call. What the
// user wrote since the mount is never replaced.
func checkUsers(t *testing.T, b *bench, got *Landing, user, over map[string]bool, was, last, now map[string]string) {
	t.Helper()
	before := map[string]string{}
	if got.Before != nil {
		before = b.entries(got.Before.Root)
	}
	changed := scopeOf(append([]string{}, pathsOf(got.Changes)...))
	seen := maps.Clone(was)
	maps.Copy(seen, last)
	for path, v := range seen {
		if !strings.HasPrefix(v, "file user") || strings.HasPrefix(path, stagePrefix) || now[path] == v || over[v] {
			continue
		}
		switch {
		case user[v]:
			t.Errorf("%s had %q, which the user wrote during the call, and has %q now", path, v, now[path])
		case before[path] != v:
			t.Errorf("%s had %q, which no state has: the state before has %q", path, v, before[path])
		case !changed.covers(path):
			t.Errorf("%s had %q, has %q now, and no change of it is reported", path, v, now[path])
		}
	}
}
