package payloads

import "encoding/json"

// The types whose data are suggestions. They are shown beside the answer, and
// never become its custom_payload.
const (
	SuggestedValues  = "suggested_values"
	SuggestedActions = "suggested_actions"
)

// SuggestedValue is an answer that the user can choose. A client then sends Value as the
// message, with the interaction_type value_selected.
type SuggestedValue struct {
	Label string `json:"label,omitempty"` // the value where it is empty
	Value string `json:"value"`
}

// SuggestedAction is an action that the user can choose. A client then sends the
// interaction_type action_executed, with Type and Metadata in action_metadata.
type SuggestedAction struct {
	Label    string          `json:"label"`
	Type     string          `json:"type"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// IsType tells whether a text can be the type of a payload or of an action.
func IsType(s string) bool { return checkType(s) == nil }

// SuggestionSchema is the published JSON Schema of a list of SuggestedValue or
// SuggestedAction; nil for another type.
func SuggestionSchema(kind string) json.RawMessage {
	if kind != SuggestedValues && kind != SuggestedActions {
		return nil
	}
	c, _ := builtinType(kind)
	return c.Schema
}

// maxSuggestions bounds each list of an answer; more is no choice any more.
const maxSuggestions = 10

// suggestions are those of an answer. A later source stands in for an earlier
// one: what follows from the last step counts.
type suggestions struct {
	values, actions []json.RawMessage
}

// take keeps the list, which was checked against its schema.
func (s *suggestions) take(kind string, list json.RawMessage) {
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		return
	}
	items = items[:min(len(items), maxSuggestions)]
	if kind == SuggestedValues {
		s.values = items
	} else {
		s.actions = items
	}
}
