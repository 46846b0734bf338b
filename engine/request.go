package engine

import (
	"encoding/json"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// TurnRequest is everything that decides a turn. The caller has resolved the
// configuration: nothing below reads it. It goes whole through JSON, but for
// OnWait, to an engine of the same version in another process.
type TurnRequest struct {
	// Chat says which conversation is continued; the zero value begins one.
	Chat store.ChatRef
	// Parts are the person's message: file parts first, then images, then
	// one text. At least one part is needed, unless Chat.Instead names a
	// question that is asked again. Before them may be tool_result parts, which
	// answer calls that the conversation's last answer left to the client.
	Parts []provider.Part
	// History is the conversation before Parts where the client keeps it. It is
	// for ephemeral turns. Calls and results name tools by their ids; a result
	// follows the message with its call.
	History []provider.Message
	// ClientTools are offered to the model beside those that Tools choose.
	ClientTools []ClientTool
	// Docs are what the message names as doc:<id> (document 002): files of the
	// workspace, what the chat was given before, or stored documents, by id or
	// name. nil looks for them in the text of Parts; an empty slice names none.
	Docs []string
	// Title names a new chat; empty takes it from Parts. It is cut and made
	// one line.
	Title string
	// System is the system prompt; empty keeps the chat's.
	System string
	// Model is a Ref; empty keeps the chat's model, else Models chooses.
	Model string
	// Own reports that the request is a command of the user who owns the data, and not one
	// of an API client: see Options.StoredModel.
	Own bool
	// Agent is the id of the agent that the turn enters by; empty keeps the
	// chat's, and NoAgent leaves it out.
	Agent string
	// MaxHandoffs bounds how often agents hand over in this turn; 0 is 16.
	MaxHandoffs int
	// Fallback are Refs that are asked in order when Model can't answer and
	// nothing was shown yet.
	Fallback []string
	// Tools are globs over tool ids that choose what the model is offered;
	// nil offers all enabled tools, without those that only a person could
	// allow where nobody can be asked; an empty slice offers none.
	Tools []string
	// MCP are MCP servers of the session that the turn belongs to, such as an
	// editor names: their tools are offered beside the others, in this turn. One
	// that can't be reached is named in a footnote, and the turn goes on.
	// Workspace, where it is set, is where they work.
	MCP []catalog.MCPServer
	// AgentMode switches on or off that the model may call tools and go on with
	// their results (document 002); off, no tools are declared. nil keeps the
	// chat's mode, which is on in a new one.
	AgentMode *bool
	// Workspace is the absolute path of a folder to bind a new chat to;
	// empty means the chat's own managed folder.
	Workspace string
	// Calls are tools to run in order without asking a model: the turn is then
	// the person's own doing, and what they give is its answer. Policy decides
	// as ever. A tool that isn't there, or arguments that don't fit, are a
	// Usage or NotFound fault of Start, and nothing runs.
	Calls []DirectCall
	// Page and Tab are where the person is, and Context is what the page sends
	// along: document 000's context, a JSON object. They choose payloads, client
	// actions and a context template of the toolsets' pages. Page and Tab that
	// are empty are taken from it.
	Page, Tab string
	Context   json.RawMessage `json:",omitempty"`
	// Suggestions says that the client shows suggested values and actions, so
	// that the model may give some; a page with client actions says so too.
	Suggestions bool
	// TextAlone says that the client shows text and nothing else: the model is
	// offered no payloads. What tools give is kept all the same.
	TextAlone bool
	// InteractionType and ActionMetadata are those of a suggested action that
	// the person took (document 000). The metadata is a JSON object.
	InteractionType string
	ActionMetadata  json.RawMessage `json:",omitempty"`
	// Uploads are files of the person's that are put into the chat's own
	// folder before the model is asked (document 004's user_upload). Nothing
	// that is there is replaced.
	Uploads []Upload
	// Schema asks for an answer that is JSON of this JSON Schema.
	Schema json.RawMessage `json:",omitempty"`
	// Policy adds rules to the engine's for this turn. Its mode of approvals is that of the
	// turn; empty is the chat's, then the engine's.
	Policy permission.Policy
	// Plan switches plan mode on or off: calls can only read the workspace, and the model is
	// told so. nil keeps the chat's choice. The user's own Calls run regardless.
	Plan *bool
	// KeepMode stores the mode of Policy and Plan, where they are given, with the chat for
	// its later turns.
	KeepMode bool
	// KeepPlan stores Plan with the chat, and not the mode of Policy, which is this turn's.
	KeepPlan bool
	// CanConfirm says that a follower will answer confirm_request events.
	// Without it a call that needs an approval is denied.
	CanConfirm bool
	// CanAnswer says that it answers those with a form, too: what a running tool
	// asks. Without it a question is not asked, and the tool hears that.
	CanAnswer bool
	// CanReview reports that it shows the changes of a call that has run, and answers which
	// of them are applied. Without it, the mode [permission.Changes] asks before each call.
	CanReview bool
	// MaxSteps bounds the model's responses in this turn (document 000's
	// max_iterations); 0 means DefaultMaxSteps.
	MaxSteps int
	// MaxRepeats bounds how often the same calls may give the same results in a
	// row; 0 means DefaultMaxRepeats. MaxFailures bounds how many calls in a row
	// may fail; 0 means DefaultMaxFailures.
	MaxRepeats, MaxFailures int
	// Timeout bounds the whole turn; 0 is no bound.
	Timeout time.Duration
	// Ephemeral leaves nothing behind: the journal is removed at the end
	// instead of being folded, and the chat gets no number.
	Ephemeral bool
	// DiscardUnanswered also discards a turn whose model could not be asked at all
	// (unknown, out of reach, wrong key). A question that was cancelled or interrupted
	// stays, also before the first word of an answer. Pages do not set it, so that they
	// can offer a retry.
	DiscardUnanswered bool
	// Think asks for reasoning; nil leaves it to the model. An Effort of Params has
	// precedence.
	Think *bool
	// Params are what the question asks of the model. Its zero fields leave it to the
	// configuration, then to the model.
	Params   provider.Params
	Sampling provider.Sampling
	Hints    provider.Hints
	// Prefill is the beginning of the answer, which the model continues; the zero value lets
	// the model begin.
	Prefill Prefill
	// Ignored are the names of the parts of a client's request that are passed on to no
	// provider. A footnote of the answer names them.
	Ignored []string
	// MustCall is the id of a tool that the first response has to call, or
	// [provider.AnyTool]; empty leaves it to the model, as do providers that can't
	// make a model call. It counts where the tool is offered.
	MustCall string
	// workflow is what the turn runs of one, instead of asking the model; see
	// StartWorkflow.
	workflow *workflowRun
	// app is what the call of a page is, which is all that the turn runs; see CallApp.
	app *appRun
	// Editor has files of the workspace open, which file tools then read and write by it;
	// nil where no editor does.
	Editor toolset.Editor `json:"-"`
	// Terminal runs the model's commands instead of the sandbox, which contains nothing: so
	// the user is asked about each of them, whatever the rules allow. nil uses the sandbox.
	Terminal toolset.Terminal `json:"-"`
	// OnWait is called when Start has to wait for another turn of the chat or
	// for the store; what is a short clause such as "chat 12 is busy, pid 34".
	OnWait func(what string) `json:"-"`
}

// DirectCall is one call of [TurnRequest.Calls].
type DirectCall struct {
	// Tool is a tool id, or a bare id that one tool alone has.
	Tool string
	Args json.RawMessage `json:",omitempty"` // an object; nil is an empty one
}

// Upload is a file for a chat's workspace. Name is a relative path with
// slashes.
type Upload struct {
	Name string
	Data []byte
}

// MaxPlace bounds a message's place in its chat.
const MaxPlace = 1<<31 - 1

// Confirmation answers a confirm_request.
type Confirmation struct {
	ToolUseID string
	Decision  event.Decision
	Reason    string // told to the model
	// Content is what a form is filled in with.
	Content json.RawMessage
	// All and Only answer a review: All applies all changes, Only those that it names, as the
	// review names them. An answer that allows has one of them.
	All  bool
	Only []string
}

// enterByDefault sets the agent of a request that begins a stored chat and names none: the
// entry agent of the toolsets.
func (r *TurnRequest) enterByDefault(index *registry.Index) {
	if r.Agent != "" || !r.Chat.IsNew() || r.Ephemeral || len(r.Calls) > 0 || r.workflow != nil || r.app != nil {
		return
	}
	r.Agent = catalog.DefaultAgent(index)
}
