package acp

import "encoding/json"

// protocolVersion is the one that is spoken here.
const protocolVersion = 1

// maxShownName bounds a name that comes from elsewhere in a message of ours.
const maxShownName = 200

// implementation names a program.
type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// initializeParams are those of initialize. What isn't known here is not read.
type initializeParams struct {
	ProtocolVersion *json.Number       `json:"protocolVersion"`
	Capabilities    clientCapabilities `json:"clientCapabilities"`
	ClientInfo      *implementation    `json:"clientInfo"`
}

// clientCapabilities are what the editor can do.
type clientCapabilities struct {
	Elicitation struct {
		Form json.RawMessage `json:"form"`
		URL  json.RawMessage `json:"url"`
	} `json:"elicitation"`
	FS struct {
		ReadTextFile  bool `json:"readTextFile"`
		WriteTextFile bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal bool `json:"terminal"`
	Session  struct {
		Notices    json.RawMessage `json:"notices"`
		Compaction json.RawMessage `json:"compaction"`
	} `json:"session"`
}

func offered(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func (c *clientCapabilities) notices() bool    { return offered(c.Session.Notices) }
func (c *clientCapabilities) compaction() bool { return offered(c.Session.Compaction) }

type initializeResult struct {
	ProtocolVersion int               `json:"protocolVersion"`
	Capabilities    agentCapabilities `json:"agentCapabilities"`
	AgentInfo       implementation    `json:"agentInfo"`
	AuthMethods     []struct{}        `json:"authMethods"`
}

type agentCapabilities struct {
	LoadSession bool `json:"loadSession"`
	Prompt      struct {
		Image           bool `json:"image"`
		Audio           bool `json:"audio"`
		EmbeddedContext bool `json:"embeddedContext"`
	} `json:"promptCapabilities"`
	MCP struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	} `json:"mcpCapabilities"`
	Session struct {
		List   struct{} `json:"list"`
		Resume struct{} `json:"resume"`
		Close  struct{} `json:"close"`
		Delete struct{} `json:"delete"`
	} `json:"sessionCapabilities"`
}

// sessionParams are those of session/new, session/load and session/resume.
type sessionParams struct {
	SessionID  string          `json:"sessionId"`
	CWD        string          `json:"cwd"`
	MCPServers json.RawMessage `json:"mcpServers"`
	Additional []string        `json:"additionalDirectories"`
}

type sessionResult struct {
	SessionID string         `json:"sessionId,omitempty"`
	Modes     *modeState     `json:"modes,omitempty"`
	Options   []configOption `json:"configOptions,omitempty"`
}

type modeState struct {
	Current   string `json:"currentModeId"`
	Available []mode `json:"availableModes"`
}

type mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type configOption struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Category string         `json:"category"`
	Type     string         `json:"type"` // select
	Current  string         `json:"currentValue"`
	Options  []configChoice `json:"options"`
}

type configChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type sessionOnly struct {
	SessionID string `json:"sessionId"`
}

type setModeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

type setOptionParams struct {
	SessionID string          `json:"sessionId"`
	ConfigID  string          `json:"configId"`
	Value     json.RawMessage `json:"value"`
}

type optionsResult struct {
	Options []configOption `json:"configOptions"`
}

type listParams struct {
	CWD    *string `json:"cwd"`
	Cursor *string `json:"cursor"`
}

type listResult struct {
	Sessions []sessionInfo `json:"sessions"`
	Next     string        `json:"nextCursor,omitempty"`
}

type sessionInfo struct {
	SessionID string `json:"sessionId"`
	CWD       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

type promptParams struct {
	SessionID string         `json:"sessionId"`
	Prompt    []contentBlock `json:"prompt"`
}

type promptResult struct {
	StopReason string `json:"stopReason"`
}

// The reasons why a prompt is answered.
const (
	stopEnd       = "end_turn"
	stopTokens    = "max_tokens"
	stopRequests  = "max_turn_requests"
	stopRefusal   = "refusal"
	stopCancelled = "cancelled"
)

type cancelRequest struct {
	RequestID json.RawMessage `json:"requestId"`
}

// contentBlock is a piece of a prompt or of a message.
type contentBlock struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"`
	MIME     string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Title    string    `json:"title,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

type resource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitempty"`
	Text *string `json:"text,omitempty"`
	Blob string  `json:"blob,omitempty"`
}

