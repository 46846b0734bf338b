package engine

import (
	"context"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
)

// approve asks the policy, and a person where the policy says so. A call that
// may not run gets the reason in refused.
func (t *turn) approve(c *call, ws *toolset.Workspace) error {
	v, why := t.decide(c, ws)
	switch {
	case v == runIt:
		return nil
	case v == refuse:
		c.refused = "denied: " + why
		return nil
	case !t.req.CanConfirm:
		c.refused = "denied: " + why + ", and nobody can be asked here"
		t.denied++
		return nil
	}
	return t.confirm(c, why)
}

// confirm asks whoever follows the turn and waits for the answer.
func (t *turn) confirm(c *call, why string) error {
	answer := make(chan Confirmation, 1)
	t.mu.Lock()
	t.asking[c.use.ID] = waiting{answer: answer}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.asking, c.use.ID)
		t.mu.Unlock()
	}()
	err := t.emit(event.ConfirmRequest{
		Tool: bareID(c.toolID()), ToolID: c.toolID(), Input: c.use.Args, ToolUseID: c.use.ID, Reason: why,
		Rule: RuleFor(c.entry.Tool, c.use.Args),
	})
	if err != nil {
		return err
	}
	select {
	case <-t.ctx.Done():
		return context.Cause(t.ctx)
	case a := <-answer:
		return t.settle(c, a)
	}
}

func (t *turn) settle(c *call, a Confirmation) error {
	switch {
	case a.Decision.Allows():
		if a.Decision != event.Allow {
			rule := RuleFor(c.entry.Tool, c.use.Args)
			t.policy.Allow, t.allowed = append(t.policy.Allow, rule), append(t.allowed, rule)
			if err := t.eng.grant(t.ctx, a.Decision, t.accept.Chat.ID, rule); err != nil {
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

// waiting is a question that a person hasn't answered.
type waiting struct {
	answer chan Confirmation // has room for the one that comes
	form   *event.Form       // nil for an approval
	call   string            // that asks; empty for an approval
}

// Confirm answers a confirm_request of a live turn. NotFound says that the
// call isn't asked about (any more), Busy that another process owns the turn, Usage
// that a form isn't filled in as it has to be; it can be answered again.
func (e *Engine) Confirm(ctx context.Context, id TurnID, a Confirmation) error {
	t := e.turn(id)
	if t == nil {
		return e.notMine(ctx, id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	asked, ok := t.asking[a.ToolUseID]
	if !ok {
		return fault.New(fault.NotFound, "turn "+string(id)+" asks about no call "+a.ToolUseID)
	}
	content, problems := asked.form.Fill(a.Content)
	if len(problems) > 0 && a.Decision.Allows() {
		f := fault.New(fault.Usage, "the form is not filled in as it has to be")
		f.Detail = problems
		return f
	}
	if a.Content = content; !a.Decision.Allows() {
		a.Content = nil
	}
	delete(t.asking, a.ToolUseID)
	asked.answer <- a // buffered, and taken out of the map: never blocks
	return nil
}
