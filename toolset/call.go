package toolset

import (
	"context"
	"encoding/json"
	"fmt"
)

// Call is one call of a tool.
type Call struct {
	// ID is the id of the tool_calls record; ChatID the chat's.
	ID     string
	ChatID string
	// UseID is the id that the model gave the call.
	UseID string
	// Args is a JSON object that has been checked against InputSchema.
	Args json.RawMessage
	// Workspace is the chat's folder; nil where it has none.
	Workspace *Workspace
	// Page and Tab are where the person is, as document 000's context says;
	// empty where no page asks.
	Page, Tab string
	// Context is the client's context as a JSON object; nil for none.
	Context json.RawMessage
	// Progress takes updates; it may be nil. A Runner calls it from the
	// goroutine of Run only, and never after Run has returned.
	Progress func(Progress)
	// Asker is whom the tool may ask; nil where nobody is there.
	Asker Asker
}

// Report hands an update to Progress, if there is one.
func (c Call) Report(p Progress) {
	if c.Progress != nil {
		c.Progress(p)
	}
}

// Progress is document 000's ToolProgress.
type Progress struct {
	Stage    string          `json:"stage"`
	Message  string          `json:"message"`
	Progress *float64        `json:"progress,omitempty"` // 0 to 1
	Data     json.RawMessage `json:"data,omitempty"`
}

// Result is document 000's ToolResult, with document 001's payload beside it.
type Result struct {
	// Text is what the model gets.
	Text string `json:"text"`
	// Data is the structured result, an object where there is one.
	Data json.RawMessage `json:"data,omitempty"`
	// WorkspacePayload feeds the workspace panel.
	WorkspacePayload json.RawMessage `json:"workspace_payload,omitempty"`
	// Payload is document 001's {type, data}.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Media are images and sounds for the model, in the order in which Text names them.
	Media []Media `json:"media,omitempty"`
}

// Media is an image or a sound of a result.
type Media struct {
	MIME string `json:"mime"` // image/… or audio/…
	Data []byte `json:"data"`
}

// Runner does a tool's work. It is safe for concurrent use.
type Runner interface {
	// Run does one call. A failure that the model should hear of is a
	// [*ToolError]; an ended ctx is its error; anything else is trouble of
	// ours. With an error, the Result is not used.
	Run(ctx context.Context, call Call) (Result, error)
}

// RunnerFunc is a function as a Runner.
type RunnerFunc func(context.Context, Call) (Result, error)

// Run calls the function.
func (f RunnerFunc) Run(ctx context.Context, call Call) (Result, error) { return f(ctx, call) }

// ToolError is a tool's own failure, told to the model as the call's result:
// a file that isn't there, a text that doesn't match.
type ToolError struct {
	// Message says what is wrong and what to do instead. It may have several
	// lines.
	Message string
	// Traceback shows the tool's own lines, where it has any. It is for people
	// alone: the model gets Message.
	Traceback string
	Err       error
}

// Error is the message.
func (e *ToolError) Error() string { return e.Message }

// Unwrap gives the cause, if there is one.
func (e *ToolError) Unwrap() error { return e.Err }

// Errorf makes a *ToolError; %w keeps a cause.
func Errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	cause := err
	if u, ok := err.(interface{ Unwrap() error }); ok {
		cause = u.Unwrap()
	} else {
		cause = nil
	}
	return &ToolError{Message: err.Error(), Err: cause}
}
