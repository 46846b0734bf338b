package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
)

// cardsTold is what a model is told of payloads that it can't see in the text:
// those that it wrote, and what the person did with them. The zero value tells
// nothing.
type cardsTold struct {
	reg *payloads.Registry
	// after are the notes that a message of the user is sent with, by its id.
	after map[string][]cardNote
}

// cardNote is what a model is told of one thing that the user did with a payload.
type cardNote struct {
	at   time.Time
	text string
}

// notesOf returns what a model is told of a record: the edits, then the decision.
func notesOf(d chat.PayloadDecision) (out []cardNote) {
	for _, e := range d.Edits {
		out = append(out, cardNote{e.At, payloads.Edited(d.Type, d.Title, e.Text)})
	}
	if d.Decision != "" {
		out = append(out, cardNote{d.At, payloads.Decided(d.Type, d.Decision == chat.Accepted, d.Remark)})
	}
	return out
}

// told is what the assembly of a request needs.
func (c *cards) told() cardsTold { return c.before }

// place finds for each note the message that it is sent with: the first of the user's
// after the payload that was written after the decision or edit, so that what was sent
// once stays as it was. The last message gets all notes. untold are the records about
// payloads before the path.
func (c *cardsTold) place(decided map[string]chat.PayloadDecision, untold []chat.PayloadDecision, path []chat.Message) {
	if len(decided) == 0 {
		return
	}
	c.after = map[string][]cardNote{}
	var waiting []cardNote
	add := func(all []chat.PayloadDecision) {
		for _, d := range all {
			waiting = append(waiting, notesOf(d)...)
		}
		slices.SortStableFunc(waiting, func(a, b cardNote) int { return a.at.Compare(b.at) })
	}
	add(untold)
	for i, m := range path {
		if m.AnswersCalls() {
			continue // it is told as part of the answer
		}
		if m.Role == provider.User {
			last := i == len(path)-1
			var later []cardNote
			for _, n := range waiting {
				if last || !m.CreatedAt.Before(n.at) {
					c.after[m.ID] = append(c.after[m.ID], n)
				} else {
					later = append(later, n)
				}
			}
			waiting = later
			continue
		}
		add(m.DecidedIn(decided))
	}
}

// before is what stands before a person's message: what they did with payloads,
// and the action that they took.
func (c cardsTold) before(m chat.Message) []provider.Part {
	var out []provider.Part
	say := func(text string) { out = append(out, provider.Part{Kind: provider.TextPart, Text: text + "\n"}) }
	for _, n := range c.after[m.ID] {
		say(n.text)
	}
	if m.InteractionType != "" {
		say(tookAction(m))
	}
	return out
}

// actionExecuted is the interaction_type of a suggested action that the user chose
// (document 000).
const actionExecuted = "action_executed"

// tookAction describes the suggestion that the user chose. That an action was carried out
// is stated only where the client acknowledged it.
func tookAction(m chat.Message) string {
	did := "[the person took the action " + m.InteractionType
	if len(m.ActionMetadata) > 0 {
		did += ": " + compactJSON(m.ActionMetadata)
	}
	if m.InteractionType != actionExecuted {
		return did + "]"
	}
	var sent struct {
		Acknowledged bool `json:"acknowledged"`
	}
	if json.Unmarshal(m.ActionMetadata, &sent) == nil && sent.Acknowledged {
		return did + "; their program reported that it carried the action out]"
	}
	return did + "; no program has reported that it carried the action out]"
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
