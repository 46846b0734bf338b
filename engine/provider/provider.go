package provider

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
)

// Provider is one address that serves models. Implementations are safe for
// concurrent use.
type Provider interface {
	// Name is the part before the slash in a Ref.
	Name() string
	// Model tells what is known of a model; it may ask the address, and
	// caches what it learns. An unknown model is an *Error of kind
	// UnknownModel where the address can tell, else a Model of unknowns.
	Model(ctx context.Context, name string) (Model, error)
	// Stream sends the request and yields the response in batches. A batch is
	// valid until the next one is asked for. An error ends the sequence; a
	// sequence that ends without one was a whole response, with exactly one
	// meta delta. Breaking out of the loop or ending ctx closes the
	// connection before Stream returns.
	Stream(ctx context.Context, req *Request) iter.Seq2[[]Delta, error]
}

// As finds a power beyond Provider in p, or in what p is wrapped around: such as
// a [Puller], or a method that tells an address.
func As[T any](p Provider) (power T, ok bool) {
	for p != nil {
		if power, ok = p.(T); ok {
			return power, true
		}
		wrapped, is := p.(interface{ Unwrap() Provider })
		if !is {
			break
		}
		p = wrapped.Unwrap()
	}
	return power, false
}

// Lister is a Provider that can tell which models it serves.
type Lister interface {
	// Models lists the models, best first where the provider has an order.
	Models(ctx context.Context) ([]Model, error)
}

// Counter is a Provider that counts the tokens of a request before it is sent.
type Counter interface {
	CountTokens(ctx context.Context, req *Request) (int, error)
}

// Renewer is a Provider whose key may be renewed after a refusal.
type Renewer interface {
	// Renewing calls do, and calls it again if the server has refused the key and another
	// one could be had.
	Renewing(ctx context.Context, do func() error) error
}

// WithRenewal calls do, as the Renewer of p does if p has one. It is for powers that [As]
// finds within what p is wrapped around.
func WithRenewal(ctx context.Context, p Provider, do func() error) error {
	if r, ok := As[Renewer](p); ok {
		return r.Renewing(ctx, do)
	}
	return do()
}

// Prefill is what becomes of a request whose last message is the assistant's.
type Prefill int

const (
	PrefillRefused   Prefill = iota // the server refuses the request
	PrefillAnswered                 // the response is another message, as if a user's message were the last
	PrefillContinued                // the response is what follows the message, without its text
)

// Continuer is a Provider that takes requests whose last message is the assistant's. Of other
// providers it is not known, and they are sent none.
type Continuer interface {
	// Prefills returns what a model makes of such a message. It asks no server.
	Prefills(model string) Prefill
}

// Learner is a Provider that learns from refusals which shape the requests to a model must
// have.
type Learner interface {
	// Lessons returns what was learnt of a model, as texts of the provider's own.
	Lessons(model string) []string
	// Recall takes what another process has learnt of a model. Unknown lessons are ignored.
	Recall(model string, lessons []string)
}

// Known is whether a model has an ability.
type Known int

// An ability that nobody has told us about is Unknown: it is tried, and a
// refusal that says so is believed.
const (
	Unknown Known = iota
	Yes
	No
)

// Model describes one model.
type Model struct {
	Provider string
	Name     string // without the provider
	// ContextLength is the longest context in tokens; 0 is unknown.
	ContextLength int
	// Chats is whether it can be asked at all: No is a model for embeddings,
	// images, speech and the like.
	Chats  Known
	Tools  Known
	Images Known
	// Audio reports whether the model takes sounds. Where it is Unknown, none are sent:
	// few models do.
	Audio    Known
	Thinking Known
	Schema   Known // structured output
	// Efforts are the reasoning levels that the model takes; zero where they are unknown.
	Efforts Levels
	// Params are what the configuration asks of the model where a question doesn't.
	Params Params
	// Size is in bytes, for models that live on this machine; 0 is unknown.
	Size int64
	// Details are further facts for people, such as "8.2B" or "Q4_K_M".
	Details string
	// Remote tells that the address only passes the model on from elsewhere,
	// as Ollama does with those of its cloud.
	Remote bool
	// Created is when the model was made, released or, on this machine, last changed, in
	// UTC and whole seconds; zero is unknown.
	Created time.Time
}

