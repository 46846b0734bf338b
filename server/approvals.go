package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/server/asking"
)

// approvalJSON is an approval as clients see it, in a list and in a stream.
type approvalJSON struct {
	Type      string          `json:"type"` // approval
	TurnID    string          `json:"turn_id"`
	ToolUseID string          `json:"tool_use_id"`
	Tool      string          `json:"tool"`
	ToolID    string          `json:"tool_id"`
	Input     json.RawMessage `json:"input"`
	// Arguments are those of Input as a user has to see them: in their order, with
	// blanks counted and hidden characters written out.
	Arguments []consent.Argument `json:"arguments"`
	Reason    string             `json:"reason"`
	// Reach describes what the call can read, change and connect to, in words that
	// follow "may".
	Reach string `json:"reach,omitempty"`
	Rule  string `json:"rule,omitempty"`
	// RuleText is Rule as a user has to see it.
	RuleText string      `json:"rule_text,omitempty"`
	Form     *event.Form `json:"form,omitempty"`
	// Review has the changes that the call has made and that wait to be applied.
	Review    *event.Review `json:"review,omitempty"`
	Nonce     string        `json:"nonce"`
	ExpiresAt time.Time     `json:"expires_at"`
}

// argumentsOf are the arguments of a call, fit to be shown; never nil, since clients get
// them as a list.
func argumentsOf(input json.RawMessage) []consent.Argument {
	if args := consent.Read(input).Arguments; args != nil {
		return args
	}
	return []consent.Argument{}
}

func approvalOf(a *asking.Question, turn store.TurnID) approvalJSON {
	return approvalJSON{
		Type: "approval", TurnID: string(turn), ToolUseID: a.Ask.ToolUseID, Tool: a.Ask.Tool, ToolID: a.Ask.ToolID,
		Input: a.Ask.Input, Arguments: argumentsOf(a.Ask.Input), Reason: a.Ask.Reason, Reach: consent.Line(a.Ask.Reach), Rule: a.Ask.Rule, RuleText: consent.Line(a.Ask.Rule), Form: shownForm(a.Ask.Form), Review: a.Ask.Review, Nonce: a.Nonce, ExpiresAt: a.Expires,
	}
}

// questions returns the questions of a turn that is to begin.
func (s *Server) questions(id store.TurnID) *asking.Questions {
	return asking.New(asking.Options{Turns: s.eng, Turn: id, Limit: s.o.ApprovalTime, Now: s.now, Log: s.log})
}

// ask returns the approval of a confirm_request; nil for one that was answered, and for a
// turn that has ended.
func (s *Server) ask(id store.TurnID, seq event.Seq, ask event.ConfirmRequest) *asking.Question {
	t := s.live.turn(id)
	if t == nil {
		return nil
	}
	return t.asks.Put(s.streams, ask, seq, s.versionOf)
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
	info, err := s.eng.InstalledToolset(ctx, set)
	if err != nil {
		return "gone"
	}
	return info.Toolset.Hash
}

// answerBody answers an approval.
type answerBody struct {
	ToolUseID string         `json:"tool_use_id"`
	Decision  event.Decision `json:"decision"`
	Reason    string         `json:"reason,omitempty"`
	// Content is what a form is filled in with.
	Content json.RawMessage `json:"content,omitempty"`
	// All and Only answer a review: all applies all changes, only those of the paths that it
	// names, as the review has them. A decision to allow needs one of them.
	All  bool      `json:"all,omitempty"`
	Only *[]string `json:"only,omitempty"`
}

// confirmBody answers one whose nonce the client was told.
type confirmBody struct {
	answerBody
	Nonce string `json:"nonce"`
}

func confirmTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body confirmBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.confirm(w, r, asking.Answer{Confirmation: body.confirmation(), Nonce: body.Nonce, Shown: true})
}

// answerCall answers an approval without its nonce: whoever is at the socket is the
// user, and has seen the call in the stream.
func answerCall(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body answerBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.confirm(w, r, asking.Answer{Confirmation: body.confirmation()})
}

// confirm takes one answer for the turn that the path names.
func (s *Server) confirm(w http.ResponseWriter, r *http.Request, c asking.Answer) error {
	id, err := turnOf(r)
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains([]event.Decision{event.Allow, event.AllowChat, event.AllowAlways, event.Deny}, c.Decision):
		return fault.New(fault.Usage, "decision has to be allow, allow_chat, allow_always or deny")
	case len(c.Reason) > asking.MaxReason:
		return errLongReason()
	}
	if _, err := s.answer(r, id, []asking.Answer{c}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func errLongReason() error { return fault.New(fault.Usage, "reason is too long") }

func (b *answerBody) confirmation() engine.Confirmation {
	c := engine.Confirmation{ToolUseID: b.ToolUseID, Decision: b.Decision, Reason: b.Reason, Content: b.Content, All: b.All}
	if b.Only != nil {
		c.Only = append([]string{}, *b.Only...)
	}
	return c
}

// answer takes approvals, all or none: the first who comes has them, for good. The
// turn then gets the answers, whatever becomes of the client. last is the last event
// that asked.
func (s *Server) answer(r *http.Request, id store.TurnID, answers []asking.Answer) (last event.Seq, err error) {
	asks := s.live.questions(id)
	if asks == nil {
		return 0, asking.Unknown(id)
	}
	if last, err = asks.Take("request "+requestID(r), answers, s.versionOf); err != nil {
		return 0, err
	}
	for _, a := range answers {
		if err := s.eng.Confirm(context.WithoutCancel(r.Context()), id, a.Confirmation); err != nil {
			return 0, err
		}
	}
	return last, nil
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
	if t := s.live.turn(id); t != nil {
		for _, a := range t.asks.Waiting() {
			out.Approvals = append(out.Approvals, approvalOf(a, id))
		}
	}
	slices.SortFunc(out.Approvals, func(a, b approvalJSON) int {
		return a.ExpiresAt.Compare(b.ExpiresAt)*2 + bytes.Compare([]byte(a.ToolUseID), []byte(b.ToolUseID))
	})
	writeJSON(w, http.StatusOK, out)
	return nil
}
