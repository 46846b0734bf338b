package show

import (
	"encoding/json"

	"github.com/fettle-cli/fettle/engine/payloads"
)

// Actions are the actions that an answer suggests; what is no action is left out.
func Actions(raw []json.RawMessage) []payloads.SuggestedAction {
	var out []payloads.SuggestedAction
	for _, r := range raw {
		var a payloads.SuggestedAction
		if json.Unmarshal(r, &a) == nil && a.Type != "" {
			out = append(out, a)
		}
	}
	return out
}

// Values are the answers that an answer suggests to give; what is none is left out.
func Values(raw []json.RawMessage) []payloads.SuggestedValue {
	var out []payloads.SuggestedValue
	for _, r := range raw {
		var v payloads.SuggestedValue
		if json.Unmarshal(r, &v) == nil && v.Value != "" {
			out = append(out, v)
		}
	}
	return out
}
