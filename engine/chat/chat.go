package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
)

// Chat is a conversation: document 004's chats record. Its JSON is stored and
// shown by `fettle chats … --output json`.
type Chat struct {
	ID     string `json:"id"`
	Number int64  `json:"number"` // document 000's conversation_id
	Title  string `json:"title"`
	Model  string `json:"model"` // the Ref that the last turn asked for
	System string `json:"system,omitempty"`
	// Agent is the id of the agent that the chat enters by; empty without one.
	Agent string `json:"agent,omitempty"`
	// AgentMode is off where the model may call no tools; nil is on.
	AgentMode *bool `json:"agent_mode,omitempty"`
	// Approvals is the mode that the user chose for the chat; empty is the configured one.
	Approvals permission.Mode `json:"approvals,omitempty"`
	// Plan reports that the user has put the chat into plan mode.
	Plan bool `json:"plan,omitempty"`
	// ModeChosenAt is when the user last chose Approvals or Plan; zero without a choice.
	ModeChosenAt time.Time `json:"mode_chosen_at,omitzero"`
	// Workspace is the bound folder; empty for a managed one.
	Workspace string `json:"workspace,omitempty"`
	// ActiveLeaf is the message that the next turn continues from.
	ActiveLeaf     string    `json:"active_leaf_message_id"`
	ActiveManifest string    `json:"active_manifest_id,omitempty"`
	CreatedAt      time.Time `json:"created_at"`
	UpdatedAt      time.Time `json:"updated_at"`
	// LastTurn is the acceptance number of the chat's last turn.
	LastTurn int64 `json:"last_turn"`
	// Messages counts the messages of all branches.
	Messages   int     `json:"messages"`
	ForkedFrom *Origin `json:"forked_from,omitempty"`
	// CutShort reports that a call of a page was cut off by a crash, or left no state
	// that is known, and no state of the files was taken since.
	CutShort bool `json:"cut_short,omitempty"`
	// DeletedAt is when the chat was deleted; nil in all that can be used.
	DeletedAt *time.Time `json:"deleted_at,omitempty"`
}

// Called is what messages call the chat.
func (c *Chat) Called() string { return fmt.Sprintf("chat %d", c.Number) }

// Origin is where a forked chat began.
type Origin struct {
	ChatID    string `json:"chat_id"`
	Number    int64  `json:"number,omitempty"` // 0 where that chat isn't here
	MessageID string `json:"message_id"`
}

// Status says how far a turn, and so its answer, came.
type Status string

// The statuses. All but Answered keep what was streamed before.
const (
	Answered    Status = "complete"
	Failed      Status = "error"
	Stopped     Status = "cancelled"
	CutShort    Status = "interrupted" // by a crash
	Unfinished  Status = "running"     // only in views of a live turn
	UserMessage Status = "complete"
)

// Message is one node of a chat's tree.
type Message struct {
	ChatID     string            `json:"chat_id"`
	ID         string            `json:"id"`
	ParentID   string            `json:"parent_id,omitempty"`
	TurnID     string            `json:"turn_id"`
	Role       provider.Role     `json:"role"`
	Parts      []provider.Part   `json:"parts"`
	Status     Status            `json:"status"`
	StopReason string            `json:"stop_reason,omitempty"`
	Model      string            `json:"model,omitempty"`
	Usage      *event.Usage      `json:"usage,omitempty"`
	Error      *event.Error      `json:"error,omitempty"`
	Notes      []string          `json:"footnotes,omitempty"`
	Citations  []json.RawMessage `json:"annotations,omitempty"`
	CreatedAt  time.Time         `json:"created_at"`
	// SuggestedValues and SuggestedActions are document 000's.
	SuggestedValues  []json.RawMessage `json:"suggested_values,omitempty"`
	SuggestedActions []json.RawMessage `json:"suggested_actions,omitempty"`
	// InteractionType and ActionMetadata are those of a suggested action that
	// the person took.
	InteractionType string          `json:"interaction_type,omitempty"`
	ActionMetadata  json.RawMessage `json:"action_metadata,omitempty"`
	ManifestID      string          `json:"manifest_id,omitempty"`
	// LeftManifestID is the workspace as it was when the chat went on in
	// another branch than the one that ended with this message.
	LeftManifestID string `json:"left_manifest_id,omitempty"`
	// StateUnknown reports that the last call of an answer left the workspace in no
	// state that is known: a crash cut it off, or the state couldn't be kept. What it
	// did is taken in with the next state.
	StateUnknown bool `json:"state_unknown,omitempty"`
	// Plan reports that an answer was given in plan mode.
	Plan bool `json:"plan,omitempty"`
	// Summary replaces this message and all before it on its branch in requests;
	// nil where none was needed.
	Summary *Summary `json:"summary,omitempty"`
	// Pieces is how many pieces hold the parts where they are too long for
	// the record; 0 in a message that has been read.
	Pieces int `json:"pieces,omitempty"`
}

