package catalog

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

// ErrNotOwn is returned within a transaction; notOwn is the fault that the caller gets.
var ErrNotOwn = errors.New("the user has made no agent with this id")

// withOwn returns the toolbox with the agents that the user made. One whose id the
// configuration has now is left out, with the reason.
func (c *Catalog) withOwn(ctx context.Context, box *Toolbox) (*Toolbox, error) {
	own, err := c.store.OwnAgents(ctx)
	if err != nil || len(own) == 0 {
		return box, err
	}
	all, clashing := box.Agents.All(), []string{}
	for _, a := range own {
		if box.Agents.Get(a.ID) != nil {
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
	for id, why := range box.Agents.Unusable() {
		merged.unusable[id] = why
	}
	for _, id := range clashing {
		merged.unusable[id] = "the configuration has an agent of that id, which takes precedence; yours is kept"
	}
	out := *box
	out.Agents = merged
	return &out, nil
}

// changeOwnAgent carries one change out.
func (c *Catalog) changeOwnAgent(ctx context.Context, change *store.ChangeOwn) error {
	release, err := c.store.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = c.store.KV.UpdateSync(ctx, func(tx *kv.Tx) error { return c.store.ApplyOwn(tx, change) })
	var refused *fault.Fault
	switch {
	case errors.Is(err, ErrNotOwn):
		return c.NotOwn(ctx, change.ID)
	case err == nil, errors.As(err, &refused), ctx.Err() != nil:
		return err
	}
	return c.store.StoreTrouble(err)
}

// RemoveAgent removes an agent that the user made. Chats that continue with it need another.
func (c *Catalog) RemoveAgent(ctx context.Context, id string) error {
	return c.changeOwnAgent(ctx, &store.ChangeOwn{ID: id, Edit: func(old *store.OwnAgent) (*store.OwnAgent, error) {
		if old == nil {
			return nil, ErrNotOwn
		}
		return nil, nil
	}})
}

// SetAgent changes fields of an agent that the user made; fields are as in a proposal.
func (c *Catalog) SetAgent(ctx context.Context, id string, fields AgentFields) error {
	if err := c.checkFields(ctx, fields); err != nil {
		return err
	}
	return c.changeOwnAgent(ctx, updating(id, fields))
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

// NotOwn returns the fault of an agent that the user did not make.
func (c *Catalog) NotOwn(ctx context.Context, id string) error {
	if c.o.Agents.Get(id) != nil {
		return fault.New(fault.Usage, "the agent "+id+" is described in the configuration; change it there")
	}
	if strings.Contains(id, ":") {
		return fault.New(fault.Usage, "the agent "+id+" belongs to a toolset and can't be changed")
	}
	own, err := c.store.OwnAgents(ctx)
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
