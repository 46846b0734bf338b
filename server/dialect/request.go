package dialect

import (
	"encoding/json"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
)

// Request is a request of any dialect in one form. Fields that a dialect
// doesn't have, or that the client didn't give, are zero.
type Request struct {
	Dialect Name
	Model   string
	// Messages are the conversation as the client tells it, oldest first.
	// Where the server keeps the conversation itself (chat, agents), they are
	// what is new: one message.
	Messages []Message
	Tools    []Tool
	// Choice is which of the tools the model may or has to call.
	Choice   Choice
	Parallel *bool

	Temperature *float64
	TopP        *float64
	Seed        *int64
	MaxTokens   int // 0: not bounded by the client
	Stop        []string
	Format      *Format
	Settings
	// Think asks for reasoning or none; Effort is how much, in the client's word.
	Think  *bool
	Effort string

	Stream       bool
	IncludeUsage bool
	// Prefix reports that the client has marked the last message of a chat completion as the
	// beginning of the answer.
	Prefix bool
	// Functions reports that the tools of a chat completion are in the form that preceded
	// tools, in which it is answered; see legacyCall.
	Functions bool
	// Generate is a request of Ollama's /api/generate, whose answer has the text in a field
	// of its own rather than in a message.
	Generate bool

	// ThreadID is the conversation's id where the client has one: AG-UI's
	// threadId, AI SDK's id, document 003's session_id, OpenAI's conversation.
	ThreadID    string
	RunID       string // AG-UI
	ParentRunID string // AG-UI
	PreviousID  string // responses: previous_response_id
	Store       *bool  // responses
	ChatNumber  int64  // document 000's conversation_id; 0 is a new one
	MessageID   string // aisdk: the message that is regenerated or continued
	Trigger     string // aisdk: submit-message, regenerate-message
	// Answers are to approvals that an earlier stream of the thread asked for.
	// Confirm says that the client gives such answers: it is the field confirm
	// of aisdk's body and of AG-UI's forwardedProps, or follows from answers.
	Answers []Answer
	Confirm bool

	// Page, Interaction and Action are document 000's context,
	// interaction_type and action_metadata; Notes is AG-UI's context.
	Page        json.RawMessage
	Interaction string
	Action      json.RawMessage
	ToolNames   []string // document 000: tools that are to be offered
	Notes       []Note
	State       json.RawMessage // AG-UI
	Forwarded   json.RawMessage // AG-UI: forwardedProps
	Metadata    json.RawMessage
	Echo        Echo // responses

	// CallForms are how the client knows the tools that the model gets under another name
	// or in another form, by the names in Tools.
	CallForms map[string]CallForm

	// items are the input of a response that refers to stored items; see Resolve.
	items []responsesItem

	// Ignored are fields that were given and change nothing here, for a footnote.
	Ignored []string
}

// Message is one message of a conversation.
type Message struct {
	ID    string
	Role  Role
	Parts []Part
}

// Role says who speaks.
type Role string

// The roles. OpenAI's developer is System, its function Tool.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Kind says what a part is.
type Kind string

// The kinds of part.
const (
	Text      Kind = "text"
	Reasoning Kind = "reasoning"
	Image     Kind = "image"
	File      Kind = "file"
	Call      Kind = "tool_call"
	Result    Kind = "tool_result"
)

// Part is one piece of a message.
type Part struct {
	Kind Kind
	Text string
	// MIME and Data are an image's or a file's content. URL is set instead
	// where the client gave an address: whether it is fetched, and from where
	// not, is the server's to decide.
	MIME string
	Data []byte
	URL  string
	Name string // of a file or an image; of a text, that of the participant who wrote it
	// Call and Result are for those kinds.
	Call   *ToolCall
	Result *ToolResult
	// Details are a provider's reasoning details, for parts of kind Reasoning.
	Details json.RawMessage

	unread []string // members that change nothing here
}

// ToolCall is a call that an earlier answer asked for.
type ToolCall struct {
	ID   string
	Name string
	Args json.RawMessage // a JSON object
	// Ours tells that the tool ran in fettle: the client only repeats it.
	Ours bool
	// Extra are members that only the provider of the model understands: an object, in
	// which those of the function are within "function".
	Extra json.RawMessage
}

