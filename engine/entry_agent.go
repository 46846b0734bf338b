package engine

import (
	"context"
)

// EntryAgent returns the id of the agent that new chats begin with if neither the request nor
// the configuration names one: the entry agent of an enabled toolset. It is empty if no
// toolset has one, and if several do: none of them has precedence over the others.
func (e *Engine) EntryAgent(ctx context.Context) (string, error) {
	all, err := e.entryAgents(ctx)
	if err != nil || len(all) != 1 {
		return "", err
	}
	return all[0], nil
}

// entryAgents returns the ids of the entry agents of all enabled toolsets.
func (e *Engine) entryAgents(ctx context.Context) ([]string, error) {
	index, err := e.toolsetIndex(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range index.Toolsets {
		if t := &index.Toolsets[i]; t.Entry != "" && t.Usable() {
			out = append(out, t.ID+":"+t.Entry)
		}
	}
	return out, nil
}

// enterByDefault makes a request that begins a stored chat, and names no agent, enter by the
// entry agent of the toolsets.
func (e *Engine) enterByDefault(ctx context.Context, req *TurnRequest) error {
	if req.Agent != "" || !req.Chat.isNew() || req.Ephemeral || len(req.Calls) > 0 || req.workflow != nil || req.app != nil {
		return nil
	}
	id, err := e.EntryAgent(ctx)
	req.Agent = id
	return err
}
