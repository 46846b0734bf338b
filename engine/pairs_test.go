package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// waitsFor is how long an operation is given that should wait for a lock: time enough to
// come to its end without one.
const waitsFor = 20 * time.Millisecond

// solo is the trace of one operation alone, on the engine and on the model. Pauses that
// the model doesn't have are left out, and several of one kind in a row are one.
func solo(t *testing.T, history []byte, op operation) (engine, model []string) {
	t.Helper()
	m := newMachine(defects{})
	p := m.process(op.name, m.steps()[op.name]())
	m.begin()
	for !p.ended {
		p.advance()
		model = append(model, p.at)
	}
	w := newScene(t, history)
	defer w.close()
	s := &schedule{news: make(chan stepNews, 16)}
	w.join(s, op, false)
	w.begin()
	s.launch(t.Context())
	for a := s.actors[0]; a.state != actorEnded; {
		if err := s.advance(a); err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		if slices.Contains(model, a.at) {
			engine = append(engine, a.at)
		}
	}
	if err := w.check(s); err != nil {
		t.Errorf("%s: %v", op.name, err)
	}
	w.dismissAll(s, false)
	return slices.Compact(engine), slices.Compact(model)
}

// advance lets an actor run to its next pause, however long that takes.
func (s *schedule) advance(a *actor) error {
	s.release(a, true)
	for a.state == actorRuns {
		if err := s.await(); err != nil {
			return err
		}
	}
	return nil
}

// TestTheStepsAreTheEngines holds the model's steps against the engine's: each operation
// alone has the same steps, and where one operation has stopped, each other one waits or
// comes to its end as it does on the model.
func TestTheStepsAreTheEngines(t *testing.T) {
	t.Parallel()
	history := exportedHistory(t)
	steps := map[string]int{}
	for _, op := range operations() {
		engine, model := solo(t, history, op)
		if !slices.Equal(engine, model) {
			t.Errorf("the steps of %s are\n%s\nand those of the model\n%s", op.name, strings.Join(engine, "\n"), strings.Join(model, "\n"))
		}
		steps[op.name] = len(engine) - 1
	}
	if t.Failed() {
		return
	}
	var pairs []twoOps
	for _, a := range operations() {
		for _, b := range operations() {
			for at := range steps[a.name] {
				if a.name != b.name || a.name != "restore" {
					pairs = append(pairs, twoOps{a, b, at + 1})
				}
			}
		}
	}
	seed := seedOf(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	usual := 120
	if raceDetector {
		usual = 20
	}
	count := min(len(pairs), sized(t, schedulesEnv, usual))
	t.Logf("%d of %d pairs, %s=%d", count, len(pairs), seedEnv, seed)
	st := &stage{t: t, history: history}
	defer st.leave()
	for _, p := range pairs[:count] {
		st.together(p)
	}
}

// twoOps is two operations: one stops at its n-th pause, and the other one runs meanwhile.
type twoOps struct {
	first, second operation
	at            int
}

// waits reports whether the second operation waits, by the model, and at which step the
// first one has stopped.
func (p twoOps) waits() (waits bool, at string, err error) {
	m := newMachine(defects{})
	a, b := m.steps()[p.first.name](), m.steps()[p.second.name]()
	first, second := m.process("1:"+p.first.name, a), m.process("2:"+p.second.name, b)
	m.begin()
	for kind := ""; p.at > 0; {
		if first.advance(); first.at != kind {
			p.at, kind = p.at-1, first.at
		}
	}
	at = first.at
	for !second.ended && !second.waits {
		second.advance()
	}
	waits = second.waits
	for _, each := range []*mProc{first, second} {
		for !each.ended {
			if each.advance(); each.waits {
				return waits, at, fmt.Errorf("%s waits forever", each.name)
			}
		}
	}
	return waits, at, m.check()
}

// together plays a pair on the engine, in the order that the model allows.
func (st *stage) together(p twoOps) {
	st.t.Helper()
	waits, at, err := p.waits()
	if err != nil {
		st.t.Errorf("on the model: %v", err)
		return
	}
	w := st.scene(rand.New(rand.NewPCG(1, 1)))
	s := &schedule{news: make(chan stepNews, 16)}
	first, second := w.join(s, p.first, false), w.join(s, p.second, false)
	w.begin()
	s.launch(context.Background())
	for err == nil && first.at != at && first.state != actorEnded {
		err = s.advance(first)
	}
	if err == nil && waits {
		err = s.held(second)
	}
	for err == nil && !waits && second.state != actorEnded {
		err = s.advance(second)
	}
	for _, a := range s.actors {
		for err == nil && a.state != actorEnded {
			err = s.advance(a)
		}
	}
	if err == nil {
		err = w.check(s)
	}
	if err != nil {
		st.t.Errorf("%s stops at %s, then %s: %v\n%s\n%s", p.first.name, at, p.second.name, err, strings.Join(s.trace, "\n"), w.b.notices())
	}
	s.finish()
	w.dismissAll(s, false)
}

// held lets an actor run that has to wait for another one, and fails if it comes to its
// end.
func (s *schedule) held(a *actor) error {
	timeout := time.After(waitsFor)
	for {
		if a.state == actorStopped {
			s.release(a, true)
		}
		select {
		case n := <-s.news:
			s.note(n)
			if n.a == a && n.end && a.err == nil {
				return fmt.Errorf("%s came to its end, and waits on the model", a.name)
			}
			if a.state == actorEnded {
				return nil
			}
		case <-timeout:
			return nil
		}
	}
}