// UnixTime returns a time of so many seconds since 1970, in UTC. It is the zero time for 0,
// by which servers mean an unknown time, and for what is not a time up to the year 9999.
func UnixTime(seconds int64) time.Time {
	const most = 253402300799
	if seconds <= 0 || seconds > most {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// Ref is the name by which people call the model.
func (m Model) Ref() string { return m.Provider + "/" + m.Name }

// Request is one request to a model: document 002's assembled payload.
type Request struct {
	Model    string // without the provider
	System   string
	Messages []Message
	Tools    []ToolSpec
	// Schema asks for an answer that is JSON of this JSON Schema; nil for
	// ordinary text. Providers without structured output get it in words.
	Schema json.RawMessage
	// Tokens is the engine's estimate of what the request holds, so that
	// Ollama can size its context; 0 is unknown.
	Tokens int
	// MaxTokens bounds the response; 0 leaves it to the provider.
	MaxTokens   int
	Temperature *float64
	Sampling
	Hints
	// Think asks for reasoning; nil leaves it to the model.
	Think *bool
	// Effort is how much reasoning Think asks for; empty is the provider's usual amount.
	// A provider without this level asks for the nearest one that it has.
	Effort Effort
	// MustCall is the name of the tool that the response has to call, or [AnyTool];
	// empty leaves it to the model. A provider that can't make a model call leaves
	// it to the model, too, and says so in a footnote.
	MustCall string
	// ThoughtEnd is the marker that ends the reasoning with which the model begins its
	// text, without a marker that begins it; empty if it does not. See CutThought.
	ThoughtEnd string
	// Native is set where agents answer; see there.
	Native *Native
	// Completion asks for the continuation of a text in place of an answer to the messages,
	// of a [Completer]. Of the other fields the model, MaxTokens, Temperature, Sampling and
	// Think count then.
	Completion *Completion
}

// AnyTool is a [Request.MustCall] that any tool meets. No tool has that name.
const AnyTool = "*"

// ToolSpec is a tool as the model is told about it. The adapter makes Name
// fit the provider's rules and turns the answer's names back.
type ToolSpec struct {
	Name        string
	Description string
	InputSchema json.RawMessage // a JSON Schema of type object
	// Strict asks the provider to hold the arguments to the schema.
	Strict bool
}

// Role says who speaks in a Message.
type Role string

// The roles. Tool messages carry only tool_result parts, and directly follow
// the assistant message with the calls.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one message of a request.
type Message struct {
	Role  Role
	Parts []Part
}

// PartKind says what a Part is.
type PartKind string

// The kinds of part that a request may hold. Records hold more (DESIGN §3);
// the engine leaves those out when it assembles.
const (
	TextPart       PartKind = "text"
	ReasoningPart  PartKind = "reasoning"
	ImagePart      PartKind = "image"
	AudioPart      PartKind = "audio" // only among a result's Media
	FilePart       PartKind = "file"
	ToolCallPart   PartKind = "tool_call"
	ToolResultPart PartKind = "tool_result"
)

// The kinds of part that records hold beside those: which agent began to speak,
// what one said that doesn't answer, and who handed over to whom (Agent, Name).
const (
	AgentStartPart PartKind = "agent_start"
	AgentTextPart  PartKind = "agent_text"
	HandoffPart    PartKind = "handoff"
)

// PayloadPart is a part that records hold too: structured data that a tool or a
// model gave for a person to see.
const PayloadPart PartKind = "payload"

// Part is one piece of a message. It is also how messages are stored, so its
// JSON is a record format: fields are added, never renamed.
type Part struct {
	Kind PartKind `json:"type"`
	// Step is the model response that the part belongs to, from 0, in an
	// assistant message; the engine groups by it.
	Step int    `json:"step,omitempty"`
	Text string `json:"text,omitempty"`
	// Details are a provider's reasoning details, passed back unchanged to
	// the provider that made them.
	Details json.RawMessage `json:"details,omitempty"`
	// Model is the Ref of the model that made the details, the reasoning with a Field, or
	// the call with an Extra.
	Model string `json:"model,omitempty"`
	// Field is the field of the provider's API in which the reasoning came.
	Field string `json:"field,omitempty"`
	// Name is a file's name, for file and image parts. For a text part of a user's message
	// it is the name of the participant who wrote it; empty if the client gave none.
	Name string `json:"name,omitempty"`
	// MIME and Data are an image or a sound.
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
	// Call and Result are for tool_call and tool_result parts.
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	// Agent is who spoke, where there are several.
	Agent string `json:"agent,omitempty"`
	// Payload is for payload parts.
	Payload *Payload `json:"payload,omitempty"`
	// Doc is the reference by which a message named the file or image, as
	// doc:<id>; it stands in the message itself then, and not before it.
	Doc string `json:"doc,omitempty"`
}

// AddText appends text to the parts of a message. Text that follows text becomes one part
// with it, with sep between.
func AddText(parts []Part, text, sep string) []Part {
	if n := len(parts); n > 0 && parts[n-1].Kind == TextPart && parts[n-1].Name == "" {
		parts[n-1].Text += sep + text
		return parts
	}
	return append(parts, Part{Kind: TextPart, Text: text})
}

// HasImage reports whether the part is an image or a result with one.
func (p Part) HasImage() bool {
	isImage := func(m Part) bool { return m.Kind == ImagePart }
	return isImage(p) || p.Result != nil && slices.ContainsFunc(p.Result.Media, isImage)
}

// Payload is document 001's {type, data}, as it was shown.
type Payload struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	// Source is tool or model; Toolset is whose definition of the type holds,
	// empty for one that is always known.
	Source  string `json:"source"`
	Toolset string `json:"toolset_id,omitempty"`
	Title   string `json:"title,omitempty"` // what stands above it
	// RenderPlan is how a toolset's renderer shows it; nil where its type has none.
	RenderPlan json.RawMessage `json:"render_plan,omitempty"`
}

// UnnamedTool is the name of a call that came with arguments and without the
// name of a tool. No tool has this name, so the model gets an error as the result.
const UnnamedTool = "unnamed_tool"

// ToolCall is a call that a model asked for.
type ToolCall struct {
	ID string `json:"id"` // the provider's, or made where it gave none
	// Name is the tool's name as in ToolSpec; in records, the tool id.
	Name string `json:"name"`
	// Args is a JSON object; empty arguments are {}.
	Args json.RawMessage `json:"args"`
	// Extra are members of the call that only the provider understands, such as a
	// signature of the model's thoughts: an object as the provider sent it, without the
	// members that are known. It is sent back in the same place, to the model that made
	// it alone.
	Extra json.RawMessage `json:"extra,omitempty"`
	// ClientForm is how the client that runs the tool knows it; no provider is sent it.
	ClientForm json.RawMessage `json:"client_form,omitempty"`
}

// ToolResult answers a ToolCall.
type ToolResult struct {
	ID    string `json:"id"` // the call's
	Name  string `json:"name"`
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
	// Outside names the sources beyond this machine whose content the result contains;
	// empty if there are none. No provider is sent it.
	Outside string `json:"outside,omitempty"`
	// Media are the image and audio parts that the tool returned, in the order in which
	// Text names them. A request has those that the model takes.
	Media []Part `json:"media,omitempty"`
	// Undone reports that the call's changes of files are undone. It is set where a chat is
	// shown or exported, and no provider is sent it.
	Undone bool `json:"undone,omitempty"`
}

// DeltaKind is one of document 002's stream event types.
type DeltaKind string

// The seven kinds.
const (
	Reasoning        DeltaKind = "reasoning"
	ReasoningDetails DeltaKind = "reasoning-details"
	Content          DeltaKind = "content"
	CallDelta        DeltaKind = "tool-call"
	Annotations      DeltaKind = "annotations"
	Meta             DeltaKind = "meta"
	Footnote         DeltaKind = "footnote"
)

// Delta is a piece of a response.
type Delta struct {
	Kind        DeltaKind
	Text        string            // reasoning, content, footnote
	Details     json.RawMessage   // reasoning-details
	Call        *ToolCall         // tool-call
	Annotations []json.RawMessage // annotations
	Meta        *event.Meta       // meta; Model and ReasoningField are left to the engine
	// Field is the field of the provider's API in which the response's reasoning came, in
	// its meta delta; see Part.Field.
	Field string
	// Params are the names of the parameters that a footnote is about; see [Note].
	Params []string
}

// The stop reasons of event.Meta, into which adapters map a provider's own.
const (
	StopEnd     = "stop"
	StopToolUse = "tool_use" // document 002's toolUse
	StopLength  = "length"
	StopRefusal = "refusal"
	StopOther   = "other"
)
