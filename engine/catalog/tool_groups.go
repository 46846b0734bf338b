package catalog

import (
	"context"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// ListedTool is a tool as lists show it.
type ListedTool struct {
	toolset.Tool
	Problem string `json:"problem,omitempty"`
	// Service says that its process lives on after a call, until the chat ends.
	Service bool `json:"service,omitempty"`
	// Reach is what calls of it can read, change and connect to.
	Reach toolset.Reach `json:"reach"`
	// Renderers are all there are for it, the one that counts first.
	Renderers []registry.RenderConfig `json:"renderers"`
}

// InstalledTool returns a tool of a toolset as lists show it.
func InstalledTool(t registry.ToolInfo) ListedTool {
	out := ListedTool{Tool: t.Tool, Problem: t.Problem, Service: t.Service, Reach: t.Reach, Renderers: t.Renderers}
	if out.Renderers == nil {
		out.Renderers = []registry.RenderConfig{}
	}
	return out
}

// ServerTool returns a tool of an MCP server as lists show it.
func ServerTool(s *registry.MirrorServer, t toolset.Tool) ListedTool {
	return ListedTool{Tool: t, Reach: s.Reach(t), Renderers: []registry.RenderConfig{}}
}

// ToolGroup are the tools that belong together.
type ToolGroup struct {
	Kind    string       `json:"kind"` // builtin, toolset or mcp_server
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	Enabled bool         `json:"enabled"`
	Problem string       `json:"problem,omitempty"`
	Tools   []ListedTool `json:"tools"`
}

// ToolGroups gathers all tools: builtin ones, those of toolsets, and those that
// MCP servers had when they were last looked at.
func (c *Catalog) ToolGroups(ctx context.Context) ([]ToolGroup, error) {
	want := registry.None()
	want.Server = nil
	m, err := c.mirrorOf(ctx, want)
	if err != nil {
		return nil, err
	}
	groups := []ToolGroup{c.builtinGroup(m)}
	sets, err := c.InstalledToolsets(ctx)
	if err != nil {
		return nil, err
	}
	for _, info := range sets {
		g := ToolGroup{
			Kind: "toolset", ID: info.Toolset.ID, Name: info.Toolset.Name + " " + info.Toolset.Version,
			Enabled: info.Toolset.Enabled, Problem: info.Problem, Tools: []ListedTool{},
		}
		for _, t := range info.Tools {
			g.Tools = append(g.Tools, InstalledTool(t))
		}
		if len(g.Tools) > 0 || len(info.Servers) == 0 {
			groups = append(groups, g)
		}
	}
	for _, s := range m.Servers {
		g := ToolGroup{Kind: "mcp_server", ID: s.ID, Name: s.ID, Enabled: !s.Off(), Problem: s.Problem, Tools: []ListedTool{}}
		if s.Enabled && (g.Problem == "" || s.Off()) {
			g.Problem = s.Unusable
		}
		for _, t := range s.Tools {
			g.Tools = append(g.Tools, ServerTool(&s, t.Tool))
		}
		groups = append(groups, g)
	}
	return groups, nil
}

// builtinGroup are the tools of the program as the user has set them.
func (c *Catalog) builtinGroup(m *registry.Mirror) ToolGroup {
	g := ToolGroup{Kind: "builtin", ID: "builtin", Name: "builtin", Enabled: true, Tools: []ListedTool{}}
	for entry := range c.Tools().All() {
		if entry.Tool.ToolsetID != "" {
			continue
		}
		t := ListedTool{Tool: entry.Tool, Reach: toolset.ReachOf(entry.Tool, nil), Renderers: []registry.RenderConfig{}}
		change := m.Builtins[t.ID]
		t.Enabled = t.Enabled && !change.Disabled
		if t.Renderer != nil {
			t.Renderers = append(t.Renderers, registry.RenderConfig{ToolID: t.ID, Renderer: t.Renderer.Type, Config: t.Renderer.Config()})
		}
		if change.Renderer != nil {
			t.Renderer = change.Renderer
		}
		g.Tools = append(g.Tools, t)
	}
	return g
}

// FindTool finds a tool by its id, or by its bare id where one tool has it.
func FindTool(groups []ToolGroup, id string) (ToolGroup, ListedTool, error) {
	type hit struct {
		g ToolGroup
		t ListedTool
	}
	var bare []hit
	var known []string
	for _, g := range groups {
		for _, t := range g.Tools {
			known = append(known, t.ID)
			if t.ID == id {
				return g, t, nil
			}
			if t.BareID() == id {
				bare = append(bare, hit{g, t})
			}
		}
	}
	if len(bare) == 1 {
		return bare[0].g, bare[0].t, nil
	}
	f := fault.New(fault.NotFound, "there is no tool "+id, fault.Try(fault.ListTools))
	if len(bare) > 1 {
		f.Msg = "several tools are called " + id
		for _, h := range bare {
			f.Detail = append(f.Detail, h.t.ID)
		}
	} else if near := didyoumean.Of(id, known); near != "" {
		f.Msg += " (did you mean " + near + "?)"
	}
	return ToolGroup{}, ListedTool{}, f
}
