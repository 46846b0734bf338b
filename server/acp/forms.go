package acp

import (
	"context"
	"encoding/json"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/sanitize"
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
func (q *asking) fill(ctx context.Context, c event.ConfirmRequest) engine.Confirmation {
	out := engine.Confirmation{ToolUseID: c.ToolUseID, Decision: event.Deny}
	f := c.Form
	message := "The MCP server " + sanitize.Line(f.Server) + " asks: " + consent.Text(f.Message)
	if f.Kind == event.SamplingForm || !q.agent.client.elicits(f.Kind) {
		if f.Kind == event.FieldsForm && len(f.Fields) > 0 {
			out.Reason = "the editor can't show forms"
			return out
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
		out.Reason = "nobody answered"
		return out
	}
	if got.Action != "accept" {
		return out
	}
	if _, problems := f.Fill(got.Content); len(problems) > 0 {
		out.Reason = "the editor's answer doesn't fit the form"
		return out
	}
	out.Decision, out.Content = event.Allow, got.Content
	return out
}

// permit asks for a yes or a no.
func (q *asking) permit(ctx context.Context, c event.ConfirmRequest, message string) engine.Confirmation {
	f := c.Form
	p := permissionParams{SessionID: q.session.id, Options: permissionOptions(c.Rule, true), ToolCall: update{
		ToolCallID: f.Call, Title: sanitize.Cut(sanitize.Line(message), maxNotice), Status: "in_progress", Outputs: []toolContent{shown(message)},
	}}
	if f.URL != "" {
		p.ToolCall.Outputs = append(p.ToolCall.Outputs, shown(consent.Line(f.URL)))
	}
	if m := f.Prompt; m != nil {
		p.ToolCall.Outputs = append(p.ToolCall.Outputs, shown("Model: "+sanitize.Line(m.Model)))
		if m.System != "" {
			p.ToolCall.Outputs = append(p.ToolCall.Outputs, shown("System: "+consent.Text(m.System)))
		}
		for _, one := range m.Messages {
			p.ToolCall.Outputs = append(p.ToolCall.Outputs, shown(consent.Line(one.Role)+": "+consent.Text(one.Text)))
		}
	}
	var got permissionResult
	err := q.agent.conn.call(ctx, "session/request_permission", p, &got)
	return q.decision(c, got, err)
}
