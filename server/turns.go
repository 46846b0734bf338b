package server

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// turnBody is what a turn is started with (document 000's request).
type turnBody struct {
	// Message is the person's words.
	Message string `json:"message,omitempty"`
	// ConversationID is the chat's number, ChatID its id; neither begins a chat.
	ConversationID int64  `json:"conversation_id,omitempty"`
	ChatID         string `json:"chat_id,omitempty"`
	// ParentID is the message to go on from, where it isn't the chat's last.
	ParentID string `json:"parent_id,omitempty"`
	// Fork begins a chat that has the messages up to that one.
	Fork    bool        `json:"fork,omitempty"`
	Context turnContext `json:"context,omitzero"`
	// InteractionType says what the person did: wrote, or used a suggestion.
	// ActionMetadata is what belongs to that.
	InteractionType string          `json:"interaction_type,omitempty"`
	ActionMetadata  json.RawMessage `json:"action_metadata,omitempty"`
	turnChoices
	// Detach keeps the turn of `stream` running when its client goes away; without it
	// the turn is cancelled then.
	Detach bool `json:"detach,omitempty"`
	// Files and Images come before the message.
	Files  []turnFile `json:"files,omitempty"`
	Images []turnFile `json:"images,omitempty"`
	// Uploads are put into the workspace before the model is asked.
	Uploads []turnFile `json:"uploads,omitempty"`
}

