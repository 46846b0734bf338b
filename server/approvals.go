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
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/consent"
)

// approval is a call that waits for a person. Its nonce is for this call alone:
// whoever sends it has seen the tool and the arguments that it was given with.
type approval struct {
	ask     event.ConfirmRequest
	seq     event.Seq // of the event that asks
	nonce   string
	version string // of the tool, when it was asked
	expires time.Time
	settled *settlement // nil while it waits
	timer   *time.Timer
}

// settlement is how an approval ended, for whoever comes too late.
type settlement struct {
	decision event.Decision
	by       string
	at       time.Time
}

// settle ends it for good. The caller has the lock of liveTurns.
func (a *approval) settle(by settlement) {
	a.settled = &by
	if a.timer != nil {
		a.timer.Stop()
	}
}

// late is what somebody is told whose answer comes after another one.
func (a *approval) late() error {
	done := "denied"
	if a.settled.decision.Allows() {
		done = "allowed"
	}
	f := fault.New(fault.Busy, "the call of "+clean(a.ask.Tool)+" was "+done+" already, by "+a.settled.by)
	f.Detail = []string{
		"decision " + string(a.settled.decision), "by " + a.settled.by, "at " + a.settled.at.UTC().Format(time.RFC3339),
	}
	return f
}

// maxOldApprovals bounds how many approvals of ended turns are remembered, for
// answers that come late.
const maxOldApprovals = 256

// oldApprovals are the last ones of turns that have ended, the oldest first. The
// lock of liveTurns guards them.
type oldApprovals []oldApproval

type oldApproval struct {
	turn store.TurnID
	*approval
}

func (o *oldApprovals) add(id store.TurnID, a *approval) {
	kept := *a                               // followers may still be showing a
	kept.ask.Input, kept.ask.Form = nil, nil // which may be large, and aren't asked for any more
	if *o = append(*o, oldApproval{id, &kept}); len(*o) > maxOldApprovals {
		*o = slices.Clone((*o)[len(*o)-maxOldApprovals:])
	}
}

// approval finds one, also of a turn that has ended. The caller has the lock.
func (l *liveTurns) approval(id store.TurnID, useID string) *approval {
	if t := l.turns[id]; t != nil {
		return t.asks[useID]
	}
	for _, a := range l.old {
		if a.turn == id && a.ask.ToolUseID == useID {
			return a.approval
		}
	}
	return nil
}

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

func (a *approval) json(turn store.TurnID) approvalJSON {
	return approvalJSON{
		Type: "approval", TurnID: string(turn), ToolUseID: a.ask.ToolUseID, Tool: a.ask.Tool, ToolID: a.ask.ToolID,
		Input: a.ask.Input, Arguments: argumentsOf(a.ask.Input), Reason: a.ask.Reason, Reach: consent.Line(a.ask.Reach), Rule: a.ask.Rule, RuleText: consent.Line(a.ask.Rule), Form: shownForm(a.ask.Form), Review: a.ask.Review, Nonce: a.nonce, ExpiresAt: a.expires,
	}
}

