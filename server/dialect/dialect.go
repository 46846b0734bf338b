package dialect

import (
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Name names a dialect.
type Name string

// The dialects.
const (
	Chat      Name = "chat"      // document 000
	Agents    Name = "agents"    // document 003
	OpenAI    Name = "openai"    // chat completions
	Responses Name = "responses" // OpenAI's responses
	AISDK     Name = "aisdk"     // the AI SDK's UI message stream
	AGUI      Name = "agui"      // AG-UI
	Ollama    Name = "ollama"    // Ollama's /api/chat
	Anthropic Name = "anthropic" // Anthropic's Messages API
)

// Names lists the dialects.
func Names() []Name { return []Name{Chat, Agents, OpenAI, Responses, AISDK, AGUI, Ollama, Anthropic} }

// MaxAnswer bounds what an encoder or an object keeps of one answer. The engine
// bounds one response of a model to as much.
const MaxAnswer = 32 << 20

// ClientToolset is the part before the colon in the id of a client's tool: the
// client's read_file is client:read_file, so that it isn't taken for fettle's.
const ClientToolset = "client"

// Encoder turns the events of one turn, in order and from the first, into the
// frames of one dialect.
type Encoder interface {
	// Append appends the frames of one event, none for most of some dialects.
	// Events after a turn's end give none. An error is an event that can't be
	// encoded; it leaves dst as it was, and the stream can go on without it.
	Append(dst []byte, e event.Event) ([]byte, error)
	// End appends what a stream needs that ends here: nothing after the turn's
	// end or a pause, else an error that says the stream was cut short.
	End(dst []byte) []byte
	// KeepAlive appends what may be written at any time between two frames,
	// so that proxies and clients see that the connection lives.
	KeepAlive(dst []byte) []byte
	// Paused tells that the stream has ended although the turn goes on: an
	// approval is needed, which comes with another request.
	Paused() bool
}

// Object makes one JSON object of a turn, for clients that don't stream.
type Object interface {
	// Add takes the next event. An error means that the answer is too long.
	Add(e event.Event) error
	// Failed returns the failure of a turn that has ended without an answer, or that has
	// not ended. It is nil where the dialect has an object for it.
	Failed() *fault.Fault
	// Body returns the HTTP status and the object once the turn has ended; of one that
	// failed, an error of the dialect's form.
	Body() (status int, body []byte)
}

// Options are what an encoder has to know beside the events. They are plain
// data, so that a server can keep them with a turn and resume it.
type Options struct {
	// Model is the name that the client asked for; empty shows the events'.
	Model string `json:"model,omitempty"`
	// ClientTools are the names of the tools that came with the request. Their
	// ids in events are [ClientToolset], a colon and the name.
	ClientTools []string `json:"client_tools,omitempty"`
	// CallForms is [Request.CallForms].
	CallForms map[string]CallForm `json:"call_forms,omitempty"`
	// LongIDs has the ids of chat frames begin with the turn's id and a dot, for
	// streams that go on over several turns.
	LongIDs bool `json:"long_ids,omitempty"`
	// IncludeUsage is OpenAI's stream_options.include_usage.
	IncludeUsage bool `json:"include_usage,omitempty"`
	// ThreadID and RunID are AG-UI's; empty ones are the turn's id.
	ThreadID string `json:"thread_id,omitempty"`
	RunID    string `json:"run_id,omitempty"`
	// Functions is [Request.Functions].
	Functions bool `json:"functions,omitempty"`
	// Generate is for a request of Ollama's /api/generate; see [Request.Generate].
	Generate bool `json:"generate,omitempty"`
	// AskByPause has aisdk and agui ask for approvals by ending the stream. It
	// is for clients that have said that they answer them; others show
	// that a call waits, and somebody else answers.
	AskByPause bool `json:"ask_by_pause,omitempty"`
	// Settled is the last event that the log had when the client came: approvals
	// that were asked for and answered before it don't end the stream. It is for
	// streams that are written from the turn's beginning.
	Settled event.Seq `json:"-"`
	// After is how many events of a responses stream the client has already:
	// its starting_after, and one.
	After int64 `json:"-"`
	// Stored is for a response that is asked for later, when nobody knows which
	// tools came with its request: every call of [ClientToolset] is the client's,
	// and one that failed is an answer like any other.
	Stored bool `json:"-"`
	// Echo is what responses repeats of its request.
	Echo Echo `json:"echo,omitzero"`
}

// Form is how a dialect's streams go over HTTP.
type Form struct {
	ContentType string
	// Header are further response headers of a stream.
	Header map[string]string
	// ObjectType is the content type of an Object; empty where there is none.
	ObjectType string
	// Resumes tells that the frames have ids, so that Last-Event-ID says what a
	// client has already.
	Resumes bool
}

const (
	typeSSE    = "text/event-stream; charset=utf-8"
	typeJSON   = "application/json; charset=utf-8"
	typeNDJSON = "application/x-ndjson"
)

// KeepAliveEvery is how long a stream may be silent: proxies commonly close
// connections after 30 s or 60 s of nothing, some browsers' extensions after 20.
const KeepAliveEvery = 15 * time.Second

// Form tells how the dialect's streams go over HTTP.
func (n Name) Form() Form {
	// no-transform keeps proxies from compressing, which holds frames back;
	// nginx buffers unless it is told not to.
	h := map[string]string{"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
	switch n {
	case Chat:
		return Form{ContentType: typeSSE, Header: h, ObjectType: typeJSON, Resumes: true}
	case OpenAI, Responses, Anthropic:
		return Form{ContentType: typeSSE, Header: h, ObjectType: typeJSON}
	case AISDK:
		h["x-vercel-ai-ui-message-stream"] = "v1"
	case Ollama:
		return Form{ContentType: typeNDJSON, Header: h, ObjectType: typeJSON}
	}
	return Form{ContentType: typeSSE, Header: h}
}

// NewEncoder makes an Encoder of a dialect; nil for a name that isn't one.
func NewEncoder(n Name, o Options) Encoder {
	switch n {
	case Chat:
		return &chatEncoder{long: o.LongIDs}
	case Agents:
		return &agentsEncoder{open: map[string]string{}}
	case OpenAI:
		return newOpenAI(o)
	case Responses:
		return newResponses(o)
	case AISDK:
		return newAISDK(o)
	case AGUI:
		return newAGUI(o)
	case Ollama:
		return newOllama(o)
	case Anthropic:
		return newAnthropic(o)
	}
	return nil
}

// NewObject makes an Object of a dialect; nil where the dialect has none.
func NewObject(n Name, o Options) Object {
	switch n {
	case Chat:
		return &chatObject{}
	case OpenAI, Ollama:
		return newAnswer(n, o)
	case Responses:
		return &responsesObject{enc: newResponses(o)}
	case Anthropic:
		return newAnthropicObject(o)
	}
	return nil
}

// pauses tells whether an approval that is asked for at seq ends the stream.
func (o *Options) pauses(seq event.Seq) bool { return o.AskByPause && seq > o.Settled }

// tools tells the client's tools from fettle's.
type tools map[string]bool

func newTools(names []string) tools {
	if len(names) == 0 {
		return nil
	}
	t := tools{}
	for _, n := range names {
		t[ClientToolset+":"+n] = true
	}
	return t
}

// clients tells whether a call is the client's to run.
func (t tools) clients(toolID string) bool { return t[toolID] }

// stage is how far a stream has come.
type stage int

const (
	fresh stage = iota
	streaming
	paused
	ended
)

// first are the facts of a turn's first event, which ids and times are made of.
type first struct {
	turn string
	at   time.Time
}

func (f *first) see(e event.Event) {
	if f.turn == "" {
		f.turn, f.at = e.TurnID, e.Time
	}
}

// paragraphs keeps text of two model responses apart where a dialect has one
// text for all: after a tool or another agent a new paragraph begins.
type paragraphs struct {
	wrote, broken bool
	tail          string // the last two bytes
}

func (p *paragraphs) breaks() { p.broken = true }

// join gives the text with the gap that belongs before it.
func (p *paragraphs) join(text string) string {
	if text == "" {
		return ""
	}
	if p.broken && p.wrote {
		switch {
		case p.tail == "\n\n":
		case len(p.tail) > 0 && p.tail[len(p.tail)-1] == '\n':
			text = "\n" + text
		default:
			text = "\n\n" + text
		}
	}
	p.broken, p.wrote = false, true
	p.tail += text[max(0, len(text)-2):]
	p.tail = p.tail[max(0, len(p.tail)-2):]
	return text
}
