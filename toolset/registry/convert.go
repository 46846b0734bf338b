package registry

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// rows are all records of one toolset but its files.
type rows struct {
	set       Toolset
	tools     []ToolRecord
	renderers []RenderConfig // what the toolset brings: priority 0
	overrides []RenderConfig // what the user set
	declared  []ServerDeclaration
	agents    []Agent
	pages     []Page
	payloads  []PayloadType
	approvals []Approval
	// broken are the reasons why tools can't be used, by id; that of "" is about all.
	broken map[string]string
	// damaged is set if a record can't be read, and unknown if it is the toolset's own.
	damaged, unknown bool
}

// rowsOf makes the records of a manifest.
func rowsOf(m *manifest.Manifest) *rows {
	r := &rows{set: Toolset{
		ID: m.ID, Name: m.Name, Version: m.Version, Description: m.Description, ManifestVersion: m.ManifestVersion,
		Enabled: true, Requirements: m.Requirements, Permissions: m.Permissions, Workflows: m.Workflows, Tests: m.Tests,
	}}
	for i, t := range m.ToolRecords() {
		if t.Renderer != nil {
			r.renderers = append(r.renderers, RenderConfig{ToolID: t.ID, Renderer: t.Renderer.Type, Config: t.Renderer.Config()})
			t.Renderer = nil
		}
		r.tools = append(r.tools, ToolRecord{Tool: t, Service: m.Tools[i].Service, Place: i})
	}
	for i, s := range m.MCPServers {
		auto := s.AutoEnabled == nil || *s.AutoEnabled
		s.AutoEnabled = nil
		r.declared = append(r.declared, ServerDeclaration{ToolsetID: m.ID, ServerID: s.ID, Config: s, AutoEnabled: auto, Place: i})
	}
	for i, a := range m.Agents {
		r.agents = append(r.agents, Agent{ToolsetID: m.ID, Agent: a, Place: i})
	}
	for i, p := range m.Pages {
		r.pages = append(r.pages, Page{ToolsetID: m.ID, Page: p, Place: i})
	}
	for i, p := range m.Payloads {
		r.payloads = append(r.payloads, PayloadType{ToolsetID: m.ID, Payload: p, Place: i})
	}
	return r
}

// manifest makes the manifest of the records. What a manifest may leave out
// because it is the default is left out.
func (r *rows) manifest() (*manifest.Manifest, error) {
	m := &manifest.Manifest{
		ManifestVersion: r.set.ManifestVersion, ID: r.set.ID, Name: r.set.Name, Version: r.set.Version,
		Description: r.set.Description, Requirements: r.set.Requirements, Permissions: r.set.Permissions,
		Workflows: r.set.Workflows, Tests: r.set.Tests,
	}
	for _, t := range r.tools {
		tool := manifest.Tool{
			ID: t.BareID(), Name: t.Name, Description: t.Description, Entrypoint: t.Entrypoint, Category: t.Category,
			InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, RequiresConfirmation: t.RequiresConfirmation,
			Streaming: t.Streaming, Service: t.Service, Timeout: t.Timeout,
		}
		if tool.Name == tool.ID {
			tool.Name = ""
		}
		if a := t.Annotations; a != toolset.UnknownAnnotations() {
			tool.Annotations = &a
		}
		i := slices.IndexFunc(r.renderers, func(c RenderConfig) bool { return c.ToolID == t.ID })
		if i >= 0 {
			renderer, err := r.renderers[i].rendererOf()
			if err != nil {
				return nil, fmt.Errorf("read the renderer of %s: %w", t.ID, err)
			}
			tool.Renderer = renderer
		}
		m.Tools = append(m.Tools, tool)
	}
	for _, d := range r.declared {
		s := d.Config
		if off := false; !d.AutoEnabled {
			s.AutoEnabled = &off
		}
		m.MCPServers = append(m.MCPServers, s)
	}
	for _, a := range r.agents {
		m.Agents = append(m.Agents, a.Agent)
	}
	for _, p := range r.pages {
		m.Pages = append(m.Pages, p.Page)
	}
	for _, p := range r.payloads {
		m.Payloads = append(m.Payloads, p.Payload)
	}
	return m, nil
}

// canonical is the toolset.yaml that stands for a manifest among the files of
// its revision.
func canonical(m *manifest.Manifest) ([]byte, error) {
	back, err := rowsOf(m).manifest()
	if err != nil {
		return nil, err
	}
	return manifest.Marshal(back)
}

// effective gives the renderer of a tool that counts: the user's with the
// highest priority, else the toolset's.
func (r *rows) effective(toolID string) (*toolset.Renderer, int, error) {
	best := -1
	all := slices.Concat(r.renderers, r.overrides)
	for i, c := range all {
		if c.ToolID == toolID && (best < 0 || c.Priority > all[best].Priority) {
			best = i
		}
	}
	if best < 0 {
		return nil, 0, nil
	}
	renderer, err := all[best].rendererOf()
	return renderer, all[best].Priority, err
}

// sameServer tells whether two declarations mean one server.
func sameServer(a, b manifest.MCPServer) bool {
	return reflect.DeepEqual(plainServer(a), plainServer(b))
}

// plainServer has nothing but what the server is.
func plainServer(s manifest.MCPServer) manifest.MCPServer {
	s.AutoEnabled = nil
	if len(s.Args) == 0 {
		s.Args = nil
	}
	if len(s.Env) == 0 {
		s.Env = nil
	}
	if len(s.Headers) == 0 {
		s.Headers = nil
	}
	return s
}
