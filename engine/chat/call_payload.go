package chat

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// GivenWorkspace returns the workspace_payload of a call's result; nil for none.
func (c *ToolCall) GivenWorkspace() json.RawMessage {
	if !bytes.Contains(c.Result, []byte(`"workspace_payload":{`)) { // most results have none, and may be long
		return nil
	}
	var result struct {
		Given json.RawMessage `json:"workspace_payload"`
	}
	if json.Unmarshal(c.Result, &result) != nil {
		return nil
	}
	return notNull(result.Given)
}

// WorkspacePayload returns what a call gave for the workspace panel, in the form of
// document 001, and whether it gave anything.
func (c *ToolCall) WorkspacePayload() (provider.Payload, bool) {
	p, ok := WorkspaceOf(c.GivenWorkspace())
	p.ID, p.Toolset, p.RenderPlan = CallPayloadID(c.MessageID, c.ToolUseID), ToolsetOf(c.ToolID), c.WorkspacePlan
	return p, ok
}

// WorkspaceOf returns a workspace_payload in the form of document 001, and whether it can
// be shown.
func WorkspaceOf(raw json.RawMessage) (provider.Payload, bool) {
	var g struct {
		Type     string          `json:"type"`
		Title    string          `json:"title"`
		Content  string          `json:"content"`
		Data     json.RawMessage `json:"data"`
		Agent    json.RawMessage `json:"agent_data"`
		Table    json.RawMessage `json:"table_data"`
		Research json.RawMessage `json:"research_data"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &g) != nil || !payloads.IsType(g.Type) {
		return provider.Payload{}, false
	}
	p := provider.Payload{Type: g.Type, Source: payloads.FromTool, Title: sanitize.Shorten(sanitize.Line(strings.TrimSpace(g.Title)), MaxName)}
	for _, raw := range []json.RawMessage{g.Data, g.Agent, g.Table, g.Research} { // the type's own field counts as data
		if p.Data = notNull(raw); len(p.Data) > 0 {
			return p, true
		}
	}
	p.Data, _ = record.Marshal(map[string]string{"content": g.Content}) // a string can't fail
	return p, true
}
