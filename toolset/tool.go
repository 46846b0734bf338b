package toolset

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/record"
)

// Tool describes one tool. Its JSON is a record format and the form in which
// tools are listed: fields are added, never renamed.
type Tool struct {
	// ID is `<toolset>:<id>`, or the bare id of a builtin.
	ID string `json:"tool_id"`
	// ToolsetID is the part before the colon; empty for a builtin.
	ToolsetID string `json:"toolset_id,omitempty"`
	// Name is what people see, such as "Read File".
	Name string `json:"name"`
	// Description is written for the model.
	Description string `json:"description"`
	Category    string `json:"category"`
	// InputSchema is a JSON Schema of type object.
	InputSchema json.RawMessage `json:"input_schema"`
	// OutputSchema is the JSON Schema of Result.Data, where one is promised.
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// Streaming tells that the tool reports progress.
	Streaming            bool `json:"streaming"`
	RequiresConfirmation bool `json:"requires_confirmation"`
	// Enabled is whether the tool may be offered at all.
	Enabled bool `json:"enabled"`
	// Entrypoint is `module:function` for Python tools.
	Entrypoint  string      `json:"entrypoint,omitempty"`
	Renderer    *Renderer   `json:"renderer,omitempty"`
	Annotations Annotations `json:"annotations"`
	// Timeout bounds one call; zero leaves it to the engine.
	Timeout Duration `json:"timeout,omitzero"`
	// App is the address of the page that an MCP server has for calls of the tool
	// (ui://…); empty without one.
	App string `json:"app,omitempty"`
}

// BareID is the part of the id after the colon, or the whole id.
func (t Tool) BareID() string { return bareID(t.ID) }

func bareID(id string) string {
	if _, bare, ok := strings.Cut(id, ":"); ok {
		return bare
	}
	return id
}

// Duration is a time.Duration whose text and JSON form is "1m30s".
type Duration time.Duration

// String gives the form of time.Duration.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText gives the form of String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText gives, or "30s"; negative ones are refused.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("read duration %q: want a number with a unit, such as 30s or 2m", text)
	}
	if v < 0 {
		return fmt.Errorf("read duration %q: it is negative", text)
	}
	*d = Duration(v)
	return nil
}

// Annotations are MCP's hints about what a tool does. They are believed of
// builtins; of others they are what somebody claims.
type Annotations struct {
	// ReadOnly: the tool changes nothing.
	ReadOnly bool `json:"read_only"`
	// Destructive: it may overwrite or delete, not only add.
	Destructive bool `json:"destructive"`
	// Idempotent: the same call once more changes nothing further.
	Idempotent bool `json:"idempotent"`
	// OpenWorld: it reaches beyond the workspace, such as the network.
	OpenWorld bool `json:"open_world"`
}

// UnknownAnnotations are MCP's defaults for a tool that says nothing: it may
// destroy, and it may reach anywhere.
func UnknownAnnotations() Annotations {
	return Annotations{Destructive: true, OpenWorld: true}
}

// UnmarshalJSON reads the object; a field that is missing has its value from
// [UnknownAnnotations].
func (a *Annotations) UnmarshalJSON(data []byte) error {
	type plain Annotations
	p := plain(UnknownAnnotations())
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("read annotations: %w", err)
	}
	*a = Annotations(p)
	return nil
}

// The renderer types of document 004, and the table of document 000.
const (
	RenderCode     = "code"
	RenderDocument = "document"
	RenderHTML     = "html"
	RenderFrame    = "frame"
	RenderTable    = "table"
)

// RenderApp is a page that speaks MCP Apps: of an MCP server, for calls of its tools, or of a
// bundle, for payloads. The manifest's tools can't have it.
const RenderApp = "mcp_app"

// Renderer says how a call is shown: document 004's renderer, in the form of
// toolset.yaml. Strings may hold interpolations such as `$args.path`.
type Renderer struct {
	Type     string          `json:"type"`
	File     string          `json:"file,omitempty"`     // code, document
	Content  string          `json:"content,omitempty"`  // code, document
	Language string          `json:"language,omitempty"` // code
	Editable bool            `json:"editable,omitempty"` // code, document
	Artifact string          `json:"artifact,omitempty"` // html, mcp_app
	Data     json.RawMessage `json:"data,omitempty"`     // html, table, mcp_app; without it the last two show $return
	URL      string          `json:"url,omitempty"`      // frame
}

// Config is everything but the type, as one JSON object: the config column of
// tool_render_configs.
func (r Renderer) Config() json.RawMessage {
	type config struct {
		Type string `json:"type,omitempty"`
		Renderer
	}
	if (r.Type == RenderTable || r.Type == RenderApp) && len(r.Data) == 0 {
		r.Data = json.RawMessage(`"$return"`)
	}
	r.Type = ""
	raw, err := record.Marshal(config{Renderer: r})
	if err != nil { // only Data can be at fault, and then it isn't JSON
		r.Data = nil
		raw, _ = record.Marshal(config{Renderer: r})
	}
	return raw
}
