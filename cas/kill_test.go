package cas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKilledProcessesBesideACollector kills processes at any moment, 200 times at
// its full size: two that take states of their folders and bring them back, and
// one that collects what they drop, each of which pauses at each of its steps.
// Whatever was going on, the store is sound, the state that each chat has is
// whole, and its folder can be brought to it; a person's edit of the time since
// stays.
func TestKilledProcessesBesideACollector(t *testing.T) {
	t.Parallel()
	b := memoryBench(t)
	folders := map[string]*Workspace{"x": b.ws, "y": b.folder(memoryDir(t))}
	t.Cleanup(func() {
		for _, ws := range folders {
			_ = errors.Join(os.Remove(activeOf(ws.Path)), os.RemoveAll(activeOf(ws.Path)+".tmp"))
		}
	})
	kills := sized(200, 18, 6)
	r := rand.New(rand.NewPCG(5, 6))
	done := make(map[string]int)
	for round, killed := 0, 0; killed < kills; round++ {
		b.close()
		children := make(map[string]*exec.Cmd)
		for chat, ws := range folders {
			b.ws = ws
			children[chat] = b.start("work", chat)
		}
		children["collector"] = b.start("collectwork", folders["x"].Path, folders["y"].Path)
		// All of them, in any order, at moments that lie close together: every
		// other time once they have got somewhere, however busy the machine is.
		if round%2 == 0 {
			waitForWork(t, folders)
		}
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		for _, cmd := range children {
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			killed++
		}
		for name, cmd := range children {
			if err := cmd.Wait(); !killedBySignal(err) {
				t.Errorf("%s ended by itself: %v: %s", name, err, cmd.Stderr)
			}
		}
		b.open()
		b.mustBeSound()
		for chat, ws := range folders {
			b.ws = ws
			done[chat] += b.mustComeBack(chat)
		}
		if t.Failed() {
			t.Fatalf("after %d kills", killed)
		}
	}
	t.Logf("%d kills, states taken: %v", kills, done)
	if done["x"] == 0 || done["y"] == 0 {
		t.Error("the children were killed before they had done anything")
	}
}

// waitForWork waits until the children have noted new states.
func waitForWork(t *testing.T, folders map[string]*Workspace) {
	t.Helper()
	limit := time.After(childPatience)
	for _, ws := range folders {
		was, _ := os.ReadFile(activeOf(ws.Path))
		for {
			is, err := os.ReadFile(activeOf(ws.Path))
			if err == nil && string(is) != string(was) {
				break
			}
			select {
			case <-limit:
				t.Fatal("the children do nothing")
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

func killedBySignal(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() != 1
}

func (b *bench) start(args ...string) *exec.Cmd {
	b.t.Helper()
	cmd := b.command(args...)
	cmd.Stderr = new(strings.Builder)
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	return cmd
}

// activeOf is the file in which a child notes the state that its chat has.
func activeOf(folder string) string { return folder + ".active" }

// mustComeBack checks a chat's active state after a crash, and brings its folder
// to it. It tells how many states the chat has.
func (b *bench) mustComeBack(chat string) int {
	b.t.Helper()
	edit := fmt.Sprint("a person's edit ", time.Now().UnixNano())
	b.write("theirs", edit)
	id, err := os.ReadFile(activeOf(b.ws.Path))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		b.t.Fatal(err)
	}
	active, err := b.s.Manifest(b.t.Context(), string(id))
	if err != nil {
		b.t.Errorf("the active state of %s: %v", chat, err)
		return 0
	}
	want := b.entries(active.Root) // fails where it isn't whole
	if got := b.entries(b.snap().Root)["theirs"]; got != "file "+edit {
		b.t.Errorf("in %s a person's edit became %q", chat, got)
	}
	b.restore(active, RestoreOptions{})
	if diff := cmp.Diff(want, b.look()); diff != "" {
		b.t.Errorf("%s came back otherwise (-want +got):\n%s", chat, diff)
	}
	list, err := b.s.Manifests(b.t.Context(), chat)
	if err != nil {
		b.t.Fatal(err)
	}
	return len(list)
}

// pauses lets a process stand still at each of its steps for a moment.
func pauses(s *Store) {
	s.pause = func(string) { time.Sleep(time.Duration(rand.N(3_000)) * time.Microsecond) }
	s.fault = func(string, string) error {
		if rand.N(8) == 0 {
			time.Sleep(time.Duration(rand.N(300)) * time.Microsecond)
		}
		return nil
	}
}

// childWork edits a folder, takes its state, and now and then brings an earlier
// one back, until it is killed.
func childWork(ctx context.Context, s *Store, ws *Workspace, chat string) error {
	pauses(s)
	var states []*Manifest
	keep := func(m *Manifest) error {
		states = append(states, m)
		states = states[max(len(states)-2, 0):] // the collector leaves so many
		tmp := activeOf(ws.Path) + ".tmp"
		return errors.Join(os.WriteFile(tmp, []byte(m.ID), 0o600), os.Rename(tmp, activeOf(ws.Path)))
	}
	for i := 0; ctx.Err() == nil; i++ {
		n := rand.N(1000)
		err := errors.Join(
			os.MkdirAll(filepath.Join(ws.Path, "d", fmt.Sprint(n%3)), 0o700),
			os.WriteFile(filepath.Join(ws.Path, "d", fmt.Sprint(n%3), "f"), fmt.Appendf(nil, "content %d", n%7), 0o600),
			os.WriteFile(filepath.Join(ws.Path, fmt.Sprint("f", n%5)), []byte(strings.Repeat(fmt.Sprint(n%7), 2000)), 0o600),
			os.RemoveAll(filepath.Join(ws.Path, fmt.Sprint("f", (n+1)%5))),
			os.WriteFile(filepath.Join(ws.Path, "large"), []byte(strings.Repeat(fmt.Sprint(n%4), smallBlob+1)), 0o600),
		)
		if err != nil {
			return err
		}
		snap, err := s.Snapshot(ctx, ws, childSnapshot(chat))
		if err != nil {
			return err
		}
		if err := keep(snap.Manifest); err != nil {
			return err
		}
		if i%2 == 0 {
			continue
		}
		back, err := s.Materialize(ctx, ws, states[0], RestoreOptions{
			About: About{ChatID: chat, Source: Restored}, Limits: Limits{KeepFree: -1},
		})
		if err != nil {
			return err
		}
		if err := keep(back.After); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// childCollectWork collects until it is killed. Needed are each chat's last
// states, those that came since it looked, and the one that is noted as active.
func childCollectWork(ctx context.Context, s *Store, folders []string) error {
	pauses(s)
	for ctx.Err() == nil {
		last := make(map[string]string)
		for _, chat := range []string{"x", "y", "c"} {
			list, err := s.Manifests(ctx, chat)
			if err != nil {
				return err
			}
			const kept = 6
			if len(list) > kept {
				last[chat] = list[len(list)-kept].ID
			}
		}
		active := make(map[string]bool)
		for _, f := range folders {
			id, err := os.ReadFile(activeOf(f))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			active[string(id)] = true
		}
		_, err := s.GC(ctx, GCOptions{Live: fixed(func(m *Manifest) bool { return active[m.ID] || m.ID >= last[m.ChatID] })})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
