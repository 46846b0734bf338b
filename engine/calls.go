package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// toolGrace is how long a cancelled tool gets to end by itself.
	toolGrace = 3500 * time.Millisecond
	// defaultToolTimeout bounds a call of a tool that names no bound.
	defaultToolTimeout = 10 * time.Minute
	// maxResult bounds the text of a result that goes to the model.
	maxResult = 1 << 20
	// progressBuffer is how many updates of running tools may wait; further
	// ones are dropped, since the next says more.
	progressBuffer = 64
)

// call is one call on its way.
type call struct {
	use     provider.ToolCall // as the model asked
	entry   toolset.Entry
	known   bool
	id      string // of the tool_calls record
	index   int
	refused string // why it doesn't run; empty where it may
	denied  bool   // refused for want of an approval
	started time.Time
}

func (c *call) toolID() string {
	if c.known {
		return c.entry.Tool.ID
	}
	return c.use.Name
}

// runCalls runs the calls of one response: in order, except that neighbours
// which only read run side by side. Every call gets a result, whatever
// happens; an error is trouble of ours, or the end of the turn.
func (t *turn) runCalls(uses []provider.ToolCall) error {
	calls := make([]*call, len(uses))
	for i, use := range uses {
		calls[i] = t.prepare(use)
	}
	for i := 0; i < len(calls); {
		n := 1
		for i+n < len(calls) && calls[i].readOnly() && calls[i+n].readOnly() {
			n++
		}
		if err := t.runGroup(calls[i : i+n]); err != nil {
			return errors.Join(err, t.giveUp(calls[i+n:]))
		}
		i += n
	}
	return nil
}

// giveUp records the calls that never ran because the turn ends.
func (t *turn) giveUp(calls []*call) error {
	for _, c := range calls {
		c.refused = "cancelled before it ran"
	}
	return t.recordRefused(calls)
}

// refuseCalls gives calls that won't run a result, so that the history stays
// valid.
func (t *turn) refuseCalls(uses []provider.ToolCall, why string) {
	calls := make([]*call, len(uses))
	for i, use := range uses {
		calls[i] = t.prepare(use)
		calls[i].refused = why
	}
	// A write that fails is found by the end of the turn, which follows.
	_ = t.recordRefused(calls)
}

// prepare looks the tool up and checks the arguments.
func (t *turn) prepare(use provider.ToolCall) *call {
	c := &call{use: use, id: t.eng.newID(), index: t.nextIndex}
	t.nextIndex++
	c.entry, c.known = t.names.Lookup(use.Name)
	if !c.known {
		c.refused = "there is no tool " + use.Name
		if near := t.names.Nearest(use.Name); near != "" {
			c.refused += "; did you mean " + near + "?"
		}
		return c
	}
	s, err := schema.Compile(c.entry.Tool.InputSchema)
	if err != nil {
		c.refused = "the tool's input_schema can't be used: " + err.Error()
		return c
	}
	if problems := s.Validate(use.Args); len(problems) > 0 {
		c.refused = "the arguments don't fit the tool's input_schema:\n" + schema.Explain(problems)
	}
	return c
}

// readOnly tells whether the call may run beside others. It is believed of
// builtins alone (DESIGN: of others only in a sandbox that makes it true).
func (c *call) readOnly() bool {
	return c.known && c.refused == "" && c.entry.Tool.ToolsetID == "" && c.entry.Tool.Annotations.ReadOnly
}

// runGroup runs calls side by side, after each was approved.
func (t *turn) runGroup(calls []*call) error {
	ws, err := t.workspace()
	if err != nil {
		return errors.Join(err, t.giveUp(calls))
	}
	var runs, refused []*call
	for _, c := range calls {
		if c.refused == "" {
			if err := t.approve(c, ws); err != nil {
				return errors.Join(err, t.giveUp(calls))
			}
		}
		if c.refused != "" {
			refused = append(refused, c)
		} else {
			runs = append(runs, c)
		}
	}
	if err := t.recordRefused(refused); err != nil || len(runs) == 0 {
		return err
	}
	release, err := t.eng.lockWorkspace(t.ctx, ws, t.notice)
	if err != nil {
		return errors.Join(err, t.giveUp(runs))
	}
	defer release()
	return t.runNow(runs, ws)
}

