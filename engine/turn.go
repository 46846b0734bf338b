package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

// eventLog is where a turn's events are made durable: a journal, or nothing
// for an ephemeral turn.
type eventLog interface {
	Publish() error
	Append(...event.Event) error
	Sync() error
	SyncTime() time.Duration
	Close() error
	Discard() error
}

// turn is one live turn. Its own goroutine (run) is the only one that emits;
// followers, Cancel and Confirm come from others.
type turn struct {
	id     store.TurnID
	eng    *Engine
	req    TurnRequest
	accept *chat.Acceptance
	path   []chat.Message // the chat up to the message, from the root
	schema *schema.Schema
	log    eventLog
	policy permission.Policy
	plan   bool // plan mode: calls can only read the workspace
	// verdicts decides by policy, and ownVerdicts without what was allowed before
	// this turn; see compileRules.
	verdicts, ownVerdicts *permission.Rules
	// allowed are the rules that the user made in this turn, tainted the tool
	// that first brought something in from outside; see decide.
	allowed []string
	tainted string
	red     *chat.Reducer
	// callsNow are the records of the turn's calls so far, by their ids.
	callsMu  sync.Mutex
	callsNow map[string]chat.ToolCall
	feed     *feed
	box      *catalog.Toolbox
	offer    *toolset.Set
	// leftOut are the tools that maxOffered leaves out, which doesn't bind where
	// unlimited is set.
	leftOut   []catalog.LeftOut
	unlimited bool
	// agent speaks now, entry is the one that the turn began with; nil without
	// agents. handed are those that handed over, in order, allTools what the
	// request offers, base the model of agents that name none.
	agent, entry *store.Agent
	handed       []string
	allTools     *toolset.Set
	base         string
	native       *provider.Native // of a turn with agents, once it is asked
	names        *toolset.Names
	// clients are the tools that the client runs, chosen those of ours that the
	// request offers.
	clients []toolset.Entry
	prefill prefill
	strict  map[string]bool            // ids of those that [ClientTool.Strict] is set for
	forms   map[string]json.RawMessage // [ClientTool.Form] by their ids
	chosen  *toolset.Set
	unlock  func() // the chat's lock

	ctx    context.Context
	cancel context.CancelCauseFunc

	pending chan error // a sync that is under way; nil where none is
	// broken is why nothing can be kept any more; unshown are the events that
	// were written but not synced then.
	broken  error
	unshown []event.Event
	seq     event.Seq
	begun   bool // the model has said something
	// shown is set once a retry would repeat what was shown of a response.
	shown     bool
	model     *choice
	noted     map[string]bool // the footnotes about parameters that were emitted
	unasked   error           // why no model can be asked; see keepUnasked
	fit       fitting         // what gives way in its requests
	asked     int             // the estimate of the last request
	learning  []*choice
	progress  progress
	denied    int
	nextIndex int // of the next call in tool_history
	useIDs    map[string]bool
	ws        *toolset.Workspace
	// leave releases the lock of the folder; nil while the turn does not hold it.
	leave  func()
	states states
	// guard checks the user's folder after the calls that run; nil where none can write to
	// it.
	guard      *workspace.Guard
	cards      *cards
	cited      cited       // remarks of its providers
	older      store.Older // what is before path
	notes      []string    // footnotes on what was left out before the turn began
	usedBefore time.Time   // when the chat was used last, before this turn
	// warnings are shown at once: about folders in which an earlier call was cut off, and the
	// chat that is continued where that is not the obvious one.
	warnings []string
	since    time.Time // the turn was requested
	span     Span
	made     string   // a workspace to remove at the end
	put      []string // the uploads that are in the workspace

	gone    atomic.Bool // the turn has let go of its journal
	mu      sync.Mutex
	asking  map[string]*waiting // by the id of the question
	cancels int
	// prompting are the servers that may ask models in this turn.
	prompting map[string]bool
	abandon   chan struct{} // closed by a second cancel
}

