package event

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

// Type is the JSON `type` of an event.
type Type string

// Body is the part of an event that its type decides.
type Body interface{ Type() Type }

// Status tells what is being waited for, such as "loading qwen3".
type Status struct {
	Message string `json:"message"`
}

// AgentStart says which agent speaks from here on (document 003).
type AgentStart struct {
	Agent string `json:"agent"`
}

// Handoff passes the turn from one agent to another (document 003).
type Handoff struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Reason is what the one asks of the other, if it said so.
	Reason string `json:"reason,omitempty"`
}

// Reasoning is what a model thinks before it answers. Details are a
// provider's signed or encrypted parts, kept byte for byte (document 002).
type Reasoning struct {
	Text    string          `json:"text"`
	Details json.RawMessage `json:"reasoning_details,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	// Said marks what an agent said that doesn't answer: for the person it is
	// thought, and the agent after it reads it.
	Said bool `json:"said,omitempty"`
}

// ToolStart says that a call runs from now on. A call that is denied or
// cancelled before it ran has a ToolStart too, with its ToolComplete right
// behind it, so that each call has exactly one of both.
type ToolStart struct {
	Tool   string          `json:"tool"`    // the manifest's bare id
	ToolID string          `json:"tool_id"` // <toolset>:<id>, builtins bare
	Input  json.RawMessage `json:"input"`   // a JSON object
	// ToolUseID is the provider's id of the call (made here where it gave
	// none); CallID is the id of our tool_calls record.
	ToolUseID string `json:"tool_use_id"`
	CallID    string `json:"tool_call_id"`
	Agent     string `json:"agent,omitempty"`
	Index     int    `json:"index"` // the call's place in tool_history, from 0
	// Extra are members of the call that only the model's provider understands, as they
	// came.
	Extra json.RawMessage `json:"extra,omitempty"`
	// ClientForm is how the client that runs the tool knows it, in the client's terms; empty
	// where that is the tool's name.
	ClientForm json.RawMessage `json:"client_form,omitempty"`
	// PreManifestID is the state of the workspace before the call, so that it is known
	// of a call which a crash cuts off; empty where none is kept.
	PreManifestID string `json:"pre_manifest_id,omitempty"`
}

// ConfirmRequest asks whoever follows the turn to allow a call.
type ConfirmRequest struct {
	Tool      string          `json:"tool"`
	ToolID    string          `json:"tool_id"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Reason    string          `json:"reason"`
	// Reach describes what the call can read, change and connect to, in words that
	// follow "may".
	Reach string `json:"reach,omitempty"`
	// Rule is what AllowChat and AllowAlways would allow from then on.
	Rule string `json:"rule,omitempty"`
	// Form is set where the call runs and asks for something itself; see there.
	Form *Form `json:"form,omitempty"`
	// Review is set where the call has run, and its changes wait to be applied to the
	// workspace; Deny discards them.
	Review *Review `json:"review,omitempty"`
}

// ConfirmResult is the answer to a ConfirmRequest, whoever gave it.
type ConfirmResult struct {
	ToolUseID string   `json:"tool_use_id"`
	Decision  Decision `json:"decision"`
	Reason    string   `json:"reason,omitempty"` // a person's words to the model
	// Content is what a form was filled in with.
	Content json.RawMessage `json:"content,omitempty"`
	// Only are the files of a review that were applied; left out, all were.
	Only []string `json:"only,omitempty"`
}

// Prompted tells what an answer took that a running tool had of a model.
type Prompted struct {
	ToolUseID string `json:"tool_use_id"` // the call
	Server    string `json:"server"`
	Model     string `json:"model"`
	Usage     *Usage `json:"usage,omitempty"`
}

// Decision is how a call's approval ended.
type Decision string

// The decisions. AllowChat and AllowAlways also make a rule.
const (
	Allow       Decision = "allow"
	AllowChat   Decision = "allow_chat"
	AllowAlways Decision = "allow_always"
	Deny        Decision = "deny"
)

// Allows tells whether the call may run.
func (d Decision) Allows() bool { return d == Allow || d == AllowChat || d == AllowAlways }

// ToolProgress is an update of a running call (document 000).
type ToolProgress struct {
	Tool      string          `json:"tool"`
	Stage     string          `json:"stage"`
	Message   string          `json:"message"`
	Progress  *float64        `json:"progress,omitempty"` // 0 to 1
	Data      json.RawMessage `json:"data,omitempty"`
	ToolUseID string          `json:"tool_use_id"`
}

// CallStatus is how a call ended: document 004's tool_calls.status.
type CallStatus string

