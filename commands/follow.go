package commands

import (
	"context"
	"errors"
	"syscall"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// view shows a turn's events as one output format wants them.
type view interface {
	// status says on a terminal what is being waited for; clear takes it away.
	status(text string)
	clear()
	// show takes each event in order.
	show(event.Event)
	// end prints what is left to print when the turn has ended.
	end() error
}

// newView picks the view of the output format.
func newView(rt *runtime, o askOptions) (view, error) {
	switch o.output {
	case "events":
		return &eventsView{rt: rt}, nil
	case "json":
		return newJSONView(rt, o), nil
	}
	return newTextView(rt, o), nil
}

// follow shows a turn to its end. The turn is ours: a signal and a closed pipe
// cancel it. What has come is kept and shown either way.
func follow(ctx context.Context, rt *runtime, eng *engine.Engine, id engine.TurnID, v view) error {
	alive := context.WithoutCancel(ctx)
	cancel := func() {
		// Only an ended turn can't be cancelled, and then nothing is to do.
		_ = eng.Cancel(alive, id)
	}
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	var last event.Body
	for e, err := range eng.Follow(alive, id, 0) {
		if err != nil {
			v.clear()
			return err
		}
		v.show(e)
		last = e.Body
		if ask, ok := e.Body.(event.ConfirmRequest); ok {
			if err := confirm(ctx, rt, eng, id, ask); err != nil {
				cancel()
			}
		}
		if rt.streams.Out.Err() != nil {
			cancel()
		}
	}
	v.clear()
	if err := rt.streams.Out.Err(); err != nil {
		return outputTrouble(err)
	}
	return errors.Join(v.end(), ending(rt, last))
}

// outputTrouble is what a write to standard output that failed means: a reader
// that went away is no reason to say anything.
func outputTrouble(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return exitError{exitClosedPipe}
	}
	return fault.Wrap(fault.Failed, "write the answer", err)
}

// ending turns the last event into what the program ends with.
func ending(rt *runtime, last event.Body) error {
	switch b := last.(type) {
	case event.Error:
		f := fault.New(fault.Code(b.Code), b.Message, b.Hints...)
		f.Detail = b.Detail
		return f
	case event.Cancelled:
		return exitError{fault.Interrupted.Exit()}
	case event.Complete:
		if n := b.Payload.Denied; n > 0 {
			return deniedFault(b.Payload, n)
		}
	}
	return nil
}
