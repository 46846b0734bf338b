//go:build linux || darwin

package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
)

const (
	soakEnv = "FETTLE_TEST_SOAK" // how long the test runs
	seedEnv = "FETTLE_TEST_SEED" // the choices that it makes
	keepEnv = "FETTLE_TEST_KEEP" // a folder for the worlds of failed rounds
	// diskEnv is the program to run, and makes the test on a small disk the one that has it.
	diskEnv = "FETTLE_TEST_SOAK_ON_DISK"
	// soakTime is how long it runs unless the environment sets it; the last round's
	// checks come on top.
	soakTime = 40 * time.Second
	// loadTime is the part of a round in which commands run next to each other.
	loadTime = 4 * time.Second
)

// setting is a mode of rounds.
type setting struct {
	name string
	few  bool // few files may be open
	with bool // next to a server
}

// TestSoak runs rounds until its time is over, each of the modes at least once. One world
// lasts for a few rounds, so that the damage of one would show in the next.
func TestSoak(t *testing.T) {
	t.Parallel()
	s := newSoak(t)
	for round := 0; ; round++ {
		mode := []setting{{name: "plain"}, {name: "serve", with: true}, {name: "files", few: true, with: round%2 == 0}}[round%3]
		s.round(mode, round)
		if t.Failed() || round >= 2 && time.Since(s.begun) > s.time {
			t.Logf("%d rounds in %s, %s=%d", round+1, time.Since(s.begun).Round(time.Second), seedEnv, s.seed)
			return
		}
	}
}

// soak is the test under way.
type soak struct {
	t     *testing.T
	bin   string
	time  time.Duration
	seed  uint64
	begun time.Time
	world *world
	model *model
}

// worldRounds is how many rounds a world lasts.
const worldRounds = 4

func newSoak(t *testing.T) *soak {
	s := &soak{t: t, time: soakTime, seed: rand.Uint64N(1 << 40), begun: time.Now(), model: newModel(t)}
	if text := os.Getenv(soakEnv); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", soakEnv, err)
		}
		s.time = d
	}
	if text := os.Getenv(seedEnv); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
		s.seed = n
	}
	t.Logf("%s=%d", seedEnv, s.seed)
	if s.bin = os.Getenv(diskEnv); s.bin == "" {
		s.bin = build(t)
	}
	s.begun = time.Now()
	return s
}

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "fettle")
	cmd := exec.Command(needtest.Program(t, "go"), "build", "-trimpath", "-o", bin, ".")
	cmd.Dir = needtest.Root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build fettle: %v\n%s", err, out)
	}
	return bin
}

// folder is the folder of a world: it is kept if keepEnv is set and a check has failed.
func folder(t *testing.T) string {
	keep := os.Getenv(keepEnv)
	if keep == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(keep, "soak-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the world is in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	return dir
}

// round runs a load and checks what it has left.
func (s *soak) round(mode setting, round int) {
	if s.world == nil || round%worldRounds == 0 {
		s.world = newWorld(s.t, s.bin, folder(s.t), s.model, s.seed+uint64(round))
	}
	w := s.world
	w.few = mode.few
	name := fmt.Sprintf("round %d, %s, %s=%d", round, mode.name, seedEnv, s.seed)
	ctx, cancel := context.WithTimeout(context.Background(), loadTime)
	defer cancel()
	done := make(chan struct{})
	if mode.with {
		go func() { defer close(done); w.served(ctx) }()
	} else {
		close(done)
	}
	w.load(ctx)
	cancel()
	<-done
	if w.n(3) == 0 {
		w.powerOff(true)
	}
	w.few = false
	w.check(s.model)
	w.report(name)
	s.t.Logf("%s: %d commands so far, %d ended by a signal, %d turns seen", name, len(w.log), w.killed, len(w.events))
}

// served keeps a server running with clients until ctx ends; it is killed now and then.
func (w *world) served(ctx context.Context) {
	for ctx.Err() == nil {
		s, err := w.serve()
		if err != nil {
			w.fault("%v", err)
			return
		}
		clients, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() { defer close(done); s.clients(clients) }()
		select {
		case <-ctx.Done():
		case <-s.p.ended:
		case <-time.After(time.Duration(500+w.n(2500)) * time.Millisecond):
			if w.n(2) == 0 {
				s.p.signal(syscall.SIGKILL)
			}
		}
		if w.n(2) == 0 {
			s.p.signal(syscall.SIGKILL)
		}
		stop()
		s.stop()
		<-done
	}
}
