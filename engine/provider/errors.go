package provider

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what went wrong with a request, as far as a caller acts on it.
type Kind int

// The kinds. Only the first four are worth a retry.
const (
	Broken       Kind = iota + 1 // the connection or the stream broke (ErrCut among them)
	RateLimited                  // 429
	Overloaded                   // 408, 409, 5xx
	SlowStart                    // no first byte, or no next chunk, in time
	Unreachable                  // nobody listens, or the name doesn't resolve
	Unauthorised                 // 401, 403
	UnknownModel                 // the address has no such model
	ContextFull                  // the request doesn't fit the model's context
	Unsupported                  // the model can't do what Feature names
	Rejected                     // any other refusal of the request
	Undecodable                  // the response isn't what the protocol says
)

// Feature is something that a model may be unable to do.
type Feature string

// The features that a request can be retried without.
const (
	FeatureTools    Feature = "tools"
	FeatureImages   Feature = "images"
	FeatureThinking Feature = "thinking"
	FeatureSchema   Feature = "schema"
)

// Error is a failed request. Message is the provider's own words where it gave
// any, on one line, with control characters and keys removed.
type Error struct {
	Kind     Kind
	Provider string
	Model    string
	Address  string // scheme, host and port, no path, no credentials
	Status   int    // the HTTP status; 0 where none came
	Message  string
	// RetryAfter is what the provider asked for; 0 where it didn't.
	RetryAfter time.Duration
	// NoReason reports that the provider refused without a usable reason:
	// nothing, a web page, or words that fit every refusal.
	NoReason bool
	// Feature is what an Unsupported model lacks.
	Feature Feature
	Err     error
}

// Error names provider and cause on one line.
func (e *Error) Error() string {
	switch {
	case e.Message != "" && e.Status != 0:
		return fmt.Sprintf("%s: %d: %s", e.Provider, e.Status, e.Message)
	case e.Message != "":
		return fmt.Sprintf("%s: %s", e.Provider, e.Message)
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", e.Provider, e.Err)
	}
	return fmt.Sprintf("%s: status %d", e.Provider, e.Status)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable tells whether the same request may succeed a little later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case Broken, RateLimited, Overloaded, SlowStart:
		return true
	}
	return false
}

// ErrCut is the cause of an Error of kind Broken whose response stopped
// without its end.
var ErrCut = errors.New("the response stopped before its end")
