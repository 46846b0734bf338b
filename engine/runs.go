package engine

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
)

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
		t.broken = fault.Wrap(fault.Store, "keep the turn", err, store.RoomHint)
		return t.broken
	}
	return t.await(calls, t.launch(calls, ws), ws)
}

// await passes on what the running calls report until each has ended, or is
// left behind after a cancel.
func (t *turn) await(calls []*call, run *running, ws *toolset.Workspace) error {
	cancelled := t.ctx.Done()
	var grace <-chan time.Time
	limit := time.Duration(0)
	for _, c := range calls {
		limit = max(limit, c.limit())
	}
	began := time.Now()
	late := time.After(limit + t.eng.grace)
	defer close(run.over)
	for left := len(calls); left > 0; {
		select {
		case p := <-run.progress:
			t.report(p)
		case do := <-run.asks:
			do()
		case e := <-run.ends:
			left--
			t.drain(run) // what it reported comes before its end
			t.withdraw(e.by)
			t.reportEnd(t.endInFolder(e, ws))
		case <-cancelled:
			cancelled, grace = nil, time.After(t.eng.grace)
		case <-grace:
			return t.leaveBehind(run, left, ws)
		case <-t.abandon:
			return t.leaveBehind(run, left, ws)
		case <-late: // a tool that doesn't look at its context would hold the turn for ever
			if more := time.Until(began.Add(limit + t.eng.grace + run.stood())); more > 0 {
				late = time.After(more) // a person was asked
				continue
			}
			return errors.Join(t.leaveBehind(run, left, ws),
				fault.New(fault.Failed, "a tool did not stop at its time limit of "+limit.String()))
		}
	}
	if t.broken != nil {
		return t.broken
	}
	t.syncSoon(t.log.Sync)
	return context.Cause(t.ctx)
}

// report emits what a running call says. Where that fails the turn can't go
// on, and neither should its tools.
func (t *turn) report(b event.Body) {
	if err := t.emit(b); err != nil {
		t.cancel(err)
	}
}

// drain reports the updates that are there.
func (t *turn) drain(run *running) {
	for {
		select {
		case p := <-run.progress:
			t.report(p)
		default:
			return
		}
	}
}

// running are the goroutines of a group of calls. progress and ends have room for
// all that is sent, and who sends on asks looks at over, so a call that is left behind
// ends by itself.
type running struct {
	progress chan event.ToolProgress
	ends     chan ended
	asks     chan func()   // what the turn's goroutine is to do for questions
	over     chan struct{} // closed when nobody listens any more
	callers  []*caller
}

// stood is how long calls waited for a person, at most.
func (r *running) stood() time.Duration {
	var most time.Duration
	for _, q := range r.callers {
		most = max(most, q.clock.more())
	}
	return most
}

// ended is how a call's run ended.
type ended struct {
	call   *call
	by     *caller // which asked for it
	result toolset.Result
	err    error
}

func (t *turn) launch(calls []*call, ws *toolset.Workspace) *running {
	run := &running{
		progress: make(chan event.ToolProgress, progressBuffer),
		ends:     make(chan ended, len(calls)),
		asks:     make(chan func()), over: make(chan struct{}),
	}
	for _, c := range calls {
		ctx, cancel := context.WithCancelCause(t.ctx)
		clock := newAllowance(c.limit(), func() { cancel(context.DeadlineExceeded) })
		asker := &caller{t: t, c: c, run: run, clock: clock, rules: t.verdicts, model: t.model, what: t.runs(c)}
		run.callers = append(run.callers, asker)
		go func() {
			defer cancel(nil)
			defer clock.stop()
			endSpan := t.spanOfCall(c)
			res, err := t.runOne(ctx, asker, ws)
			endSpan(err)
			run.ends <- ended{c, asker, res, err}
		}()
	}
	return run
}

func (t *turn) runOne(ctx context.Context, asker *caller, ws *toolset.Workspace) (res toolset.Result, err error) {
	c := asker.c
	defer func() {
		if p := recover(); p != nil { // a tool of ours must not end the program and all its turns
			err = toolset.Errorf("the tool crashed: %v", p)
		}
	}()
	call := toolset.Call{
		ID: c.id, ChatID: t.accept.Chat.ID, UseID: c.use.ID, Args: c.use.Args, Workspace: asker.folder(ws), Page: t.req.Page, Tab: t.req.Tab, Context: t.req.Context,
		Progress: func(p toolset.Progress) {
			select {
			case asker.run.progress <- c.progress(p):
			default:
			}
		},
		Asker: asker,
	}
	res, err = c.entry.Runner.Run(ctx, call)
	var unmounted *toolset.LayerError
	if errors.As(err, &unmounted) && call.Workspace.Layer != nil {
		if err = asker.withoutLayer(ws); err == nil {
			call.Workspace = asker.folder(ws)
			res, err = c.entry.Runner.Run(ctx, call)
		}
	}
	t.eng.mindServices()
	if err == nil {
		err = t.eng.Schemas.CheckResult(c.entry.Tool, res)
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) && t.ctx.Err() == nil {
		err = toolset.Errorf("%s took longer than %s and was stopped", asker.what, c.limit())
	}
	return res, err
}

// folder returns the workspace as the call sees it: with the paths that rules deny its tool,
// and with its layer.
func (q *caller) folder(ws *toolset.Workspace) *toolset.Workspace {
	denied := q.rules.Denied(q.c.entry.Tool)
	if ws == nil || denied == nil && q.c.layer == nil {
		return ws
	}
	own := *ws
	own.Denied = denied
	if q.c.layer != nil {
		own.Layer = q.c.layer.upper
	}
	return &own
}

