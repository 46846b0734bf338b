package registry

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Toolset is document 004's toolsets record (§1.1). Its JSON is stored.
type Toolset struct {
	ID              string    `json:"id"`
	Name            string    `json:"name"`
	Version         string    `json:"version"`
	Description     string    `json:"description"`
	Enabled         bool      `json:"enabled"`
	InstalledAt     time.Time `json:"installed_at"`
	SourceType      string    `json:"source_type"`
	SourceRef       string    `json:"source_ref"`
	ManifestVersion string    `json:"manifest_version"`

	UpdatedAt time.Time `json:"updated_at"`
	// Kind is what the bundle was: toolset, mcpb or skill.
	Kind string `json:"kind"`
	// Hash is of the contents; Revision begins it and names the folder.
	Hash     string `json:"hash"`
	Revision string `json:"revision"`
	// SourceHash is the hash of the bundle that it came from.
	SourceHash   string               `json:"source_hash"`
	Requirements []string             `json:"requirements,omitempty"`
	Permissions  manifest.Permissions `json:"permissions,omitzero"`
	Workflows    []manifest.Workflow  `json:"workflows,omitempty"`
	Tests        []manifest.Test      `json:"tests,omitempty"`
	// Uncontained is the user's word that the tools may run where the system
	// can't contain them.
	Uncontained bool `json:"uncontained,omitempty"`
	// Revoked is when the user took the approval back.
	Revoked *time.Time `json:"revoked_at,omitempty"`
}

// reinstall returns the fix that installs it again from where it came.
func (t *Toolset) reinstall() Fix {
	if _, ok := gallery.ID(t.SourceRef); !ok && t.SourceType == bundle.FromProgram {
		return Fix{Kind: FixDemo}
	}
	if _, ok := t.uploadedAs(); ok {
		return Fix{Kind: FixImport}
	}
	return Fix{Kind: FixImport, Source: t.SourceRef}
}

// File is document 004's toolset_files record (§1.2).
type File struct {
	ToolsetID string `json:"toolset_id"`
	Path      string `json:"path"`
	Kind      string `json:"kind"`
	SHA256    string `json:"sha256"`
	Size      int64  `json:"size"`
	// StoredPath is absolute. It is filled in when the record is read.
	StoredPath string `json:"stored_path,omitempty"`
	Revision   string `json:"revision"`
}

// ToolRecord is document 004's tools record (§1.3): the columns of
// [toolset.Tool] without its renderer, and the tool's place in the manifest.
type ToolRecord struct {
	toolset.Tool
	Service bool `json:"service,omitempty"`
	Place   int  `json:"place"`
}

// RenderConfig is document 004's tool_render_configs record (§1.4).
type RenderConfig struct {
	ToolID   string          `json:"tool_id"`
	Renderer string          `json:"renderer"`
	Config   json.RawMessage `json:"config"`
	// Priority is 0 for what the toolset brings. Of several the highest counts.
	Priority int `json:"priority"`
}

// rendererOf puts the two columns together again.
func (c *RenderConfig) rendererOf() (*toolset.Renderer, error) {
	r := new(toolset.Renderer)
	if err := json.Unmarshal(c.Config, r); err != nil {
		return nil, err
	}
	r.Type = c.Renderer
	return r, nil
}

// ServerDeclaration is document 004's toolset_mcp_servers record (§1.5).
type ServerDeclaration struct {
	ToolsetID string `json:"toolset_id"`
	ServerID  string `json:"server_id"`
	// Config is the server's entry of the manifest.
	Config      manifest.MCPServer `json:"config"`
	AutoEnabled bool               `json:"auto_enabled"`
	Place       int                `json:"place"`
}

// Server is the mcp_servers record: one server, whoever declared it.
type Server struct {
	ID      string             `json:"id"`
	Enabled bool               `json:"enabled"`
	Config  manifest.MCPServer `json:"config"`
	// DeclaredBy are the ids of the toolsets that brought it.
	DeclaredBy []string `json:"declared_by"`
	// Own tells that the user added it. No toolset takes it over, and it goes
	// with none.
	Own      bool           `json:"own,omitempty"`
	Settings ServerSettings `json:"settings,omitzero"`
	// Tools are those that the server had when it was looked at, pinned.
	Tools []ServerTool `json:"tools,omitempty"`
	// Seen are those that it had last, where these are others.
	Seen     []ServerTool `json:"seen,omitempty"`
	PinnedAt *time.Time   `json:"pinned_at,omitempty"`
	// Problem is why it could not be used when it was last tried.
	Problem string `json:"problem,omitempty"`
}

