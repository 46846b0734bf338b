package server

import (
	"net/http"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// aisdkBody is what the AI SDK's transport posts, for /openapi.json; the messages
// are its UI messages.
type aisdkBody struct {
	ID        string           `json:"id"`
	Messages  []map[string]any `json:"messages"`
	Trigger   string           `json:"trigger,omitempty"`
	MessageID string           `json:"messageId,omitempty"`
	Model     string           `json:"model,omitempty"`
	// Confirm says that the client answers approvals by another request.
	Confirm bool `json:"confirm,omitempty"`
}

// aguiBody is AG-UI's RunAgentInput, for /openapi.json.
type aguiBody struct {
	ThreadID string           `json:"threadId"`
	RunID    string           `json:"runId"`
	Messages []map[string]any `json:"messages"`
	Tools    []map[string]any `json:"tools,omitempty"`
	Context  []map[string]any `json:"context,omitempty"`
	// ForwardedProps with confirm say that the client resumes interrupts.
	ForwardedProps map[string]any   `json:"forwardedProps,omitempty"`
	Resume         []map[string]any `json:"resume,omitempty"`
}

func chatAISDK(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.chatThread(w, r, dialect.AISDK)
}

func chatAGUI(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.chatThread(w, r, dialect.AGUI)
}

// chatThread answers the last message of a thread whose client tells the whole
// conversation each time. What was said is known here, so only the place of the
// message is taken from it.
func (s *Server) chatThread(w http.ResponseWriter, r *http.Request, n dialect.Name) error {
	in, err := readWire(w, r, n)
	if err != nil {
		return err
	}
	switch {
	case in.ThreadID == "":
		return fault.New(fault.Usage, "the id of the conversation is missing")
	case len(in.Answers) > 0:
		return s.resumePaused(w, r, in)
	}
	req, err := wireRequest(in)
	if err != nil {
		return err
	}
	askAgent(r, &req)
	if err := s.place(r, in, &req); err != nil {
		return err
	}
	if req.Ephemeral {
		s.o.Prepare(&req)
		// Such a turn ends with its stream, so nobody could answer after it.
		return s.answerTurn(w, r, in, req)
	}
	req.CanConfirm = in.Confirm
	id, chat, err := s.beginThread(r, string(n)+":"+in.ThreadID, req)
	if err != nil {
		return unknownModel(in.Model, err)
	}
	if in.Confirm {
		s.live.pause(id)
	}
	if in.Tuned() {
		ignored, err := s.beginning(r.Context(), id)
		if err == nil { // a failure is a part of these streams
			setIgnored(w, in, ignored)
		}
	}
	return s.stream(w, r, wireStream(id, chat.ID, in))
}

// place finds where the last message of a thread belongs: behind what is known of
// the conversation, or in the place of a question that is asked again.
func (s *Server) place(r *http.Request, in *dialect.Request, req *engine.TurnRequest) error {
	questions := 0
	for _, m := range in.Messages {
		switch m.Role {
		case dialect.User:
			questions++
		case dialect.System:
			for _, p := range m.Parts {
				req.System += p.Text
			}
		}
	}
	var notes []provider.Part
	for _, n := range in.Notes {
		notes = append(notes, provider.Part{Kind: provider.FilePart, Name: clean(n.Name), Text: n.Text})
	}
	req.Parts = append(notes, req.Parts...)
	chat, known, err := s.eng.ThreadChat(r.Context(), string(in.Dialect)+":"+in.ThreadID)
	if err != nil {
		return err
	}
	results := in.Messages[len(in.Messages)-1].Role == dialect.ToolRole
	var asked []string
	if known {
		if id, ok := s.live.of(store.ChatRef{ID: chat}); ok && s.runs(id) {
			return fault.New(fault.Busy, "the conversation's last message is still being answered")
		}
		conv, err := s.eng.Chat(r.Context(), store.ChatRef{ID: chat})
		if err != nil {
			return err
		}
		for _, m := range conv.Messages {
			if m.Role == provider.User && !m.AnswersCalls() {
				asked = append(asked, m.ID)
			}
		}
	}
	switch {
	case !known && (results || questions > 1): // the client alone knows it, and goes on keeping it
		req.Ephemeral, req.History = true, historyOf(in)
		return nil
	case results: // they go on with the last answer
		return nil
	}
	// Some clients send the last message alone.
	again := in.Trigger == "regenerate-message" || in.MessageID != "" || in.Dialect == dialect.AGUI && questions > 1
	switch {
	case questions > len(asked)+1:
		return fault.New(fault.Usage, "what the client tells of this conversation was not said here; begin another one")
	case again && questions <= len(asked):
		req.Chat.Instead = asked[questions-1]
	}
	return nil
}

// resumeAISDK follows the turn that runs in a thread, from its beginning: that is
// what the AI SDK's transport asks for when a page is opened again. 204 says that
// nothing runs.
func resumeAISDK(s *Server, w http.ResponseWriter, r *http.Request) error {
	chat, known, err := s.eng.ThreadChat(r.Context(), string(dialect.AISDK)+":"+r.PathValue("thread"))
	if err != nil {
		return err
	}
	id, live := s.live.of(store.ChatRef{ID: chat})
	if !known || !live || !s.runs(id) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	in := &dialect.Request{Dialect: dialect.AISDK}
	o := in.Options()
	o.AskByPause, o.Settled = s.live.paused(id)
	f := wireStream(id, chat, in)
	f.enc = dialect.NewEncoder(dialect.AISDK, o)
	return s.stream(w, r, f)
}
