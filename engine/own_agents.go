package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// errNotOwn is returned within a transaction; notOwn is the fault that the caller gets.
var errNotOwn = errors.New("the user has made no agent with this id")

// withOwn returns the toolbox with the agents that the user made. One whose id the
// configuration has now is left out, with the reason.
func (e *Engine) withOwn(ctx context.Context, box *toolbox) (*toolbox, error) {
	own, err := e.OwnAgents(ctx)
	if err != nil || len(own) == 0 {
		return box, err
	}
	all, clashing := box.agents.All(), []string{}
	for _, a := range own {
		if box.agents.get(a.ID) != nil {
			clashing = append(clashing, a.ID)
			continue
		}
		all = append(all, a)
	}
	merged, err := UncheckedAgents(all...)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "gather the agents", err)
	}
	merged = merged.usable()
	for id, why := range box.agents.Unusable() {
		merged.unusable[id] = why
	}
	for _, id := range clashing {
		merged.unusable[id] = "the configuration has an agent of that id, which takes precedence; yours is kept"
	}
	out := *box
	out.agents = merged
	return &out, nil
}

// changeOwnAgent carries one change out.
func (e *Engine) changeOwnAgent(ctx context.Context, c *store.ChangeOwn) error {
	release, err := e.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = e.KV.UpdateSync(ctx, func(tx *kv.Tx) error { return e.ApplyOwn(tx, c) })
	var refused *fault.Fault
	switch {
	case errors.Is(err, errNotOwn):
		return e.notOwn(ctx, c.ID)
	case err == nil, errors.As(err, &refused), ctx.Err() != nil:
		return err
	}
	return e.StoreTrouble(err)
}

// RemoveAgent removes an agent that the user made. Chats that continue with it need another.
func (e *Engine) RemoveAgent(ctx context.Context, id string) error {
	return e.changeOwnAgent(ctx, &store.ChangeOwn{ID: id, Edit: func(old *store.OwnAgent) (*store.OwnAgent, error) {
		if old == nil {
			return nil, errNotOwn
		}
		return nil, nil
	}})
}

// SetAgent changes fields of an agent that the user made; fields are as in a proposal.
func (e *Engine) SetAgent(ctx context.Context, id string, fields AgentFields) error {
	if err := e.checkFields(ctx, fields); err != nil {
		return err
	}
	return e.changeOwnAgent(ctx, updating(id, fields))
}

// configuredAgent has the fields of an agent in the configuration, in the order of its export.
type configuredAgent struct {
	Name     string   `json:"name,omitempty"`
	Purpose  string   `json:"purpose,omitempty"`
	Prompt   string   `json:"prompt,omitempty"`
	Model    string   `json:"model,omitempty"`
	Tools    []string `json:"tools,omitempty"`
	Handoffs []string `json:"handoffs,omitempty"`
	History  string   `json:"history,omitempty"`
	Answers  *bool    `json:"answers,omitempty"`
}

// AgentConfiguration returns an agent as the text of a configuration that describes it. The
// agents of toolsets are exported with their toolset.
func AgentConfiguration(a *store.Agent) (string, error) {
	if a.ToolsetID != "" {
		return "", fault.New(fault.Usage, "the agent "+a.ID+" belongs to the toolset "+a.ToolsetID+" and is exported with it")
	}
	text, err := manifest.YAML(map[string]map[string]configuredAgent{"agents": {a.ID: {
		a.Name, a.Purpose, a.Prompt, a.Model, a.Tools, a.Handoffs, a.History, a.Answers,
	}}})
	if err != nil {
		return "", fmt.Errorf("write the agent %s: %w", a.ID, err)
	}
	return string(text), nil
}

// notOwn returns the fault of an agent that the user did not make.
func (e *Engine) notOwn(ctx context.Context, id string) error {
	if e.o.Agents.get(id) != nil {
		return fault.New(fault.Usage, "the agent "+id+" is described in the configuration; change it there")
	}
	if strings.Contains(id, ":") {
		return fault.New(fault.Usage, "the agent "+id+" belongs to a toolset and can't be changed")
	}
	own, err := e.OwnAgents(ctx)
	if err != nil {
		return err
	}
	msg := "you have made no agent with the id " + id
	if len(own) > 0 {
		ids := idsOf(own, func(a store.Agent) string { return a.ID })
		slices.Sort(ids)
		msg += "; you have made " + strings.Join(ids, ", ")
	}
	return fault.New(fault.NotFound, msg)
}
