package commands

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/fettle-cli/fettle/commands/show"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/client"
)

// view shows a turn's events as one output format wants them.
type view interface {
	// status says on a terminal what is being waited for; clear takes it away.
	status(text string)
	clear()
	// began takes the chat, once the question is accepted.
	began(engine.Chat)
	// show takes each event in order.
	show(event.Event)
	// end prints what is left to print when the turn has ended.
	end() error
}

// newView picks the view of the output format.
func newView(rt *workbench.Runtime, o askOptions, prices map[string]config.Price) view {
	switch o.output {
	case "events":
		return &eventsView{rt: rt}
	case "json":
		return newJSONView(rt, o, prices)
	}
	return newTextView(rt, o, prices)
}

// follow shows a turn to its end. The turn is ours: a signal and a closed pipe
// cancel it, once. What has come is kept and shown either way.
func follow(ctx context.Context, rt *workbench.Runtime, eng client.Turns, id engine.TurnID, v view) error {
	alive := context.WithoutCancel(ctx)
	cancel := sync.OnceFunc(func() {
		// Only an ended turn can't be cancelled, and then nothing is to do.
		_ = eng.Cancel(alive, id)
	})
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	if chat, ok := eng.TurnChat(id); ok {
		v.began(chat)
		if chat.Model != "" {
			v.status("asking " + chat.Model)
		}
	}
	var last event.Body
	for e, err := range eng.Follow(alive, id, 0) {
		if err != nil {
			v.clear()
			return err
		}
		v.show(e)
		last = e.Body
		if ask, ok := e.Body.(event.ConfirmRequest); ok {
			err := confirm(ctx, rt, eng, id, ask)
			if code := fault.CodeOf(err); err != nil && code != fault.NotFound && code != fault.Busy {
				cancel() // otherwise somebody else was first, and the turn goes on
			}
		}
		if rt.Streams.Out.Err() != nil {
			cancel()
		}
	}
	v.clear()
	if rt.Streams.Out.Err() != nil {
		return ending(last) // Main says what is lost
	}
	return errors.Join(v.end(), ending(last))
}

// outputTrouble is what a write to standard output that failed means: a reader
// that went away is no reason to say anything.
func outputTrouble(err error) error {
	if term.ClosedPipe(err) {
		return workbench.ExitError{Status: workbench.ExitClosedPipe}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err // the file's name is one that we made up
	}
	return fault.Wrap(fault.Failed, "write to standard output", err)
}

// ending turns the last event into what the program ends with.
func ending(last event.Body) error {
	switch b := last.(type) {
	case event.Error:
		return faultOf(b)
	case event.Cancelled:
		return workbench.ExitError{Status: fault.Interrupted.Exit()}
	case event.Complete:
		if b.Payload.Denied > 0 {
			return deniedFault(b.Payload)
		}
	}
	return nil
}

func faultOf(e event.Error) *fault.Fault {
	return &fault.Fault{Code: fault.Code(e.Code), Msg: e.Message, Detail: e.Detail, Hints: e.Hints}
}

// progress is what views need to know of a turn besides what they show.
type progress struct {
	chat engine.Chat // with the number and the model, from the beginning
	kept bool        // something came from the model, so the chat stays
	last event.Body

	prices map[string]config.Price
	cost   show.Cost // of the responses so far; a fallback may have other prices
}

func (p *progress) began(c engine.Chat) { p.chat = c }

func (p *progress) note(e event.Event) {
	p.last = e.Body
	switch b := e.Body.(type) {
	case event.TextDelta, event.Reasoning, event.ToolStart:
		p.kept = true
	case event.Meta:
		p.kept = true
		p.chat.Model = b.Model
		p.pay(b)
	}
}

// pay adds what a response cost. One that told no tokens leaves the sum without
// its part, as one of a model without a price does.
func (p *progress) pay(m event.Meta) {
	if m.Usage == nil {
		p.cost.Partial = true
		return
	}
	p.cost.Add(engine.Spent{Model: m.Model, Tokens: *m.Usage}, p.prices)
}

// number is the chat's, or 0 where nothing is kept.
func (p *progress) number() int64 {
	if !p.kept {
		return 0
	}
	return p.chat.Number
}