// Summary is what a model is sent in place of a chat's first messages,
// where they are too many for it. The messages stay as they are.
type Summary struct {
	Text string `json:"text"`
	// Messages is the number of messages that it replaces.
	Messages  int       `json:"messages"`
	Model     string    `json:"model"` // who wrote it
	CreatedAt time.Time `json:"created_at"`
	// Outside names the sources beyond this machine whose content the messages contain;
	// empty if there are none.
	Outside string `json:"outside,omitempty"`
}

// Text is the message's own text, without reasoning, files and results.
func (m Message) Text() string {
	var n int
	for _, p := range m.Parts {
		if p.Kind == provider.TextPart {
			n += len(p.Text)
		}
	}
	out := make([]byte, 0, n)
	for _, p := range m.Parts {
		if p.Kind == provider.TextPart {
			out = append(out, p.Text...)
		}
	}
	return string(out)
}

// Turn is the record of one turn.
type Turn struct {
	ID            string    `json:"id"`
	ChatID        string    `json:"chat_id"`
	Order         int64     `json:"order"` // the acceptance number
	ParentID      string    `json:"parent_id,omitempty"`
	UserMessageID string    `json:"user_message_id"`
	MessageID     string    `json:"message_id"`
	Model         string    `json:"model"`
	Status        Status    `json:"status"`
	StartedAt     time.Time `json:"started_at"`
	FinishedAt    time.Time `json:"finished_at"`
	// LastSeq is the number of events; Segments how many pieces hold them.
	LastSeq  event.Seq `json:"last_seq"`
	Segments int       `json:"segments"`
	// Counted reports that its tokens are in the sums that the store keeps.
	Counted bool `json:"counted,omitempty"`
}

// ToolCall is document 004's tool_calls record (§1.7).
type ToolCall struct {
	ID             string           `json:"id"`
	ChatID         string           `json:"chat_id"`
	MessageID      string           `json:"message_id"`
	TurnID         string           `json:"turn_id"`
	ToolUseID      string           `json:"tool_use_id"`
	ToolID         string           `json:"tool_id"`
	Args           json.RawMessage  `json:"args"`
	Result         json.RawMessage  `json:"result,omitempty"`
	RenderPlan     json.RawMessage  `json:"render_plan,omitempty"`
	WorkspacePlan  json.RawMessage  `json:"workspace_plan,omitempty"` // of the result's workspace_payload
	Status         event.CallStatus `json:"status"`
	Error          string           `json:"error,omitempty"`
	StartedAt      time.Time        `json:"started_at"`
	FinishedAt     *time.Time       `json:"finished_at,omitempty"`
	PreManifestID  string           `json:"pre_manifest_id,omitempty"`
	PostManifestID string           `json:"post_manifest_id,omitempty"`
	Index          int              `json:"index"`
	// AppOf is the call whose page made this one, of the same message; empty for
	// the calls of models and persons.
	AppOf string `json:"app_of,omitempty"`
	// Undone reports that the changes of files are undone. It is set where a call is shown
	// or exported.
	Undone bool `json:"undone,omitempty"`
}

