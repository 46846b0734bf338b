package chatcompletions

import "github.com/fettle-cli/fettle/engine/provider"

// maxAdaptions is how often one request is changed and sent again; there are
// about that many things that an address may refuse.
const maxAdaptions = 8

// Quirks are how one model at one address differs from others: what its adapter sets, and what
// was learnt from its refusals. The zero value is what most addresses take.
type Quirks struct {
	CompletionTokens bool     // max_completion_tokens instead of max_tokens
	NoStreamOptions  bool     // stream_options is refused
	NoTemperature    bool     // temperature is refused
	Refused          []string // names of parameters that are refused
	Vendor           bool     // an address of OpenAI's own, or of Azure
	NoForced         bool     // tool_choice is refused
	Schema           SchemaForm
	Reasoning        string   // the field of reasoning whose own field is not known
	NoReasoning      bool     // the fields with reasoning are refused
	Needs            string   // the field with reasoning that each answer must have
	Signed           bool     // the first call of an answer must have a signature
	Without          []string // members of calls and messages that are refused
	Alternate        bool     // neighbouring messages of one role are refused
	NoSystem         bool     // the system role is refused
	MediaInTool      bool     // a user's message after that of a tool is refused
	// Beside is the reasoning_effort that is taken beside tools.
	Beside   EffortBeside
	Levels   provider.Levels // those of reasoning_effort, where a refusal named them
	NoEffort bool            // reasoning_effort is refused
	NineID   bool            // ids of calls are nine letters or digits

	Prefill Prefill // how the address is asked to continue an answer

	// Chunks has content in the form of Mistral's chunks: thinking is one of them and goes back
	// as it came, an image is a plain text, and a result has the name of its tool.
	Chunks bool
	// Turns reports that a user's message may follow neither a result nor another user's message.
	Turns bool
	// AnyStrict reports that strict is taken with any schema. It is always sent.
	AnyStrict  bool
	AnyTool    string // the word for a choice of any tool; "" is required
	RandomSeed bool   // the seed is called random_seed

	// API is the API that a refusal has named, and OnlyAPI reports that the address has no
	// other one for the model.
	API         string
	OnlyAPI     bool
	NoEncrypted bool // encrypted reasoning is neither asked for nor sent back
	NoSummary   bool // summaries of the reasoning are refused
	NoStore     bool // the field store is refused
	NoStream    bool // a stream is refused, to organisations that are not verified
	ItemIDs     bool // items must have ids
	MediaApart  bool // images within a result are refused
}

// EffortBeside is how much a model may be asked to think where it has tools.
type EffortBeside int

// What a model may be asked beside tools.
const (
	EffortAsked  EffortBeside = iota // as the request asks
	EffortAbsent                     // it must not be asked
	EffortNone                       // the effort "none" must be sent
)

// SchemaForm is how a model is sent the schema of its answer.
type SchemaForm int

// The forms of a schema.
const (
	SchemaStrict SchemaForm = iota // enforced
	SchemaLoose                    // in response_format
	SchemaWords                    // in the system prompt
)

// Prefill is how an address is asked to continue an answer.
type Prefill int

// The ways to continue an answer.
const (
	PrefillNone     Prefill = iota // it answers with another message
	PrefillPlain                   // by the answer as the last message
	PrefillPrefix                  // by the member prefix of the message
	PrefillRepeated                // the same, and the response repeats the message
	PrefillPartial                 // by the member partial of the message
	PrefillFinal                   // by members of the request, as vLLM, SGLang, llama.cpp and TGI have them
)

// Adaption is how one request differs from others of its model.
type Adaption struct {
	Refused     map[string]string // tools, with the reason
	Schema      SchemaForm        // at least; this schema was refused in a lesser one
	OtherTokens bool              // max_tokens was sent by its other name
	Dummies     bool              // the model's own signatures are refused
	NoItems     bool              // reasoning and opaque items of the history are refused
	Unthinking  bool              // the last message is continued without reasoning
	Moved       bool              // a refusal has moved the request to the other API
}

// Sent is what a refusal of the messages may be about.
type Sent struct {
	Calls      bool     // some calls
	Reasoning  bool     // a field with reasoning, or thinking among the content
	Fields     []string // names of members that only the provider understands
	Signatures bool     // signatures of the model's own
	Media      bool     // images of results in messages of their own
	System     bool     // a message of the system
	Encrypted  bool     // encrypted reasoning is asked for
	Summary    bool     // a summary of the reasoning is asked for
	Store      bool     // the field store
	Final      bool     // the members that continue the last message
}

// Lesson is what a refusal teaches.
type Lesson int

// The lessons of a refusal.
const (
	Nothing Lesson = iota
	OfModel        // holds for all requests
	OfThis         // holds for this request
)