// The statuses of a tool call; only the last two end it.
const (
	CallPending CallStatus = "pending" // waits for an approval, or for the client that runs it
	CallRunning CallStatus = "running"
	CallSuccess CallStatus = "success"
	CallError   CallStatus = "error" // also denied, cancelled and interrupted; Error says which
)

// ToolComplete ends a call.
type ToolComplete struct {
	Tool      string     `json:"tool"`
	ToolID    string     `json:"tool_id"`
	Index     int        `json:"index"`
	ToolUseID string     `json:"tool_use_id"`
	CallID    string     `json:"tool_call_id"`
	Status    CallStatus `json:"status"`
	// Result is the text that the model gets, also for a failed call.
	Result string `json:"result"`
	// Data is the tool's structured result, if it gave one.
	Data  json.RawMessage `json:"data,omitempty"`
	Error string          `json:"error,omitempty"`
	// WorkspacePayload and Payload are document 000's and 001's.
	WorkspacePayload json.RawMessage `json:"workspace_payload,omitempty"`
	// WorkspacePlan is how WorkspacePayload is shown, where its type has a renderer.
	WorkspacePlan  json.RawMessage `json:"workspace_plan,omitempty"`
	Payload        json.RawMessage `json:"payload,omitempty"`
	RenderPlan     json.RawMessage `json:"render_plan,omitempty"`
	PreManifestID  string          `json:"pre_manifest_id,omitempty"`
	PostManifestID string          `json:"post_manifest_id,omitempty"`
	Changes        []Change        `json:"changes,omitempty"`
	// SharedChanges reports that Changes are what differs in the folder after the call: other
	// programs may have made some of them meanwhile.
	SharedChanges bool `json:"shared_changes,omitempty"`
	// Conflicts are the first paths of the call that were not applied to the folder, since
	// another program changed the same. CallManifestID is the state as the call left it, if
	// not all of that was applied.
	Conflicts      []Conflict `json:"conflicts,omitempty"`
	CallManifestID string     `json:"call_manifest_id,omitempty"`
	DurationMS     int64      `json:"duration_ms"`
	// Media are the images and sounds that the model gets with Result.
	Media []Media `json:"media,omitempty"`
	// Outside names the sources beyond this machine whose content the result contains;
	// empty if there are none.
	Outside string `json:"outside,omitempty"`
}

// Media is an image or a sound that a call returned.
type Media struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Change is one path that a call changed.
type Change struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // added, modified, removed
	// Mode is how the permission bits differ, such as "0644 → 0755"; empty where they
	// do not, or where those of one side were not recorded.
	Mode string `json:"mode,omitempty"`
}

// Conflict is one path that a call changed and that was not applied.
type Conflict struct {
	Path string `json:"path"`
	// Kind says what both did, the call first: edit/edit, edit/delete, delete/edit, add/add,
	// parent gone, type, whole folder, late, refused.
	Kind   string `json:"kind"`
	Reason string `json:"reason,omitempty"`
}

// Payload is a structured result for a page (document 001).
type Payload struct {
	PayloadID string          `json:"payload_id"`
	Kind      string          `json:"payload_type"`
	Data      json.RawMessage `json:"data"`
	Source    string          `json:"source"` // tool, model
	// Toolset is whose definition of the type holds; empty for a type that is
	// always known. Title is what stands above it.
	Toolset string `json:"toolset_id,omitempty"`
	Title   string `json:"title,omitempty"`
	// RenderPlan is how it is shown, where the type has a renderer.
	RenderPlan json.RawMessage `json:"render_plan,omitempty"`
}

// Workflow is a step of a workflow instance (document 000). State is running,
// done or failed for a step; waiting at a checkpoint and complete are the
// instance's. Progress is the part of the steps that is done, Data what a step
// gave or, where it failed, {"error": …}.
type Workflow struct {
	Instance string          `json:"instance"`
	Step     string          `json:"step"`
	State    string          `json:"state"`
	Progress *float64        `json:"progress,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	// Outside names the sources beyond this machine whose content the instance's results
	// contain; empty if there are none.
	Outside string `json:"outside,omitempty"`
}

// Annotations are citations of the answer (document 002).
type Annotations struct {
	Annotations []json.RawMessage `json:"annotations"`
}

// Meta closes one response of the model: who answered, what it cost, why it
// stopped. The calls that follow belong to that response.
type Meta struct {
	Model      string `json:"model"` // provider/model
	Usage      *Usage `json:"usage,omitempty"`
	StopReason string `json:"stop_reason,omitempty"` // stop, tool_use, length, refusal, other
	// StopDetail is the provider's own word for a stop reason other than stop
	// and tool_use, where it has another one.
	StopDetail string `json:"stop_detail,omitempty"`
	// ContextLength is what the model was loaded with, where known.
	ContextLength int `json:"context_length,omitempty"`
	// ReasoningField is the field of the provider's API in which the reasoning came.
	ReasoningField string `json:"reasoning_field,omitempty"`
}

// Usage counts tokens, as the provider reports them; never guessed.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// CachedTokens and CacheWriteTokens are parts of the input: those that the
	// provider had kept, and those that it kept now, which some charge more for.
	CachedTokens     int64 `json:"cached_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  int64 `json:"reasoning_tokens,omitempty"`
}

