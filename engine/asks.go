package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
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
	// policy is the turn's as the call began, and model what it asks; the turn may
	// go on without a call that doesn't end.
	policy Policy
	model  *choice

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
	id, c, t := fmt.Sprintf("%s?%d", q.c.use.ID, n), q.c, q.t
	ask.Tool, ask.ToolID, ask.Input, ask.ToolUseID = bareID(c.toolID()), c.toolID(), c.use.Args, id
	ask.Reason = "the MCP server " + ask.Form.Server + " asks"
	ask.Form.Call = c.use.ID
	defer q.clock.stand()()
	w := waiting{answer: make(chan Confirmation, 1), form: ask.Form, call: c.use.ID}
	t.mu.Lock()
	t.asking[id] = w
	t.mu.Unlock()
	if !q.run.say(ask) {
		t.take(id)
		return Confirmation{}, errWithdrawn
	}
	select {
	case a := <-w.answer:
		q.run.say(event.ConfirmResult{ToolUseID: id, Decision: a.Decision, Reason: a.Reason, Content: a.Content})
		return a, nil
	case <-ctx.Done():
		if t.take(id) {
			q.run.say(withdrawn(id))
		}
		return Confirmation{}, errWithdrawn
	case <-q.run.over: // the call has ended, and its questions with it
		t.take(id)
		return Confirmation{}, errWithdrawn
	}
}

func withdrawn(id string) event.ConfirmResult {
	return event.ConfirmResult{ToolUseID: id, Decision: event.Deny, Reason: errWithdrawn.Error()}
}

// take takes a question that waits; false says that it has its answer, or that
// somebody else took it.
func (t *turn) take(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.asking[id]
	delete(t.asking, id)
	return ok
}

// withdraw takes what a call that has ended still asks, and says so.
func (t *turn) withdraw(useID string) {
	t.mu.Lock()
	var left []string
	for id, w := range t.asking {
		if w.call == useID && w.form != nil {
			left = append(left, id)
			delete(t.asking, id)
		}
	}
	t.mu.Unlock()
	slices.Sort(left)
	for _, id := range left {
		t.report(withdrawn(id))
	}
}

// say has the turn's goroutine emit an event; false where it no longer listens.
func (r *running) say(b event.Body) bool {
	select {
	case r.says <- b:
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

// samplingRule is the rule that lets a server ask models without a question. No
// tool can have such an id.
func samplingRule(server string) string { return "sampling@" + server }

// mayPrompt tells whether rules decide that a server may ask a model.
func (p Policy) mayPrompt(server string) (v verdict, why string) {
	id := samplingRule(server)
	named := func(rules []string) (string, bool) {
		for _, text := range rules {
			r, err := parseRule(text)
			if err == nil && len(r.args) == 0 && strings.HasPrefix(r.tool, "sampling@") {
				if ok, err := toolset.Match(r.tool, id); err == nil && ok {
					return text, true
				}
			}
		}
		return "", false
	}
	if rule, ok := named(p.Deny); ok {
		return refuse, "the rule deny " + rule + " forbids it"
	}
	if _, ok := named(p.Allow); ok {
		return runIt, ""
	}
	return askFirst, ""
}
