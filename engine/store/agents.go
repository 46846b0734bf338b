package store

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/toolset"
)

// Agent is one of several that share a conversation (document 003). They take
// turns within one turn of the chat: an agent hands over to another by a tool
// that is offered to its model, and the engine carries it out.
type Agent struct {
	// ID is `<toolset>:<id>`, or a bare id of the configuration.
	ID string `json:"id"`
	// ToolsetID is the part before the colon; empty for one of the
	// configuration.
	ToolsetID string `json:"toolset_id,omitempty"`
	Name      string `json:"name,omitempty"`
	// Purpose tells other agents what it is for.
	Purpose string `json:"purpose"`
	// Prompt is its system prompt; the chat's own follows it.
	Prompt string `json:"prompt"`
	// Model is a Ref; empty is the turn's model.
	Model string `json:"model,omitempty"`
	// Tools are globs over tool ids; a bare name means a tool of the agent's
	// own toolset first, then a builtin. None are offered where it is empty.
	Tools []string `json:"tools,omitempty"`
	// Handoffs are the agents that it can hand over to, by id or by the bare id
	// of one of the same toolset.
	Handoffs []string `json:"handoffs,omitempty"`
	// History is what it sees: HistoryFull, also where it is empty, or
	// HistoryTurn.
	History string `json:"history,omitempty"`
	// Answers makes its text part of the answer, or not; nil leaves it to the
	// rule that the entry agent and agents without handoffs answer.
	Answers *bool `json:"answers,omitempty"`
	// Source says where it is described: the toolset, or the place in the
	// configuration.
	Source string `json:"source,omitempty"`
}

// BareID is the part of the id after the colon, which events carry.
func (a *Agent) BareID() string { return chat.BareID(a.ID) }

// ToolsIn are those of a set that the agent is offered. A glob that means none is
// passed over: a tool may be switched off.
func (a *Agent) ToolsIn(set *toolset.Set) *toolset.Set {
	var patterns []string
	for _, p := range a.Tools {
		p = a.ownTool(p, set)
		if _, err := set.Select(p); err == nil {
			patterns = append(patterns, p)
		}
	}
	chosen, err := set.Select(patterns...)
	if err != nil { // can't be: each pattern means something
		chosen, _ = toolset.NewSet()
	}
	return chosen
}

// EmptyGlobs are those of its tools that mean none of a set.
func (a *Agent) EmptyGlobs(set *toolset.Set) []string {
	var out []string
	for _, p := range a.Tools {
		if _, err := set.Select(a.ownTool(p, set)); err != nil {
			out = append(out, p)
		}
	}
	return out
}

// ownTool is a pattern with the agent's toolset before it, where a bare name
// or glob means tools of that.
func (a *Agent) ownTool(pattern string, set *toolset.Set) string {
	if a.ToolsetID == "" || strings.ContainsAny(pattern, ":!") {
		return pattern
	}
	own := a.ToolsetID + ":" + pattern
	if _, err := set.Select(own); err == nil {
		return own
	}
	return pattern
}
