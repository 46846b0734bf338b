package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// toolGrace is how long a cancelled tool gets to end by itself.
	toolGrace = 3500 * time.Millisecond
	// defaultToolTimeout bounds a call of a tool that names no bound.
	defaultToolTimeout = 10 * time.Minute
	// maxResult bounds the text of a result that goes to the model.
	maxResult    = 1 << 20
	progressData = 64 << 10
	// progressBuffer is how many updates of running tools may wait; further
	// ones are dropped, since the next says more.
	progressBuffer = 64
	// sideBySide is how many reading calls run at once: enough to hide the
	// waits of each, few enough for any machine.
	sideBySide = 8
	// maxCalls is how many calls of one response are run. Models that do good
	// work ask for a few dozen; one that goes astray asks for thousands.
	maxCalls = 128
)

// call is one call on its way.
type call struct {
	use     provider.ToolCall // as the model asked
	entry   toolset.Entry
	known   bool
	id      string // of the tool_calls record
	index   int
	refused string // why it doesn't run; empty where it may
	// judged is the call as the policy decided about it; nil if no policy was
	// consulted.
	judged  *permission.Call
	started time.Time
	// layer collects what the call writes; nil has it written to the folder. The turn's
	// goroutine sets it before the call runs.
	layer *callLayer
	// after is why the user has to decide about the call's changes, after it has run in a
	// layer; empty for other calls.
	after string
	// waited is how long the user took to decide about the changes of the call.
	waited time.Duration
}

// toolID is the tool's id as events have it. A call of a client's tool that is
// refused was never the client's, and goes by the model's word.
func (c *call) toolID() string {
	if c.known && (c.refused == "" || !chat.IsClientTool(c.entry.Tool.ID)) {
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
		for n < sideBySide && i+n < len(calls) && calls[i].readOnly() && calls[i+n].readOnly() {
			n++
		}
		if err := t.runGroup(calls[i : i+n]); err != nil {
			return errors.Join(err, t.giveUp(calls[i+n:], err))
		}
		i += n
	}
	return nil
}

