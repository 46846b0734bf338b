package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// What an agent sees: the whole conversation, or the question alone. What
// other agents did in the turn is seen by both.
const (
	HistoryFull = "full"
	HistoryTurn = "turn"
)

// NoAgent is the [TurnRequest.Agent] that leaves a chat's agent out.
const NoAgent = "none"

// Agents is an immutable collection of agents.
type Agents struct {
	all []store.Agent
	// unusable are those that hand over to agents which aren't there, with the
	// reason, by id.
	unusable map[string]string
}

// NewAgents makes a collection. It refuses ids that are there twice, and
// handoffs to agents that aren't there.
func NewAgents(all ...store.Agent) (*Agents, error) {
	s, err := UncheckedAgents(all...)
	if err != nil {
		return nil, err
	}
	if s = s.usable(); len(s.unusable) > 0 {
		id := slices.Sorted(maps.Keys(s.unusable))[0]
		return nil, fmt.Errorf("add agent %q: %s", id, s.unusable[id])
	}
	return s, nil
}

// UncheckedAgents is NewAgents for those that hand over to agents of toolsets,
// which aren't known yet. It refuses ids that are there twice.
func UncheckedAgents(all ...store.Agent) (*Agents, error) {
	s := &Agents{all: slices.Clone(all)}
	seen := map[string]bool{}
	for _, a := range s.all {
		if err := toolset.CheckID(a.ID); err != nil {
			return nil, fmt.Errorf("add agent %q: %w", a.ID, err)
		}
		if seen[a.ID] || a.ID == NoAgent {
			return nil, fmt.Errorf("add agent %q: the id is taken", a.ID)
		}
		seen[a.ID] = true
	}
	return s, nil
}

// usable leaves out the agents that hand over to one which isn't there, and
// those that hand over to them: a toolset that is removed must not take the
// agents with it that have nothing to do with it.
func (s *Agents) usable() *Agents {
	out := &Agents{all: slices.Clone(s.all), unusable: map[string]string{}}
	for left := -1; left != len(out.all); {
		left = len(out.all)
		kept := &Agents{}
		for i := range out.all {
			if missing := out.missing(&out.all[i]); missing == "" {
				kept.all = append(kept.all, out.all[i])
			} else {
				out.unusable[out.all[i].ID] = "it hands over to " + missing + ", which isn't there"
			}
		}
		out.all = kept.all
	}
	return out
}

// missing is an agent that another hands over to and that isn't there.
func (s *Agents) missing(from *store.Agent) string {
	for _, to := range from.Handoffs {
		if s.Handoff(from, to) == nil {
			return to
		}
	}
	return ""
}

// Unusable are the agents that can't be used, with the reason, by id.
func (s *Agents) Unusable() map[string]string {
	if s == nil {
		return nil
	}
	return maps.Clone(s.unusable)
}

// All lists the agents in their order.
func (s *Agents) All() []store.Agent {
	if s == nil {
		return nil
	}
	return slices.Clone(s.all)
}

// Find gives an agent by its id, or by its bare id if one alone has it.
func (s *Agents) Find(name string) (*store.Agent, error) {
	if a := s.Get(name); a != nil {
		return a, nil
	}
	if why := s.Unusable()[name]; why != "" {
		return nil, fault.New(fault.NotFound, "the agent "+name+" can't be used: "+why, fault.Try(fault.ListAgents))
	}
	var found []*store.Agent
	var names []string
	if s != nil {
		for i := range s.all {
			if a := &s.all[i]; a.BareID() == name {
				found = append(found, a)
			}
			names = append(names, s.all[i].ID, s.all[i].BareID())
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		msg := "no agent " + name
		if near := didyoumean.Of(name, names); near != "" {
			msg += "; did you mean " + near + "?"
		}
		return nil, fault.New(fault.NotFound, msg, fault.Try(fault.ListAgents))
	}
	f := fault.New(fault.Usage, fmt.Sprintf("%d toolsets have an agent %s; name it with its toolset", len(found), name))
	for _, a := range found {
		f.Detail = append(f.Detail, a.ID)
	}
	return nil, f
}

// Get returns the agent of an id, or nil. A nil s has none.
func (s *Agents) Get(id string) *store.Agent {
	if s == nil {
		return nil
	}
	for i := range s.all {
		if s.all[i].ID == id {
			return &s.all[i]
		}
	}
	return nil
}

// Handoff returns the agent that from names in its handoffs, or nil. A name without a
// toolset means one of from's own toolset first.
func (s *Agents) Handoff(from *store.Agent, name string) *store.Agent {
	if from.ToolsetID != "" && !strings.Contains(name, ":") {
		if a := s.Get(from.ToolsetID + ":" + name); a != nil {
			return a
		}
	}
	return s.Get(name)
}

// WordRune returns r if the name of a tool can have it, else an underscore.
func WordRune(r rune) rune {
	if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return '_'
}

// EntryAgent returns the id of the agent that new chats begin with if neither the request nor
// the configuration names one: the entry agent of an enabled toolset. It is empty if no
// toolset has one, and if several do: none of them has precedence over the others.
func (c *Catalog) EntryAgent(ctx context.Context) (string, error) {
	index, err := c.ToolsetIndex(ctx)
	if err != nil {
		return "", err
	}
	return DefaultAgent(index), nil
}

// DefaultAgent returns the id of the only entry agent of the enabled toolsets, or "".
func DefaultAgent(index *registry.Index) string {
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
