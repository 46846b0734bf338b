package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
)

// approval is a call that waits for a person. Its nonce is for this call alone:
// whoever sends it has seen the tool and the arguments that it was given with.
type approval struct {
	ask      event.ConfirmRequest
	nonce    string
	version  string // of the tool, when it was asked
	expires  time.Time
	answered bool
	timer    *time.Timer
}

// close stops the clock. The caller has the lock of liveTurns.
func (a *approval) close() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// approvalJSON is an approval as clients see it, in a list and in a stream.
type approvalJSON struct {
	Type      string          `json:"type"` // approval
	TurnID    string          `json:"turn_id"`
	ToolUseID string          `json:"tool_use_id"`
	Tool      string          `json:"tool"`
	ToolID    string          `json:"tool_id"`
	Input     json.RawMessage `json:"input"`
	Reason    string          `json:"reason"`
	Rule      string          `json:"rule,omitempty"`
	Nonce     string          `json:"nonce"`
	ExpiresAt time.Time       `json:"expires_at"`
}

func (a *approval) json(turn engine.TurnID) approvalJSON {
	return approvalJSON{
		Type: "approval", TurnID: string(turn), ToolUseID: a.ask.ToolUseID, Tool: a.ask.Tool, ToolID: a.ask.ToolID,
		Input: a.ask.Input, Reason: a.ask.Reason, Rule: a.ask.Rule, Nonce: a.nonce, ExpiresAt: a.expires,
	}
}

// ask gives the approval of a confirm_request; whoever reads that event first
// makes it. nil says that it was answered, or that the turn has ended.
func (s *Server) ask(id engine.TurnID, ask event.ConfirmRequest) *approval {
	version := s.versionOf(ask.ToolID)
	l := s.live
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.turns[id]
	if t == nil {
		return nil
	}
	a := t.asks[ask.ToolUseID]
	if a == nil {
		a = &approval{ask: ask, nonce: rand.Text(), version: version, expires: s.now().Add(s.o.ApprovalTime)}
		if !t.owned {
			a.timer = time.AfterFunc(s.o.ApprovalTime, func() { s.runOut(id, a) })
		}
		t.asks[ask.ToolUseID] = a
	}
	if a.answered {
		return nil
	}
	return a
}

// versionOf is the revision of the toolset that a tool belongs to, as it is
// installed now; empty for a builtin.
func (s *Server) versionOf(toolID string) string {
	set, _, ok := strings.Cut(toolID, ":")
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(s.streams, jsonTime)
	defer cancel()
	info, err := s.toolsets.InstalledToolset(ctx, set)
	if err != nil {
		return "gone"
	}
	return info.Toolset.Hash
}

// settled notes that an approval was answered, by whomever.
func (s *Server) settled(id engine.TurnID, useID string) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if t := s.live.turns[id]; t != nil && t.asks[useID] != nil {
		t.asks[useID].answered = true
		t.asks[useID].close()
	}
}

// runOut denies an approval that nobody answered.
func (s *Server) runOut(id engine.TurnID, a *approval) {
	s.live.mu.Lock()
	late := a.answered
	a.answered = true
	s.live.mu.Unlock()
	if late {
		return
	}
	err := s.turns.Confirm(s.streams, id, engine.Confirmation{
		ToolUseID: a.ask.ToolUseID, Decision: event.Deny, Reason: "nobody answered within " + s.o.ApprovalTime.String(),
	})
	if err != nil && fault.CodeOf(err) != fault.NotFound { // a turn that has ended asks no more
		s.log.Error("an approval ran out and could not be denied", "turn", string(id), "error", clean(err.Error()))
	}
}

// confirmBody answers an approval.
type confirmBody struct {
	ToolUseID string         `json:"tool_use_id"`
	Nonce     string         `json:"nonce"`
	Decision  event.Decision `json:"decision"`
	Reason    string         `json:"reason,omitempty"`
}

// maxReason bounds what a person tells the model with an answer.
const maxReason = 8 << 10

func confirmTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := turnOf(r)
	if err != nil {
		return err
	}
	var body confirmBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]event.Decision{event.Allow, event.AllowChat, event.AllowAlways, event.Deny}, body.Decision):
		return fault.New(fault.Usage, "decision has to be allow, allow_chat, allow_always or deny")
	case len(body.Reason) > maxReason:
		return fault.New(fault.Usage, "reason is too long")
	}
	if err := s.answer(id, body); err != nil {
		return err
	}
	err = s.turns.Confirm(r.Context(), id, engine.Confirmation{
		ToolUseID: body.ToolUseID, Decision: body.Decision, Reason: body.Reason,
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// answer takes the approval: the first who has its nonce has it, for good.
func (s *Server) answer(id engine.TurnID, body confirmBody) error {
	version, ask := "", (*approval)(nil)
	s.live.mu.Lock()
	if t := s.live.turns[id]; t != nil {
		ask = t.asks[body.ToolUseID]
	}
	s.live.mu.Unlock()
	if ask == nil {
		return fault.New(fault.NotFound, "turn "+string(id)+" asks about no such call")
	}
	if body.Decision.Allows() {
		version = s.versionOf(ask.ask.ToolID) // outside of the lock: it reads the store
	}
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	switch {
	case subtle.ConstantTimeCompare([]byte(ask.nonce), []byte(body.Nonce)) != 1:
		return fault.New(fault.Usage, "the nonce is not that of this call")
	case ask.answered:
		return fault.New(fault.Busy, "the call was answered already")
	case body.Decision.Allows() && version != ask.version:
		return fault.New(fault.Busy, "the toolset was changed since the call was shown; it can only be denied")
	}
	ask.answered = true
	ask.close()
	return nil
}

// approvalsJSON is what list_approvals gives.
type approvalsJSON struct {
	Approvals []approvalJSON `json:"approvals"`
}

func listApprovals(s *Server, w http.ResponseWriter, r *http.Request) error {
	id, err := turnOf(r)
	if err != nil {
		return err
	}
	out := approvalsJSON{Approvals: []approvalJSON{}}
	s.live.mu.Lock()
	if t := s.live.turns[id]; t != nil {
		for _, a := range t.asks {
			if !a.answered {
				out.Approvals = append(out.Approvals, a.json(id))
			}
		}
	}
	s.live.mu.Unlock()
	slices.SortFunc(out.Approvals, func(a, b approvalJSON) int {
		return a.ExpiresAt.Compare(b.ExpiresAt)*2 + bytes.Compare([]byte(a.ToolUseID), []byte(b.ToolUseID))
	})
	writeJSON(w, http.StatusOK, out)
	return nil
}
