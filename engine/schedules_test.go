package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long a schedule waits for an operation that it has let run. One that
// needs longer, or waits for a lock, runs on while others are advanced. It decides which
// interleavings are tried, and never whether one is right.
const patience = 2 * time.Millisecond

// claimed is the pause at which a fold holds a lock that its goroutine's end doesn't
// release, as a process's end does. Processes are killed there by other tests.
const claimed = "fold:claimed"

// operation is a kind of operation in a schedule.
type operation struct {
	name string
	// mortal operations may be killed at their pauses: they pause in their own
	// goroutine, and every lock that they hold is released as it ends.
	mortal bool
	// prepare makes the data that the operation needs, alone, and returns the operation
	// and the condition that the ledger must meet once it has succeeded.
	prepare func(w *scene) deed
}

// deed is one operation, ready to run.
type deed struct {
	do   func(ctx context.Context, a *actor) error
	done func() // enters the success into the ledger
	lost func() // enters that the operation may or may not have happened
}

// actor is a running operation, as a separate process: it has its own Engine, and stops
// at each of that one's pauses until the schedule lets it continue.
type actor struct {
	name    string
	e       *Engine
	deed    deed
	mortal  bool
	arrive  chan<- stepNews
	proceed chan bool // false ends the operation where it is
	state   actorState
	at      string
	err     error
	killed  bool
	entered bool // its success is in the ledger
}

type actorState int

const (
	actorStopped actorState = iota
	actorRuns
	actorEnded
)

// stepNews reports that an actor has reached a pause, or its end.
type stepNews struct {
	a    *actor
	step string
	end  bool
}

// pause stops the calling operation until the schedule lets it continue.
func (a *actor) pause(step string) {
	a.arrive <- stepNews{a: a, step: step}
	if !<-a.proceed {
		a.killed = true
		runtime.Goexit()
	}
}

// run is the actor's goroutine. An operation that is killed ends by Goexit, so the
// stepNews at its end is sent by a deferred call.
func (a *actor) run(ctx context.Context) {
	defer func() { a.arrive <- stepNews{a: a, end: true} }()
	if !<-a.proceed {
		a.killed = true
		return
	}
	a.err = a.deed.do(ctx, a)
}

// schedule runs actors, one step at a time, in an order that its source of random
// numbers chooses.
type schedule struct {
	rng    *rand.Rand
	actors []*actor
	news   chan stepNews
	trace  []string
	kills  bool
	// between is called while every operation that can be is stopped.
	between func()
}

func (s *schedule) note(n stepNews) {
	n.a.state, n.a.at = actorStopped, n.step
	if n.end {
		n.a.state, n.a.at = actorEnded, "end"
		switch {
		case n.a.killed:
			n.a.deed.lost()
		case n.a.err == nil:
			n.a.deed.done()
			n.a.entered = true
		default:
			n.a.deed.lost()
		}
	}
	s.trace = append(s.trace, n.a.name+" "+n.a.at)
}

func (s *schedule) in(state actorState) []*actor {
	var out []*actor
	for _, a := range s.actors {
		if a.state == state {
			out = append(out, a)
		}
	}
	return out
}

// release lets a stopped actor run; one that isn't alive ends where it is.
func (s *schedule) release(a *actor, alive bool) {
	if a.state == actorStopped {
		a.state = actorRuns
		a.proceed <- alive
	}
}

// await notes the next news.
func (s *schedule) await() error {
	select {
	case n := <-s.news:
		s.note(n)
		return nil
	case <-time.After(time.Minute):
		return errors.New("no operation advances")
	}
}

// launch starts the goroutines of the actors, which wait to be released.
func (s *schedule) launch(ctx context.Context) {
	for _, a := range s.actors {
		go a.run(ctx)
	}
}

// finish lets all actors run to their ends.
func (s *schedule) finish() {
	for {
		for _, a := range s.in(actorStopped) {
			s.release(a, true)
		}
		if len(s.in(actorRuns)) == 0 || s.await() != nil {
			return
		}
	}
}

// run advances the actors until all have ended.
func (s *schedule) run() error {
	for {
		ready := s.in(actorStopped)
		if len(ready) == 0 {
			if len(s.in(actorRuns)) == 0 {
				return nil
			}
			if err := s.await(); err != nil {
				return err
			}
			continue
		}
		if s.between != nil && s.rng.IntN(4) == 0 {
			s.between()
		}
		a := ready[s.rng.IntN(len(ready))]
		alive := !s.kills || !a.mortal || a.at == claimed || s.rng.IntN(12) > 0
		if !alive {
			s.trace = append(s.trace, a.name+" killed")
		}
		s.release(a, alive)
		for timeout := time.After(patience); a.state == actorRuns; {
			select {
			case n := <-s.news:
				s.note(n)
				continue
			case <-timeout:
			}
			break
		}
	}
}

// TestSchedules runs operations of several processes on one data directory, one step at
// a time in random orders, and compares the resulting data with a ledger of what each
// operation acknowledged. FETTLE_TEST_SCHEDULES is how many orders are tried, and
// FETTLE_TEST_SEED begins with another one.
func TestSchedules(t *testing.T) {
	t.Parallel()
	usual := 300
	if raceDetector {
		usual = 30
	}
	count, seed := sized(t, schedulesEnv, usual), seedOf(t)
	const workers = 2
	t.Logf("%d schedules, %s=%d", count, seedEnv, seed)
	for worker := range workers {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			w := newStage(t)
			for i := worker; i < count && !t.Failed(); i += workers {
				w.play(seed + uint64(i))
			}
			w.leave()
		})
	}
}

