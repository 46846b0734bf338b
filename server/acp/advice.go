package acp

import (
	"sync"

	"github.com/fettle-cli/fettle/engine/fault"
)

// advice returns the next steps after a failure in an editor's terms: what a remedy is here,
// then what helps after failures of this kind, else the texts that fit every front end.
func advice(f *fault.Fault) []string {
	var own []string
	for _, r := range f.Remedies {
		if words := editorWords()[r.Kind]; words != "" {
			own = append(own, fault.Fill(words, r.Args, nil))
		}
	}
	if own = append(own, ofCode(f.Code)...); len(own) > 0 {
		return own
	}
	return fault.Texts(f.Remedies)
}

// editorWords are the kinds of remedies with commands or menus of their own here, as templates
// of [fault.Fill].
var editorWords = sync.OnceValue(func() map[fault.Kind]string {
	return map[fault.Kind]string{
		fault.AskModel:        "/model {1}",
		fault.WithoutAgent:    "/agent none continues without the agent",
		fault.ListAgents:      "/agent lists the agents",
		fault.Redo:            "/redo restores what undo has reverted",
		fault.UndoOverwriting: "/undo overwrite reverts the last step with later changes of the same files",
		fault.ListWorkflows:   "/workflow lists the workflows",
		fault.ActOnWorkflow:   "/workflow {2}",
		fault.CancelWorkflow:  "/workflow cancel",
		fault.UseFolder:       "open a thread in another folder",
		fault.UseProject:      "open a thread in the folder of a project",
		fault.ForkInFolder:    "open a thread in another folder",
	}
})

// ofCode returns what helps after failures of a kind.
func ofCode(c fault.Code) []string {
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