// runs says what runs a call, in a message for the model: an MCP server has its name.
func (t *turn) runs(c *call) string {
	if tool := c.entry.Tool; t.box.Remote[tool.ID] {
		return "the MCP server " + tool.ToolsetID + ": the tool " + chat.BareID(tool.ID)
	}
	return "the tool"
}

// limit is how long the call may take.
func (c *call) limit() time.Duration {
	if d := time.Duration(c.entry.Tool.Timeout); d > 0 {
		return d
	}
	return defaultToolTimeout
}

// progress makes an event of an update. The tool may change what it passed, so
// that is copied; what no event can hold is left out.
func (c *call) progress(p toolset.Progress) event.ToolProgress {
	e := event.ToolProgress{
		Tool: chat.BareID(c.entry.Tool.ID), Stage: sanitize.Clip(p.Stage, progressData), Message: sanitize.Clip(p.Message, progressData),
		ToolUseID: c.use.ID,
	}
	if p.Progress != nil && !math.IsNaN(*p.Progress) {
		part := min(max(*p.Progress, 0), 1)
		e.Progress = &part
	}
	if len(p.Data) <= progressData && json.Valid(p.Data) {
		e.Data = slices.Clone(p.Data)
	}
	return e
}

// leaveBehind passes on the ends that are there and leaves the other calls to
// the turn's end, which gives them a result. What they ask is withdrawn. Their
// goroutines continue until the tool looks at its context. Nothing waits for them, and the
// workspace is closed, so that they can change no file through it. checkLeft checks the
// user's folder now and when they have ended.
func (t *turn) leaveBehind(run *running, left int, ws *toolset.Workspace) error {
	runs := slices.DeleteFunc(slices.Clone(run.callers), func(q *caller) bool { return q.ended })
	for _, q := range run.callers {
		t.withdraw(q)
	}
	for {
		select {
		case e := <-run.ends:
			left--
			t.drain(run)
			runs = slices.DeleteFunc(runs, func(q *caller) bool { return q == e.by })
			t.reportEnd(t.endInFolder(e, ws))
		default:
			for _, q := range runs {
				if q.c.layer == nil {
					t.states.suspect = true
				} else if err := q.c.layer.disown(); err != nil {
					t.eng.o.Notice(sanitize.Line(err.Error()))
				}
			}
			t.checkLeft(run, left, ws)
			return errors.Join(t.emit(t.red.OpenCalls(t.unfinished(), "error: "+t.unfinished())...), context.Cause(t.ctx))
		}
	}
}

func (t *turn) startOf(c *call) event.ToolStart {
	start := event.ToolStart{
		Tool: chat.BareID(c.toolID()), ToolID: c.toolID(), Input: c.use.Args,
		ToolUseID: c.use.ID, CallID: c.id, Index: c.index, Agent: t.speaker(), Extra: c.use.Extra,
		ClientForm: t.forms[c.toolID()],
	}
	if t.keepsStates() {
		start.PreManifestID = workspace.ManifestID(t.states.at)
	}
	return start
}

// endInFolder is the end of a call, after which the folder's state is known.
func (t *turn) endInFolder(end ended, ws *toolset.Workspace) event.ToolComplete {
	if end.call.layer != nil {
		return t.endLayered(end, ws)
	}
	return t.endWithState(t.checked(end, ws), ws)
}

// endWithState is the end of a call with the states before and after it. Where
// the state after it can't be kept, the call counts as failed: what it did
// could not be undone. A builtin that only reads changes nothing.
func (t *turn) endWithState(end ended, ws *toolset.Workspace) event.ToolComplete {
	if !t.keepsStates() {
		return t.endOf(end)
	}
	before := workspace.ManifestID(t.states.at)
	var changes []event.Change
	if !end.call.readOnly() {
		var err error
		if changes, err = t.stateAfter(end.call, ws); err != nil {
			end.err = errors.Join(toolset.Errorf("it ran, but the state of the workspace after it could not be kept: %s", fault.FirstLine(err)), end.err)
		}
	}
	e := t.endOf(end)
	if e.PreManifestID, e.Changes, e.SharedChanges = before, changes, len(changes) > 0; !t.states.suspect {
		e.PostManifestID = workspace.ManifestID(t.states.at)
	}
	return e
}

// endOf is the event that ends a call that ran.
func (t *turn) endOf(end ended) event.ToolComplete {
	c := end.call
	e := event.ToolComplete{
		Tool: chat.BareID(c.toolID()), ToolID: c.toolID(), Index: c.index, ToolUseID: c.use.ID, CallID: c.id,
		Status: event.CallSuccess, DurationMS: (t.eng.o.Now().Sub(c.started) - c.waited).Milliseconds(), Outside: t.broughtBy(c),
	}
	if end.err == nil {
		e.Result = clean(sanitize.Clip(end.result.Text, maxResult))
		e.Data, e.WorkspacePayload, e.Payload = end.result.Data, end.result.WorkspacePayload, end.result.Payload
		e.RenderPlan = t.planOf(c, end.result)
		for _, m := range end.result.Media {
			e.Media = append(e.Media, event.Media(m))
		}
		return e
	}
	var own *toolset.ToolError
	traceback := ""
	switch {
	case errors.As(end.err, &own):
		e.Error, traceback = own.Message, own.Traceback
	case context.Cause(t.ctx) != nil:
		e.Error = t.unfinished()
	default:
		e.Error = end.err.Error()
	}
	e.Error = clean(sanitize.Clip(e.Error, maxResult))
	e.Status, e.Result = event.CallError, "error: "+e.Error
	e.RenderPlan = chat.FailedPlan(e.Error, traceback)
	return e
}

// clean makes valid UTF-8 of a text, as the journal would, so that what is
// shown now is what is read later.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