// Add sums two counts; either may be nil.
func (u *Usage) Add(v *Usage) *Usage {
	switch {
	case v == nil:
		return u
	case u == nil:
		c := *v
		return &c
	}
	return &Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CachedTokens:     u.CachedTokens + v.CachedTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
	}
}

// Footnote is a short remark on the answer, such as "images were left out:
// the model takes none".
type Footnote struct {
	Text string `json:"text"`
	// Warning marks a remark that the user has to see at once, such as that a tool added
	// a git repository: front ends show it also where they show no other footnotes.
	Warning bool `json:"warning,omitempty"`
	// Ending is set where the remark is how an answer ended that did not end by
	// itself; empty for all others.
	Ending Ending `json:"ending,omitempty"`
	// Ignored are the names of the parts of the request that the remark is about: they were
	// left out, or changed.
	Ignored []string `json:"ignored,omitempty"`
}

// Ending is how an answer ended that did not end by itself.
type Ending string

// The endings.
const (
	EndLength  Ending = "length"  // at the limit of output
	EndRefusal Ending = "refusal" // the provider or the model declined, perhaps after some text
	EndOther   Ending = "other"   // for a reason of the provider's own
	EndEmpty   Ending = "empty"   // without text, payloads and calls
	EndSilent  Ending = "silent"  // without text, after calls
)

// NoAnswer reports whether an answer that ended so is none.
func (e Ending) NoAnswer() bool { return e == EndEmpty || e == EndRefusal }

// Summary stands for messages that a request to the model no longer has room
// for. The chat keeps them, and shows them as before.
type Summary struct {
	// Text is empty where the model was asked for one and gave none.
	Text string `json:"text"`
	// MessageID is the last message that it stands for, of all on the way there
	// from the chat's first; empty where it stands for the first steps of the
	// turn's own answer.
	MessageID string `json:"message_id,omitempty"`
	// Messages is how many it stands for.
	Messages int `json:"messages"`
	// Model wrote it, and Usage is what that took.
	Model string `json:"model"`
	Usage *Usage `json:"usage,omitempty"`
	// Outside names the sources beyond this machine whose content the messages contain;
	// empty if there are none.
	Outside string `json:"outside,omitempty"`
}

// Complete ends a turn that was answered.
type Complete struct {
	Payload ResponsePayload `json:"payload"`
}

// Error ends a turn that was not answered. Code is a fault.Code.
type Error struct {
	Message   string   `json:"message"`
	Code      string   `json:"code"`
	Retryable bool     `json:"retryable"`
	Detail    []string `json:"detail,omitempty"`
	// Hints are next steps in words that fit every client, and Remedies are the same steps
	// for a client that writes them in its own terms. Records of older versions have
	// hints alone.
	Hints    []string       `json:"hints,omitempty"`
	Remedies []fault.Remedy `json:"remedies,omitempty"`
	// Status is the HTTP status of the failure's nature, where it is not that of
	// its code.
	Status int `json:"status,omitempty"`
	// RetryAfterMS is how long the provider asks its clients to wait; 0 where it does not.
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
}

// Fault returns the fault that e reports. The hints of a record without remedies are
// commands for a terminal.
func (e Error) Fault() *fault.Fault {
	f := &fault.Fault{
		Code: cmp.Or(fault.Code(e.Code), fault.Failed), Msg: e.Message, Detail: e.Detail, Remedies: e.Remedies, Status: e.Status,
		RetryAfter: time.Duration(e.RetryAfterMS) * time.Millisecond,
	}
	if len(f.Remedies) == 0 {
		f.Remedies = fault.Runs(e.Hints)
	}
	return f
}

// Cancelled ends a turn that somebody stopped.
type Cancelled struct{}

// Unknown is an event of a type that this program doesn't know. Raw is its
// whole JSON object.
type Unknown struct {
	Name Type
	Raw  json.RawMessage
}