// giveUp records the calls that never ran because the turn ends.
func (t *turn) giveUp(calls []*call, err error) error {
	why := "it did not run: " + fault.FirstLine(err)
	if context.Cause(t.ctx) != nil {
		why = t.unfinished() + " before it ran"
	}
	for _, c := range calls {
		c.refused = why
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
	c := &call{use: use, id: t.eng.NewID(), index: t.nextIndex}
	t.nextIndex++
	c.entry, c.known = t.names.Lookup(use.Name)
	if !record.IsObject(use.Args) {
		c.use.Args = json.RawMessage("{}") // what is recorded and sent back has to be one
		c.refused = "the arguments are not a JSON object: " + sanitize.Shorten(string(use.Args), chat.TitleLength)
		return c
	}
	if !c.known && use.Name == provider.UnnamedTool {
		c.refused = "the call names no tool: call again with the name of one"
		return c
	}
	if !c.known {
		c.refused = "there is no tool " + use.Name
		if near := t.names.Nearest(use.Name); near != "" {
			c.refused += "; did you mean " + near + "?"
		}
		return c
	}
	if chat.IsClientTool(c.entry.Tool.ID) {
		return c // its arguments are the client's to judge
	}
	s, err := t.eng.Schemas.Compile(c.entry.Tool.InputSchema)
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
	if wanted := slices.ContainsFunc(calls, func(c *call) bool { return c.refused == "" }); !wanted {
		return t.recordRefused(calls)
	}
	ws, err := t.workspace()
	if err != nil {
		return errors.Join(err, t.giveUp(calls, err))
	}
	var runs, refused []*call
	for _, c := range calls {
		if c.refused == "" {
			if err := t.approve(c, ws); err != nil {
				return errors.Join(err, t.giveUp(calls, err))
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
	err = t.enterFolder(ws)
	if err == nil {
		defer t.leaveFolder()
		err = context.Cause(t.ctx) // a person may have taken their time
	}
	if err != nil {
		return errors.Join(err, t.giveUp(runs, err))
	}
	if runs, err = t.prepareCalls(runs, ws); err != nil || len(runs) == 0 {
		return err
	}
	known := t.states.known()
	layered := known && t.layered(runs, ws)
	if !layered {
		if err := t.stateBefore(ws); err != nil {
			return t.refuseUnkept(runs, err)
		}
		layered = !known && t.layered(runs, ws)
	}
	if runs, err = t.refuseMoved(runs, ws); err != nil || len(runs) == 0 {
		return err
	}
	if err := t.guardRepositories(runs, ws, layered); err != nil {
		return t.refuseUnkept(runs, err)
	}
	defer t.unguard()
	for _, c := range runs {
		t.taint(c)
	}
	if layered {
		if err := t.giveLayer(runs[0], ws); err != nil {
			return t.refuseUnkept(runs, err)
		}
	}
	if runs, err = t.refuseUnlayered(runs); err != nil || len(runs) == 0 {
		return err
	}
	return t.runNow(runs, ws)
}

// prepareTime bounds what a call does before it runs: an editor saves a file at once, or
// does not answer.
const prepareTime = time.Minute

// prepareCalls lets calls prepare for the state that is taken before them, and refuses those
// that can't, such as where an editor fails to say what it has not saved of a file.
func (t *turn) prepareCalls(calls []*call, ws *toolset.Workspace) (ready []*call, err error) {
	var refused []*call
	for _, c := range calls {
		if c.entry.Prepare == nil {
			ready = append(ready, c)
			continue
		}
		ctx, cancel := context.WithTimeout(t.ctx, prepareTime)
		err := c.entry.Prepare(ctx, toolset.Call{ID: c.id, ChatID: t.accept.Chat.ID, Args: c.use.Args, Workspace: ws})
		cancel()
		switch cause := context.Cause(t.ctx); {
		case cause != nil:
			return nil, errors.Join(cause, t.giveUp(calls, cause))
		case err != nil:
			c.refused = "it did not run: " + err.Error()
			refused = append(refused, c)
		default:
			ready = append(ready, c)
		}
	}
	return ready, t.recordRefused(refused)
}

// refuseMoved refuses the calls whose paths lead to other files than when the policy, or
// the user, decided about them, and returns the others.
func (t *turn) refuseMoved(calls []*call, ws *toolset.Workspace) (same []*call, err error) {
	var moved []*call
	for _, c := range calls {
		if c.judged == nil {
			same = append(same, c)
			continue
		}
		path, from, to, yes := permission.Resolve(c.entry.Tool, c.use.Args, ws).Moved(c.judged)
		if yes {
			c.refused = fmt.Sprintf("it did not run: the path %q led to %q when the call was approved, and leads to %q now", path, from, to)
			moved = append(moved, c)
			continue
		}
		same = append(same, c)
	}
	return same, t.recordRefused(moved)
}

// refuseUnkept ends calls that could not be undone, since the state before them
// can't be kept: they don't run, and the model is told why.
func (t *turn) refuseUnkept(calls []*call, err error) error {
	if cause := context.Cause(t.ctx); cause != nil {
		return errors.Join(cause, t.giveUp(calls, cause))
	}
	for _, c := range calls {
		c.refused = "it did not run, because it could not be undone: the state of the workspace can't be kept: " + fault.FirstLine(err)
	}
	return t.recordRefused(calls)
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
			Tool: chat.BareID(c.toolID()), ToolID: c.toolID(), Index: c.index, ToolUseID: c.use.ID, CallID: c.id,
			Status: event.CallError, Error: c.refused, Result: "error: " + c.refused, RenderPlan: chat.FailedPlan(c.refused, ""),
		})
	}
	return t.emit(bodies...)
}

// notice shows a status to followers. A status that cannot be shown is dropped.
func (t *turn) notice(what string) { _ = t.emit(event.Status{Message: what}) }
