package chat

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
)

// GeneralMessage is a message with the fields of document 000's GeneralChatMessage, which
// repeat what its parts and the records of its calls contain. They are what the event
// complete had of the same answer, except that the answer may not be whole.
type GeneralMessage struct {
	Message
	// Content is the text; an answer's has [[tool:N]] where its calls ended.
	Content   string    `json:"content"`
	Timestamp time.Time `json:"timestamp"`
	// WorkspacePayload is the last workspace_payload of a call, else CustomPayload in
	// that form where it is document 001's.
	WorkspacePayload json.RawMessage `json:"workspace_payload,omitempty"`
	// CustomPayload is document 001's payload, else the tool history.
	CustomPayload *event.CustomPayload `json:"custom_payload,omitempty"`
	// ToolHistory are the calls where CustomPayload is a payload.
	ToolHistory []event.ToolHistory `json:"tool_history,omitempty"`
}

// GeneralForm states whether messages contain the tool history, which repeats the arguments and
// results that their parts have.
type GeneralForm bool

// The forms.
const (
	WithToolHistory    GeneralForm = true
	WithoutToolHistory GeneralForm = false
)

// GeneralMessages returns messages in document 000's form. calls are those of
// [Store.ViewCalls] for the same messages.
func GeneralMessages(messages []Message, calls []CallView, form GeneralForm) []GeneralMessage {
	of := make(map[Use]*CallView, len(calls))
	for i := range calls {
		if c := &calls[i]; c.AppOf == "" {
			of[Use{c.MessageID, c.ToolUseID}] = c
		}
	}
	out := make([]GeneralMessage, len(messages))
	for i, m := range messages {
		out[i] = m.general(of, form)
	}
	return out
}

func (m Message) general(of map[Use]*CallView, form GeneralForm) GeneralMessage {
	out := GeneralMessage{Message: m, Timestamp: m.CreatedAt}
	if m.Role == provider.User {
		out.Content = m.Text()
		return out
	}
	index := m.callIndexes(of)
	out.Content = markedText(m.Parts, func(useID string) (int, bool) { n, ok := index[useID]; return n, ok })
	var shown *provider.Payload // the last of a tool, else the model's last
	for _, p := range m.Parts {
		switch {
		case p.Kind == provider.PayloadPart && p.Payload != nil:
			if shown == nil || shown.Source != payloads.FromTool || p.Payload.Source == payloads.FromTool {
				shown = p.Payload
			}
		case p.Kind == provider.ToolCallPart && p.Call != nil:
			if c := of[Use{m.ID, p.Call.ID}]; c != nil && c.WorkspacePayload != nil {
				out.WorkspacePayload = c.WorkspacePayload
			}
		}
	}
	if shown != nil {
		out.CustomPayload = &event.CustomPayload{Type: shown.Type, Data: shown.Data}
		if out.WorkspacePayload == nil {
			out.WorkspacePayload = workspaceForm(shown)
		}
	}
	if form == WithoutToolHistory {
		return out
	}
	calls := m.history(of, index)
	switch {
	case len(calls) == 0:
	case out.CustomPayload != nil:
		out.ToolHistory = calls
	default:
		data, _ := record.Marshal(calls) // strings and valid JSON can't fail
		out.CustomPayload = &event.CustomPayload{Type: event.CustomHistory, Data: data}
	}
	return out
}

// workspaceForm returns a payload of document 001 as document 000's panel shows it.
func workspaceForm(p *provider.Payload) json.RawMessage {
	raw, err := record.Marshal(map[string]any{"type": p.Type, "title": p.Title, "content": "", "data": orNull(p.Data)})
	if err != nil {
		return nil // data that is not JSON shows nothing
	}
	return raw
}

// callIndexes returns the place of each call in the answer. A call without a record, of
// an imported chat for one, has its place among the parts.
func (m Message) callIndexes(of map[Use]*CallView) map[string]int {
	out := map[string]int{}
	for _, p := range m.Parts {
		if p.Kind != provider.ToolCallPart || p.Call == nil {
			continue
		}
		out[p.Call.ID] = len(out)
		if c := of[Use{m.ID, p.Call.ID}]; c != nil {
			out[p.Call.ID] = c.Index
		}
	}
	return out
}

// history lists the calls of an answer by their index, as [event.ResponsePayload] has them.
func (m Message) history(of map[Use]*CallView, index map[string]int) []event.ToolHistory {
	place := map[string]int{}
	var out []event.ToolHistory
	var ids []string
	last := -1 // the call that ended last, whose payload comes next
	for _, p := range m.Parts {
		switch {
		case p.Kind == provider.ToolCallPart && p.Call != nil:
			h := event.ToolHistory{ToolName: BareID(p.Call.Name), ToolID: p.Call.Name, Input: p.Call.Args, Status: event.CallPending}
			if c := of[Use{m.ID, p.Call.ID}]; c != nil {
				h.Status, h.WorkspacePayload = c.Status, c.WorkspacePayload
			}
			place[p.Call.ID] = len(out)
			out, ids = append(out, h), append(ids, p.Call.ID)
		case p.Kind == provider.ToolResultPart && p.Result != nil:
			var ok bool
			if last, ok = place[p.Result.ID]; !ok {
				last = -1
				continue
			}
			endHistory(&out[last], p.Result)
		case p.Kind == provider.PayloadPart && p.Payload != nil && p.Payload.Source == payloads.FromTool && last >= 0:
			out[last].Payload, _ = record.Marshal(event.CustomPayload{Type: p.Payload.Type, Data: orNull(p.Payload.Data)}) // valid JSON can't fail
		}
	}
	order := make([]int, len(out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return index[ids[a]] - index[ids[b]] })
	sorted := make([]event.ToolHistory, len(out))
	for i, at := range order {
		sorted[i] = out[at]
	}
	BoundHistory(sorted)
	return sorted
}

// endHistory adds the result of a call to its entry.
func endHistory(h *event.ToolHistory, r *provider.ToolResult) {
	h.Output = r.Text
	if h.Status != event.CallPending {
		return // its record has it
	}
	if h.Status = event.CallSuccess; r.Error {
		h.Status = event.CallError
	}
}