// ResponsePayload is document 000's ChatResponsePayload.
type ResponsePayload struct {
	Message          string            `json:"message"`
	ConversationID   int64             `json:"conversation_id"`
	SuggestedValues  []json.RawMessage `json:"suggested_values,omitempty"`
	SuggestedActions []json.RawMessage `json:"suggested_actions,omitempty"`
	CustomPayload    *CustomPayload    `json:"custom_payload,omitempty"`
	WorkspacePayload json.RawMessage   `json:"workspace_payload,omitempty"`
	// ToolHistory are the calls, whatever CustomPayload has (document 001).
	ToolHistory []ToolHistory `json:"tool_history,omitempty"`
	// The rest is ours: what a program needs that reads only this event.
	ChatID    string `json:"chat_id"`
	MessageID string `json:"message_id"`
	Model     string `json:"model"`
	Usage     *Usage `json:"usage,omitempty"`
	// StopReason is why the last response stopped.
	StopReason string `json:"stop_reason,omitempty"`
	// Denied counts calls that needed an approval nobody could give.
	Denied int `json:"denied,omitempty"`
}

// CustomHistory is the type of a CustomPayload whose data are a []ToolHistory.
const CustomHistory = "tool_history"

// CustomPayload is document 000's; Type is a payload's, else CustomHistory.
type CustomPayload struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// ToolHistory is one call, as in a custom payload of type tool_history. Payload
// is document 001's, where the tool gave one.
type ToolHistory struct {
	ToolName         string          `json:"tool_name"`
	ToolID           string          `json:"tool_id"`
	Input            json.RawMessage `json:"input"`
	Output           string          `json:"output"`
	WorkspacePayload json.RawMessage `json:"workspace_payload,omitempty"`
	Payload          json.RawMessage `json:"payload,omitempty"`
	Status           CallStatus      `json:"status"`
}

// The event types.
const (
	TypeStatus         Type = "status"
	TypeAgentStart     Type = "agent_start"
	TypeHandoff        Type = "handoff"
	TypeReasoning      Type = "reasoning"
	TypeTextDelta      Type = "text_delta"
	TypeToolStart      Type = "tool_start"
	TypeConfirmRequest Type = "confirm_request"
	TypeConfirmResult  Type = "confirm_result"
	TypePrompted       Type = "prompted"
	TypeToolProgress   Type = "tool_progress"
	TypeToolComplete   Type = "tool_complete"
	TypePayload        Type = "payload"
	TypeWorkflow       Type = "workflow"
	TypeAnnotations    Type = "annotations"
	TypeMeta           Type = "meta"
	TypeFootnote       Type = "footnote"
	TypeSummary        Type = "summary"
	TypeComplete       Type = "complete"
	TypeError          Type = "error"
	TypeCancelled      Type = "cancelled"
)

// Bodies are one empty body of each type that there is, for whoever describes them
// all: schemas, and pages of help. [Unknown] has no type of its own.
func Bodies() []Body {
	return []Body{
		Status{}, AgentStart{}, Handoff{}, Reasoning{}, TextDelta{}, ToolStart{}, ConfirmRequest{}, ConfirmResult{},
		ToolProgress{}, ToolComplete{}, Payload{}, Workflow{}, Annotations{}, Meta{}, Footnote{}, Summary{}, Prompted{},
		Complete{}, Error{}, Cancelled{},
	}
}

// Type names the event.
func (Status) Type() Type         { return TypeStatus }
func (AgentStart) Type() Type     { return TypeAgentStart }
func (Handoff) Type() Type        { return TypeHandoff }
func (Reasoning) Type() Type      { return TypeReasoning }
func (TextDelta) Type() Type      { return TypeTextDelta }
func (ToolStart) Type() Type      { return TypeToolStart }
func (ConfirmRequest) Type() Type { return TypeConfirmRequest }
func (ConfirmResult) Type() Type  { return TypeConfirmResult }
func (Prompted) Type() Type       { return TypePrompted }
func (ToolProgress) Type() Type   { return TypeToolProgress }
func (ToolComplete) Type() Type   { return TypeToolComplete }
func (Payload) Type() Type        { return TypePayload }
func (Workflow) Type() Type       { return TypeWorkflow }
func (Annotations) Type() Type    { return TypeAnnotations }
func (Meta) Type() Type           { return TypeMeta }
func (Footnote) Type() Type       { return TypeFootnote }
func (Summary) Type() Type        { return TypeSummary }
func (Complete) Type() Type       { return TypeComplete }
func (Error) Type() Type          { return TypeError }
func (Cancelled) Type() Type      { return TypeCancelled }
func (u Unknown) Type() Type      { return u.Name }
