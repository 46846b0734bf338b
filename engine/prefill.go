package engine

import (
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Prefill is the beginning of an answer. Start returns a Usage fault that wraps [ErrPrefill]
// for a model that does not take it.
type Prefill struct {
	// Parts are text, with the reasoning that led to it if the client has that.
	Parts []provider.Part
	// MayRestart also accepts a model that does not continue the text but answers it with
	// another message. A footnote names the parameter [provider.PrefillParam] then.
	MayRestart bool
}

// text returns the text that the answer begins with.
func (p Prefill) text() string {
	var b strings.Builder
	for _, part := range p.Parts {
		if part.Kind == provider.TextPart {
			b.WriteString(part.Text)
		}
	}
	return clean(b.String())
}

// ErrPrefill is within the fault of a turn whose Prefill the model does not take.
var ErrPrefill = errors.New("the model does not continue a message of the assistant")

// prefill is the Prefill of a running turn.
type prefill struct {
	parts []provider.Part
	text  string
	shown bool // its event was emitted
}

// checkPrefill refuses the beginning of an answer that the model does not take.
func (t *turn) checkPrefill() error {
	text := t.req.Prefill.text()
	why := ""
	switch {
	case strings.TrimSpace(text) == "":
		return nil
	case t.req.Schema != nil:
		why = "an answer that has to match a schema can't begin with a message of the assistant"
	case t.agent != nil:
		why = "an agent does not continue a message of the assistant"
	case !t.takesPrefill(t.model):
		why = t.model.ref + " does not continue a message of the assistant"
	default:
		t.prefill = prefill{parts: t.req.Prefill.Parts, text: text}
		return nil
	}
	f := fault.New(fault.Usage, why+"; the last message must be the user's or a tool's result")
	f.Err = ErrPrefill
	return f
}

// takesPrefill reports whether the turn's Prefill can be sent to a model.
func (t *turn) takesPrefill(c *choice) bool {
	switch prefills(c) {
	case provider.PrefillContinued:
		return true
	case provider.PrefillAnswered:
		return t.req.Prefill.MayRestart
	}
	return false
}

func prefills(c *choice) provider.Prefill {
	p, ok := provider.As[provider.Continuer](c.prov)
	if !ok {
		return provider.PrefillRefused
	}
	return p.Prefills(c.model.Name)
}

// beginning returns the message that the model continues; nil if the turn has none, or if the
// first response of the model has ended.
func (t *turn) beginning() []provider.Message {
	if t.prefill.text == "" || t.red.Step > 0 {
		return nil
	}
	m := chat.Message{Role: provider.Assistant, Parts: t.prefill.parts}
	t.ownParts([]chat.Message{m})
	return []provider.Message{{Role: m.Role, Parts: m.Parts}}
}

// given returns the event of the beginning, once: it comes before the first piece that the
// model adds. A blank line separates another message of a model that does not continue it.
func (t *turn) given() []event.Body {
	if t.prefill.text == "" || t.prefill.shown {
		return nil
	}
	t.prefill.shown = true
	text := t.prefill.text
	if prefills(t.model) == provider.PrefillAnswered {
		text += "\n\n"
	}
	return []event.Body{event.TextDelta{Text: text, Agent: t.speaker(), Given: true}}
}
