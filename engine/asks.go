package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/toolset"
)

// maxQuestions bounds what one call asks a person: a tool that asks more is up to
// something else.
const maxQuestions = 20

// caller is whom a running call asks. The call's clock stands still meanwhile.
type caller struct {
	t     *turn
	c     *call
	run   *running
	clock *allowance
	// rules are the turn's as the call began, and model what it asks; the turn may
	// continue without a call that doesn't end.
	rules *permission.Rules
	model *choice
	what  string // runs the call, in a message for the model
	// ended says that the call has, so that it asks no more. It is the turn's
	// goroutine's alone.
	ended bool

	mu      sync.Mutex
	asked   int
	prompts int
}

var _ toolset.Asker = (*caller)(nil)

// Turn names the turn.
func (q *caller) Turn() string { return string(q.t.id) }

// AskPerson asks whoever follows the turn.
func (q *caller) AskPerson(ctx context.Context, about toolset.Question) (toolset.Answer, error) {
	if !q.t.req.CanAnswer {
		return toolset.Answer{Action: toolset.Cancel}, nil
	}
	form, err := formOf(about)
	if err != nil {
		return toolset.Answer{Action: toolset.Decline}, err
	}
	a, err := q.put(ctx, event.ConfirmRequest{Form: form})
	switch {
	case err != nil:
		return toolset.Answer{Action: toolset.Cancel}, err
	case !a.Decision.Allows():
		return toolset.Answer{Action: toolset.Decline}, nil
	}
	out := toolset.Answer{Action: toolset.Accept}
	if len(a.Content) > 0 {
		err = json.Unmarshal(a.Content, &out.Values)
	}
	return out, err
}

// errTooMany ends a call's questions.
var errTooMany = fmt.Errorf("the call has asked %d times; more is not asked", maxQuestions)

// errWithdrawn is why a question has no answer.
var errWithdrawn = errors.New("the question was withdrawn")

// put asks, and waits for the answer or the end of ctx. What the call and its form
// have is filled in.
func (q *caller) put(ctx context.Context, ask event.ConfirmRequest) (Confirmation, error) {
	q.mu.Lock()
	q.asked++
	n := q.asked
	q.mu.Unlock()
	if n > maxQuestions {
		return Confirmation{}, errTooMany
	}
	c, t := q.c, q.t
	ask.Tool, ask.ToolID, ask.Input, ask.ToolUseID = chat.BareID(c.toolID()), c.toolID(), c.use.Args, fmt.Sprintf("%s?%d", c.use.ID, n)
	ask.Reason = "the MCP server " + ask.Form.Server + " asks"
	ask.Form.Call = c.use.ID
	defer q.clock.stand()()
	w := newWaiting(ask, q)
	if !q.run.inTurn(func() { t.question(w) }) {
		return Confirmation{}, errWithdrawn
	}
	select {
	case <-w.done: // it is answered, or its call has ended
	case <-ctx.Done():
	}
	// Where nobody listens any more it has ended before.
	q.run.inTurn(func() { t.endQuestion(ask.ToolUseID) })
	if w.given == nil {
		return Confirmation{}, errWithdrawn
	}
	return *w.given, nil
}

// question asks for a call, unless that has ended.
func (t *turn) question(w *waiting) {
	if w.by.ended {
		close(w.done)
		return
	}
	if err := t.pose(w); err != nil {
		t.cancel(err)
	}
}

// endQuestion says how a question ended, once: whoever comes later finds it gone.
func (t *turn) endQuestion(id string) {
	w := t.take(id)
	switch {
	case w == nil:
	case w.given != nil:
		t.report(event.ConfirmResult{ToolUseID: id, Decision: w.given.Decision, Reason: w.given.Reason, Content: w.given.Content})
	default:
		close(w.done)
		t.report(event.ConfirmResult{ToolUseID: id, Decision: event.Deny, Reason: errWithdrawn.Error()})
	}
}

// withdraw ends what a call still asks that has ended, or is left behind.
func (t *turn) withdraw(q *caller) {
	q.ended = true
	t.mu.Lock()
	var left []string
	for id, w := range t.asking {
		if w.by == q {
			left = append(left, id)
		}
	}
	t.mu.Unlock()
	slices.Sort(left)
	for _, id := range left {
		t.endQuestion(id)
	}
}

// inTurn has the turn's goroutine do something, which it has done then; false where it
// no longer listens.
func (r *running) inTurn(do func()) bool {
	done := make(chan struct{})
	select {
	case r.asks <- func() { defer close(done); do() }:
		<-done
		return true
	case <-r.over:
		return false
	}
}

// allowance is the time of a call, which stands still while a person is asked.
type allowance struct {
	mu    sync.Mutex
	timer *time.Timer
	until time.Time     // when it runs out; meaningless while it stands
	left  time.Duration // while it stands
	asks  int           // that go on
	since time.Time     // when it began to stand
	stood time.Duration // in all, before that
}

// newAllowance has over called when the time is up.
func newAllowance(d time.Duration, over func()) *allowance {
	return &allowance{timer: time.AfterFunc(d, over), until: time.Now().Add(d)}
}

// stand stops the clock until the function that it gives is called.
func (a *allowance) stand() (goOn func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asks++; a.asks == 1 {
		a.since = time.Now()
		a.left = max(a.until.Sub(a.since), 0)
		if !a.timer.Stop() {
			a.left = 0 // it ran out before
		}
	}
	return sync.OnceFunc(a.goOn)
}

func (a *allowance) goOn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asks--; a.asks > 0 {
		return
	}
	a.stood += time.Since(a.since)
	a.until = time.Now().Add(a.left)
	a.timer.Reset(a.left)
}

// more is how long it stood.
func (a *allowance) more() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asks > 0 {
		return a.stood + time.Since(a.since)
	}
	return a.stood
}

// stop ends it.
func (a *allowance) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer.Stop()
	a.left = 0
}
