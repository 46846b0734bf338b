package asking

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Turns takes the answers.
type Turns interface {
	Confirm(context.Context, store.TurnID, engine.Confirmation) error
}

// Options are what the questions of a turn need.
type Options struct {
	Turns Turns
	Turn  store.TurnID
	Limit time.Duration // how long a question waits for its user
	Now   func() time.Time
	Log   *slog.Logger
}

// Questions are the questions of one turn.
type Questions struct {
	o      Options
	making sync.Mutex // held while Put makes a question, before mu
	shows  sync.WaitGroup

	mu      sync.Mutex
	all     map[string]*Question // by tool_use_id
	patient bool
	ended   bool
}

// New returns the questions of a turn, which has asked nothing yet.
func New(o Options) *Questions {
	return &Questions{o: o, all: map[string]*Question{}}
}

// Question is one question. Its exported fields do not change.
type Question struct {
	Ask event.ConfirmRequest
	Seq event.Seq // of the event that asks
	// Nonce is for this question alone: a client that sends it has seen what is asked.
	Nonce   string
	Version string // of the tool, when the question was asked
	Expires time.Time

	settled *settlement        // nil while the question waits; guarded by Questions.mu
	shown   context.CancelFunc // withdraws one that is shown
	timer   *time.Timer        // of one that is kept
}

// settlement is how a question ended.
type settlement struct {
	decision event.Decision
	by       string
	at       time.Time
}

// settle ends a question, and reports whether it was waiting. The caller has q.mu.
func (q *Questions) settle(a *Question, d event.Decision, by string) bool {
	if a.settled != nil {
		return false
	}
	a.settled = &settlement{d, by, q.o.Now()}
	a.withdraw()
	return true
}

// withdraw takes a question away from the client that it is shown to, or stops its timer.
func (a *Question) withdraw() {
	switch {
	case a.shown != nil:
		a.shown()
	case a.timer != nil:
		a.timer.Stop()
	}
}

// Show asks one client a question while the turn continues, and passes its answer on. The
// context of show ends when the question is answered elsewhere, when the turn ends, and
// when the time is over. Only in the last case does the turn get what show returns then.
func (q *Questions) Show(ctx context.Context, useID string, show func(context.Context) engine.Confirmation) {
	ctx, cancel := context.WithTimeout(ctx, q.o.Limit)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		cancel()
		return
	}
	q.all[useID] = &Question{Ask: event.ConfirmRequest{ToolUseID: useID}, shown: cancel}
	q.shows.Go(func() {
		defer cancel()
		answer := show(ctx)
		if ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded {
			return
		}
		q.Deliver(ctx, answer)
	})
}

// Put keeps a question for clients that answer by a request of their own. The first caller
// makes it; version, which may read the store, is called once, while others wait. nil means
// that the question is answered, or that the turn has ended.
func (q *Questions) Put(ctx context.Context, ask event.ConfirmRequest, seq event.Seq, version func(toolID string) string) *Question {
	q.making.Lock()
	defer q.making.Unlock()
	if a, known := q.waiting(ask.ToolUseID); known {
		return a
	}
	a := &Question{Ask: ask, Seq: seq, Nonce: rand.Text(), Version: version(ask.ToolID), Expires: q.o.Now().Add(q.o.Limit)}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return nil
	}
	if !q.patient {
		a.timer = time.AfterFunc(q.o.Limit, func() { q.expire(ctx, a) })
	}
	q.all[ask.ToolUseID] = a
	return a
}

// waiting returns the question about a call while it waits. known is set also for one that
// is answered.
func (q *Questions) waiting(useID string) (a *Question, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a, known = q.all[useID]; known && a.settled != nil {
		return nil, true
	}
	return a, known
}

// expire denies a question that was not answered in time.
func (q *Questions) expire(ctx context.Context, a *Question) {
	q.mu.Lock()
	first := q.settle(a, event.Deny, "the time limit of "+q.o.Limit.String())
	q.mu.Unlock()
	if first {
		q.Deliver(ctx, Deny(a.Ask.ToolUseID, "nobody answered within "+q.o.Limit.String()))
	}
}

// Deliver passes an answer to the turn, also when ctx has ended. A turn that does not ask
// any more has another answer, or has ended.
func (q *Questions) Deliver(ctx context.Context, a engine.Confirmation) {
	err := q.o.Turns.Confirm(context.WithoutCancel(ctx), q.o.Turn, a)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		q.o.Log.Error("an approval can't be passed on", "turn", string(q.o.Turn), "error", sanitize.Line(err.Error()))
	}
}

// Settled notes the answer that the turn has, whichever client gave it, and withdraws the
// question.
func (q *Questions) Settled(b event.ConfirmResult) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a := q.all[b.ToolUseID]; a != nil {
		q.settle(a, b.Decision, "this process")
	}
}

// Patient removes the time limit of the questions that Put keeps: the user has as long as
// they need.
func (q *Questions) Patient() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.patient = true
	for _, a := range q.all {
		if a.timer != nil {
			a.timer.Stop()
		}
	}
}

// Waiting returns the questions that wait for an answer.
func (q *Questions) Waiting() []*Question {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []*Question
	for _, a := range q.all {
		if a.settled == nil {
			out = append(out, a)
		}
	}
	return out
}

// End withdraws the questions that still wait, waits until no client is asked any more, and
// returns the number of all questions. Take then reports how each of them ended. Inputs and
// forms, which may be large, are dropped.
func (q *Questions) End() int {
	q.mu.Lock()
	q.ended = true
	for id, a := range q.all {
		q.settle(a, event.Deny, "the end of its turn")
		kept := *a // a client may still be shown a
		kept.Ask.Input, kept.Ask.Form = nil, nil
		q.all[id] = &kept
	}
	n := len(q.all)
	q.mu.Unlock()
	q.shows.Wait()
	return n
}
