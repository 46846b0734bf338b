package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fettle-cli/fettle/commands/usage"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/client"
)

// View shows a turn's events as one output format wants them.
type View interface {
	// Status says on a terminal what is being waited for; Clear takes it away.
	Status(text string)
	Clear()
	// Began takes the chat, once the question is accepted.
	Began(chat.Chat)
	// Show takes each event in order.
	Show(event.Event)
	// End prints what is left to print when the turn has ended.
	End() error
}

// Options are what a person wants to see of a turn.
type Options struct {
	Output   string          // text, json or events
	Schema   json.RawMessage // what the answer is JSON of, if it is
	Extract  bool            // only the first code block
	NoStream bool            // the answer once it is whole
	Quiet    bool            // the answer alone
	Verbose  bool            // all that happens, also where nobody watches
	Usage    bool            // the tokens, and what they cost
	First    bool            // the question begins a chat, which is kept however the turn ends
}

// New picks the view of the output format.
func New(rt *workbench.Runtime, o Options, prices usage.Prices) View {
	switch o.Output {
	case "events":
		return NewEvents(rt)
	case "json":
		return newJSONView(rt, o, prices)
	}
	return NewText(rt, o, prices)
}

// Turn shows a turn to its end. The turn is ours: a signal and a closed pipe
// cancel it, once. What has come is kept and shown either way.
func Turn(ctx context.Context, rt *workbench.Runtime, eng client.Turns, id store.TurnID, v View) error {
	alive := context.WithoutCancel(ctx)
	cancel := sync.OnceFunc(func() {
		// Only an ended turn can't be cancelled, and then nothing is to do.
		_ = eng.Cancel(alive, id)
	})
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	if chat, ok := eng.TurnChat(id); ok {
		v.Began(chat)
		if chat.Model != "" {
			v.Status("asking " + chat.Model)
		}
	}
	var last event.Body
	var how event.Footnote
	for e, err := range eng.Follow(alive, id, 0) {
		if err != nil {
			v.Clear()
			return err
		}
		note, _ := e.Body.(event.Footnote)
		if note.Warning {
			v.Clear()
			rt.Warning(note.Text)
		}
		v.Show(e)
		last = e.Body
		if note.Ending != "" {
			how = note
		}
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
	v.Clear()
	if rt.Streams.Out.Err() != nil {
		return ending(v, last, how) // Main says what is lost
	}
	// The error that ended the turn comes first, since it decides the exit status: a
	// call that was running then has failed because of it.
	shown, ended := v.End(), ending(v, last, how)
	if fault.CodeOf(ended) == fault.NoAnswer {
		return ended // what the view misses in the answer follows from that
	}
	return errors.Join(ended, shown)
}

// ending turns the last event into what the program ends with; how is the remark
// on an answer that did not end by itself.
func ending(v View, last event.Body, how event.Footnote) error {
	switch b := last.(type) {
	case event.Error:
		if p, ok := v.(interface {
			failure(event.Error) *fault.Fault
		}); ok {
			return p.failure(b)
		}
		return b.Fault()
	case event.Cancelled:
		return workbench.ExitError{Status: fault.Interrupted.Exit()}
	case event.Complete:
		if b.Payload.Denied > 0 {
			return deniedFault(b.Payload)
		}
		if how.Ending.NoAnswer() {
			return fault.New(fault.NoAnswer, how.Text)
		}
	}
	return nil
}

// progress is what views need to know of a turn besides what they show.
type progress struct {
	chat chat.Chat // with the number and the model, from the beginning
	kept bool      // the chat stays: a model was asked, or the question is its first
	last event.Body
	// first is set for the question that begins a chat, which is kept however the
	// turn ends.
	first bool

	prices usage.Prices
	cost   usage.Cost // of the responses so far; a fallback may have other prices
}

// failure is the fault of a turn that failed. A first question can be asked again.
func (p *progress) failure(e event.Error) *fault.Fault {
	f := e.Fault()
	if p.first && p.Number() > 0 {
		f.Remedies = append(slices.Clone(f.Remedies), fault.Run(fmt.Sprintf("fettle ask --chat %d --retry   asks the question again", p.Number())))
	}
	return f
}

// Began takes the chat, once the question is accepted.
func (p *progress) Began(c chat.Chat) { p.chat = c }

func (p *progress) note(e event.Event) {
	p.last = e.Body
	switch b := e.Body.(type) {
	case event.TextDelta, event.Reasoning, event.ToolStart:
		p.kept = true
	case event.Cancelled:
		p.kept = true
	case event.Error:
		switch fault.Code(b.Code) {
		case fault.Unavailable, fault.Unauthorised, fault.NotFound, fault.Config: // perhaps no model was asked
		default:
			p.kept = true
		}
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
	p.cost.Add(store.Spent{Model: m.Model, Tokens: *m.Usage}, p.prices)
}

// Number is the chat's, or 0 where nothing is kept.
func (p *progress) Number() int64 {
	if !p.kept {
		return 0
	}
	return p.chat.Number
}

// Model is the one that answered last, or that is asked.
func (p *progress) Model() string { return p.chat.Model }