// turnChoices are what a turn that is asked again may choose anew.
type turnChoices struct {
	Model  string `json:"model,omitempty"`
	Agent  string `json:"agent,omitempty"`
	System string `json:"system,omitempty"`
	// Tools are globs over tool ids; an empty list offers none, null all that
	// fit.
	Tools *[]string `json:"tools,omitempty"`
	// Allow are rules of calls that need no approval in this turn.
	Allow []string `json:"allow,omitempty"`
	// Approvals is the mode of this turn: calls, changes, edits or ask-all; left out, it is
	// the chat's, then the configured one. Plan switches plan mode on or off. KeepMode
	// stores both, where they are given, with the chat.
	Approvals permission.Mode `json:"approvals,omitempty"`
	Plan      *bool           `json:"plan,omitempty"`
	KeepMode  bool            `json:"keep_mode,omitempty"`
	// KeepPlan stores plan mode with the chat, and not the mode of approvals, which is this
	// turn's.
	KeepPlan bool `json:"keep_plan,omitempty"`
	// Confirm says that the client answers approvals.
	Confirm bool `json:"confirm,omitempty"`
	// Forms says that it answers those with a form, too.
	Forms bool `json:"forms,omitempty"`
	// Reviews says that it shows the changes of calls that have run, and answers which of
	// them are applied. Without it, the mode changes asks before calls run.
	Reviews bool `json:"reviews,omitempty"`
	// Docs are what the message names as doc:ID; null looks for them in it.
	Docs *[]string `json:"docs,omitempty"`
	// AgentMode says whether the model may call tools and go on with what they
	// give; the chat keeps it. TextAlone says that the client shows text and
	// nothing else, Ephemeral that nothing of this is kept.
	AgentMode   *bool           `json:"agent_mode,omitempty"`
	TextAlone   bool            `json:"text_alone,omitempty"`
	Ephemeral   bool            `json:"ephemeral,omitempty"`
	Think       *bool           `json:"think,omitempty"`
	Effort      provider.Effort `json:"effort,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// turnContext is where the person is. Fields that a page adds are its own.
type turnContext struct {
	Page string `json:"page,omitempty"`
	Tab  string `json:"tab,omitempty"`
	// rest is all of it, for the model's eyes.
	rest json.RawMessage
}

// UnmarshalJSON keeps what it doesn't know.
func (c *turnContext) UnmarshalJSON(raw []byte) error {
	var known struct{ Page, Tab string }
	if err := json.Unmarshal(raw, &known); err != nil {
		return err
	}
	c.Page, c.Tab, c.rest = known.Page, known.Tab, bytes.Clone(raw)
	return nil
}

// turnFile is a file that comes with a turn: text, or base64 of any bytes.
type turnFile struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Text string `json:"text,omitempty"`
	Data string `json:"data,omitempty"`
}

func (f turnFile) bytes() ([]byte, error) {
	if f.Data == "" {
		return []byte(f.Text), nil
	}
	raw, err := base64.StdEncoding.DecodeString(f.Data)
	if err != nil {
		return nil, fault.New(fault.Usage, "the data of "+quoted(f.Name)+" is no base64")
	}
	return raw, nil
}

// turnJSON is what start_turn gives.
type turnJSON struct {
	TurnID         string `json:"turn_id"`
	ChatID         string `json:"chat_id"`
	ConversationID int64  `json:"conversation_id,omitempty"`
	Events         string `json:"events"` // where its stream is
}

// maxContext bounds what a page tells of where the person is.
const maxContext = 64 << 10

// request makes the engine's request of a body.
func (b *turnBody) request() (engine.TurnRequest, error) {
	req := engine.TurnRequest{Page: b.Context.Page, Tab: b.Context.Tab, Context: b.Context.rest}
	if b.ConversationID != 0 && b.ChatID != "" {
		return req, fault.New(fault.Usage, "conversation_id and chat_id name a chat twice")
	}
	if b.ChatID != "" && !isID(b.ChatID) {
		return req, fault.New(fault.NotFound, "no chat "+clean(b.ChatID))
	}
	req.Chat = store.ChatRef{Number: b.ConversationID, ID: b.ChatID, Parent: b.ParentID, Fork: b.Fork}
	switch b.InteractionType {
	case "", "text_input": // they wrote, as ever
	case "value_selected", "action_executed":
		req.InteractionType = b.InteractionType
		if string(b.ActionMetadata) != "null" {
			req.ActionMetadata = b.ActionMetadata
		}
	default:
		return req, fault.New(fault.Usage, "interaction_type has to be text_input, value_selected or action_executed, not "+quoted(b.InteractionType))
	}
	if len(b.ActionMetadata)+len(b.Context.rest) > maxContext {
		return req, fault.New(fault.Usage, "context and action_metadata are too large")
	}
	if err := b.parts(&req); err != nil {
		return req, err
	}
	return req, b.choose(&req)
}

// parts are files first, then images, then one text.
func (b *turnBody) parts(req *engine.TurnRequest) error {
	for _, f := range b.Files {
		raw, err := f.bytes()
		if err != nil {
			return err
		}
		req.Parts = append(req.Parts, provider.Part{
			Kind: provider.FilePart, Name: clean(f.Name), Text: strings.ToValidUTF8(string(raw), "\ufffd"),
		})
	}
	for _, f := range b.Images {
		raw, err := f.bytes()
		if err != nil {
			return err
		}
		kind := cmp.Or(f.MIME, http.DetectContentType(raw))
		if !strings.HasPrefix(kind, "image/") {
			return fault.New(fault.Usage, quoted(f.Name)+" is no image")
		}
		req.Parts = append(req.Parts, provider.Part{Kind: provider.ImagePart, Name: clean(f.Name), MIME: clean(kind), Data: raw})
	}
	for _, f := range b.Uploads {
		raw, err := f.bytes()
		if err != nil {
			return err
		}
		req.Uploads = append(req.Uploads, engine.Upload{Name: f.Name, Data: raw})
	}
	text := b.text()
	if strings.TrimSpace(text) == "" && len(req.Parts) == 0 {
		return fault.New(fault.Usage, "message is empty")
	}
	if text != "" {
		req.Parts = append(req.Parts, provider.Part{Kind: provider.TextPart, Text: text})
	}
	req.Title = strings.TrimSpace(b.Message)
	return nil
}

// text is the message. Where the person used a suggestion and wrote nothing, it is
// what they did: the engine tells the model the rest.
func (b *turnBody) text() string {
	text := strings.ToValidUTF8(b.Message, "\ufffd")
	if strings.TrimSpace(text) == "" && (b.InteractionType == "value_selected" || b.InteractionType == "action_executed") {
		return b.InteractionType
	}
	return text
}

// choose takes over what a turn may choose.
func (c *turnChoices) choose(req *engine.TurnRequest) error {
	req.Model, req.Agent, req.System = c.Model, c.Agent, c.System
	if c.Tools != nil {
		req.Tools = append([]string{}, *c.Tools...)
	}
	req.Params = provider.Params{Effort: c.Effort, Temperature: c.Temperature, MaxTokens: c.MaxTokens}
	if err := req.Params.Check(); err != nil {
		return fault.New(fault.Usage, err.Error())
	}
	req.Policy = permission.Policy{Allow: c.Allow, Approvals: c.Approvals}
	req.Plan, req.KeepMode, req.KeepPlan = c.Plan, c.KeepMode, c.KeepPlan
	if c.Docs != nil {
		req.Docs = append([]string{}, *c.Docs...)
	}
	req.AgentMode, req.TextAlone, req.Ephemeral = c.AgentMode, c.TextAlone, c.Ephemeral
	req.Suggestions = !c.TextAlone // document 000's clients show them
	req.CanAnswer, req.CanReview = c.Confirm && c.Forms, c.Confirm && c.Reviews
	req.CanConfirm, req.Think = c.Confirm, c.Think
	if len(c.Schema) > 0 && string(c.Schema) != "null" {
		req.Schema = c.Schema
	}
	return nil
}

// begin starts the turn of a body, and gives a chat without a title its own.
func (s *Server) begin(r *http.Request, req engine.TurnRequest) (store.TurnID, chat.Chat, error) {
	s.o.Prepare(&req)
	id, c, err := s.start(r.Context(), req)
	if err != nil {
		return "", chat.Chat{}, err
	}
	if c.Title == store.NewTitle && c.Messages == 0 && req.Title != "" {
		if _, err := s.eng.RenameChat(r.Context(), store.ChatRef{ID: c.ID}, req.Title); err != nil {
			s.log.Warn("a chat keeps its first title", "chat", c.ID, "error", clean(err.Error()))
		}
	}
	s.log.Info("turn begun", "turn", string(id), "chat", c.Number, "request_id", requestID(r))
	return id, c, nil
}

func (s *Server) turnJSON(id store.TurnID, chat chat.Chat) turnJSON {
	return turnJSON{
		TurnID: string(id), ChatID: chat.ID, ConversationID: chat.Number, Events: "/api/turns/" + string(id) + "/events",
	}
}

func startTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body turnBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	req, err := body.request()
	if err != nil {
		return err
	}
	return s.accepted(w, r, req)
}

// accepted starts a turn and says where its stream is.
func (s *Server) accepted(w http.ResponseWriter, r *http.Request, req engine.TurnRequest) error {
	id, chat, err := s.begin(r, req)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/turns/"+string(id)+"/events")
	writeJSON(w, http.StatusAccepted, s.turnJSON(id, chat))
	return nil
}

// streamTurn is start_turn whose answer is the stream itself.
func streamTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body turnBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	req, err := body.request()
	if err != nil {
		return err
	}
	id, chat, err := s.begin(r, req)
	if err != nil {
		return err
	}
	f := chatStream(id, 0, false)
	f.header["X-Fettle-Turn"], f.header["X-Fettle-Chat"] = string(id), chat.ID
	f.opening, f.cancels = appendData(nil, statusFrame{"status", "Thinking..."}), !body.Detach
	return s.follow(w, r, f)
}

// statusFrame is document 000's status event. The one that begins a stream is no event of
// the turn, so it has no id.
type statusFrame struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func followTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := turnOf(r)
	if err != nil {
		return err
	}
	turn, after, err := resumeFrom(r)
	if err != nil {
		return err
	}
	if turn != "" && turn != id {
		return badEventID(string(turn))
	}
	f := chatStream(id, after, false)
	if r.URL.Query().Get("form") == "events" {
		f.enc = &eventEncoder{}
	}
	return s.follow(w, r, f)
}

// followChat follows the turn that runs in a chat, or the one that a client
// comes back to.
func followChat(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	turn, after, err := resumeFrom(r)
	if err != nil {
		return err
	}
	if turn != "" {
		if err := s.belongs(r, turn, ref); err != nil {
			return err
		}
		return s.follow(w, r, chatStream(turn, after, true))
	}
	id, ok := s.live.of(ref)
	if !ok || !s.runs(id) { // one that ended a moment ago may still be listed
		if _, err := s.eng.FindChat(r.Context(), ref); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return s.follow(w, r, chatStream(id, 0, true))
}

// belongs refuses the turn of another chat. One of a branch that the chat isn't at
// any more belongs to it: its client may have been away meanwhile.
func (s *Server) belongs(r *http.Request, turn store.TurnID, ref store.ChatRef) error {
	if id, ok := s.live.of(ref); ok && id == turn {
		return nil
	}
	chat, err := s.eng.FindChat(r.Context(), ref)
	if err != nil {
		return err
	}
	of, _, err := s.eng.TurnAnswer(r.Context(), turn)
	if code := fault.CodeOf(err); code == fault.NotFound || code == fault.Busy || err == nil && of != chat.ID { // busy is another chat's that lives
		return fault.New(fault.NotFound, "no turn "+string(turn)+" in this chat")
	}
	return err
}

func cancelTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := turnOf(r)
	if err != nil {
		return err
	}
	if err := s.eng.Cancel(r.Context(), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// eventJSON stands for what a stream's data is: see turnEvents.
type eventJSON struct{}
