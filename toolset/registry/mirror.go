package registry

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// Mirror is what turns need of the installed toolsets.
type Mirror struct {
	// Generation counts the changes of the records.
	Generation int64
	// Toolsets are the installed toolsets, by id, or those that were requested.
	Toolsets []MirrorToolset
	// Servers are the MCP servers, by id, or those that were requested.
	Servers []MirrorServer
	// Builtins are the builtin tools that the user changed something about, by
	// id.
	Builtins map[string]BuiltinChange
}

// BuiltinChange is what the user set for a builtin tool.
type BuiltinChange struct {
	Disabled bool              `json:"disabled,omitempty"`
	Renderer *toolset.Renderer `json:"renderer,omitempty"`
}

// MirrorToolset is one installed toolset.
type MirrorToolset struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Version  string `json:"version"`
	Hash     string `json:"hash"`
	Revision string `json:"revision"`
	// Dir is where its files are, relative to the data directory; [Use] gives
	// the absolute path.
	Dir     string `json:"dir"`
	Enabled bool   `json:"enabled"`
	// Problem is why none of its tools can be used; empty where they can.
	Problem      string   `json:"problem,omitempty"`
	Requirements []string `json:"requirements,omitempty"`
	// Granted is what the user approved of what it asks for.
	Granted manifest.Permissions `json:"granted,omitzero"`
	// Network says which network Granted comes to.
	Network toolset.Network `json:"network,omitempty"`
	// Least is the containment below which its tools may not run.
	Least  toolset.Level    `json:"least"`
	Tools  []MirrorTool     `json:"tools,omitempty"`
	Agents []manifest.Agent `json:"agents,omitempty"`
	// Payloads and Pages are what it shows, and where.
	Payloads []MirrorPayload `json:"payloads,omitempty"`
	Pages    []manifest.Page `json:"pages,omitempty"`
	// Workflows are the ones that can be started.
	Workflows []manifest.Workflow `json:"workflows,omitempty"`
}

// MirrorPayload is one type of payload of a toolset.
type MirrorPayload struct {
	Payload manifest.Payload `json:"payload"`
	// Parser is what is needed to run its parser; nil where it has none.
	Parser *MirrorTool `json:"parser,omitempty"`
}

// MirrorTool is one tool of a toolset, with what is needed to run it.
type MirrorTool struct {
	// Tool has the renderer that counts, overrides included.
	Tool    toolset.Tool `json:"tool"`
	Service bool         `json:"service,omitempty"`
	// Parser says that it is the parser of a payload, and no tool.
	Parser bool `json:"parser,omitempty"`
	// Problem is why it can't be used; empty where it can.
	Problem string `json:"problem,omitempty"`
	// Module and Function are the entrypoint: a Python module's name such as
	// tools.analyze. File is where it is in the folder, and SHA256 its hash.
	Module   string `json:"module,omitempty"`
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
}

// MirrorServer is one MCP server, with what is needed to start it.
type MirrorServer struct {
	Server
	// ToolsetID and Revision are of the toolset in whose folder it starts.
	ToolsetID string `json:"toolset_id,omitempty"`
	Revision  string `json:"revision,omitempty"`
	// Least is the containment below which its command isn't started.
	Least toolset.Level `json:"least,omitempty"`
	// Unusable is why it may not be started; empty where it may.
	Unusable string `json:"unusable,omitempty"`
}

// Damaged reports whether the server's record can't be read. Only its id and who
// declared it are known then, and not whether it was enabled.
func (s *MirrorServer) Damaged() bool { return s.Unusable == damagedServer }

const (
	// SwitchedOff is why a server may not be started that only a person keeps from it.
	SwitchedOff = "it is switched off"
	// toolsetsOff begins the reason for a server whose toolsets are all disabled.
	toolsetsOff = "its toolset is off: "
)

// Off reports whether the user has disabled the server, or every toolset that declares it.
func (s *MirrorServer) Off() bool { return !s.Enabled || strings.HasPrefix(s.Unusable, toolsetsOff) }

// Usable tells whether its tools may be offered and run, the single tools'
// switches and problems aside.
func (t *MirrorToolset) Usable() bool { return t.Enabled && t.Problem == "" }

// Usable tells whether the tool may be offered and run, if its toolset may.
func (t *MirrorTool) Usable() bool { return t.Tool.Enabled && t.Problem == "" }

// reachOf returns what calls of a tool can reach with the permissions that its toolset was
// granted. Folders are named as the manifest names them.
func reachOf(t toolset.Tool, granted manifest.Permissions, least toolset.Level) toolset.Reach {
	p := toolset.Policy{ReadOnly: t.Annotations.ReadOnly, Readable: granted.Read, Least: least}
	if len(granted.Network) > 0 {
		p.Network, p.Hosts = toolset.NetworkHosts, granted.Network
	}
	return toolset.ReachOf(t, &p)
}

// Reach returns what calls of one of the toolset's tools can reach.
func (t *MirrorToolset) Reach(tool toolset.Tool) toolset.Reach {
	return reachOf(tool, t.Granted, t.Least)
}

// Reach returns what calls of one of the server's tools can reach.
func (s *MirrorServer) Reach(tool toolset.Tool) toolset.Reach {
	if s.Config.Command == "" || !s.Settings.Offline || s.Settings.Uncontained {
		return toolset.ReachOf(tool, nil)
	}
	return toolset.ReachOf(tool, &toolset.Policy{Least: toolset.LevelNone})
}

// PolicyFor is Policy for the calls of one tool: a tool that is declared read-only cannot
// change the workspace.
func (t *MirrorToolset) PolicyFor(tool toolset.Tool, home string, env func(string) (string, bool)) toolset.Policy {
	p := t.Policy(home, env)
	p.ReadOnly = tool.Annotations.ReadOnly
	p.Limits.Time = time.Duration(tool.Timeout)
	return p
}

// Policy is what its tools may reach, without workspace and limits. home is
// what ~/ means, env looks variables up: one that isn't set is left out.
func (t *MirrorToolset) Policy(home string, env func(string) (string, bool)) toolset.Policy {
	p := toolset.Policy{Network: t.Network, Least: t.Least}
	if p.Network == toolset.NetworkHosts {
		p.Hosts = slices.Clone(t.Granted.Network)
	}
	for _, read := range t.Granted.Read {
		if rest, below := strings.CutPrefix(read, "~/"); below {
			read = filepath.Join(home, filepath.FromSlash(rest))
		}
		p.Readable = append(p.Readable, filepath.Clean(read))
	}
	for _, name := range t.Granted.Env {
		if value, set := env(name); set {
			p.Env = append(p.Env, name+"="+value)
		}
	}
	return p
}
