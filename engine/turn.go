package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
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
	id     TurnID
	eng    *Engine
	req    TurnRequest
	accept *acceptance
	path   []Message // the chat up to the message, from the root
	schema *schema.Schema
	log    eventLog
	policy Policy
	red    *reducer
	feed   *feed
	offer  *toolset.Set
	names  *toolset.Names
	unlock func() // the chat's lock

	ctx    context.Context
	cancel context.CancelCauseFunc

	pending chan error // a sync that is under way; nil where none is
	seq     event.Seq
	begun   bool // the model has said something
	// shownText is set once a retry would repeat what was shown.
	shownText bool
	model     *choice
	denied    int
	nextIndex int // of the next call in tool_history
	useIDs    map[string]bool
	ws        *toolset.Workspace
	made      string // a workspace to remove at the end

	mu       sync.Mutex
	asking   map[string]chan Confirmation
	cancels  int
	abandon  chan struct{} // closed by a second cancel
	followed chan struct{} // closed when the turn has ended and let go
}

// Why a turn's context ended.
var (
	errCancelled = errors.New("the turn was cancelled")
	errTimedOut  = errors.New("the turn's time limit was reached")
)

// run does the turn from the first request to the model to its last event.
func (t *turn) run() {
	defer t.eng.retire(t)
	defer close(t.followed)
	if t.req.Timeout > 0 {
		timer := time.AfterFunc(t.req.Timeout, func() { t.cancel(errTimedOut) })
		defer timer.Stop()
	}
	err := t.loop()
	t.end(err)
}

// loop asks the model until it stops calling tools: document 002's
// continuation, bounded by the step limit.
func (t *turn) loop() error {
	limit := t.req.MaxSteps
	if limit <= 0 {
		limit = DefaultMaxSteps
	}
	for step := 0; ; step++ {
		calls, err := t.respond()
		if err != nil {
			return err
		}
		if len(calls) == 0 {
			return nil
		}
		if step+1 >= limit {
			t.refuseCalls(calls, "the turn limit was reached before it ran")
			return fault.New(fault.TurnLimit, plural(limit, "response")+" of the model, and it still calls tools",
				"fettle ask -c --max-turns "+itoa(2*limit)+" \"go on\"")
		}
		if err := t.runCalls(calls); err != nil {
			return err
		}
	}
}

// emit writes the events in one piece, and shows them once they are durable
// enough: after the write, and after a sync that is still under way.
func (t *turn) emit(bodies ...event.Body) error {
	events, err := t.append(bodies...)
	if err != nil {
		return err
	}
	if err := t.awaitSync(); err != nil {
		return err
	}
	t.feed.show(events)
	return nil
}

func (t *turn) append(bodies ...event.Body) ([]event.Event, error) {
	now := t.eng.o.Now()
	events := make([]event.Event, len(bodies))
	for i, b := range bodies {
		events[i] = event.Event{TurnID: string(t.id), Seq: t.seq + event.Seq(i) + 1, Time: now, Body: b}
	}
	if err := t.log.Append(events...); err != nil {
		return nil, fault.Wrap(fault.Store, "keep the turn", err, "free disk space or set FETTLE_DATA to another folder")
	}
	t.seq += event.Seq(len(bodies))
	for _, e := range events {
		t.red.add(e)
	}
	return events, nil
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
		return fault.Wrap(fault.Store, "keep the turn", err, "free disk space or set FETTLE_DATA to another folder")
	}
	return nil
}

// end writes the last event, lets go of everything, and only then shows it:
// whoever sees the end can go on with the chat.
func (t *turn) end(err error) {
	err = errors.Join(err, t.awaitSync())
	last := t.lastBody(err)
	var events []event.Event
	discard := t.req.Ephemeral || t.req.DiscardUnanswered && !t.begun && err != nil
	events, logErr := t.append(last)
	if logErr == nil && !discard {
		logErr = t.log.Sync()
	}
	if logErr != nil { // the stream still ends, with what is true now
		last = errorBody(fault.Wrap(fault.Store, "keep the turn", logErr))
		events = []event.Event{{TurnID: string(t.id), Seq: t.seq + 1, Time: t.eng.o.Now(), Body: last}}
	}
	t.letGo(discard)
	t.feed.show(events)
	t.feed.end()
}

func (t *turn) lastBody(err error) event.Body {
	cause := context.Cause(t.ctx)
	switch {
	case errors.Is(cause, errTimedOut):
		return errorBody(fault.New(fault.Timeout, "the time limit of "+t.req.Timeout.String()+" was reached",
			"--timeout 10m gives it longer"))
	case cause != nil:
		return event.Cancelled{}
	case err != nil:
		return errorBody(t.explain(err))
	}
	return event.Complete{Payload: t.red.payload(t.denied)}
}

// letGo closes what the turn holds. Nothing here can lose what was written.
func (t *turn) letGo(discard bool) {
	var errs []error
	if t.ws != nil {
		errs = append(errs, t.ws.Close())
	}
	if discard {
		errs = append(errs, t.log.Discard(), t.removeMade())
	} else {
		errs = append(errs, t.log.Close())
	}
	t.unlock()
	if err := errors.Join(errs...); err != nil {
		t.eng.o.Notice("after the turn: " + err.Error())
	}
}

func errorBody(err error) event.Error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		f = fault.Wrap(fault.Failed, "the turn ended", err)
	}
	return event.Error{
		Message: f.Msg, Code: string(f.Code), Retryable: retryable(f.Code),
		Detail: f.Detail, Hints: f.Hints,
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
