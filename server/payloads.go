package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
)

// payloadsJSON are the payloads of a chat's active branch.
type payloadsJSON struct {
	Chat     chat.Chat           `json:"chat"`
	Payloads []chat.ShownPayload `json:"payloads"`
}

func listPayloads(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	c, all, err := s.eng.Payloads(r.Context(), ref)
	if begun, _, ok := s.live.first(ref, err); ok {
		writeJSON(w, http.StatusOK, payloadsJSON{begun, []chat.ShownPayload{}})
		return nil
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, payloadsJSON{c, orEmpty(all)})
	return nil
}

// payloadJSON is a payload, and how it is shown where its type has a renderer.
type payloadJSON struct {
	Payload chat.ShownPayload `json:"payload"`
	Plan    json.RawMessage   `json:"render_plan,omitempty"`
}

func getPayload(s *Server, w http.ResponseWriter, r *http.Request) error {
	chat, p, err := s.payloadOf(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, payloadJSON{p, s.eng.PayloadPlan(r.Context(), chat, p.Payload)})
	return nil
}

// decisionBody is what a person says to a payload.
type decisionBody struct {
	Remark string `json:"remark,omitempty"`
	// Allow are rules of calls that need no approval, for the turn of a tool that
	// is told. Confirm says that the client answers approvals.
	Allow   []string `json:"allow,omitempty"`
	Confirm bool     `json:"confirm,omitempty"`
}

// decidedJSON is what came of it. Turn is that of the tool which is told, to be
// followed; a client action in the decision's reaction is the client's to do.
type decidedJSON struct {
	Payload chat.ShownPayload `json:"payload"`
	Again   bool              `json:"again"`
	Turn    *turnJSON         `json:"turn,omitempty"`
}

func acceptPayload(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.decide(w, r, true)
}

func rejectPayload(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.decide(w, r, false)
}

func (s *Server) decide(w http.ResponseWriter, r *http.Request, accept bool) error {
	var body decisionBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	d, err := decidingOf(r)
	if err != nil {
		return err
	}
	d.Accept, d.Remark, d.Policy, d.CanConfirm = accept, body.Remark, permission.Policy{Allow: body.Allow}, body.Confirm
	var decided engine.Decided
	id, chat, err := s.startBy(r.Context(), func(ctx context.Context, onWait func(string)) (store.TurnID, error) {
		d.OnWait = onWait
		var err error
		decided, err = s.eng.Decide(ctx, d)
		return decided.Turn, err
	})
	if err != nil {
		return err
	}
	out := decidedJSON{Payload: decided.Payload, Again: decided.Again}
	if id != "" {
		turn := s.turnJSON(id, chat)
		out.Turn = &turn
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// editBody is the text that the user made of a payload's.
type editBody struct {
	Text string `json:"text"`
}

// editedJSON is a payload after its text was edited.
type editedJSON struct {
	Payload chat.ShownPayload `json:"payload"`
}

func editPayload(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body editBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	d, err := decidingOf(r)
	if err != nil {
		return err
	}
	p, err := s.eng.EditPayload(r.Context(), d, body.Text)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, editedJSON{p})
	return nil
}

// payloadOf is the payload of a path, with its chat.
func (s *Server) payloadOf(r *http.Request) (chat.Chat, chat.ShownPayload, error) {
	d, err := decidingOf(r)
	if err != nil {
		return chat.Chat{}, chat.ShownPayload{}, err
	}
	return s.eng.Payload(r.Context(), d)
}

// decidingOf names the payload of a path, by its id.
func decidingOf(r *http.Request) (store.Deciding, error) {
	ref, err := chatOf(r)
	return store.Deciding{Chat: ref, Payload: r.PathValue("payload")}, err
}