// runNow starts the calls, passes on their progress, and records their ends.
// What a call does to the world begins only after its start is durable.
func (t *turn) runNow(calls []*call, ws *toolset.Workspace) error {
	starts := make([]event.Body, len(calls))
	for i, c := range calls {
		c.started = t.eng.o.Now()
		starts[i] = t.startOf(c)
	}
	if err := t.emit(starts...); err != nil {
		return err
	}
	if err := t.log.Sync(); err != nil {
		return fault.Wrap(fault.Store, "keep the turn", err)
	}
	return t.await(calls, t.launch(calls, ws))
}

// await passes on what the running calls report until each has ended, or is
// left behind after a cancel.
func (t *turn) await(calls []*call, run *running) error {
	cancelled := t.ctx.Done()
	var grace <-chan time.Time
	for left := len(calls); left > 0; {
		select {
		case p := <-run.progress:
			if err := t.emit(p); err != nil {
				t.cancel(err)
			}
		case e := <-run.ends:
			left--
			if err := t.emit(t.endOf(e)); err != nil {
				t.cancel(err)
			}
		case <-cancelled:
			cancelled, grace = nil, time.After(toolGrace)
		case <-grace:
			return t.leaveBehind(calls, run)
		case <-t.abandon:
			return t.leaveBehind(calls, run)
		}
	}
	t.syncSoon(t.log.Sync)
	return context.Cause(t.ctx)
}

// running are the goroutines of a group of calls. Both channels have room for
// all that is sent, so a call that is left behind ends by itself.
type running struct {
	progress chan event.ToolProgress
	ends     chan ended
}

// ended is how a call's run ended.
type ended struct {
	call   *call
	result toolset.Result
	err    error
}

func (t *turn) launch(calls []*call, ws *toolset.Workspace) *running {
	run := &running{
		progress: make(chan event.ToolProgress, progressBuffer),
		ends:     make(chan ended, len(calls)),
	}
	for _, c := range calls {
		go func() {
			res, err := t.runOne(c, ws, run.progress)
			run.ends <- ended{c, res, err}
		}()
	}
	return run
}

