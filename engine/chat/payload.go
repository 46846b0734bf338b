package chat

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// HistoryBytes bounds the outputs in a payload's tool_history together. It is
// far more than a page shows, and the tool_complete events have the whole.
// It may stand in the event twice.
const HistoryBytes = 8 << 20

// Payload is document 000's ChatResponsePayload of the turn. Its custom_payload
// is document 001's payload, else tool_history, which is next to it either
// way.
func (r *Reducer) Payload(denied int, u payloads.Unified) event.ResponsePayload {
	m := r.Message()
	p := event.ResponsePayload{
		Message:        r.marked(),
		ConversationID: r.accept.Chat.Number,
		ChatID:         r.accept.Chat.ID,
		MessageID:      m.ID,
		Model:          m.Model,
		Usage:          m.Usage,
		StopReason:     m.StopReason,
		Denied:         denied,

		CustomPayload: u.Custom, WorkspacePayload: u.Workspace,
		SuggestedValues: u.SuggestedValues, SuggestedActions: u.SuggestedActions,
	}
	p.ToolHistory = r.history()
	BoundHistory(p.ToolHistory)
	if p.CustomPayload == nil && len(p.ToolHistory) > 0 {
		data, _ := record.Marshal(p.ToolHistory) // strings and valid JSON can't fail
		p.CustomPayload = &event.CustomPayload{Type: event.CustomHistory, Data: data}
	}
	return p
}

// marked is the answer's text with a [[tool:N]] where each call ended.
func (r *Reducer) marked() string {
	return markedText(r.Parts, func(useID string) (int, bool) {
		i, ok := r.ByUse[useID]
		if !ok {
			return 0, false
		}
		return r.Calls[i].Index, true
	})
}

// markedText returns the text of an answer's parts with a [[tool:N]] where each call
// ended; indexOf returns the N of a call. What looks like a marker in the model's own
// words is escaped.
func markedText(parts []provider.Part, indexOf func(useID string) (int, bool)) string {
	var b, own strings.Builder // own is the model's text since the last marker
	for _, p := range parts {
		switch p.Kind {
		case provider.TextPart:
			own.WriteString(p.Text)
		case provider.ToolResultPart:
			if n, ok := indexOf(p.Result.ID); ok {
				b.WriteString(escapeMarkers(own.String()) + "[[tool:" + strconv.Itoa(n) + "]]")
				own.Reset()
			}
		}
	}
	return b.String() + escapeMarkers(own.String())
}

// marker finds what a page would take for a tool's card.
var marker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\[(tool:\d+\]\])`) })

// escapeMarkers puts Markdown's escape before both brackets, so that a person
// still reads what the model wrote.
func escapeMarkers(text string) string {
	if !strings.Contains(text, "[[tool:") {
		return text
	}
	return marker().ReplaceAllString(text, `\[\[$1`)
}

// history lists the calls by their index, which is the N of their marker;
// calls that ran side by side started in another order.
func (r *Reducer) history() []event.ToolHistory {
	calls := slices.Clone(r.Calls)
	slices.SortStableFunc(calls, func(a, b ToolCall) int { return a.Index - b.Index })
	out := make([]event.ToolHistory, 0, len(calls))
	for _, c := range calls {
		h := event.ToolHistory{
			ToolName: BareID(c.ToolID), ToolID: c.ToolID, Input: c.Args, Status: c.Status,
		}
		var result struct {
			Text             string          `json:"text"`
			WorkspacePayload json.RawMessage `json:"workspace_payload"`
			Payload          json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(c.Result, &result) == nil {
			h.Output = result.Text
			h.WorkspacePayload, h.Payload = notNull(result.WorkspacePayload), notNull(result.Payload)
		}
		out = append(out, h)
	}
	return out
}

func notNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// BoundHistory cuts outputs, and drops payloads, where they are more than one
// event should hold. Each call has the same share.
func BoundHistory(history []event.ToolHistory) {
	total := 0
	for _, h := range history {
		total += len(h.Input) + len(h.Output) + len(h.WorkspacePayload) + len(h.Payload)
	}
	if total <= HistoryBytes {
		return
	}
	share := HistoryBytes / len(history) / 4
	for i := range history {
		h := &history[i]
		h.Output = sanitize.Clip(h.Output, share)
		if len(h.WorkspacePayload) > share {
			h.WorkspacePayload = nil
		}
		if len(h.Payload) > share {
			h.Payload = nil
		}
		if len(h.Input) > share {
			h.Input = json.RawMessage(`{}`)
		}
	}
}
