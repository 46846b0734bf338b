package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// OwnAgent is the record of an agent that the user made by accepting a proposal. The agents of
// the configuration and of toolsets have none.
type OwnAgent struct {
	Agent
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// errNotOwn is returned within a transaction; notOwn is the fault that the caller gets.
var errNotOwn = errors.New("the user has made no agent with this id")

// ownSource is the source of the agents that the user made.
const ownSource = "yours"

// OwnAgents returns the agents that the user made, by id. A store that does not exist has none.
func (s *Store) OwnAgents(ctx context.Context) (out []Agent, err error) {
	err = s.view(ctx, func(tx *kv.Tx) error {
		out = nil
		for rec, err := range legible(s, s.tables.agents.Scan(tx, kv.Range{})) {
			if err != nil {
				return err
			}
			a := rec.Agent
			a.Source = ownSource
			out = append(out, a)
		}
		return nil
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil
	}
	return out, err
}

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

// changeOwn changes a record of the user's agents. edit gets nil if there is none, and
// returns nil to remove it. It is called in the transaction, and its error changes nothing.
type changeOwn struct {
	id   string
	edit func(old *OwnAgent) (*OwnAgent, error)
}

func (s *Store) applyOwn(tx *kv.Tx, c *changeOwn) error {
	old, err := s.tables.agents.Get(tx, kv.Str(c.id))
	if errors.Is(err, kv.ErrNotFound) {
		old, err = nil, nil
	}
	if err != nil {
		return err
	}
	now, err := c.edit(old)
	switch {
	case err != nil:
		return err
	case now == nil:
		return s.tables.agents.Delete(tx, kv.Str(c.id))
	}
	now.UpdatedAt = s.o.Now()
	if old == nil {
		now.CreatedAt = now.UpdatedAt
	}
	return putBounded(s, tx, s.tables.agents, now, "the agent "+c.id)
}

// changeOwnAgent carries one change out.
func (e *Engine) changeOwnAgent(ctx context.Context, c *changeOwn) error {
	release, err := e.shareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	err = e.store.UpdateSync(ctx, func(tx *kv.Tx) error { return e.applyOwn(tx, c) })
	var refused *fault.Fault
	switch {
	case errors.Is(err, errNotOwn):
		return e.notOwn(ctx, c.id)
	case err == nil, errors.As(err, &refused), ctx.Err() != nil:
		return err
	}
	return e.storeTrouble(err)
}

// RemoveAgent removes an agent that the user made. Chats that continue with it need another.
func (e *Engine) RemoveAgent(ctx context.Context, id string) error {
	return e.changeOwnAgent(ctx, &changeOwn{id, func(old *OwnAgent) (*OwnAgent, error) {
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
func AgentConfiguration(a *Agent) (string, error) {
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
		ids := idsOf(own, func(a Agent) string { return a.ID })
		slices.Sort(ids)
		msg += "; you have made " + strings.Join(ids, ", ")
	}
	return fault.New(fault.NotFound, msg)
}
