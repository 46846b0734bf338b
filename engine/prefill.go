package engine

import (
	"errors"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// ErrPrefill is within the fault of a turn whose Prefill can't be continued.
var ErrPrefill = errors.New("the beginning of the answer can't be continued")

// checkPrefill refuses the beginning of an answer that the model can't continue.
func (t *turn) checkPrefill() error {
	why := ""
	switch {
	case t.req.Prefill == "":
		return nil
	case t.req.Schema != nil:
		why = "an answer by a schema can't be continued"
	case t.agent != nil:
		why = "an agent continues no answer"
	case !continues(t.model):
		why = t.model.ref + " can't continue the beginning of an answer"
	default:
		t.prefill = clean(t.req.Prefill)
		return nil
	}
	f := fault.New(fault.Usage, why+"; the last message has to be the user's, or a tool's result")
	f.Err = ErrPrefill
	return f
}

// continues reports whether a model continues the beginning of an answer.
func continues(c *choice) bool {
	p, ok := provider.As[provider.Continuer](c.prov)
	return ok && p.Continues(c.model.Name)
}

// beginning returns the message that the model continues; nil if the turn has none, or if the
// answer has begun.
func (t *turn) beginning() []provider.Message {
	if t.prefill == "" || t.red.step > 0 {
		return nil
	}
	return []provider.Message{{Role: provider.Assistant, Parts: []provider.Part{{Kind: provider.TextPart, Text: t.prefill}}}}
}

// given returns the event of the beginning, ahead of the first piece that the model adds.
func (t *turn) given() []event.Body {
	if t.prefill == "" {
		return nil
	}
	text := t.prefill
	t.prefill = ""
	return []event.Body{event.TextDelta{Text: text, Agent: t.speaker(), Given: true}}
}
