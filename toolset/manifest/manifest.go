package manifest

import (
	"encoding/json"

	"github.com/fettle-cli/fettle/toolset"
)

// FileName is what the manifest of a toolset is called.
const FileName = "toolset.yaml"

// Version is the manifest_version that this package reads and writes.
const Version = "1"

// Manifest is the contents of a toolset.yaml. Its JSON has the file's names;
// a list or table that is empty is one that isn't there.
type Manifest struct {
	ManifestVersion string `json:"manifest_version"`
	ID              string `json:"id"`
	Name            string `json:"name"`
	Version         string `json:"version"` // semantic, such as 1.2.0
	Description     string `json:"description"`
	// Requirements are Python packages, such as "requests==2.32.3".
	Requirements []string    `json:"requirements,omitempty"`
	Permissions  Permissions `json:"permissions,omitzero"`
	Tools        []Tool      `json:"tools,omitempty"`
	MCPServers   []MCPServer `json:"mcp_servers,omitempty"`
	Agents       []Agent     `json:"agents,omitempty"`
	Payloads     []Payload   `json:"payloads,omitempty"`
	Pages        []Page      `json:"pages,omitempty"`
	Workflows    []Workflow  `json:"workflows,omitempty"`
	Tests        []Test      `json:"tests,omitempty"`
}

// Permissions is what the toolset asks for beyond its chat's workspace. The
// user sees and approves it at import.
type Permissions struct {
	// Network lists hosts, such as api.example.com, *.example.com or
	// api.example.com:8443.
	Network []string `json:"network,omitempty"`
	// Env names environment variables that tools may read.
	Env []string `json:"env,omitempty"`
	// Read lists paths outside the workspace, absolute or beginning with ~/.
	Read []string `json:"read,omitempty"`
}

// IsZero tells whether nothing is asked for.
func (p Permissions) IsZero() bool { return len(p.Network)+len(p.Env)+len(p.Read) == 0 }

// Tool is one Python tool.
type Tool struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description"`
	// Entrypoint is `module:function`; see [ParseEntrypoint].
	Entrypoint           string               `json:"entrypoint"`
	Category             string               `json:"category,omitempty"`
	InputSchema          json.RawMessage      `json:"input_schema"`
	OutputSchema         json.RawMessage      `json:"output_schema,omitempty"`
	RequiresConfirmation bool                 `json:"requires_confirmation,omitempty"`
	Streaming            bool                 `json:"streaming,omitempty"`
	Service              bool                 `json:"service,omitempty"`
	Timeout              toolset.Duration     `json:"timeout,omitzero"`
	Annotations          *toolset.Annotations `json:"annotations,omitempty"`
	Renderer             *toolset.Renderer    `json:"renderer,omitempty"`
}

// MCPServer is one server that a toolset brings. It has a Command or a URL.
type MCPServer struct {
	ID          string            `json:"id"`
	Name        string            `json:"name,omitempty"`
	Description string            `json:"description,omitempty"`
	Command     string            `json:"command,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	URL         string            `json:"url,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	// AutoEnabled is whether an import enables it; nil means yes.
	AutoEnabled *bool `json:"auto_enabled,omitempty"`
}

// Agent is one of several that share a conversation.
type Agent struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Purpose string `json:"purpose"`
	Prompt  string `json:"prompt"`
	// Model is `provider/model`; empty for the conversation's.
	Model string `json:"model,omitempty"`
	// Tools are ids and globs: bare ids of this toolset's tools first, then
	// of builtin ones, else `toolset:id`.
	Tools    []string `json:"tools,omitempty"`
	Handoffs []string `json:"handoffs,omitempty"`
	// History is how much the agent sees: "full" (also when empty) or "turn".
	History string `json:"history,omitempty"`
	// Answers makes the agent's text part of the answer although it can hand
	// off; nil leaves it to the rule that agents without handoffs answer.
	Answers *bool `json:"answers,omitempty"`
	// Entry makes it the agent that new chats begin with. One agent at most has it.
	Entry bool `json:"entry,omitempty"`
}

// Payload is document 001's PayloadConfig.
type Payload struct {
	Type            string          `json:"type"`
	ParseMarker     string          `json:"parse_marker,omitempty"`
	LLMInstructions string          `json:"llm_instructions,omitempty"`
	Schema          json.RawMessage `json:"schema,omitempty"`
	// Parser is `module:function`, text in and {type, data} out.
	Parser        string            `json:"parser,omitempty"`
	RelevantTabs  []string          `json:"relevant_tabs,omitempty"`
	Renderer      *toolset.Renderer `json:"renderer,omitempty"`
	RenderOptions *RenderOptions    `json:"render_options,omitempty"`
	Style         *PayloadStyle     `json:"style,omitempty"`
	// OnAccept and OnReject are document 001's onAccept and onReject. Without
	// them a decision is only recorded and told to the model.
	OnAccept *Reaction `json:"on_accept,omitempty"`
	OnReject *Reaction `json:"on_reject,omitempty"`
}