// Acceptance is the first line of a journal: all that a fold needs besides
// the events. Its JSON is a format on disk.
type Acceptance struct {
	Version       int             `json:"journal"`
	TurnID        string          `json:"turn_id"`
	Order         int64           `json:"order"`
	Chat          Chat            `json:"chat"` // as it was when the turn was accepted
	NewChat       bool            `json:"new_chat"`
	ParentID      string          `json:"parent_id,omitempty"`
	UserMessageID string          `json:"user_message_id"`
	MessageID     string          `json:"message_id"`
	Parts         []provider.Part `json:"parts"`
	Model         string          `json:"model"`
	// InteractionType and ActionMetadata are the question's.
	InteractionType string          `json:"interaction_type,omitempty"`
	ActionMetadata  json.RawMessage `json:"action_metadata,omitempty"`
	// Again reports that the chat has the question already.
	Again bool `json:"again,omitempty"`
	// Leaf was the chat's active one, and LeftManifestID the workspace there,
	// where the turn begins another branch.
	Leaf           string `json:"leaf,omitempty"`
	LeftManifestID string `json:"left_manifest_id,omitempty"`
	// ManifestID is the state of the workspace that the turn begins at, and
	// StateUnknown reports that the folder is in another one, see [Message].
	ManifestID   string `json:"manifest_id,omitempty"`
	StateUnknown bool   `json:"state_unknown,omitempty"`
	// App is the call whose page made the turn's call; empty for all other turns.
	// Such a turn adds no messages: MessageID is the message of that call.
	App string `json:"app,omitempty"`
	// Plan reports that the turn is in plan mode, KeepMode that Chat has the mode that the
	// user chose with it.
	Plan     bool      `json:"plan,omitempty"`
	KeepMode bool      `json:"keep_mode,omitempty"`
	Time     time.Time `json:"time"`
	PID      int       `json:"pid"`
}

// journalVersion is that of most journals, appVersion that of a page's call: a
// fettle that doesn't know these would make messages of them.
const (
	JournalVersion = 1
	AppVersion     = 2
)

// ActiveBefore is the message that was the chat's active one when the turn began.
func (a *Acceptance) ActiveBefore() string { return cmp.Or(a.Leaf, a.ParentID) }

// Branches reports whether the turn continues from another message than that.
func (a *Acceptance) Branches() bool { return a.ActiveBefore() != a.ParentID }

// Question is the person's message of the turn.
func (a *Acceptance) Question() Message {
	return Message{
		ChatID: a.Chat.ID, ID: a.UserMessageID, ParentID: a.ParentID, TurnID: a.TurnID,
		Role: provider.User, Parts: a.Parts, Status: UserMessage, CreatedAt: a.Time, ManifestID: a.ManifestID,
		InteractionType: a.InteractionType, ActionMetadata: a.ActionMetadata,
	}
}

// Outcome is what a record says of the end of its call; nil where it has none.
func (c *ToolCall) Outcome() *provider.ToolResult {
	if c.FinishedAt == nil {
		return nil
	}
	var kept struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(c.Result, &kept) // a result that is too long is not kept
	return &provider.ToolResult{ID: c.ToolUseID, Name: c.ToolID, Text: cmp.Or(kept.Text, c.Error), Error: c.Status == event.CallError, Undone: c.Undone}
}

// Usable says how to bring a deleted chat back.
func (c *Chat) Usable() error {
	if c.DeletedAt == nil {
		return nil
	}
	return fault.New(fault.NotFound, fmt.Sprintf("chat %d is deleted", c.Number),
		fault.Try(fault.RestoreChat, fmt.Sprint(c.Number)))
}

// Visible reports whether the chat is listed.
func (c *Chat) Visible() bool { return c.DeletedAt == nil }

// TakeMode takes over the mode that was chosen with a turn, unless the user has chosen again
// since the turn began.
func (c *Chat) TakeMode(a *Acceptance) {
	if a.KeepMode && !a.Chat.ModeChosenAt.Before(c.ModeChosenAt) {
		c.Approvals, c.Plan, c.ModeChosenAt = a.Chat.Approvals, a.Chat.Plan, a.Chat.ModeChosenAt
	}
}

// AnswersCalls reports whether the message has only results of tools that the client ran:
// the answer before it continues with them.
func (m Message) AnswersCalls() bool {
	some := false
	for _, p := range m.Parts {
		if p.Kind != provider.ToolResultPart {
			return false
		}
		some = true
	}
	return some && m.Role == provider.User
}
