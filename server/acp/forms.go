package acp

import (
	"context"
	"encoding/json"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/server/asking"
)

// elicitParams asks the editor's person to fill in a form, or to visit an address.
type elicitParams struct {
	SessionID  string          `json:"sessionId"`
	ToolCallID string          `json:"toolCallId"`
	Mode       string          `json:"mode"` // form, url
	Message    string          `json:"message"`
	Schema     json.RawMessage `json:"requestedSchema,omitempty"`
	ID         string          `json:"elicitationId,omitempty"`
	URL        string          `json:"url,omitempty"`
}

type elicitResult struct {
	Action  string          `json:"action"` // accept, decline, cancel
	Content json.RawMessage `json:"content"`
}

// elicits tells whether the editor can show a form of a kind.
func (c *clientCapabilities) elicits(kind event.FormKind) bool {
	if kind == event.URLForm {
		return offered(c.Elicitation.URL)
	}
	return offered(c.Elicitation.Form)
}

// fill asks for what a running call asks itself. What an editor has no form for, and
// is a yes or a no, is asked as a permission; fields that it can't show are declined.
func (q *asker) fill(ctx context.Context, c event.ConfirmRequest) engine.Confirmation {
	f := c.Form
	message := asking.FormHead(f)
	if f.Kind == event.SamplingForm || !q.agent.client.elicits(f.Kind) {
		if f.Kind == event.FieldsForm && len(f.Fields) > 0 {
			return asking.Deny(c.ToolUseID, "the editor can't show forms")
		}
		return q.permit(ctx, c, message)
	}
	p := elicitParams{SessionID: q.session.id, ToolCallID: f.Call, Mode: string(f.Kind), Message: message}
	if f.Kind == event.URLForm {
		p.URL, p.ID = f.URL, c.ToolUseID
	} else {
		p.Schema = f.Schema()
	}
	var got elicitResult
	if err := q.agent.conn.call(ctx, "elicitation/create", p, &got); err != nil {
		q.agent.log.Warn("a form could not be shown", "error", sanitize.Line(err.Error()))
		return asking.Deny(c.ToolUseID, "nobody answered")
	}
	if got.Action != "accept" {
		return asking.Deny(c.ToolUseID, "")
	}
	return asking.Filled(&c, got.Content, "the editor's answer doesn't fit the form")
}

// permit asks for a yes or a no.
func (q *asker) permit(ctx context.Context, c event.ConfirmRequest, message string) engine.Confirmation {
	f := c.Form
	p := permissionParams{SessionID: q.session.id, Options: permissionOptions(c.Rule, true), ToolCall: update{
		ToolCallID: f.Call, Title: sanitize.Cut(sanitize.Line(message), maxNotice), Status: "in_progress", Outputs: []toolContent{shown(message)},
	}}
	if f.URL != "" {
		p.ToolCall.Outputs = append(p.ToolCall.Outputs, shown(consent.Line(f.URL)))
	}
	if m := f.Prompt; m != nil {
		for _, line := range asking.PromptLines(m) {
			p.ToolCall.Outputs = append(p.ToolCall.Outputs, shown(line))
		}
	}
	got, err := q.permission(ctx, p)
	return q.decision(c, got, err)
}