const (
	// schedulesEnv is how many schedules are run.
	schedulesEnv = "FETTLE_TEST_SCHEDULES"
	// seedEnv is the seed of the first one.
	seedEnv = "FETTLE_TEST_SEED"
)

// seedOf returns the seed from the environment, or a new one.
func seedOf(t testing.TB) uint64 {
	if os.Getenv(seedEnv) == "" {
		return rand.Uint64N(1 << 40)
	}
	return uint64(sized(t, seedEnv, 1))
}

// stage is where schedules are played: a scene after the other.
type stage struct {
	t       *testing.T
	history []byte
	now     *scene
	played  int
}

// sceneSchedules is how many schedules share a data directory: a new one costs more
// than a schedule, and one that has many chats makes each check longer.
const sceneSchedules = 12

func newStage(t *testing.T) *stage {
	return &stage{t: t, history: exportedHistory(t)}
}

// scene returns the scene to play on, which is a new one now and then.
func (st *stage) scene(rng *rand.Rand) *scene {
	if st.now == nil || st.played == sceneSchedules || st.now.spent {
		st.leave()
		st.now, st.played = newScene(st.t, st.history), 0
	}
	st.played++
	st.now.rng, st.now.touched = rng, nil
	return st.now
}

// play runs the schedule of a seed.
func (st *stage) play(seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := st.scene(rng)
	s := &schedule{rng: rng, news: make(chan stepNews, 16), kills: rng.IntN(3) == 0}
	apart := rng.IntN(10) == 0 // with their own sessions of the store
	all := operations()
	var names []string
	for range 2 + rng.IntN(3) {
		op := all[rng.IntN(len(all))]
		if op.name == "restore" && slices.Contains(names, op.name) {
			continue // one would undo the other
		}
		names = append(names, op.name)
		w.join(s, op, apart)
	}
	if rng.IntN(6) == 0 {
		w.last = append([]func(){w.spoil}, w.last...)
	}
	if apart && slices.Contains(names, "backup") && !slices.Contains(names, "restore") { // that stops with the store closed
		s.between = w.sessions
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	w.begin()
	s.launch(ctx)
	err := s.run()
	if err == nil {
		err = w.check(s)
	}
	w.dismissAll(s, apart)
	if err != nil {
		st.t.Errorf("seed %d: %v\nstores of their own: %v, damage: %v\n%s\n%s", seed, err, apart, w.bad, strings.Join(s.trace, "\n"), w.b.notices())
	}
}

// join adds an operation to a schedule.
func (w *scene) join(s *schedule, op operation, apart bool) *actor {
	a := &actor{name: fmt.Sprintf("%d:%s", len(s.actors)+1, op.name), mortal: op.mortal, arrive: s.news, proceed: make(chan bool)}
	a.deed = op.prepare(w)
	a.e = w.engine(a, apart)
	s.actors = append(s.actors, a)
	return a
}

// dismissAll ends the Engines of a schedule.
func (w *scene) dismissAll(s *schedule, apart bool) {
	for _, a := range s.actors {
		w.dismiss(a, apart)
	}
}

// leave ends the last scene, with the check of all that it has.
func (st *stage) leave() {
	if st.now != nil {
		st.now.close()
		st.now = nil
	}
}

// stepSchedules is how many orders of the model's steps are tried.
const stepSchedules = 100_000

// TestStepSchedules runs the model's steps in random orders: what was acknowledged
// exists afterwards.
func TestStepSchedules(t *testing.T) {
	t.Parallel()
	count, seed := stepSchedules, seedOf(t)
	if raceDetector {
		count /= 10
	}
	t.Logf("%d schedules, %s=%d", count, seedEnv, seed)
	different := map[string]bool{}
	for i := range count {
		trace, err := playSteps(seed+uint64(i), defects{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed+uint64(i), err, strings.Join(trace, "\n"))
		}
		different[strings.Join(trace, "\n")] = true
	}
	t.Logf("%d of the orders differ", len(different))
	if len(different) < count/2 {
		t.Errorf("only %d of %d orders differ", len(different), count)
	}
}

// Each fault that the engine once had is found when it is put into the steps.
func TestStepSchedulesFindFaults(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]defects{
		"a collector that reads before its lock": {readsBeforeLock: true},
		"a purge beside a restore":               {purgeIsFree: true},
		"a backup of linked tables":              {linksTables: true},
		"a fold that stops at a bad record":      {stopsAtBad: true},
		"a fold that unlinks first":              {unlinksFirst: true},
		"a fold that records twice":              {foldsTwice: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := seedOf(t)
			for i := range uint64(stepSchedules) {
				if trace, err := playSteps(seed+i, d); err != nil {
					t.Logf("found by schedule %d: %v\n%s", i+1, err, strings.Join(trace, "\n"))
					return
				}
			}
			t.Errorf("%d schedules from seed %d on don't find it", stepSchedules, seed)
		})
	}
}
