package engine

import (
	"context"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// approve asks the policy, and a person where the policy says so. A call that
// may not run gets the reason in refused.
func (t *turn) approve(c *call, ws *toolset.Workspace) error {
	if t.req.app != nil {
		return nil // it was judged before there was a turn
	}
	v, why := t.decide(c, ws)
	switch {
	case v == permission.Run:
		return nil
	case v == permission.Refuse:
		c.refused = "denied: " + why
		return nil
	case !t.req.CanConfirm:
		c.refused = "denied: " + why + ", and nobody can be asked here"
		t.denied++
		return nil
	case v == permission.AskAfter:
		first, not, err := t.runsFirst(c, ws)
		switch {
		case err != nil:
			return err
		case first:
			c.after = why
			return nil
		case not != "":
			why += "; it can't run before the answer, since " + not
		}
	}
	return t.confirm(c, why)
}

// inTerminal reports whether a call runs a command in a terminal that nothing contains.
func (t *turn) inTerminal(c *call) bool { return t.req.Terminal != nil && c.entry.InTerminal }

// confirm asks whoever follows the turn and waits for the answer.
func (t *turn) confirm(c *call, why string) error {
	w := newWaiting(event.ConfirmRequest{
		Tool: chat.BareID(c.toolID()), ToolID: c.toolID(), Input: c.use.Args, ToolUseID: c.use.ID, Reason: why, Reach: t.box.ReachOf(c.entry.Tool).Text,
		Rule: t.ruleFor(c),
	}, nil)
	defer t.take(c.use.ID)
	if err := t.pose(w); err != nil {
		return err
	}
	select {
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	case <-w.done:
		return t.settle(c, *w.given)
	}
}

// ruleFor returns the rule that an approval of the call can make; empty where no rule has an
// effect.
func (t *turn) ruleFor(c *call) string {
	if t.inTerminal(c) || !t.verdicts.Remembers() {
		return ""
	}
	return c.judged.Rule()
}

func (t *turn) settle(c *call, a Confirmation) error {
	switch {
	case a.Decision.Allows():
		if rule := t.ruleFor(c); a.Decision != event.Allow && rule != "" {
			t.policy.Allow, t.allowed = append(t.policy.Allow, rule), append(t.allowed, rule)
			_ = t.compileRules()
			if err := t.eng.Grant(t.ctx, a.Decision, t.accept.Chat.ID, rule); err != nil {
				t.notice("the approval is not remembered: " + err.Error())
			}
		}
	default:
		c.refused = "denied by the user"
		if a.Reason != "" {
			c.refused += ": " + a.Reason
		}
	}
	return t.emit(event.ConfirmResult{ToolUseID: c.use.ID, Decision: a.Decision, Reason: a.Reason})
}

// waiting is what a person is asked, an approval or a call's question, until the turn
// has said how it ended. The turn's goroutine puts it into asking and takes it out.
type waiting struct {
	ask event.ConfirmRequest
	by  *caller // that asks; nil for an approval
	// done is closed with the answer, or where none comes; given is the answer then.
	done  chan struct{}
	given *Confirmation
}

func newWaiting(ask event.ConfirmRequest, by *caller) *waiting {
	return &waiting{ask: ask, by: by, done: make(chan struct{})}
}

// pose asks a person; from then on they can answer.
func (t *turn) pose(w *waiting) error {
	t.mu.Lock()
	t.asking[w.ask.ToolUseID] = w
	t.mu.Unlock()
	return t.emit(w.ask)
}

// take takes out what was asked, which nobody can answer from then on; nil says that
// it is out.
func (t *turn) take(id string) *waiting {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.asking[id]
	delete(t.asking, id)
	return w
}

// Fit checks an answer against the question, and returns it with the defaults of the fields
// of a form that are left out. An answer that denies has no content. With an error of the
// code Usage the question can be answered again.
func (a Confirmation) Fit(ask *event.ConfirmRequest) (Confirmation, error) {
	given := a.Content
	a.Content = nil
	if !a.Decision.Allows() {
		a.All, a.Only = false, nil
		return a, nil
	}
	if err := a.fitReview(ask.Review); err != nil {
		return a, err
	}
	content, problems := ask.Form.Fill(given)
	if len(problems) > 0 {
		f := fault.New(fault.Usage, "the form is not filled in as it has to be")
		f.Detail = problems
		return a, f
	}
	a.Content = content
	return a, nil
}

// Confirm answers a confirm_request of a live turn. NotFound says that the
// call isn't asked about (any more), Busy that another process owns the turn, Usage
// that the answer does not fit the question, which can be answered again.
func (e *Engine) Confirm(ctx context.Context, id store.TurnID, a Confirmation) error {
	t := e.turn(id)
	if t == nil {
		return e.NotMine(ctx, id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	asked := t.asking[a.ToolUseID]
	if asked == nil || asked.given != nil {
		return fault.New(fault.NotFound, "turn "+string(id)+" asks about no call "+a.ToolUseID)
	}
	a, err := a.Fit(&asked.ask)
	if err != nil {
		return err
	}
	asked.given = &a
	close(asked.done)
	return nil
}
