package engine

import (
	"context"

	"github.com/fettle-cli/fettle/toolset/registry"
)

// EntryAgent returns the id of the agent that new chats begin with if neither the request nor
// the configuration names one: the entry agent of an enabled toolset. It is empty if no
// toolset has one, and if several do: none of them has precedence over the others.
func (e *Engine) EntryAgent(ctx context.Context) (string, error) {
	index, err := e.toolsetIndex(ctx)
	if err != nil {
		return "", err
	}
	return entryAgent(index), nil
}

// entryAgent returns the id of the only entry agent of the enabled toolsets, or "".
func entryAgent(index *registry.Index) string {
	only := ""
	for i := range index.Toolsets {
		t := &index.Toolsets[i]
		if t.Entry == "" || !t.Usable() {
			continue
		}
		if only != "" {
			return ""
		}
		only = t.ID + ":" + t.Entry
	}
	return only
}

// enterByDefault sets the agent of a request that begins a stored chat and names none: the
// entry agent of the toolsets.
func (r *TurnRequest) enterByDefault(index *registry.Index) {
	if r.Agent != "" || !r.Chat.IsNew() || r.Ephemeral || len(r.Calls) > 0 || r.workflow != nil || r.app != nil {
		return
	}
	r.Agent = entryAgent(index)
}
