package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// The types of payloads that propose an agent, and a change of one (document 000).
const (
	agentCreate = "agent_create"
	agentUpdate = "agent_update"
)

// AgentFields are the fields of an agent that a proposal or a command sets; nil leaves one
// as it is.
type AgentFields struct {
	Name     *string   `json:"name,omitempty"`
	Purpose  *string   `json:"purpose,omitempty"`
	Prompt   *string   `json:"prompt,omitempty"`
	Model    *string   `json:"model,omitempty"`
	Tools    *[]string `json:"tools,omitempty"`
	Handoffs *[]string `json:"handoffs,omitempty"`
	History  *string   `json:"history,omitempty"`
}

// AgentFieldNames returns the names of the fields, as commands and proposals spell them.
func AgentFieldNames() []string {
	return []string{"name", "purpose", "prompt", "model", "tools", "handoffs", "history"}
}

// Text returns the field of this name that is one text; nil where there is none.
func (f *AgentFields) Text(name string) **string {
	switch name {
	case "name":
		return &f.Name
	case "purpose":
		return &f.Purpose
	case "prompt":
		return &f.Prompt
	case "model":
		return &f.Model
	case "history":
		return &f.History
	}
	return nil
}

// List returns the field of this name that is a list; nil where there is none.
func (f *AgentFields) List(name string) **[]string {
	switch name {
	case "tools":
		return &f.Tools
	case "handoffs":
		return &f.Handoffs
	}
	return nil
}

// checkSize refuses a field that is too long.
func (f *AgentFields) checkSize() error {
	for _, name := range AgentFieldNames() {
		most := maxOwnLine
		if name == "purpose" || name == "prompt" {
			most = maxOwnPrompt
		}
		if t := f.Text(name); t != nil && *t != nil && len(**t) > most {
			return fault.New(fault.Usage, fmt.Sprintf("the agent's %s has %d bytes; the limit is %d", name, len(**t), most))
		}
		if l := f.List(name); l != nil && *l != nil && len(**l) > maxOwnList {
			return fault.New(fault.Usage, fmt.Sprintf("the agent's %s are %d; the limit is %d", name, len(**l), maxOwnList))
		}
	}
	return nil
}

const (
	// maxOwnID bounds the id of an agent, as the configuration does.
	maxOwnID = 64
	// maxOwnPrompt and maxOwnLine bound its texts.
	maxOwnPrompt = 64 << 10
	maxOwnLine   = 1 << 10
	// maxOwnList bounds its tools and its handoffs.
	maxOwnList = 100
)

// agentProposal is what an agent_create or agent_update payload says.
type agentProposal struct {
	id     string
	fields AgentFields
}

// ProposesAgent reports whether accepting a payload creates or changes an agent. Types of toolsets
// can't have these names.
func ProposesAgent(p provider.Payload) bool {
	return p.Type == agentCreate || p.Type == agentUpdate
}

// AgentChange checks what accepting a proposal does, and returns it. Its error says why the
// proposal can't be accepted; nothing is changed then.
func (c *Catalog) AgentChange(ctx context.Context, p provider.Payload) (*store.ChangeOwn, error) {
	read, err := readProposal(p.Data)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, p.Type+" can't be accepted", err)
	}
	if err := c.checkFields(ctx, read.fields); err != nil {
		return nil, err
	}
	if p.Type == agentUpdate {
		return updating(read.id, read.fields), nil
	}
	return c.creating(ctx, read)
}

// creating returns the change that makes an agent. Its id must be free.
func (c *Catalog) creating(ctx context.Context, p agentProposal) (*store.ChangeOwn, error) {
	if p.fields.Prompt == nil {
		return nil, fault.New(fault.Usage, "the agent "+p.id+" has no prompt, which says what it does")
	}
	all, err := c.AllAgents(ctx)
	if err != nil {
		return nil, err
	}
	taken := fault.New(fault.Usage, "there is an agent "+p.id+" already; reject this one, or remove that one first")
	if all.Get(p.id) != nil || all.Unusable()[p.id] != "" {
		return nil, taken
	}
	return &store.ChangeOwn{ID: p.id, Edit: func(old *store.OwnAgent) (*store.OwnAgent, error) {
		if old != nil {
			return nil, taken
		}
		made := &store.OwnAgent{Agent: store.Agent{ID: p.id}}
		p.fields.apply(&made.Agent)
		made.Purpose = cmp.Or(made.Purpose, made.Name, made.ID)
		return made, nil
	}}, nil
}

// updating returns the change of fields of an agent that the user made.
func updating(id string, fields AgentFields) *store.ChangeOwn {
	return &store.ChangeOwn{ID: id, Edit: func(old *store.OwnAgent) (*store.OwnAgent, error) {
		if old == nil {
			return nil, ErrNotOwn
		}
		now := *old
		fields.apply(&now.Agent)
		return &now, nil
	}}
}

