package config

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// Agent is an agent of the configuration (document 003). Zero fields say
// nothing.
type Agent struct {
	ID, Name, Purpose, Prompt string
	Model                     string   // provider/model; empty is the question's
	Tools                     []string // globs over tool ids
	Handoffs                  []string // agents, those of toolsets as toolset:id
	History                   string   // full or turn; empty is full
	Answers                   provider.Known
	// Entry makes it the agent that a new chat begins with.
	Entry bool
	// Place is where the configuration begins to speak of it.
	Place Origin
}

func agentFields() []string {
	return []string{"name", "purpose", "prompt", "model", "tools", "handoffs", "history", "answers", "entry"}
}

// agentValues are the fields of an agent that one source sets, as they were
// read, and where it names the agent.
type agentValues struct {
	fields map[string]any
	place  Origin
}

// maxAgentID is the longest id of an agent, which stands in front of keys.
const maxAgentID = 64

// noAgent is what `ask --agent` takes for none.
const noAgent = "none"

// validAgent checks an agent's id. It has no dot and no colon, so that the keys
// below it, and the agents of toolsets, can be told from it.
func validAgent(id string) bool {
	return len(id) <= maxAgentID && word(id, "_-") && id[0] != '-' && id != noAgent
}

// agentKind is how the fields of an agent are read.
func agentKind(field string) kind {
	switch field {
	case "model":
		return modelKind()
	case "tools":
		k := rulesKind()
		k.name, k.wants = "list of globs", "expected a list of globs over tools, such as [read_file, chaoscontext:*]"
		return k
	case "handoffs":
		k := agentIDKind()
		k.name, k.list, k.wants = "list of agents", true, "expected a list of agents, such as [reviewer, chaoscontext:interface]"
		id := k.parse
		k.parse = func(s string) (any, error) {
			if s == noAgent {
				return nil, errors.New(k.want)
			}
			return id(s)
		}
		return k
	case "history":
		return choiceKind("full", "turn")
	case "answers", "entry":
		return boolKind()
	}
	return textKind()
}

// agentIDKind is how the id of an agent is read, or none.
func agentIDKind() kind {
	const want = "expected the id of an agent, such as reviewer or chaoscontext:interface"
	return kind{
		name: "agent", tags: []string{tagText}, want: want,
		parse: func(s string) (any, error) {
			set, id, scoped := strings.Cut(s, ":")
			if s != noAgent && !validAgent(set) || scoped && !word(id, "_-./") || len(id) > maxAgentID {
				return nil, errors.New(want)
			}
			return s, nil
		},
	}
}

// wantedAgent is an agent that is handed over to, and the problem of who it
// isn't. It may be described in another file, so it is looked for when all are
// read.
type wantedAgent struct {
	id      string
	problem Problem
}

// agents decodes the agents of a file, by id.
func (d *decoder) agents(f field) {
	f.free = true
	d.mapping(f, nil, func(f field) {
		if !validAgent(f.name) {
			d.at(f, f.label+": an agent's id is of letters, digits, dashes and underscores, at most 64 long, and not none")
			return
		}
		f.free = false
		d.agent(f)
	})
}

func (d *decoder) agent(f field) {
	d.mapping(f, agentFields(), func(g field) {
		v, ok := d.value(g, agentKind(g.name))
		if !ok {
			return
		}
		to := d.part.data
		switch {
		case d.project && playsRecording(v) && g.name == "model":
			to = d.hold(g, grantsRecording)
		case d.project: // half an agent would be another one, so that all of it waits
			to = d.hold(g, grantsAgent)
		}
		to.setAgent(f.name, g.name, v, d.origin(f))
		to.origins[g.path] = d.origin(g)
		if g.name == "handoffs" {
			d.wants(g, v.([]string))
		}
	})
}

// setAgent keeps a field.
func (l *layer) setAgent(id, field string, value any, place Origin) {
	a, ok := l.agents[id]
	if !ok {
		a = agentValues{fields: map[string]any{}, place: place}
	}
	a.fields[field] = value
	l.agents[id] = a
}

// wants notes the agents that are handed over to. Those of toolsets aren't known
// here.
func (d *decoder) wants(f field, ids []string) {
	for i, id := range ids {
		if strings.Contains(id, ":") || i >= len(f.node.Content) {
			continue
		}
		n := d.resolve(f.node.Content[i])
		if n == nil {
			return
		}
		p := d.src.problem(n.Line, n.Column, utf8.RuneCountInString(n.Value), false, f.label+": there is no agent "+id)
		p.Key = f.label
		d.file.wanted = append(d.file.wanted, wantedAgent{id, *p})
	}
}

