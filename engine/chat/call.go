package chat

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
)

// CallView is a tool call as pages show it: its record, and what it changed.
type CallView struct {
	ToolCall
	// Renderer is that of the plan.
	Renderer string `json:"renderer,omitempty"`
	// PlanOmitted reports that the plan, or all plans together, are too large for a list.
	PlanOmitted bool           `json:"plan_omitted,omitempty"`
	DurationMS  *int64         `json:"duration_ms,omitempty"`
	Changes     []event.Change `json:"changes"`
	Changed     int            `json:"changed"` // the number, even if not all are listed; 10,000 means that or more
	// SharedChanges is that of [event.ToolComplete].
	SharedChanges bool `json:"shared_changes,omitempty"`
	// AppCalls is how many calls the page of this one has made, of which a list has
	// the last ones after this one.
	AppCalls int `json:"app_calls,omitempty"`
	// WorkspacePayload is what the call gave for the workspace panel, in document 000's
	// form, and PayloadID its id among the chat's payloads.
	WorkspacePayload json.RawMessage `json:"workspace_payload,omitempty"`
	PayloadID        string          `json:"payload_id,omitempty"`
}

// Use identifies a tool call by its message and the id that the model gave it.
type Use struct{ MessageID, ID string }

// TimeOfID is the beginning of an id that is its time: what was made after something
// has an id that isn't before that.
func TimeOfID(id string) string {
	const digits = 10 // of a ULID's 26
	return id[:min(len(id), digits)]
}

// ToolsetOf is the toolset of a tool id; empty for a builtin.
func ToolsetOf(toolID string) string {
	set, _, own := strings.Cut(toolID, ":")
	if !own {
		return ""
	}
	return set
}
