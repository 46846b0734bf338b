package server

import (
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// responseID begins the id of a response; what follows is its turn's.
const responseID = "resp_"

// createResponse is OpenAI's POST /v1/responses. A response is kept, as a turn of
// a chat, where the client wants it (store, which is on unless it is off) and
// tells no conversation of its own; one that goes on from another is the next turn
// of that one's chat, or a branch of it.
func createResponse(s *Server, w http.ResponseWriter, r *http.Request) error {
	in, err := readWire(w, r, dialect.Responses)
	if err != nil {
		return err
	}
	if in.ThreadID != "" {
		return fieldFault(fault.Usage, "conversation", "conversations have no ids here; previous_response_id goes on from a response")
	}
	last, err := s.resolve(r, in)
	if err != nil {
		return err
	}
	req, err := compatRequest(r, in)
	if err != nil {
		return err
	}
	stores := in.Store == nil || *in.Store
	if in.PreviousID == "" && last != "" && stores {
		if err := s.follows(r.Context(), last, &req); err != nil {
			return err
		}
	}
	if in.PreviousID != "" {
		if err := s.goOn(r, in, &req); err != nil {
			return err
		}
	} else {
		req.Ephemeral = !stores || len(req.History) > 0
	}
	s.prepareCompat(&req)
	return s.answerTurn(w, r, in, req)
}

// goOn finds the response that a request goes on from.
func (s *Server) goOn(r *http.Request, in *dialect.Request, req *engine.TurnRequest) error {
	const field = "previous_response_id"
	turn, ok := strings.CutPrefix(in.PreviousID, responseID)
	if !ok || !isID(turn) {
		return fieldFault(fault.NotFound, field, "there is no response "+quoted(in.PreviousID))
	}
	chat, message, err := s.eng.TurnAnswer(r.Context(), store.TurnID(turn))
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return fieldFault(fault.NotFound, field, "there is no response "+quoted(in.PreviousID)+"; it was not to be stored, or is deleted")
	case err != nil:
		return err
	case in.Store != nil && !*in.Store:
		return fieldFault(fault.Usage, "store", "a response that goes on from another is kept with it; leave store out")
	case len(req.History) > 0:
		return fieldFault(fault.Usage, "input", "what was said before is known by previous_response_id; send what is new alone")
	}
	req.Chat = store.ChatRef{ID: chat, Parent: message}
	return nil
}
