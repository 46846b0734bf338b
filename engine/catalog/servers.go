package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/clientconfig"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Apps is what is needed of MCP servers to show their pages (MCP Apps).
type Apps interface {
	// App gives the page for the calls of a tool, and what it may do.
	App(ctx context.Context, s mcp.Server, ws *toolset.Workspace, toolID string) (*mcp.App, error)
	// AppTool gives a tool that a page of the server may call.
	AppTool(ctx context.Context, s mcp.Server, ws *toolset.Workspace, name string) (toolset.Tool, error)
	// CallForApp calls it.
	CallForApp(ctx context.Context, s mcp.Server, name string, call toolset.Call) (*mcp.AppResult, error)
	// ReadForApp reads a resource, and gives the ReadResourceResult in JSON.
	ReadForApp(ctx context.Context, s mcp.Server, ws *toolset.Workspace, uri string) (json.RawMessage, error)
}

// MCP reaches MCP servers; toolset/mcp's Manager does. It lives as long as the
// program: turns share its connections, and it ends them.
type MCP interface {
	// Runner runs one tool. The server is started when it is called.
	Runner(s mcp.Server, t toolset.Tool) toolset.Runner
	// Look connects and lists all that a server has.
	Look(ctx context.Context, s mcp.Server, ws *toolset.Workspace) (*mcp.Report, error)
	// Offer gives the tools of a server that nobody has pinned, from memory
	// where it has been asked before.
	Offer(ctx context.Context, s mcp.Server, ws *toolset.Workspace) ([]toolset.Tool, error)
	// Read reads a resource, and Fill a prompt.
	Read(ctx context.Context, s mcp.Server, ws *toolset.Workspace, uri string) ([]mcp.Content, error)
	Fill(ctx context.Context, s mcp.Server, ws *toolset.Workspace, prompt string, args map[string]string) ([]mcp.Content, error)
	// Forget ends the connections of a server.
	Forget(serverID string)
	Apps
}

// MCPServer is an MCP server of one session, such as an editor sends along with
// its folder. It belongs to the turns that name it, and nothing of it is kept.
type MCPServer struct {
	// Name is what its tools are named by. What can't be in an id is left out.
	Name string
	// Command is an absolute path or a program's name; Args and Env go with it.
	Command string
	Args    []string
	Env     map[string]string
	// URL and Headers are for one at an address, by streamable HTTP or, with
	// SSE, by the transport before it.
	URL     string
	Headers map[string]string
	SSE     bool
}

// gatherServers adds the tools that the enabled MCP servers had when they were
// approved. No server is started for it.
func (c *Catalog) gatherServers(box *Toolbox, servers []registry.MirrorServer, entries []toolset.Entry) []toolset.Entry {
	taken := map[string]bool{chat.ClientToolset: true}
	for _, entry := range entries {
		taken[entry.Tool.ID] = true
	}
	for i := range servers {
		m := &servers[i]
		held := m.Held()
		server := c.serverOf(m)
		for _, t := range m.Tools {
			tool := t.Tool
			why := cmp.Or(m.Unusable, held[tool.ID])
			switch {
			case c.o.MCP == nil:
				why = "MCP servers can't be reached here"
			case why == "" && taken[tool.ID]:
				why = "another tool has its id"
			}
			entry := toolset.Entry{Tool: tool}
			if why == "" {
				tool.Enabled = true
				tool.Timeout = cmp.Or(m.Settings.Timeout, tool.Timeout)
				entry.Tool, entry.Runner = tool, c.o.MCP.Runner(server, tool)
				if _, err := toolset.NewSet(entry); err != nil {
					why = err.Error()
				}
			}
			if why != "" {
				if !taken[tool.ID] {
					box.Unusable[tool.ID] = why
				}
				continue
			}
			taken[tool.ID], box.Remote[tool.ID], box.Reach[tool.ID] = true, true, m.Reach(tool)
			entries = append(entries, entry)
		}
	}
	return entries
}

