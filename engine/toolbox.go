package engine

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolbox is what turns can use: the builtin tools as the user has set them,
// the tools, agents, payloads and pages of the installed toolsets, and why some
// of them can't be used.
type toolbox struct {
	generation int64
	// partial reports that toolsets that the turn doesn't need were not read; left
	// are those of them that maxOffered leaves out.
	partial   bool
	left      []leftOut
	tools     *toolset.Set
	agents    *Agents
	shows     *showcase
	workflows []store.Workflow
	unusable  map[string]string        // by tool id
	reach     map[string]toolset.Reach // of tools of toolsets and MCP servers
	remote    map[string]bool          // tools of MCP servers
	session   map[string]bool          // those of them that belong to the turn's session
}

// toolbox returns all tools and agents that there are now.
func (e *Engine) toolbox(ctx context.Context) (*toolbox, error) {
	index, err := e.toolsetIndex(ctx)
	if err != nil {
		return nil, err
	}
	return e.toolboxFor(ctx, index, toolNeed{all: true})
}

// toolboxFor returns the tools and agents of an index of toolsets, or at least those that
// are needed. The agents that the user made are among them where all are needed.
func (e *Engine) toolboxFor(ctx context.Context, index *registry.Index, need toolNeed) (*toolbox, error) {
	box, err := e.installedBox(ctx, index, need)
	if err != nil || !need.all {
		return box, err
	}
	return e.withOwn(ctx, box)
}

// installedBox returns the tools and agents of the program, of the configuration and of the
// toolsets. Each turn reads the index, so that one engine serves toolsets that are imported
// while it lives. Only a change costs more than that.
func (e *Engine) installedBox(ctx context.Context, x *registry.Index, need toolNeed) (*toolbox, error) {
	if e.o.Runner == nil {
		return &toolbox{tools: e.o.Tools, agents: e.o.Agents, shows: e.newShowcase(nil)}, nil
	}
	if box := e.keptBox(x.Generation, need); box != nil {
		return box, nil
	}
	want, left := need.wanted()
	m, err := x.Read(e.o.DataDir, want)
	partial := err == nil && len(m.Toolsets)+len(m.Servers) < len(x.Toolsets)+len(x.Servers)
	if err != nil { // it has changed meanwhile, or has to be written again
		if m, err = e.ToolsetMirror(ctx); err != nil {
			return nil, err
		}
		*left = nil
	}
	box, err := e.gather(m)
	if err != nil {
		return nil, err
	}
	box.partial, box.left = partial, *left
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !partial:
		e.box = box
	case !need.named:
		e.usualBox = box
	}
	return box, nil
}

// keptBox returns a toolbox that was made before and is still valid, or nil if there is
// none.
func (e *Engine) keptBox(generation int64, need toolNeed) *toolbox {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.box != nil && e.box.generation == generation {
		return e.box
	}
	if !need.all && !need.named && e.usualBox != nil && e.usualBox.generation == generation {
		return e.usualBox
	}
	return nil
}

// gather makes a toolbox of the mirror. What can't be used is left out with its
// reason, and keeps nothing else from being used.
func (e *Engine) gather(m *registry.Mirror) (*toolbox, error) {
	box := &toolbox{generation: m.Generation, shows: e.newShowcase(m.Toolsets), unusable: map[string]string{}, reach: map[string]toolset.Reach{}, remote: map[string]bool{}}
	entries := changedBuiltins(e.o.Tools, m.Builtins)
	agents := e.o.Agents.All()
	for i := range m.Toolsets {
		set := &m.Toolsets[i]
		for j := range set.Tools {
			entry, why := e.entry(set, &set.Tools[j])
			if why != "" {
				box.unusable[set.Tools[j].Tool.ID] = why
			} else {
				entries = append(entries, entry)
				box.reach[entry.Tool.ID] = set.Reach(entry.Tool)
			}
		}
		if set.Usable() {
			agents = append(agents, agentsOf(set.ID, set.Agents)...)
			box.workflows = append(box.workflows, workflowsOf(set)...)
		}
	}
	entries = e.gatherServers(box, m.Servers, entries)
	var err error
	if box.tools, err = toolset.NewSet(entries...); err != nil {
		return nil, fault.Wrap(fault.Failed, "gather the tools", err)
	}
	if box.agents, err = UncheckedAgents(agents...); err != nil {
		return nil, fault.Wrap(fault.Failed, "gather the agents", err)
	}
	box.agents = box.agents.usable()
	return box, nil
}

// entry is one tool of a toolset, or why it can't be used.
func (e *Engine) entry(set *registry.MirrorToolset, t *registry.MirrorTool) (toolset.Entry, string) {
	switch {
	case set.ID == chat.ClientToolset:
		return toolset.Entry{}, "the toolset id client is fettle's own now; remove the toolset and import it under another"
	case !set.Enabled:
		return toolset.Entry{}, "its toolset is disabled"
	case set.Problem != "":
		return toolset.Entry{}, set.Problem
	case !t.Tool.Enabled:
		return toolset.Entry{}, disabledTool
	case t.Problem != "":
		return toolset.Entry{}, t.Problem
	}
	run, err := e.o.Runner(set, t)
	if err != nil {
		return toolset.Entry{}, err.Error()
	}
	entry := toolset.Entry{Tool: t.Tool, Runner: run, Dir: filepath.Join(e.o.DataDir, filepath.FromSlash(set.Dir)), OwnProcess: t.File != "" && !t.Service}
	if _, err := toolset.NewSet(entry); err != nil {
		return toolset.Entry{}, err.Error()
	}
	return entry, ""
}

// disabledTool is why a tool that the user switched off can't be used.
const disabledTool = "it is disabled"

// changedBuiltins are the builtin tools as the user has set them.
func changedBuiltins(set *toolset.Set, changes map[string]registry.BuiltinChange) []toolset.Entry {
	entries := slices.Collect(set.All())
	for i := range entries {
		c := changes[entries[i].Tool.ID]
		entries[i].Tool.Enabled = entries[i].Tool.Enabled && !c.Disabled
		if c.Renderer != nil {
			entries[i].Tool.Renderer = c.Renderer
		}
	}
	return entries
}

// agentsOf are the agents of a toolset under its name.
func agentsOf(id string, all []manifest.Agent) []store.Agent {
	out := make([]store.Agent, 0, len(all))
	for _, a := range all {
		out = append(out, store.Agent{
			ID: id + ":" + a.ID, ToolsetID: id, Name: a.Name, Purpose: a.Purpose, Prompt: a.Prompt, Model: a.Model,
			Tools: a.Tools, Handoffs: a.Handoffs, History: a.History, Answers: a.Answers, Source: "toolset " + id,
		})
	}
	return out
}

// AllTools are all tools that can be called now, also those that are switched
// off, and by id why others can't be.
func (e *Engine) AllTools(ctx context.Context) (*toolset.Set, map[string]string, error) {
	box, err := e.toolbox(ctx)
	if err != nil {
		return nil, nil, err
	}
	return box.tools, box.unusable, nil
}

// AllAgents are all agents that a turn can enter by.
func (e *Engine) AllAgents(ctx context.Context) (*Agents, error) {
	box, err := e.toolbox(ctx)
	if err != nil {
		return nil, err
	}
	return box.agents, nil
}
