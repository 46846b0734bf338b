package chat

import (
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Verdict is what a person did with a payload.
type Verdict string

// The verdicts.
const (
	Accepted Verdict = "accepted"
	Rejected Verdict = "rejected"
)

// PayloadDecision is the payloads record: what the user did with a payload that was
// shown in a chat. A payload that the user left alone has none; the messages contain
// the payloads themselves.
type PayloadDecision struct {
	ChatID    string `json:"chat_id"`
	PayloadID string `json:"payload_id"`
	MessageID string `json:"message_id"`
	Type      string `json:"payload_type"`
	Title     string `json:"title,omitempty"`
	Toolset   string `json:"toolset_id,omitempty"`
	// Decision is empty where the user has only edited the payload's text.
	Decision Verdict `json:"decision,omitempty"`
	// Remark is what the person said to it.
	Remark string    `json:"remark,omitempty"`
	At     time.Time `json:"decided_at,omitzero"`
	// Edits are the texts that the user made of the payload's, the last one last.
	// Those before it were in force when an earlier question was asked.
	Edits []PayloadEdit `json:"edits,omitempty"`
	// Reaction is what the decision starts: an action of the page, which the client
	// carries out, or a tool; nil for neither.
	Reaction *manifest.Reaction `json:"reaction,omitempty"`
	// AgentID is the id of the user's agent that accepting the payload created or changed.
	AgentID string `json:"agent_id,omitempty"`
	// TurnID is the turn in which the tool runs. With a tool and without a turn
	// it is not known whether that began.
	TurnID string `json:"turn_id,omitempty"`
}

// ShownPayload is a payload of a chat's active branch.
type ShownPayload struct {
	// Number counts the payloads of the branch, from 1.
	Number int `json:"number"`
	provider.Payload
	MessageID string           `json:"message_id"`
	ShownAt   time.Time        `json:"shown_at"`
	Decision  *PayloadDecision `json:"decision,omitempty"`
	// CallID is the call that gave the payload for the workspace panel; empty for others.
	CallID string `json:"call_id,omitempty"`
	// Edit is the text that the user made of the payload's; nil for none.
	Edit *PayloadEdit `json:"edit,omitempty"`
}

// MaxRemark bounds a person's remark on a payload: more of it belongs into a
// message.
const MaxRemark = 2000

const (
	// MaxEdit bounds the text of an edited payload. A page sends it on each pause of
	// the user's typing, and the record contains it whole.
	MaxEdit = 256 << 10
	// MaxEdits bounds the edits of one payload. Only the last one before a question
	// is kept, so a payload reaches it after as many questions.
	MaxEdits = 20
)

// PayloadEdit is a text that the user made of a payload's.
type PayloadEdit struct {
	Text string    `json:"text"`
	At   time.Time `json:"edited_at"`
}

// Verdict returns the record where the user has decided, and nil where not.
func (d PayloadDecision) Verdict() *PayloadDecision {
	if d.Decision == "" {
		return nil
	}
	d.Edits = nil
	return &d
}

// LastEdit returns the edit that is in force; nil for none.
func (d PayloadDecision) LastEdit() *PayloadEdit {
	if len(d.Edits) == 0 {
		return nil
	}
	return &d.Edits[len(d.Edits)-1]
}

// Since returns the record without what happened up to a time, and whether anything is
// left of it.
func (d PayloadDecision) Since(t time.Time) (later PayloadDecision, any bool) {
	later = d
	if !d.At.After(t) {
		later.Decision = ""
	}
	later.Edits = nil
	for _, e := range d.Edits {
		if e.At.After(t) {
			later.Edits = append(later.Edits, e)
		}
	}
	return later, later.Decision != "" || len(later.Edits) > 0
}

// tooMuchEdited reports whether a record has more than EditPayload keeps.
func (d PayloadDecision) tooMuchEdited() bool {
	for _, e := range d.Edits {
		if len(e.Text) > MaxEdit {
			return true
		}
	}
	return len(d.Edits) > MaxEdits
}

// PayloadIDs are the ids under which a person may have decided about what a message
// shows, in its order.
func (m Message) PayloadIDs() (ids []string) {
	for _, p := range m.Parts {
		switch {
		case p.Kind == provider.PayloadPart && p.Payload != nil:
			ids = append(ids, p.Payload.ID)
		case p.Kind == provider.ToolCallPart && p.Call != nil:
			ids = append(ids, CallPayloadID(m.ID, p.Call.ID))
		}
	}
	return ids
}

// DecidedIn are the decisions about what a message shows.
func (m Message) DecidedIn(all map[string]PayloadDecision) (out []PayloadDecision) {
	if len(all) == 0 {
		return nil
	}
	for _, id := range m.PayloadIDs() {
		if d, ok := all[id]; ok {
			out = append(out, d)
		}
	}
	return out
}

// A call's workspace_payload (document 000) has no id of its own. It is known by its
// message and its call there, which forks, exports and imports keep as they are.
func CallPayloadID(message, useID string) string { return message + "." + useID }