// ServerTool is one tool of an MCP server with its pin.
type ServerTool struct {
	Tool toolset.Tool `json:"tool"`
	// SHA256 is of name, description, schemas and annotations.
	SHA256 string `json:"sha256"`
}

// Agent is the agents record.
type Agent struct {
	ToolsetID string         `json:"toolset_id"`
	Agent     manifest.Agent `json:"agent"`
	Place     int            `json:"place"`
}

// Page is the pages record.
type Page struct {
	ToolsetID string        `json:"toolset_id"`
	Page      manifest.Page `json:"page"`
	Place     int           `json:"place"`
}

// PayloadType is the payload_types record.
type PayloadType struct {
	ToolsetID string           `json:"toolset_id"`
	Payload   manifest.Payload `json:"payload"`
	Place     int              `json:"place"`
}

// Approval is the record of one item that the user approved.
type Approval struct {
	ToolsetID string `json:"toolset_id"`
	// Kind and Name are the item's, such as network and api.example.com.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// SHA256 is of what was shown.
	SHA256     string    `json:"sha256"`
	ApprovedAt time.Time `json:"approved_at"`
}

// generation is the record that counts changes, so that a mirror can be known
// to be of this state.
type generation struct {
	Number int64 `json:"number"`
}

// tables are the record types of this package.
type tables struct {
	toolsets  *kv.Table[Toolset]
	files     *kv.Table[File]
	tools     *kv.Table[ToolRecord]
	renderers *kv.Table[RenderConfig]
	declared  *kv.Table[ServerDeclaration]
	servers   *kv.Table[Server]
	agents    *kv.Table[Agent]
	pages     *kv.Table[Page]
	payloads  *kv.Table[PayloadType]
	approvals *kv.Table[Approval]
	counter   *kv.Table[generation]
}

func newTables() *tables {
	return &tables{
		toolsets: kv.NewTable("toolsets", func(t *Toolset) kv.Key { return kv.Str(t.ID) }),
		files: kv.NewTable("toolset_files", func(f *File) kv.Key {
			return kv.Str(f.ToolsetID).Str(f.Revision).Str(f.Path)
		}),
		tools: kv.NewTable("tools", func(t *ToolRecord) kv.Key { return kv.Str(t.ID) },
			kv.On("toolset", func(t *ToolRecord) kv.Key { return kv.Str(t.ToolsetID).Int(int64(t.Place)) })),
		renderers: kv.NewTable("tool_render_configs", func(c *RenderConfig) kv.Key {
			return kv.Str(c.ToolID).Int(int64(c.Priority))
		}),
		declared: kv.NewTable("toolset_mcp_servers", func(d *ServerDeclaration) kv.Key {
			return kv.Str(d.ToolsetID).Str(d.ServerID)
		}),
		servers: kv.NewTable("mcp_servers", func(s *Server) kv.Key { return kv.Str(s.ID) }),
		agents: kv.NewTable("agents", func(a *Agent) kv.Key {
			return kv.Str(a.ToolsetID).Str(a.Agent.ID)
		}),
		pages: kv.NewTable("pages", func(p *Page) kv.Key { return kv.Str(p.Page.ID) },
			kv.On("toolset", func(p *Page) kv.Key { return kv.Str(p.ToolsetID).Int(int64(p.Place)) })),
		payloads: kv.NewTable("payload_types", func(p *PayloadType) kv.Key { return kv.Str(p.Payload.Type) },
			kv.On("toolset", func(p *PayloadType) kv.Key { return kv.Str(p.ToolsetID).Int(int64(p.Place)) })),
		approvals: kv.NewTable("toolset_approvals", func(a *Approval) kv.Key {
			return kv.Str(a.ToolsetID).Str(a.Kind).Str(a.Name)
		}),
		counter: kv.NewTable("toolset_generation", func(*generation) kv.Key { return kv.Str("toolsets") }),
	}
}

// uploadPrefix begins the source_ref of a toolset that came by the API: the rest is the
// name that the client gave its file, which may be on another machine.
const uploadPrefix = "upload:"

// uploadedAs returns the name of the file that a toolset was uploaded as, and whether it
// was. Earlier versions kept the path of the server's own copy.
func (t *Toolset) uploadedAs() (name string, ok bool) {
	if name, ok := strings.CutPrefix(t.SourceRef, uploadPrefix); ok {
		return name, true
	}
	path := strings.ReplaceAll(t.SourceRef, `\`, "/")
	return "a bundle", strings.Contains(path, "/cache/uploads/upload-")
}
