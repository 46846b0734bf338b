package providertest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Harness makes providers for the suite.
type Harness struct {
	// Start gives a provider that meets the plays, one a request; the last
	// one is met again by further requests.
	Start func(t *testing.T, c Config, plays ...Play) *Session
	// HTTP tells that the wire format is served over HTTP.
	HTTP bool
	// Lacks are cases that the provider has nothing of, with the reason; they
	// are not run.
	Lacks map[string]string
}

// Config are choices of the provider that a case needs; zero values leave them
// to it.
type Config struct {
	FirstByte, Between time.Duration
}

// Session is a provider with the other side that it speaks to.
type Session struct {
	Provider provider.Provider
	// Model is the model to ask.
	Model string
	// Seen gives the requests that came in; nil where there is no telling.
	Seen func() []Seen
	// Gone gets a value for each response that the provider hung up on; nil
	// where there is nothing to hang up.
	Gone <-chan struct{}
	// Strayed gives the headers of requests that came to another host than the
	// provider was made for.
	Strayed func() []http.Header
}

// Play is how the other side behaves for one request.
type Play struct {
	// Refuse answers with a failure instead of a response.
	Refuse *Refusal
	// Writes are sent one after the other, each in one go.
	Writes [][]Piece
	// End is how the response ends.
	End End
	// Stop is the reason of a whole response, stop or length.
	Stop string
	// Usage is reported at the end of a whole response.
	Usage *event.Usage
	// HTTP is what is said below the wire format, for those served over HTTP.
	HTTP *HTTPPlay
}

// HTTPPlay is how a server misbehaves that speaks the wire format, or not even
// that.
type HTTPPlay struct {
	// Body is sent in the place of a response, as ContentType.
	Body, ContentType string
	// Header is added to the response's own.
	Header map[string]string
	// Gzip compresses the response, which nobody asked for.
	Gzip bool
	// Redirect sends the request on to another host, which must not see it.
	Redirect bool
	// Drip sends what keeps a connection alive and says nothing, without end,
	// and a byte at a time.
	Drip bool
}

// End is how a response ends.
type End int

// The ends.
const (
	Whole  End = iota
	Cut        // the connection ends in the middle
	Linger     // a whole response, and then the connection stays open
	Hang       // nothing more comes until the provider hangs up
)

// Piece is one thing of a response; one of its fields is set.
type Piece struct {
	Text      string
	Reasoning string
	Call      *Call
	Error     string // an error object with these words
	Garbage   bool   // something that isn't of the protocol
}

// Call is a call as a model makes it.
type Call struct {
	ID, Name string
	// Args is a JSON object; the Form says how else it may come.
	Args string
	Form ArgsForm
}

// ArgsForm is how arguments are written.
type ArgsForm int

// The forms.
const (
	ArgsGiven ArgsForm = iota
	ArgsEmpty          // an empty text, or what comes next to it
	ArgsNull
	ArgsMissing
)

// Refusal is a failure before the response.
type Refusal struct {
	Why RefusalWhy
	// RetryAfter is sent as the header of that name.
	RetryAfter string
	// Header is added to the response's own, and Status replaces its status.
	Header map[string]string
	Status int
}

// RefusalWhy is what a refusal is about; the wire format knows its status and
// words.
type RefusalWhy int

// The reasons.
const (
	BadKey RefusalWhy = iota + 1
	NoSuchModel
	TooMany
	Internal
	Unavailable
	TooLong
	NoTools
	NoToolChoice // tool_choice
)

// Seen is a request as the other side understood it.
type Seen struct {
	Model       string
	Messages    []SeenMessage
	Tools       []provider.ToolSpec
	MustCall    string // the tool that has to be called, by its name on the wire, or provider.AnyTool
	Schema      json.RawMessage
	MaxTokens   int
	Temperature *float64
	TopP        *float64
	Stop        []string
	Key         string
}

// SeenMessage is one message of it; the system message is one as well.
type SeenMessage struct {
	Role     string
	Text     string
	Thinking string
	Images   []string // as MIME type and base64, joined by a comma
	Calls    []provider.ToolCall
	CallID   string // of a tool's result
}
