package cas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// childEnv makes the test binary a child process: task, data directory,
// workspace, arguments, with "|" between.
const childEnv = "CAS_TEST_CHILD"

// childPatience bounds a child's work on a busy machine.
const childPatience = 2 * time.Minute

func runChild(task string) int {
	ctx, cancel := context.WithTimeout(context.Background(), childPatience)
	defer cancel()
	if err := child(ctx, strings.Split(task, "|")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func child(ctx context.Context, args []string) error {
	store := kv.Open(filepath.Join(args[1], "store"), kv.Options{Wait: childPatience})
	s := Open(Options{Dir: args[1], KV: store})
	root, err := os.OpenRoot(args[2])
	if err != nil {
		return err
	}
	ws := &Workspace{Path: args[2], Root: root}
	switch args[0] {
	case "restore": // manifest, n: killed at the n-th step
		err = childRestore(ctx, s, ws, args[3], args[4])
	case "snapshot": // n
		if err = dieAt(s, args[3]); err == nil {
			_, err = s.Snapshot(ctx, ws, childSnapshot(args[2]))
		}
	case "gc": // n
		if err = dieAt(s, args[3]); err == nil {
			_, err = s.GC(ctx, GCOptions{Live: fixed(func(m *Manifest) bool { return m.ChatID != "dead" })})
		}
	case "edits": // chat, rounds: snapshots of a folder that it changes
		err = childEdits(ctx, s, ws, args[3], args[4])
	case "memory": // prints the most anonymous memory that work on the folder took
		err = childMemory(ctx, s, ws)
	case "work": // chat
		err = childWork(ctx, s, ws, args[3])
	case "collectwork": // folders
		err = childCollectWork(ctx, s, args[3:])
	case "overlay": // layer, script
		err = childOverlay(ctx, ws.Path, args[3], strings.Join(args[4:], "|"))
	case "land", "landbound": // layer, manifest, n: killed at the n-th step
		ws.Bound = args[0] == "landbound"
		err = childLand(ctx, s, ws, args[3], args[4], args[5])
	case "collect": // rounds
		err = childCollect(ctx, s, args[3])
	default:
		err = fmt.Errorf("no such task %q", args[0])
	}
	return errors.Join(err, root.Close(), store.Close())
}

func childSnapshot(chat string) SnapshotOptions {
	return SnapshotOptions{About: About{ChatID: chat, Source: ToolRun}, Limits: Limits{KeepFree: -1}}
}

// dieAt kills the process, as kill -9 does, at the n-th call to the system or
// step of an operation.
//
// "pause" in front of n counts only the steps.
func dieAt(s *Store, text string) error {
	text, onlySteps := strings.CutPrefix(text, "pause")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	var calls atomic.Int64
	die := func() {
		if calls.Add(1) == n {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			panic(fmt.Sprint("not killed: ", err))
		}
	}
	if !onlySteps {
		s.fault = func(string, string) error { die(); return nil }
	}
	s.pause = func(string) { die() }
	return nil
}

func childRestore(ctx context.Context, s *Store, ws *Workspace, id, n string) error {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return err
	}
	if err := dieAt(s, n); err != nil {
		return err
	}
	_, err = s.Materialize(ctx, ws, m, RestoreOptions{
		About: About{ChatID: "c", Source: Restored}, Limits: Limits{KeepFree: -1},
	})
	return err
}

func childLand(ctx context.Context, s *Store, ws *Workspace, layer, id, n string) error {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return err
	}
	if err := dieAt(s, n); err != nil {
		return err
	}
	p, err := s.ReadLayer(ctx, ws, layer, LayerOptions{ChatID: "c", Limits: Limits{KeepFree: -1}})
	if err != nil {
		return err
	}
	defer p.Close()
	_, err = s.Land(ctx, ws, p, LandOptions{About: About{ChatID: "c", Source: ToolRun, SourceRef: "call"}, Parent: m})
	return err
}

func childEdits(ctx context.Context, s *Store, ws *Workspace, chat, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	s.pause = func(string) { time.Sleep(time.Millisecond) }
	var first *Manifest
	for i := range n {
		for k := range 5 {
			// Both children write the same contents, and come back to older ones
			// that a collection may just be about to remove.
			text := fmt.Sprintf("content %d", (i+k)%7)
			if err := os.WriteFile(filepath.Join(ws.Path, fmt.Sprint("f", k)), []byte(text), 0o600); err != nil {
				return err
			}
		}
		snap, err := s.Snapshot(ctx, ws, childSnapshot(chat))
		if err != nil {
			return err
		}
		if first == nil {
			first = snap.Manifest
		}
		// What was recorded must be whole while the collector is at work.
		for l, err := range s.Walk(ctx, snap.Manifest.Root) {
			if err != nil {
				return err
			}
			if err := s.Read(ctx, new(strings.Builder), l.Entry); err != nil {
				return err
			}
		}
		if i%3 == 2 {
			if _, err := s.Materialize(ctx, ws, first, RestoreOptions{About: About{ChatID: chat, Source: Restored}, Limits: Limits{KeepFree: -1}}); err != nil {
				return err
			}
		}
	}
	return nil
}

func childCollect(ctx context.Context, s *Store, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	s.pause = func(string) { time.Sleep(time.Millisecond) }
	for i := range n {
		if _, err := s.GC(ctx, GCOptions{Live: everyOther(s, i%2)}); err != nil {
			return err
		}
	}
	return nil
}

// everyOther keeps the first and the newest manifest of each chat, and every other one
// between them. Another process may be reading what the newest one names.
func everyOther(s *Store, odd int) func(context.Context) (func(*Manifest) bool, error) {
	return func(ctx context.Context) (func(*Manifest) bool, error) {
		all, err := s.allManifests(ctx, func(err error) error { return err })
		if err != nil {
			return nil, err
		}
		newest := make(map[string]string) // chat to id: ids grow
		for _, m := range all {
			newest[m.ChatID] = m.ID
		}
		seen := make(map[string]int)
		return func(m *Manifest) bool {
			seen[m.ChatID]++
			return seen[m.ChatID] == 1 || m.ID == newest[m.ChatID] || seen[m.ChatID]%2 == odd
		}, nil
	}
}

func childMemory(ctx context.Context, s *Store, ws *Workspace) error {
	var peak atomic.Int64
	end := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			peak.Store(max(peak.Load(), rssAnon()))
			select {
			case <-end:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	o := childSnapshot("c")
	for range 2 {
		snap, err := s.Snapshot(ctx, ws, o)
		if err != nil {
			return err
		}
		o.Parent = snap.Manifest
	}
	into, err := os.MkdirTemp(filepath.Dir(ws.Path), "fettle-cas-*")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	_, err = s.Materialize(ctx, &Workspace{Path: into, Root: root}, o.Parent, RestoreOptions{About: o.About, Limits: o.Limits})
	close(end)
	looking.Wait()
	fmt.Println(peak.Load())
	return errors.Join(err, root.Close(), os.RemoveAll(into))
}

// run starts a child and gives its end.
func (b *bench) run(args ...string) error {
	cmd := b.command(args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, out)
	}
	return nil
}

func (b *bench) command(args ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command(exe)
	all := append([]string{args[0], b.dir, b.ws.Path}, args[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(all, "|"))
	return cmd
}

// killed tells a child that ended as by kill -9 from one that failed.
func killed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() != 1
}

// close lets a child have the store.
func (b *bench) close() {
	b.t.Helper()
	if err := b.kv.Close(); err != nil {
		b.t.Fatal(err)
	}
}