func textBlock(s string) contentBlock { return contentBlock{Type: "text", Text: &s} }

// readFileParams and readFileResult are those of fs/read_text_file. The protocol's line and
// limit are not used: a part of a file shows neither how long it is nor whether it differs
// from the disk.
type readFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
}

type readFileResult struct {
	Content *string `json:"content"`
}

// writeFileParams are those of fs/write_text_file, whose result is empty.
type writeFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Content   string `json:"content"`
}

// permissionParams and permissionResult are those of session/request_permission.
type permissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  update             `json:"toolCall"`
	Options   []permissionOption `json:"options"`
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type permissionResult struct {
	Outcome struct {
		Outcome  string `json:"outcome"` // selected, cancelled
		OptionID string `json:"optionId"`
	} `json:"outcome"`
}

// updateParams are those of session/update.
type updateParams struct {
	SessionID string `json:"sessionId"`
	Update    update `json:"update"`
}

// update is all that session/update can say; Kind decides which fields it has.
// Without a Kind it is a tool call, as a permission is asked for.
type update struct {
	Kind string `json:"sessionUpdate,omitempty"`

	// A chunk of a message or a thought.
	Content   *contentBlock `json:"content,omitempty"`
	MessageID string        `json:"messageId,omitempty"`

	// A tool call or an update of one.
	ToolCallID string          `json:"toolCallId,omitempty"`
	Title      string          `json:"title,omitempty"`
	Name       string          `json:"name,omitempty"`
	ToolKind   string          `json:"kind,omitempty"`
	Status     string          `json:"status,omitempty"`
	Outputs    []toolContent   `json:"-"` // as content, see MarshalJSON
	Locations  []location      `json:"locations,omitempty"`
	RawInput   json.RawMessage `json:"rawInput,omitempty"`
	RawOutput  json.RawMessage `json:"rawOutput,omitempty"`

	Commands []availableCommand `json:"availableCommands,omitempty"`
	ModeID   string             `json:"currentModeId,omitempty"`
	Options  []configOption     `json:"configOptions,omitempty"`
	Entries  []planEntry        `json:"entries,omitempty"`

	UpdatedAt string `json:"updatedAt,omitempty"`

	Used *int64 `json:"used,omitempty"`
	Size *int64 `json:"size,omitempty"`

	Severity    string `json:"severity,omitempty"`
	Description string `json:"description,omitempty"`

	CompactionID string         `json:"compactionId,omitempty"`
	Summary      []contentBlock `json:"summary,omitempty"`

	Meta map[string]any `json:"_meta,omitempty"`
}

// MarshalJSON writes the content of a tool call, which is a list, under the name
// that the content of a message has.
func (u update) MarshalJSON() ([]byte, error) {
	type plain update
	if u.Outputs == nil {
		return json.Marshal(plain(u))
	}
	return json.Marshal(struct {
		plain
		Content []toolContent `json:"content"`
	}{plain(u), u.Outputs})
}

// toolContent is what a call shows: content, a diff or a terminal.
type toolContent struct {
	Type       string        `json:"type"`
	TerminalID string        `json:"terminalId,omitempty"`
	Content    *contentBlock `json:"content,omitempty"`
	Path       string        `json:"path,omitempty"`
	OldText    *string       `json:"oldText,omitempty"`
	NewText    *string       `json:"newText,omitempty"`
}

func shown(text string) toolContent {
	b := textBlock(text)
	return toolContent{Type: "content", Content: &b}
}

type location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type availableCommand struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitempty"`
}

type commandInput struct {
	Hint string `json:"hint"`
}