// ask gives the approval of a confirm_request; whoever reads that event first
// makes it, and asks the store for it, while others wait. nil says that it was
// answered, or that the turn has ended.
func (s *Server) ask(id store.TurnID, seq event.Seq, ask event.ConfirmRequest) *approval {
	t := s.live.turn(id)
	if t == nil {
		return nil
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	a, known := s.live.asked(t, ask.ToolUseID)
	if !known {
		a = &approval{ask: ask, seq: seq, nonce: rand.Text(), version: s.versionOf(ask.ToolID), expires: s.now().Add(s.o.ApprovalTime)}
		if !s.live.wait(t, a, func() *time.Timer {
			return time.AfterFunc(s.o.ApprovalTime, func() { s.runOut(id, a) })
		}) {
			return nil
		}
	}
	return a
}

// asked gives the approval of a call that waits for one. known also says so of one
// that is settled.
func (l *liveTurns) asked(t *liveTurn, useID string) (a *approval, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a, known = t.asks[useID]; known && a.settled != nil {
		return nil, true
	}
	return a, known
}

// wait has an approval wait, for a time where its turn isn't a command's, unless the
// turn has ended meanwhile.
func (l *liveTurns) wait(t *liveTurn, a *approval, start func() *time.Timer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turns[t.id] != t {
		return false
	}
	if !t.owned {
		a.timer = start()
	}
	t.asks[a.ask.ToolUseID] = a
	return true
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
func (s *Server) settled(id store.TurnID, b event.ConfirmResult) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if t := s.live.turns[id]; t != nil && t.asks[b.ToolUseID] != nil && t.asks[b.ToolUseID].settled == nil {
		t.asks[b.ToolUseID].settle(settlement{decision: b.Decision, by: "this process", at: s.now()})
	}
}

// runOut denies an approval that nobody answered.
func (s *Server) runOut(id store.TurnID, a *approval) {
	s.live.mu.Lock()
	late := a.settled != nil
	if !late {
		a.settle(settlement{decision: event.Deny, by: "the time limit of " + s.o.ApprovalTime.String(), at: s.now()})
	}
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

// maxReason bounds what a person tells the model with an answer.
const maxReason = 8 << 10

func confirmTurn(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body confirmBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.confirm(w, r, claim{Confirmation: body.confirmation(), nonce: body.Nonce, shown: true})
}

// answerCall answers an approval without its nonce: whoever is at the socket is the
// user, and has seen the call in the stream.
func answerCall(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body answerBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.confirm(w, r, claim{Confirmation: body.confirmation()})
}

// confirm takes one answer for the turn that the path names.
func (s *Server) confirm(w http.ResponseWriter, r *http.Request, c claim) error {
	id, err := turnOf(r)
	if err != nil {
		return err
	}
	switch {
	case !slices.Contains([]event.Decision{event.Allow, event.AllowChat, event.AllowAlways, event.Deny}, c.Decision):
		return fault.New(fault.Usage, "decision has to be allow, allow_chat, allow_always or deny")
	case len(c.Reason) > maxReason:
		return errLongReason()
	}
	if _, err := s.answer(r, id, []claim{c}); err != nil {
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

// claim is one answer.
type claim struct {
	engine.Confirmation
	// nonce has to be the approval's where shown is set: the client's format has a
	// place for it.
	nonce string
	shown bool
}

// answer takes approvals, all or none: the first who comes has them, for good. The
// turn then hears of it, whatever becomes of the client. last is the last event
// that asked.
func (s *Server) answer(r *http.Request, id store.TurnID, claims []claim) (last event.Seq, err error) {
	if last, err = s.take(r, id, claims); err != nil {
		return 0, err
	}
	for _, c := range claims {
		if err := s.turns.Confirm(context.WithoutCancel(r.Context()), id, c.Confirmation); err != nil {
			return 0, err
		}
	}
	return last, nil
}

// take settles the approvals, and gives the last event that asks.
func (s *Server) take(r *http.Request, id store.TurnID, claims []claim) (last event.Seq, err error) {
	asks, versions := make([]*approval, len(claims)), make([]string, len(claims))
	s.live.mu.Lock()
	for i, c := range claims {
		asks[i] = s.live.approval(id, c.ToolUseID)
	}
	s.live.mu.Unlock()
	for i, c := range claims {
		if asks[i] == nil {
			return 0, fault.New(fault.NotFound, "turn "+string(id)+" asks about no such call")
		}
		if _, err := c.Fit(&asks[i].ask); err != nil {
			return 0, err // and the question stays
		}
		if c.Decision.Allows() {
			versions[i] = s.versionOf(asks[i].ask.ToolID) // outside of the lock: it reads the store
		}
	}
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	for i, c := range claims {
		a := asks[i]
		switch {
		case c.shown && subtle.ConstantTimeCompare([]byte(a.nonce), []byte(c.nonce)) != 1:
			return 0, fault.New(fault.Usage, "the nonce is not that of this call")
		case a.settled != nil:
			return 0, a.late()
		case c.Decision.Allows() && versions[i] != a.version:
			return 0, fault.New(fault.Busy, "the toolset was changed since the call was shown; it can only be denied")
		}
	}
	for i, c := range claims {
		asks[i].settle(settlement{decision: c.Decision, by: "request " + requestID(r), at: s.now()})
		last = max(last, asks[i].seq)
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
	s.live.mu.Lock()
	if t := s.live.turns[id]; t != nil {
		for _, a := range t.asks {
			if a.settled == nil {
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