func (f AgentFields) apply(a *store.Agent) {
	for to, from := range map[*string]*string{&a.Name: f.Name, &a.Purpose: f.Purpose, &a.Prompt: f.Prompt, &a.Model: f.Model, &a.History: f.History} {
		if from != nil {
			*to = *from
		}
	}
	if f.Tools != nil {
		a.Tools = *f.Tools
	}
	if f.Handoffs != nil {
		a.Handoffs = *f.Handoffs
	}
}

// checkFields refuses what no agent can have: tools and agents that do not exist, a model that
// is a file, texts that are too long.
func (c *Catalog) checkFields(ctx context.Context, f AgentFields) error {
	if err := f.checkSize(); err != nil {
		return err
	}
	if m := f.Model; m != nil && *m != "" {
		providerName, name, ok := strings.Cut(*m, "/")
		if !ok || providerName == "" || name == "" || providerName == "script" {
			return fault.New(fault.Usage, fmt.Sprintf("model %q: an agent's model is named as provider/model", sanitize.Line(*m)))
		}
	}
	if h := f.History; h != nil && *h != "" && *h != HistoryFull && *h != HistoryTurn {
		return fault.New(fault.Usage, fmt.Sprintf("history %q: an agent sees full (the conversation) or turn (the question alone)", sanitize.Line(*h)))
	}
	if f.Prompt != nil && strings.TrimSpace(*f.Prompt) == "" {
		return fault.New(fault.Usage, "the prompt is empty; it says what the agent does")
	}
	box, err := c.Toolbox(ctx)
	if err != nil {
		return err
	}
	if f.Tools != nil {
		a := store.Agent{Tools: *f.Tools}
		if none := a.EmptyGlobs(box.Tools); len(none) > 0 {
			return fault.New(fault.Usage, "the agent's tools match nothing: "+strings.Join(cleanLines(none), ", "))
		}
	}
	if f.Handoffs != nil {
		for _, to := range *f.Handoffs {
			if box.Agents.Get(to) == nil {
				return fault.New(fault.Usage, "the agent to hand over to does not exist: "+sanitize.Line(to))
			}
		}
	}
	return nil
}

func cleanLines(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = sanitize.Line(s)
	}
	return out
}

// proposalNames are the names under which models and tools send the fields of an agent.
func proposalNames() map[string]string {
	return map[string]string{
		"id": "id", "agent_id": "id", "name": "name", "agent_name": "name",
		"purpose": "purpose", "description": "purpose", "role": "purpose",
		"prompt": "prompt", "instructions": "prompt", "system_prompt": "prompt",
		"model": "model", "tools": "tools", "handoffs": "handoffs", "history": "history",
	}
}

// readProposal reads the data of a proposal: the fields themselves, or in agent or changes.
func readProposal(data json.RawMessage) (p agentProposal, err error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return p, fmt.Errorf("its data is not an object")
	}
	for _, inner := range []string{"agent", "changes"} {
		raw, ok := all[inner]
		delete(all, inner)
		if !ok {
			continue
		}
		var more map[string]json.RawMessage
		if err := json.Unmarshal(raw, &more); err != nil {
			return p, fmt.Errorf("%s is not an object", inner)
		}
		maps.Copy(all, more)
	}
	given, names := map[string]json.RawMessage{}, proposalNames()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		field := names[name]
		if bytes.Equal(all[name], []byte("null")) {
			continue
		}
		if field == "" {
			return p, fmt.Errorf("an agent has no field %s; it has id, %s", sanitize.Line(name), strings.Join(AgentFieldNames(), ", "))
		}
		if _, twice := given[field]; twice {
			return p, fmt.Errorf("%s is given twice, once as %s", field, sanitize.Line(name))
		}
		given[field] = all[name]
	}
	return proposalOf(given)
}

func proposalOf(given map[string]json.RawMessage) (p agentProposal, err error) {
	id := new(string)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, list := p.fields.Text(name), p.fields.List(name)
		if name == "id" {
			text = &id
		}
		if text != nil {
			var s string
			if json.Unmarshal(given[name], &s) != nil {
				return p, fmt.Errorf("%s is not a text", name)
			}
			*text = &s
			continue
		}
		var all []string
		if json.Unmarshal(given[name], &all) != nil {
			return p, fmt.Errorf("%s is not a list of names", name)
		}
		*list = &all
	}
	if p.id = *id; p.id == "" && p.fields.Name != nil {
		p.id = idOfName(*p.fields.Name)
	}
	if !validOwnID(p.id) {
		return p, fmt.Errorf("%q is not an agent's id: it has letters, digits, dashes and underscores, at most %d, and is not none", sanitize.Line(p.id), maxOwnID)
	}
	if p.fields == (AgentFields{}) {
		return p, fmt.Errorf("it names no field of the agent %s", p.id)
	}
	return p, nil
}

// idOfName makes an id of a name: "Travel Planner" is travel-planner.
func idOfName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	return strings.Join(words, "-")
}

func validOwnID(id string) bool {
	return id != "" && len(id) <= maxOwnID && id != NoAgent && id[0] != '-' && !strings.ContainsFunc(id, func(r rune) bool { return WordRune(r) != r })
}