// checkHandoffs reports those to agents that no file describes.
func (l *loader) checkHandoffs(files []*fileParts) {
	known := map[string]bool{}
	for _, f := range files {
		for _, p := range append(slices.Collect(maps.Values(f.profiles)), f.top) {
			for _, lay := range []*layer{p.data, p.held} {
				for id := range lay.agents {
					known[id] = true
				}
			}
		}
	}
	for _, f := range files {
		for _, w := range f.wanted {
			if known[w.id] {
				continue
			}
			if near := didyoumean.Of(w.id, slices.Sorted(maps.Keys(known))); near != "" {
				w.problem.Msg += "; did you mean " + near + "?"
			} else {
				w.problem.Msg += "; those of toolsets are named toolset:id"
			}
			l.sink.add(w.problem)
		}
	}
}

// ownAgents keeps a project from changing agents that the user has described: a
// name that is trusted would do something else there.
func (l *loader) ownAgents(user, project *fileParts) {
	mine := map[string]bool{}
	for _, p := range []part{user.top, user.profiles[l.profile]} {
		if p.data != nil {
			for id := range p.data.agents {
				mine[id] = true
			}
		}
	}
	for _, p := range append(slices.Collect(maps.Values(project.profiles)), project.top) {
		for _, lay := range []*layer{p.data, p.held} {
			for _, id := range slices.Sorted(maps.Keys(lay.agents)) {
				if !mine[id] {
					continue
				}
				l.sink.add(Problem{
					Source: lay.agents[id].place.String(), Key: "agents." + id, Warning: true,
					Msg: "agents." + id + " is not read: a project can't change an agent of yours",
				})
				delete(lay.agents, id)
				maps.DeleteFunc(lay.origins, func(key string, _ Origin) bool { return strings.HasPrefix(key, "agents."+id+".") })
			}
		}
	}
}

// mergeAgents makes the agents of what the layers say, the strongest last.
func (l *loader) mergeAgents() map[string]Agent {
	out := map[string]Agent{}
	for _, lay := range l.layers {
		for id, values := range lay.agents {
			a, ok := out[id]
			if !ok {
				a = Agent{ID: id, Place: values.place}
			}
			for field, v := range values.fields {
				a.set(field, v)
			}
			out[id] = a
		}
	}
	l.checkAgents(out)
	return out
}

func (a *Agent) set(field string, v any) {
	switch field {
	case "name":
		a.Name = v.(string)
	case "purpose":
		a.Purpose = v.(string)
	case "prompt":
		a.Prompt = v.(string)
	case "model":
		a.Model = v.(string)
	case "tools":
		a.Tools = v.([]string)
	case "handoffs":
		a.Handoffs = v.([]string)
	case "history":
		a.History = v.(string)
	case "answers":
		a.Answers = v.(provider.Known)
	case "entry":
		a.Entry = v.(provider.Known) == provider.Yes
	}
}

// checkAgents looks at what only all sources together tell.
func (l *loader) checkAgents(all map[string]Agent) {
	entry := ""
	for _, id := range slices.Sorted(maps.Keys(all)) {
		a := all[id]
		if strings.TrimSpace(a.Prompt) == "" {
			// Only a warning, so that one field can be set after the other.
			l.sink.add(Problem{
				File: a.Place.File, Line: a.Place.Line, Column: a.Place.Column, Key: "agents." + id, Warning: true,
				Msg: "agents." + id + " has no prompt, which says who it is",
			})
		}
		if !a.Entry {
			continue
		}
		if entry != "" {
			l.sink.add(Problem{
				File: a.Place.File, Line: a.Place.Line, Column: a.Place.Column, Key: "agents." + id + ".entry",
				Msg: "agents." + id + ".entry: a chat begins with one agent, and agents." + entry + " is it already",
			})
			continue
		}
		entry = id
	}
}

// EntryAgent returns the id of the agent that new chats begin with: the setting agent, or
// else the agent that has entry: true. It is none if the setting leaves agents out, and
// empty where the configuration names no agent.
func (c *Config) EntryAgent() string {
	if c.Agent != "" {
		return c.Agent
	}
	for _, a := range c.Agents {
		if a.Entry {
			return a.ID
		}
	}
	return ""
}

// agentEntries are the fields of an agent that are set.
func (c *Config) agentEntries(key string, a Agent) []Entry {
	values := map[string]any{
		"name": a.Name, "purpose": a.Purpose, "prompt": a.Prompt, "model": a.Model, "tools": a.Tools,
		"handoffs": a.Handoffs, "history": a.History, "answers": a.Answers, "entry": a.Entry,
	}
	var out []Entry
	for _, name := range agentFields() {
		if _, ok := c.origins[key+"."+name]; ok {
			out = append(out, c.entry(key+"."+name, values[name]))
		}
	}
	return out
}

// agentKey is a field of an agent as a key.
func agentKey(field string) (Key, bool) {
	k := agentKind(field)
	return Key{List: k.list, kind: k}, slices.Contains(agentFields(), field)
}
