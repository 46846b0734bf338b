package toolset

import (
	"context"
	"encoding/json"
)

// Asker is what a running call can ask for: something of the person, or an answer
// of a model. It is safe for concurrent use, and of no use after its call.
type Asker interface {
	// Turn names the turn that the call belongs to.
	Turn() string
	// AskPerson asks whoever follows the turn. Where nobody can be asked, or ctx
	// ends, the answer is [Cancel].
	AskPerson(ctx context.Context, q Question) (Answer, error)
	// AskModel has a model answer, once the person has allowed that. An error says
	// why there is no answer.
	AskModel(ctx context.Context, p Prompting) (Prompted, error)
}

// Question is what a tool wants of a person. Its words are a stranger's.
type Question struct {
	// Server is who asks.
	Server  string
	Message string
	// Schema describes the form; nil where a page is to be visited instead.
	Schema json.RawMessage
	// URL is that page; empty for a form. It is http or https, and is never
	// opened without the person's word.
	URL string
}

// Answer is what came of a question.
type Answer struct {
	// Action is accept, decline or cancel.
	Action string
	// Values are what was filled in; where a field is left out its default
	// stands.
	Values map[string]any
}

// The actions of an [Answer].
const (
	Accept  = "accept"
	Decline = "decline"
	Cancel  = "cancel"
)

// Prompting is what a tool wants a model to answer. Its words are a stranger's.
type Prompting struct {
	Server      string
	System      string
	Messages    []PromptMessage
	MaxTokens   int
	Temperature *float64
	Stop        []string
}

// PromptMessage is one message of a [Prompting].
type PromptMessage struct {
	// Role is user or assistant.
	Role string
	Text string
}

// Prompted is a model's answer.
type Prompted struct {
	// Model is the one that answered, Stop why it ended: stop, length and so on.
	Model, Text, Stop string
}

// NotAllowedError says that a person, or a rule of theirs, doesn't allow what a tool
// asked for.
type NotAllowedError struct{ Why string }

// Error says why.
func (e *NotAllowedError) Error() string { return e.Why }
