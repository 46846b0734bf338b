package engine

import (
	"bytes"
	"encoding/json"

	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
)

// cardsTold is what a model is told of payloads that it can't see in the text:
// those that it wrote, and what the person did with them. The zero value tells
// nothing.
type cardsTold struct {
	reg *payloads.Registry
	// after are the decisions that a message of the person's is told with.
	after map[string][]PayloadDecision
}

// told is what the assembly of a request needs.
func (c *cards) told() cardsTold { return c.before }

// place finds for each decision the message that it is told with: the first of
// the person's behind the payload that was written after the decision, so that
// what was sent once stays as it was. The last message is told all. untold are
// those about payloads before the path.
func (c *cardsTold) place(decided map[string]PayloadDecision, untold []PayloadDecision, path []Message) {
	if len(decided) == 0 {
		return
	}
	c.after = map[string][]PayloadDecision{}
	waiting := untold
	for i, m := range path {
		if m.AnswersCalls() {
			continue // it is told as part of the answer
		}
		if m.Role == provider.User {
			last := i == len(path)-1
			var later []PayloadDecision
			for _, d := range waiting {
				if last || !m.CreatedAt.Before(d.At) {
					c.after[m.ID] = append(c.after[m.ID], d)
				} else {
					later = append(later, d)
				}
			}
			waiting = later
			continue
		}
		waiting = append(waiting, m.decidedIn(decided)...)
	}
}

// before is what stands before a person's message: what they did with payloads,
// and the action that they took.
func (c cardsTold) before(m Message) []provider.Part {
	var out []provider.Part
	say := func(text string) { out = append(out, provider.Part{Kind: provider.TextPart, Text: text + "\n"}) }
	for _, d := range c.after[m.ID] {
		say(payloads.Decided(d.Type, d.Decision == Accepted, d.Remark))
	}
	if m.InteractionType != "" {
		did := "[the person took the action " + m.InteractionType
		if len(m.ActionMetadata) > 0 {
			did += ": " + compactJSON(m.ActionMetadata)
		}
		say(did + "]")
	}
	return out
}

// again is a payload of the model's own as it wrote it, at its place in the
// text. What a tool gave, the model knows by the tool's result.
func (c cardsTold) again(p provider.Part) []provider.Part {
	if c.reg == nil || p.Payload == nil || p.Payload.Source != payloads.FromModel {
		return nil
	}
	text := c.reg.Retell(p.Payload.Type, p.Payload.Toolset, p.Payload.Data)
	return []provider.Part{{Kind: provider.TextPart, Step: p.Step, Text: "\n\n" + text + "\n\n"}}
}

// compactJSON is JSON on one line; what is none stays as it is.
func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