// Why a turn's context ended.
var (
	errCancelled = errors.New("the turn was cancelled")
	errTimedOut  = errors.New("the turn's time limit was reached")
)

// run does the turn from the first request to the model to its last event.
func (t *turn) run() {
	if t.req.Timeout > 0 {
		timer := time.AfterFunc(t.req.Timeout, func() { t.cancel(errTimedOut) })
		defer timer.Stop()
	}
	t.end(t.guarded())
}

// guarded is the loop; a panic in it, a provider's say, ends the turn and not
// the program with all its turns.
func (t *turn) guarded() (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		f := fault.New(fault.Failed, t.model.ref+": fettle crashed while it answered: "+
			sanitize.Shorten(sanitize.Line(fmt.Sprint(p)), crashLength))
		t.eng.o.Notice("turn " + string(t.id) + " crashed at " + crashPlace() + ": " + f.Msg)
		err = f
	}()
	return t.loop()
}

// crashLength is how much of a panic's text a person is shown.
const crashLength = 300

// crashPlace is the line that panicked, as seen from a deferred function.
func crashPlace() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicked := false
	for f, more := frames.Next(); more; f, more = frames.Next() {
		if strings.HasPrefix(f.Function, "runtime.") {
			panicked = true
		} else if panicked {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
	return "a place that is not known"
}

// loop runs the person's own calls, a workflow's steps, or asks the model.
func (t *turn) loop() error {
	limit := t.req.MaxSteps
	if limit <= 0 {
		limit = DefaultMaxSteps
	}
	for _, note := range t.notes {
		if err := t.emit(event.Footnote{Text: sanitize.Line(note)}); err != nil {
			return err
		}
	}
	t.showWarnings(t.warnings)
	if t.unasked != nil {
		return t.unasked
	}
	if len(t.req.Calls) > 0 {
		return t.runDirect()
	}
	if t.req.workflow != nil {
		return t.runWorkflow(limit)
	}
	if err := errors.Join(t.noteIgnored(), t.noteLimit(), t.noteLeftOut()); err != nil {
		return err
	}
	if err := t.announce(); err != nil {
		return err
	}
	return t.rounds(limit)
}

// rounds asks the model for as long as document 002's conditions hold
// (continue.go), bounded by the step limit.
func (t *turn) rounds(limit int) error {
	for step := 0; ; step++ {
		calls, err := t.respond()
		if err != nil {
			return err
		}
		calls, next, err := t.takeHandoff(calls)
		if err != nil {
			return err
		}
		if _, clients := t.splitClients(calls); step+1 >= limit && len(clients) == 0 && t.wouldGoOn(calls, next) {
			t.refuseCalls(calls, "the turn limit was reached before it ran")
			return fault.New(fault.TurnLimit, fault.Plural(limit, "response")+" of the model, and it still calls tools",
				"fettle ask -c --max-steps "+strconv.Itoa(2*limit)+" \"go on\"")
		}
		switch on, err := t.useCalls(calls, next); {
		case err != nil:
			return err
		case !on:
			return t.noteEnding()
		}
		if err := t.progress.look(t.red.Calls, &t.req, t.denied); err != nil {
			return err
		}
		if next != nil {
			if err := t.handOff(next); err != nil {
				return err
			}
		}
	}
}

// emit writes the events in one piece, and shows them once they are durable
// enough: after the write, and after a sync that is still under way. After one
// failure nothing more is emitted, so whoever drops an error loses no more
// than what it belonged to.
func (t *turn) emit(bodies ...event.Body) error {
	if t.broken != nil || len(bodies) == 0 {
		return t.broken
	}
	events, err := t.append(bodies...)
	if err == nil {
		if err = t.awaitSync(); err != nil {
			t.unshown = events
		}
	}
	if err != nil {
		t.broken = err
		return err
	}
	t.feed.show(events)
	return nil
}

func (t *turn) append(bodies ...event.Body) ([]event.Event, error) {
	events := t.number(bodies)
	if err := t.log.Append(events...); err != nil {
		return nil, fault.Wrap(fault.Store, "keep the turn", err, store.RoomHint)
	}
	t.seq += event.Seq(len(bodies))
	for _, e := range events {
		t.red.Add(e)
		t.noteCall(e.Body)
	}
	return events, nil
}

// number makes the next events of bodies.
func (t *turn) number(bodies []event.Body) []event.Event {
	now := t.eng.o.Now()
	events := make([]event.Event, len(bodies))
	for i, b := range bodies {
		events[i] = event.Event{TurnID: string(t.id), Seq: t.seq + event.Seq(i) + 1, Time: now, Body: b}
	}
	return events
}

// syncSoon starts a sync point that overlaps what the turn does next.
func (t *turn) syncSoon(sync func() error) {
	if t.pending != nil {
		return // the one under way is waited for before anything is shown
	}
	done := make(chan error, 1)
	t.pending = done
	go func() { done <- sync() }() // awaitSync, at the latest in end, waits for it
}

func (t *turn) awaitSync() error {
	if t.pending == nil {
		return nil
	}
	err := <-t.pending
	t.pending = nil
	if err != nil {
		return fault.Wrap(fault.Store, "keep the turn", err, store.RoomHint)
	}
	return nil
}

// end writes the last event, releases everything, and only then shows it: a
// client that sees the end can continue the chat. Calls that have no result get
// one first.
//
// An end that can't be written, or not synced, is never shown: a later fold may end the
// turn with another one under the same number. Followers get an error in its place,
// which is not an event.
func (t *turn) end(err error) {
	if syncErr := t.awaitSync(); syncErr != nil && t.broken == nil {
		t.broken = syncErr
	}
	err = errors.Join(err, t.broken)
	discard := t.discards(err)
	events, lost := t.appendEnd(err)
	if lost == nil && !discard {
		lost = t.log.Sync()
	}
	if lost != nil {
		events, lost = nil, fault.Wrap(fault.Store, "keep the end of the turn", lost, store.RoomHint)
	}
	t.letGo(discard)
	t.endSpan(events)
	if !t.req.Ephemeral { // before the end is seen, so that the next turn knows it
		t.findThoughts()
		t.eng.keepLearnt(append(t.learning, t.model))
	}
	t.feed.show(append(t.unshown, events...))
	t.feed.end(lost)
	t.callsMu.Lock()
	t.callsNow = nil // from here on a fold of the journal brings them into the store
	t.callsMu.Unlock()
	t.forget()
}

// discards reports whether nothing of the turn is kept. A question that was stopped, or
// that was sent to a model, is kept with its end.
func (t *turn) discards(err error) bool {
	var refused *notAccepted
	if t.req.Ephemeral || errors.As(err, &refused) {
		return true
	}
	return t.req.DiscardUnanswered && !t.begun && t.broken == nil && context.Cause(t.ctx) == nil && neverAsked(err)
}

// neverAsked reports whether an error means that no model could be asked: it is unknown or
// unreachable, no key for it is accepted, or the question is too long for it.
func neverAsked(err error) bool {
	if pe := (*provider.Error)(nil); errors.As(err, &pe) {
		return pe.Kind == provider.Unreachable || pe.Kind == provider.Unauthorised || pe.Kind == provider.UnknownModel ||
			pe.Kind == provider.ContextFull
	}
	switch fault.CodeOf(err) {
	case fault.Unavailable, fault.Unauthorised, fault.NotFound, fault.Config, fault.Context:
		return err != nil
	}
	return false
}

// appendEnd writes the results of open calls and the last event. Where that is
// too much for the journal, or for the room on the disk, it tries with an error
// as the last event, which is short.
func (t *turn) appendEnd(err error) ([]event.Event, error) {
	events, full := t.append(append(t.leftOpen(err), t.lastBody(err))...)
	if full == nil {
		return events, nil
	}
	t.broken = cmp.Or(t.broken, full)
	return t.append(append(t.leftOpen(t.broken), errorBody(t.broken))...)
}

// leftOpen ends the calls that have not ended, but for those that a turn which
// came to its end leaves to the client.
func (t *turn) leftOpen(err error) []event.Body {
	var out []event.Body
	for _, b := range t.red.OpenCalls(t.unfinished(), "error: "+t.unfinished()) {
		if done, ok := b.(event.ToolComplete); err != nil || !ok || !chat.IsClientTool(done.ToolID) {
			out = append(out, b)
		}
	}
	if err == nil {
		t.red.Leave() // the last event tells of them
	}
	return out
}

// unfinished is why the turn's open calls have no result of their own.
func (t *turn) unfinished() string {
	switch cause := context.Cause(t.ctx); {
	case t.broken != nil:
		return "the turn could not be kept"
	case cause == nil:
		return "the turn ended before the call did"
	case errors.Is(cause, errTimedOut):
		return "the turn's time limit was reached"
	}
	return "cancelled"
}

func (t *turn) lastBody(err error) event.Body {
	cause := context.Cause(t.ctx)
	switch {
	case err == nil:
		return event.Complete{Payload: t.red.Payload(t.denied, t.cards.collected.Result())}
	case t.broken != nil:
		return errorBody(t.broken)
	case errors.Is(cause, errTimedOut):
		return errorBody(fault.New(fault.Timeout, "the time limit of "+t.req.Timeout.String()+" was reached",
			"--timeout 10m gives it longer"))
	case errors.Is(cause, errCancelled):
		return event.Cancelled{}
	case errors.Is(cause, store.ErrClosed): // nobody wanted it stopped: whoever reads it may ask again
		return errorBody(fault.New(fault.Interrupted, "fettle ended before the answer was complete"))
	}
	return errorBody(models.Explain(t.model.ref, err))
}

// letGo closes what the turn holds. Nothing here can lose what was written.
func (t *turn) letGo(discard bool) {
	var errs []error
	if discard {
		ctx, cancel := context.WithTimeout(context.Background(), workspace.StateTime)
		defer cancel()
		errs = append(errs, t.moveFolderBack(ctx), t.takeBack(), t.log.Discard())
	} else {
		errs = append(errs, t.log.Close())
		if t.ws != nil {
			errs = append(errs, t.ws.Close())
		}
	}
	t.gone.Store(true)
	t.unlock()
	if err := errors.Join(errs...); err != nil {
		t.eng.o.Notice("after the turn: " + sanitize.Line(err.Error()))
	}
}

// forget drops what an ended turn no longer needs while it is kept for late
// followers: a history with its images may be far larger than the answer.
func (t *turn) forget() {
	t.path, t.red, t.useIDs = nil, nil, nil
	t.mu.Lock()
	t.accept.Parts = nil // which TurnQuestion reads
	t.mu.Unlock()
	t.req.Parts, t.req.Schema, t.schema, t.offer, t.names = nil, nil, nil, nil, nil
	t.unshown, t.model, t.allTools, t.box, t.cards, t.leftOut = nil, nil, nil, nil, nil, nil
	t.clients, t.chosen = nil, nil
	t.native, t.req.workflow = nil, nil
	t.fit, t.learning = fitting{}, nil
}

func errorBody(err error) event.Error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		f = fault.Wrap(fault.Failed, "the turn ended", err)
	}
	return event.Error{
		Message: record.Clip(clean(f.Msg), maxErrorText), Code: string(f.Code), Retryable: retryable(f.Code),
		Detail: boundLines(f.Detail), Hints: boundLines(f.Hints), Status: f.Status,
		RetryAfterMS: f.RetryAfter.Milliseconds(),
	}
}

// retryable tells whether asking the same again may help.
func retryable(c fault.Code) bool {
	switch c {
	case fault.Unavailable, fault.Overloaded, fault.Timeout, fault.Interrupted, fault.InvalidReply, fault.Busy:
		return true
	}
	return false
}