func (t *turn) runOne(c *call, ws *toolset.Workspace, progress chan<- event.ToolProgress) (res toolset.Result, err error) {
	limit := time.Duration(c.entry.Tool.Timeout)
	if limit <= 0 {
		limit = defaultToolTimeout
	}
	ctx, cancel := context.WithTimeout(t.ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil { // a tool of ours must not end the program and all its turns
			err = toolset.Errorf("the tool crashed: %v", p)
		}
	}()
	res, err = c.entry.Runner.Run(ctx, toolset.Call{
		ID: c.id, ChatID: t.accept.Chat.ID, Args: c.use.Args, Workspace: ws,
		Progress: func(p toolset.Progress) {
			select {
			case progress <- event.ToolProgress{
				Tool: bareID(c.entry.Tool.ID), Stage: p.Stage, Message: p.Message,
				Progress: p.Progress, Data: p.Data, ToolUseID: c.use.ID,
			}:
			default:
			}
		},
	})
	if err == nil {
		err = checkOutput(c.entry.Tool, res)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && t.ctx.Err() == nil {
		err = toolset.Errorf("the tool took longer than %s and was stopped", limit)
	}
	return res, err
}

// checkOutput holds a result's data against the tool's output_schema.
func checkOutput(t toolset.Tool, res toolset.Result) error {
	if len(t.OutputSchema) == 0 || len(res.Data) == 0 {
		return nil
	}
	s, err := schema.Compile(t.OutputSchema)
	if err != nil {
		return toolset.Errorf("the tool's output_schema can't be used: %v", err)
	}
	if problems := s.Validate(res.Data); len(problems) > 0 {
		return toolset.Errorf("the tool's result doesn't fit its output_schema:\n%s", schema.Explain(problems))
	}
	return nil
}

// leaveBehind records calls that did not end in time after a cancel. Their
// goroutines go on until the tool looks at its context; nothing waits for
// their results.
func (t *turn) leaveBehind(calls []*call, run *running) error {
	for drained := false; !drained; {
		select {
		case e := <-run.ends:
			if err := t.emit(t.endOf(e)); err != nil {
				return err
			}
		default:
			drained = true
		}
	}
	for _, c := range calls {
		if !t.red.ended(c.use.ID) {
			if err := t.emit(t.endOf(ended{call: c, err: errCancelled})); err != nil {
				return err
			}
		}
	}
	return context.Cause(t.ctx)
}

func (t *turn) startOf(c *call) event.ToolStart {
	return event.ToolStart{
		Tool: bareID(c.toolID()), ToolID: c.toolID(), Input: c.use.Args,
		ToolUseID: c.use.ID, CallID: c.id, Index: c.index,
	}
}

// endOf is the event that ends a call that ran.
func (t *turn) endOf(end ended) event.ToolComplete {
	c := end.call
	e := event.ToolComplete{
		Tool: bareID(c.toolID()), ToolID: c.toolID(), Index: c.index, ToolUseID: c.use.ID, CallID: c.id,
		Status: event.CallSuccess, Result: clip(end.result.Text), Data: end.result.Data,
		WorkspacePayload: end.result.WorkspacePayload, Payload: end.result.Payload,
		DurationMS: t.eng.o.Now().Sub(c.started).Milliseconds(),
	}
	var own *toolset.ToolError
	switch {
	case end.err == nil:
		return e
	case errors.As(end.err, &own):
		e.Error = own.Message
	case context.Cause(t.ctx) != nil:
		e.Error = "cancelled"
	default:
		e.Error = end.err.Error()
	}
	e.Status, e.Data = event.CallError, nil
	e.Result = clip("error: " + e.Error)
	return e
}

// recordRefused gives calls that don't run their start and their end in one
// piece.
func (t *turn) recordRefused(calls []*call) error {
	if len(calls) == 0 {
		return nil
	}
	bodies := make([]event.Body, 0, 2*len(calls))
	for _, c := range calls {
		bodies = append(bodies, t.startOf(c), event.ToolComplete{
			Tool: bareID(c.toolID()), ToolID: c.toolID(), Index: c.index, ToolUseID: c.use.ID, CallID: c.id,
			Status: event.CallError, Error: c.refused, Result: "error: " + c.refused,
		})
	}
	return t.emit(bodies...)
}

// approve asks the policy, and a person where the policy says so. A call that
// may not run gets the reason in refused.
func (t *turn) approve(c *call, ws *toolset.Workspace) error {
	v, why := t.policy.decide(c.entry.Tool, c.use.Args, ws)
	switch {
	case v == runIt:
		return nil
	case v == refuse:
		c.refused = "denied: " + why
		return nil
	case !t.req.CanConfirm:
		c.refused, c.denied = "denied: "+why+", and nobody can be asked here", true
		t.denied++
		return nil
	}
	return t.confirm(c, why)
}

// confirm asks whoever follows the turn and waits for the answer.
func (t *turn) confirm(c *call, why string) error {
	answer := make(chan Confirmation, 1)
	t.mu.Lock()
	t.asking[c.use.ID] = answer
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.asking, c.use.ID)
		t.mu.Unlock()
	}()
	err := t.emit(event.ConfirmRequest{
		Tool: bareID(c.toolID()), ToolID: c.toolID(), Input: c.use.Args, ToolUseID: c.use.ID, Reason: why,
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
			t.policy.Allow = append(t.policy.Allow, rule)
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

// Confirm answers a confirm_request of a live turn. NotFound says that the
// call isn't asked about (any more), Busy that another process owns the turn.
func (e *Engine) Confirm(_ context.Context, id TurnID, a Confirmation) error {
	t := e.turn(id)
	if t == nil {
		return e.notMine(id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	answer, ok := t.asking[a.ToolUseID]
	if !ok {
		return fault.New(fault.NotFound, "turn "+string(id)+" asks about no call "+a.ToolUseID)
	}
	delete(t.asking, a.ToolUseID)
	answer <- a // buffered, and taken out of the map: never blocks
	return nil
}

// notice shows a status to followers; what is lost with it is only that.
func (t *turn) notice(what string) { _ = t.emit(event.Status{Message: what}) }

// clip bounds a text for the model, and says so in it.
func clip(s string) string {
	if len(s) <= maxResult {
		return s
	}
	cut := maxResult
	for cut > 0 && s[cut]&0xC0 == 0x80 { // not inside a rune
		cut--
	}
	return s[:cut] + fmt.Sprintf("\n[%d more bytes were cut]", len(s)-cut)
}
