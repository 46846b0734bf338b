package registry

import (
	"context"
	"errors"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Info is one installed toolset with all that belongs to it.
type Info struct {
	Toolset Toolset
	// Problem is why it can't be used; empty where it can.
	Problem  string
	Manifest *manifest.Manifest
	// Files are given by Get alone.
	Files   []File
	Tools   []ToolInfo
	Servers []ServerInfo
	// Items are what is approved item by item, Approvals what the user approved
	// of them, and Pending those that wait for it.
	Items, Pending []Item
	Approvals      []Approval
}

// ToolInfo is one tool of a toolset.
type ToolInfo struct {
	// Tool has the renderer that counts.
	Tool    toolset.Tool
	Service bool
	// Problem is why it can't be used; empty where it can.
	Problem string
	// Renderers are all that there are for it, the one that counts first.
	Renderers []RenderConfig
	File      string
	// Reach is what calls of it can read, change and connect to.
	Reach toolset.Reach
}

// ServerInfo is one MCP server that a toolset declares.
type ServerInfo struct {
	Server Server
	// Shared are the other toolsets that declare it.
	Shared []string
}

// List gives all installed toolsets by their ids. One whose records can't be
// read has its id and that reason.
func (r *Registry) List(ctx context.Context) ([]Info, error) {
	var out []Info
	err := r.view(ctx, func(tx *kv.Tx) error {
		out = nil
		ids, err := keysOf(tx, r.tables.toolsets)
		if err != nil {
			return err
		}
		for _, id := range ids {
			info, err := r.info(tx, id, false)
			if isDamaged(err) {
				info, err = &Info{Toolset: Toolset{ID: id, Name: id}, Problem: damagedRecords}, nil
			}
			if err != nil {
				return err
			}
			out = append(out, *info)
		}
		return nil
	})
	return out, err
}

// Get gives one installed toolset.
func (r *Registry) Get(ctx context.Context, id string) (*Info, error) {
	var out *Info
	err := r.view(ctx, func(tx *kv.Tx) (err error) { out, err = r.info(tx, id, true); return err })
	if err == nil && out == nil {
		err = &NotFoundError{What: "toolset", ID: id}
	}
	return out, err
}

// info reads one toolset within a transaction; withFiles tells whether its files
// are wanted, of which there may be thousands.
func (r *Registry) info(tx *kv.Tx, id string, withFiles bool) (*Info, error) {
	set, err := r.load(tx, id)
	if err != nil {
		return nil, err
	}
	out := &Info{Toolset: set.set, Problem: r.problem(set), Approvals: set.approvals}
	if set.damaged {
		return &Info{Toolset: set.set, Problem: damagedRecords}, nil
	}
	approved, least := pins(set.approvals), set.least()
	permissions := granted(set.set.Permissions, approved)
	for _, t := range set.tools {
		m, err := r.mirrorTool(tx, set, t)
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, ToolInfo{
			Tool: m.Tool, Service: m.Service, Problem: m.Problem, Renderers: set.renderersOf(t.ID), File: m.File,
			Reach: reachOf(m.Tool, permissions, least),
		})
	}
	for _, d := range set.declared {
		s, lost, err := r.serverRecord(tx, d.ServerID)
		if errors.Is(err, kv.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if lost {
			s.Problem = damagedServer
		}
		out.Servers = append(out.Servers, ServerInfo{Server: *s, Shared: without(s.DeclaredBy, id)})
	}
	m, err := set.manifest()
	if err == nil {
		out.Manifest = m
	}
	var files []File
	if withFiles || m != nil && pinsFiles(m) {
		if files, err = r.files(tx, &set.set); err != nil {
			return nil, err
		}
	}
	if withFiles {
		out.Files = files
	}
	if m == nil {
		return out, nil // the tool at fault says so
	}
	out.Items = itemsOf(m, files)
	for _, it := range out.Items {
		if approved[[2]string{it.Kind, it.Name}] != it.SHA256 {
			out.Pending = append(out.Pending, it)
		}
	}
	return out, nil
}

// renderersOf lists a tool's renderers, the highest priority first.
func (r *rows) renderersOf(toolID string) []RenderConfig {
	var out []RenderConfig
	for i := len(r.overrides) - 1; i >= 0; i-- { // they ascend
		if c := r.overrides[i]; c.ToolID == toolID && c.Priority > 0 {
			out = append(out, c)
		}
	}
	for _, c := range r.renderers {
		if c.ToolID == toolID {
			out = append(out, c)
		}
	}
	for i := len(r.overrides) - 1; i >= 0; i-- {
		if c := r.overrides[i]; c.ToolID == toolID && c.Priority < 0 {
			out = append(out, c)
		}
	}
	return out
}
