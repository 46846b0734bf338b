package catalog

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

// Toolbox is what turns can use: the builtin tools as the user has set them,
// the tools, agents, payloads and pages of the installed toolsets, and why some
// of them can't be used.
type Toolbox struct {
	generation int64
	// Partial reports that toolsets that the turn doesn't need were not read. Left are
	// those of them that MaxOffered leaves out.
	Partial bool
	Left    []LeftOut
	// Tools are those that can be called, also those that are disabled. Unusable are the
	// reasons why others can't be, by their ids.
	Tools    *toolset.Set
	Unusable map[string]string
	// Reach is what tools of toolsets and MCP servers can read, change and connect to.
	// Remote are the tools of MCP servers, and Session those of them that belong to the
	// turn's session. Each is by the tool's id.
	Reach           map[string]toolset.Reach
	Remote, Session map[string]bool
	Agents          *Agents
	Payloads        *Payloads
	Workflows       []store.Workflow
}

// Toolbox returns all tools and agents that there are now.
func (c *Catalog) Toolbox(ctx context.Context) (*Toolbox, error) {
	index, err := c.ToolsetIndex(ctx)
	if err != nil {
		return nil, err
	}
	return c.ToolboxFor(ctx, index, Need{All: true})
}

// ToolboxFor returns the tools and agents of an index of toolsets, or at least those that
// are needed. The agents that the user made are among them where all are needed.
func (c *Catalog) ToolboxFor(ctx context.Context, index *registry.Index, need Need) (*Toolbox, error) {
	box, err := c.installedBox(ctx, index, need)
	if err != nil || !need.All {
		return box, err
	}
	return c.withOwn(ctx, box)
}

// installedBox returns the tools and agents of the program, of the configuration and of the
// toolsets. Each turn reads the index, so that one engine serves toolsets that are imported
// while it lives. Only a change costs more than that.
func (c *Catalog) installedBox(ctx context.Context, x *registry.Index, need Need) (*Toolbox, error) {
	if c.o.Runner == nil {
		return &Toolbox{Tools: c.o.Tools, Agents: c.o.Agents, Payloads: c.newPayloads(nil)}, nil
	}
	if box := c.keptBox(x.Generation, need); box != nil {
		return box, nil
	}
	want, left := need.wanted()
	m, err := x.Read(c.store.Options.DataDir, want)
	partial := err == nil && len(m.Toolsets)+len(m.Servers) < len(x.Toolsets)+len(x.Servers)
	if err != nil { // it has changed meanwhile, or has to be written again
		if m, err = c.ToolsetMirror(ctx); err != nil {
			return nil, err
		}
		*left = nil
	}
	box, err := c.gather(m)
	if err != nil {
		return nil, err
	}
	box.Partial, box.Left = partial, *left
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !partial:
		c.box = box
	case !need.Named:
		c.usualBox = box
	}
	return box, nil
}

// keptBox returns a toolbox that was made before and is still valid, or nil if there is
// none.
func (c *Catalog) keptBox(generation int64, need Need) *Toolbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.box != nil && c.box.generation == generation {
		return c.box
	}
	if !need.All && !need.Named && c.usualBox != nil && c.usualBox.generation == generation {
		return c.usualBox
	}
	return nil
}

// gather makes a toolbox of the mirror. What can't be used is left out with its
// reason, and keeps nothing else from being used.
func (c *Catalog) gather(m *registry.Mirror) (*Toolbox, error) {
	box := &Toolbox{generation: m.Generation, Payloads: c.newPayloads(m.Toolsets), Unusable: map[string]string{}, Reach: map[string]toolset.Reach{}, Remote: map[string]bool{}}
	entries := changedBuiltins(c.o.Tools, m.Builtins)
	agents := c.o.Agents.All()
	for i := range m.Toolsets {
		set := &m.Toolsets[i]
		for j := range set.Tools {
			entry, why := c.entry(set, &set.Tools[j])
			if why != "" {
				box.Unusable[set.Tools[j].Tool.ID] = why
			} else {
				entries = append(entries, entry)
				box.Reach[entry.Tool.ID] = set.Reach(entry.Tool)
			}
		}
		if set.Usable() {
			agents = append(agents, agentsOf(set.ID, set.Agents)...)
			box.Workflows = append(box.Workflows, workflowsOf(set)...)
		}
	}
	entries = c.gatherServers(box, m.Servers, entries)
	var err error
	if box.Tools, err = toolset.NewSet(entries...); err != nil {
		return nil, fault.Wrap(fault.Failed, "gather the tools", err)
	}
	if box.Agents, err = UncheckedAgents(agents...); err != nil {
		return nil, fault.Wrap(fault.Failed, "gather the agents", err)
	}
	box.Agents = box.Agents.usable()
	return box, nil
}

// entry is one tool of a toolset, or why it can't be used.
func (c *Catalog) entry(set *registry.MirrorToolset, t *registry.MirrorTool) (toolset.Entry, string) {
	switch {
	case set.ID == chat.ClientToolset:
		return toolset.Entry{}, "the toolset id client is fettle's own now; remove the toolset and import it under another"
	case !set.Enabled:
		return toolset.Entry{}, "its toolset is disabled"
	case set.Problem != "":
		return toolset.Entry{}, set.Problem
	case !t.Tool.Enabled:
		return toolset.Entry{}, DisabledTool
	case t.Problem != "":
		return toolset.Entry{}, t.Problem
	}
	run, err := c.o.Runner(set, t)
	if err != nil {
		return toolset.Entry{}, err.Error()
	}
	entry := toolset.Entry{Tool: t.Tool, Runner: run, Dir: filepath.Join(c.store.Options.DataDir, filepath.FromSlash(set.Dir)), OwnProcess: t.File != "" && !t.Service}
	if _, err := toolset.NewSet(entry); err != nil {
		return toolset.Entry{}, err.Error()
	}
	return entry, ""
}

// DisabledTool is why a tool that the user switched off can't be used.
const DisabledTool = "it is disabled"

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
func (c *Catalog) AllTools(ctx context.Context) (*toolset.Set, map[string]string, error) {
	box, err := c.Toolbox(ctx)
	if err != nil {
		return nil, nil, err
	}
	return box.Tools, box.Unusable, nil
}

// AllAgents are all agents that a turn can enter by.
func (c *Catalog) AllAgents(ctx context.Context) (*Agents, error) {
	box, err := c.Toolbox(ctx)
	if err != nil {
		return nil, err
	}
	return box.Agents, nil
}

// workflowsOf are the workflows of a toolset under its name.
func workflowsOf(set *registry.MirrorToolset) []store.Workflow {
	out := make([]store.Workflow, 0, len(set.Workflows))
	for _, w := range set.Workflows {
		out = append(out, store.Workflow{
			ID: set.ID + ":" + w.ID, ToolsetID: set.ID, Name: w.Name, Description: w.Description,
			InputSchema: w.InputSchema, Steps: w.Steps,
		})
	}
	return out
}

// ReachOf returns what a tool of this turn can read, change and connect to.
func (b *Toolbox) ReachOf(t toolset.Tool) toolset.Reach {
	if r, known := b.Reach[t.ID]; known {
		return r
	}
	return toolset.ReachOf(t, nil)
}