// Reaction is who is told that a person accepted or rejected a payload: a
// client action of the page that shows it, or a tool of this toolset. Either
// gets the payload's data as its parameters.
type Reaction struct {
	Action string `json:"action,omitempty"`
	Tool   string `json:"tool,omitempty"`
}

// RenderOptions are document 001's.
type RenderOptions struct {
	PanelWidth  string `json:"panelWidth,omitempty"`
	HeaderTitle string `json:"headerTitle,omitempty"`
	HeaderIcon  string `json:"headerIcon,omitempty"`
}

// PayloadStyle is how document 000's workspace shows a payload.
type PayloadStyle struct {
	Icon     string `json:"icon,omitempty"`
	Colour   string `json:"colour,omitempty"`
	Label    string `json:"label,omitempty"`
	Editable bool   `json:"editable,omitempty"`
}

// Page chooses payloads and context for one page of a client (document 001).
type Page struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Context is a template that becomes part of the system prompt;
	// `$context.x` in it is what the page sent along as x, written as JSON. A
	// line none of whose values is there is left out.
	Context       string         `json:"context,omitempty"`
	Payloads      []string       `json:"payloads,omitempty"`
	ClientActions []ClientAction `json:"client_actions,omitempty"`
}

// ClientAction is something that a page can do when the model asks for it.
type ClientAction struct {
	Action      string          `json:"action"`
	Label       string          `json:"label,omitempty"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// Workflow is a fixed order of steps (document 000).
type Workflow struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// InputSchema is the JSON Schema of what the workflow is started with.
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	Steps       []Step          `json:"steps"`
}

// Step is a call of a tool, or an agent's turn. Args and Prompt may hold
// `$args.x`, an input of the workflow, and `$steps.ID.x`, a part of what an
// earlier step returned; an agent returns its text.
type Step struct {
	ID     string          `json:"id"`
	Name   string          `json:"name,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"` // with Tool
	Agent  string          `json:"agent,omitempty"`
	Prompt string          `json:"prompt,omitempty"` // with Agent
	// Checkpoint makes the workflow wait after the step until a person lets
	// it go on.
	Checkpoint bool `json:"checkpoint,omitempty"`
}

// Test is a call with a known outcome, for `toolset test`.
type Test struct {
	Name string          `json:"name,omitempty"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
	// Files are the workspace's before the call: path to text.
	Files  map[string]string `json:"files,omitempty"`
	Expect Expect            `json:"expect,omitzero"`
}

// Expect is what must hold after the call. What is absent may be anything.
type Expect struct {
	// Return is compared with the tool's data: an object's fields that are
	// named must be equal, others may be there.
	Return json.RawMessage `json:"return,omitempty"`
	// Error is a part of the error's text; the call must fail.
	Error string `json:"error,omitempty"`
	// Files must have these texts afterwards.
	Files map[string]string `json:"files,omitempty"`
	// Absent are paths that must not be there.
	Absent []string `json:"absent,omitempty"`
}

// IsZero tells whether nothing is expected but success.
func (e Expect) IsZero() bool {
	return len(e.Return) == 0 && e.Error == "" && len(e.Files) == 0 && len(e.Absent) == 0
}

// ToolID is the id by which a tool of this toolset is known everywhere else.
func (m *Manifest) ToolID(id string) string { return m.ID + ":" + id }

// ToolRecords gives the tools as the rest of fettle knows them, enabled and in
// the file's order. A tool without annotations is one that may do anything.
func (m *Manifest) ToolRecords() []toolset.Tool {
	records := make([]toolset.Tool, len(m.Tools))
	for i, t := range m.Tools {
		records[i] = t.Record(m.ID)
	}
	return records
}

// Record returns the tool as the rest of fettle knows it; see [Manifest.ToolRecords].
func (t Tool) Record(toolsetID string) toolset.Tool {
	r := toolset.Tool{
		ID: toolsetID + ":" + t.ID, ToolsetID: toolsetID, Name: t.Name, Description: t.Description, Category: t.Category,
		InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Streaming: t.Streaming,
		RequiresConfirmation: t.RequiresConfirmation, Enabled: true, Entrypoint: t.Entrypoint,
		Renderer: t.Renderer, Annotations: toolset.UnknownAnnotations(), Timeout: t.Timeout,
	}
	if r.Name == "" {
		r.Name = t.ID
	}
	if t.Annotations != nil {
		r.Annotations = *t.Annotations
	}
	return r
}
