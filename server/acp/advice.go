package acp

import "github.com/fettle-cli/fettle/engine/fault"

// advice returns the next steps after a failure of a kind, in an editor's terms. The hints of
// a fault are for a shell, so an editor never shows them.
func advice(c fault.Code) []string {
	switch c {
	case fault.Unavailable, fault.Unauthorised:
		return []string{"choose another model in the menu or with /model, or set up this model's provider in fettle's configuration"}
	case fault.Overloaded:
		return []string{"wait a while, or choose another model in the menu or with /model"}
	case fault.Context:
		return []string{"/compact sums up the conversation; a new thread or a model with a longer context helps, too"}
	case fault.InvalidReply, fault.NoAnswer:
		return []string{"ask again, or choose another model in the menu or with /model"}
	case fault.NoProgress, fault.Timeout:
		return []string{"say how to continue, or choose another model in the menu or with /model"}
	case fault.Busy:
		return []string{"ask again when the other process has finished"}
	case fault.Config:
		return []string{"correct fettle's configuration, and restart the agent"}
	}
	return nil
}