// serverOf is how a recorded server is reached.
func (c *Catalog) serverOf(m *registry.MirrorServer) mcp.Server {
	s := mcp.Server{
		ID: m.ID, Command: m.Config.Command, Args: m.Config.Args, Env: m.Config.Env, URL: m.Config.URL, Headers: m.Config.Headers,
		SSE: m.Settings.SSE, Own: m.Own, Sampling: m.Settings.Sampling, ClientID: m.Settings.ClientID, ClientSecret: m.Settings.ClientSecret,
		Pinned: make([]toolset.Tool, 0, len(m.Tools)),
	}
	for _, t := range m.Tools {
		s.Pinned = append(s.Pinned, t.Tool)
	}
	if m.PinnedAt == nil {
		s.Pinned = nil // nobody has seen any yet
	}
	if m.Own {
		s.Policy, s.Bare = ownPolicy(m.Config, m.Settings), m.Settings.Uncontained
		return s
	}
	s.Policy = toolset.Policy{Network: toolset.NetworkAll, Least: m.Least}
	dataDir, id, revision := c.store.Options.DataDir, m.ToolsetID, m.Revision
	s.Hold = func() (string, func(), error) {
		dir, release, err := registry.Use(dataDir, id, revision)
		if errors.Is(err, registry.ErrGone) {
			return "", nil, toolset.Errorf("the toolset %s was updated or removed meanwhile", id)
		}
		if err != nil {
			return "", nil, err
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			release()
			return "", nil, err
		}
		return dir, release, nil
	}
	return s
}

// ownPolicy is what a server of the user's own may reach: the network, what its
// arguments name, and what was granted. It is contained as well as the system
// can.
func ownPolicy(c manifest.MCPServer, set registry.ServerSettings) toolset.Policy {
	p := toolset.Policy{Network: toolset.NetworkAll, Least: toolset.LevelNone}
	if set.Offline {
		p.Network = toolset.NetworkNone
	}
	if set.Uncontained {
		p.Most = toolset.LevelNone
		return p
	}
	grant := func(list *[]string, path string) {
		path = filepath.Clean(path)
		if _, err := os.Stat(path); err == nil && filepath.Dir(path) != path && !slices.Contains(*list, path) {
			*list = append(*list, path)
		}
	}
	for _, arg := range c.Args {
		if !filepath.IsAbs(arg) {
			continue
		}
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			grant(&p.Writable, arg) // a folder that it was told to work in
		} else if err == nil {
			grant(&p.Readable, projectOf(arg))
		}
	}
	for _, path := range set.Read {
		grant(&p.Readable, path)
	}
	for _, path := range set.Write {
		grant(&p.Writable, path)
	}
	return p
}

// projectOf is the folder that a program's file needs: the nearest one above it
// with node_modules or a pyproject.toml, else its own.
func projectOf(file string) string {
	home, _ := os.UserHomeDir() // where there is none it protects nothing
	for dir := filepath.Dir(file); dir != home && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		for _, mark := range []string{"node_modules", "pyproject.toml"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
	}
	if dir := filepath.Dir(file); dir != home && filepath.Dir(dir) != dir {
		return dir
	}
	return file
}

// SessionServers gives the servers of a session ids that nothing else has.
func SessionServers(list []MCPServer, box *Toolbox) []mcp.Server {
	taken := map[string]bool{}
	for entry := range box.Tools.All() {
		taken[entry.Tool.ToolsetID] = true
	}
	for id := range box.Unusable {
		set, _, _ := strings.Cut(id, ":")
		taken[set] = true
	}
	out := make([]mcp.Server, 0, len(list))
	for _, m := range list {
		id := clientconfig.ID(m.Name)
		for n := 2; taken[id]; n++ {
			id = fmt.Sprintf("%s-%d", clientconfig.ID(m.Name), n)
		}
		taken[id] = true
		config := manifest.MCPServer{ID: id, Command: m.Command, Args: m.Args, Env: m.Env, URL: m.URL, Headers: m.Headers}
		out = append(out, mcp.Server{
			ID: id, Command: m.Command, Args: m.Args, Env: m.Env, URL: m.URL, Headers: m.Headers, SSE: m.SSE, Own: true, Session: true,
			Policy: ownPolicy(config, registry.ServerSettings{}),
		})
	}
	return out
}