// ToolResult answers a call.
type ToolResult struct {
	ID    string
	Name  string
	Text  string
	Error bool
	// Images are the images of the result.
	Images []Part
}

// Tool is a tool that the client runs itself.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // a JSON Schema of type object
	Strict      bool
}

// Choice is a tool_choice. Mode is auto, none, required or tool; empty is auto.
type Choice struct {
	Mode string
	Name string // of the tool, for mode tool
}

// Format is what the answer has to be: JSON, of a schema if there is one.
type Format struct {
	Name        string
	Description string
	Schema      json.RawMessage
	Strict      *bool // nil: not given
}

// Answer is what became of an approval.
type Answer struct {
	ID       string // an [ApprovalID], or what the client made of it
	Approved bool
	Remember string // chat, always, or empty: this once
	Reason   string // a person's words to the model
}

// ApprovalID is the id of an approval in the dialects that ask by a pause. It names
// the turn, too: models number their calls anew in each, and an answer that comes
// late must not meet another call.
func ApprovalID(turnID, toolUseID string) string { return turnID + "." + toolUseID }

// SplitApprovalID is the reverse of [ApprovalID].
func SplitApprovalID(id string) (turnID, toolUseID string, ok bool) { return strings.Cut(id, ".") }

// Note is a piece of AG-UI's context.
type Note struct{ Name, Text string }

// Options are what the encoders have to know of the request.
func (r *Request) Options() Options {
	o := Options{
		Model: r.Model, IncludeUsage: r.IncludeUsage, ThreadID: r.ThreadID, RunID: r.RunID, Echo: r.Echo,
		AskByPause: r.Confirm, Generate: r.Generate, CallForms: r.CallForms, Functions: r.Functions,
	}
	for _, t := range r.Tools {
		o.ClientTools = append(o.ClientTools, t.Name)
	}
	return o
}

// MustContinue reports whether the client expects a last message of the assistant's to be
// continued. Anthropic's and Ollama's APIs do that. OpenAI's answer it with another message,
// unless the client has set the member that other servers have for it.
func (r *Request) MustContinue() bool {
	return r.Dialect == Anthropic || r.Dialect == Ollama || r.Prefix
}

// FieldError is what is wrong with a request, and where.
type FieldError struct {
	Field   string // such as messages[2].content; empty for the body as a whole
	Problem string
	// Code is a code that the dialect's clients act upon; empty for most errors.
	Code string
	// Model is the name of the model, for an error that no model has it.
	Model string
}

// Error is the field and the problem on one line.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Problem
	}
	return e.Field + ": " + e.Problem
}

// wrong is the error of a field.
func wrong(field, problem string) *FieldError { return &FieldError{Field: field, Problem: problem} }

// Decode reads the body of a request in a dialect. It is tolerant of what
// clients in use send, and strict on sizes. Every error is a fault that
// [Name.Failure] shows as the dialect does.
func Decode(n Name, body []byte) (*Request, *fault.Fault) {
	r := &Request{Dialect: n}
	err := decode(r, body)
	r.Confirm = r.Confirm || len(r.Answers) > 0
	if err == nil {
		err = check(r)
	}
	if err == nil {
		return r, nil
	}
	return nil, refusal(err)
}

func refusal(err *FieldError) *fault.Fault {
	f := fault.New(fault.Usage, clean(err.Error()))
	f.Err = err
	return f
}

func decode(r *Request, body []byte) *FieldError {
	if len(body) > MaxBody {
		return wrong("", "the body is longer than "+sizeText(MaxBody))
	}
	if err := checkShape(body); err != nil {
		return err
	}
	switch r.Dialect {
	case Chat:
		return decodeChat(r, body)
	case Agents:
		return decodeAgents(r, body)
	case OpenAI:
		return decodeOpenAI(r, body)
	case Responses:
		return decodeResponses(r, body)
	case AISDK:
		return decodeAISDK(r, body)
	case AGUI:
		return decodeAGUI(r, body)
	case Ollama:
		return decodeOllama(r, body)
	case Anthropic:
		return decodeAnthropic(r, body)
	}
	return wrong("", "there is no dialect "+string(r.Dialect))
}
