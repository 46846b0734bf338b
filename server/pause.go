package server

import (
	"net/http"
	"slices"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/asking"
	"github.com/fettle-cli/fettle/server/dialect"
)

// In the dialects that ask by a pause the stream ends where an approval is needed,
// and the client's next request answers it. The turn lives on meanwhile, as that
// of any client which goes away, and waits for the answer as long as it does for
// everybody: then the call is denied. So an approval by a pause is the same as any
// other, and whoever else follows the turn may answer it first.

// resumePaused answers what a turn of the thread waits for, and follows it from
// there.
func (s *Server) resumePaused(w http.ResponseWriter, r *http.Request, in *dialect.Request) error {
	turn, claims, err := claimsOf(in)
	if err != nil {
		return err
	}
	chat, known, err := s.eng.ThreadChat(r.Context(), string(in.Dialect)+":"+in.ThreadID)
	if err != nil {
		return err
	}
	s.live.mu.Lock()
	t := s.live.turns[turn]
	elsewhere := t != nil && t.chat.ID != chat
	s.live.mu.Unlock()
	if !known || elsewhere {
		return fault.New(fault.NotFound, "nothing in this conversation waits for that answer")
	}
	last, err := s.answer(r, turn, claims)
	if err != nil {
		return err
	}
	f := wireStream(turn, chat, in)
	f.after, f.fromStart = last, true
	return s.stream(w, r, f)
}

// claimsOf are the answers of a request, which are all to one turn.
func claimsOf(in *dialect.Request) (turn store.TurnID, claims []asking.Answer, err error) {
	for _, a := range in.Answers {
		id, useID, ok := dialect.SplitApprovalID(a.ID)
		if !ok || !isID(id) || useID == "" {
			return "", nil, fault.New(fault.Usage, quoted(a.ID)+" is not the id of an approval")
		}
		if turn != "" && store.TurnID(id) != turn {
			return "", nil, fault.New(fault.Usage, "the answers are to approvals of several turns")
		}
		turn = store.TurnID(id)
		c := asking.Answer{Confirmation: engine.Confirmation{ToolUseID: useID, Decision: event.Deny, Reason: a.Reason}}
		switch {
		case !a.Approved:
		case a.Remember == "chat":
			c.Decision = event.AllowChat
		case a.Remember == "always":
			c.Decision = event.AllowAlways
		default:
			c.Decision = event.Allow
		}
		if slices.ContainsFunc(claims, func(other asking.Answer) bool { return other.ToolUseID == useID }) {
			return "", nil, fault.New(fault.Usage, "the approval "+quoted(a.ID)+" is answered twice")
		}
		if len(c.Reason) > asking.MaxReason {
			return "", nil, errLongReason()
		}
		claims = append(claims, c)
	}
	return turn, claims, nil
}

// pause notes that the client of a turn answers by another request.
func (l *liveTurns) pause(id store.TurnID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.turns[id]; t != nil {
		t.pauses = true
	}
}

// paused tells how the stream of a turn is written for a client that comes back to
// it: whether approvals end it, and up to which event they have their answers.
func (l *liveTurns) paused(id store.TurnID) (pauses bool, settled event.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.turns[id]
	if t == nil {
		return false, 0
	}
	settled = t.news.last()
	for _, a := range t.asks.Waiting() {
		settled = min(settled, a.Seq-1)
	}
	return t.pauses, settled
}
