package acp

import (
	"context"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/server/asking"
)

// run begins a turn and shows it to its end. The turn is the prompt's: what cancels
// the one cancels the other.
func (a *agent) run(r *request, s *session, start func(context.Context) (store.TurnID, error), steps ...planStep) (string, error) {
	id, err := start(r.ctx)
	if err != nil {
		return "", err
	}
	a.mu.Lock()
	r.turn = id
	a.mu.Unlock()
	a.started(s, id)
	return a.follow(r.ctx, s, id, steps)
}

// started tells the editor how the session is called now.
func (a *agent) started(s *session, id store.TurnID) {
	first := s.began()
	chat, ok := a.eng.TurnChat(id)
	if !ok {
		return
	}
	u := update{Kind: "session_info_update", UpdatedAt: stamp(a.o.Now())}
	if first {
		u.Title = sanitize.Line(chat.Title)
	}
	a.update(s, u)
}

// teller makes the teller of a turn.
func (a *agent) teller(ctx context.Context, s *session, turn string) *teller {
	return &teller{
		s: s, turn: turn, facts: a.toolFacts(ctx), notices: a.client.notices(), compaction: a.client.compaction(),
		diffs: func(pre, post string) ([]toolContent, []location) { return a.diffs(ctx, s, pre, post) },
	}
}

// follow shows a turn's events, and gives the reason why it stopped.
func (a *agent) follow(ctx context.Context, s *session, id store.TurnID, steps []planStep) (string, error) {
	alive := context.WithoutCancel(ctx)
	defer context.AfterFunc(ctx, func() { _ = a.eng.Cancel(alive, id) })() // one that has ended needs none
	t := a.teller(alive, s, string(id))
	t.withSteps(steps)
	for _, u := range t.plan() {
		a.update(s, u)
	}
	asks := &asker{agent: a, session: s, Questions: asking.New(asking.Options{Turns: a.eng, Turn: id, Limit: askTime, Now: a.o.Now, Log: a.log})}
	defer asks.End()
	var last event.Body
	for e, err := range a.eng.Follow(alive, id, 0) {
		if err != nil {
			return "", err
		}
		for _, u := range t.tell(e) {
			a.update(s, u)
		}
		switch b := e.Body.(type) {
		case event.ConfirmRequest:
			asks.ask(ctx, t, b)
		case event.ConfirmResult:
			asks.Settled(b)
		case event.Meta:
			a.answeredBy(s, b.Model)
		}
		last = e.Body
	}
	return a.ending(s, last)
}

// answeredBy notes the model that spoke, and tells the editor where fettle chose it.
func (a *agent) answeredBy(s *session, ref string) {
	s.mu.Lock()
	news := s.model == "" && s.answered != ref
	s.answered = ref
	s.mu.Unlock()
	if news {
		a.sayOptions(s)
	}
}

// ending is what a prompt is answered with. A failed turn is an error, which
// editors show as one; a limit that was reached is a reason to stop.
func (a *agent) ending(s *session, last event.Body) (string, error) {
	switch b := last.(type) {
	case event.Complete:
		switch b.Payload.StopReason {
		case "length":
			return stopTokens, nil
		case "refusal":
			return stopRefusal, nil
		}
		return stopEnd, nil
	case event.Cancelled:
		return stopCancelled, nil
	case event.Error:
		switch fault.Code(b.Code) {
		case fault.TurnLimit:
			a.notice(s, "warning", b.Message)
			return stopRequests, nil
		case fault.Interrupted:
			return stopCancelled, nil
		}
		return "", b.Fault()
	}
	return "", errNoAnswer
}

// askTime bounds the wait for a person. It is long: they may be at lunch, and the
// turn goes on where they come back.
const askTime = 12 * time.Hour

// asker asks the editor's user the questions of a turn.
type asker struct {
	*asking.Questions
	agent   *agent
	session *session
}

// ask asks the editor's person whether a call may run. The turn's other events go
// on meanwhile.
func (q *asker) ask(ctx context.Context, t *teller, c event.ConfirmRequest) {
	if (c.Form == nil || c.Rule != "") && q.session.denies(c.Rule) {
		q.Deliver(ctx, asking.Deny(c.ToolUseID, "calls like this one are rejected in this session"))
		return
	}
	if c.Form != nil {
		q.Show(ctx, c.ToolUseID, func(ctx context.Context) engine.Confirmation { return q.fill(ctx, c) })
		return
	}
	outputs, whole := q.session.asked(c)
	if c.Review != nil {
		outputs = append(outputs, q.session.reviewed(c.Review)...)
	}
	p := permissionParams{SessionID: q.session.id, Options: optionsOf(c, whole), ToolCall: update{
		ToolCallID: c.ToolUseID, Title: callTitle(c.Tool, c.Input), Name: sanitize.Line(c.ToolID), ToolKind: t.facts[c.ToolID].kind(c.ToolID),
		Status: "pending", Locations: q.session.locations(c.Input), RawInput: validRaw(c.Input), Outputs: outputs,
	}}
	q.Show(ctx, c.ToolUseID, func(ctx context.Context) engine.Confirmation {
		got, err := q.permission(ctx, p)
		if c.Review != nil && err == nil && got.Outcome.Outcome == "selected" {
			return q.reviewAnswer(ctx, c, p, got.Outcome.OptionID)
		}
		return q.decision(c, got, err)
	})
}

// permission asks the editor's user to choose an option.
func (q *asker) permission(ctx context.Context, p permissionParams) (got permissionResult, err error) {
	err = q.agent.conn.call(ctx, "session/request_permission", p, &got)
	return got, err
}

// decision reads an answer. No answer is a no.
func (q *asker) decision(c event.ConfirmRequest, got permissionResult, err error) engine.Confirmation {
	out := asking.Deny(c.ToolUseID, "")
	switch {
	case err != nil:
		q.agent.log.Warn("a permission could not be asked for", "error", sanitize.Line(err.Error()))
		out.Reason = "nobody answered"
	case got.Outcome.Outcome != "selected":
		out.Reason = "nobody answered"
	default:
		switch got.Outcome.OptionID {
		case optionOnce:
			out.Decision = event.Allow
		case optionChat:
			out.Decision = event.AllowChat
		case optionAlways:
			out.Decision = event.AllowAlways
		case optionNever:
			q.session.deny(c.Rule)
		}
	}
	return out
}

// The options of a permission.
const (
	optionOnce   = "allow"
	optionChat   = "allow_chat"
	optionAlways = "allow_always"
	optionReject = "reject"
	optionNever  = "reject_always"
)

// permissionOptions are the answers that a user can choose from. The rule that an answer
// makes is whole in its name. A rule that is too long for that, or for a call that was
// not shown whole, can't be made.
func permissionOptions(rule string, whole bool) []permissionOption {
	if rule = asking.Rule(rule, whole); rule == "" {
		return []permissionOption{{optionOnce, "Allow once", "allow_once"}, {optionReject, "Reject", "reject_once"}}
	}
	return []permissionOption{
		{optionOnce, "Allow once", "allow_once"},
		{optionChat, "Allow in this chat: " + rule, "allow_always"},
		{optionAlways, "Always allow: " + rule, "allow_always"},
		{optionReject, "Reject", "reject_once"},
		{optionNever, "Reject in this session: " + rule, "reject_always"},
	}
}

// optionsOf are the answers to a question. The changes of a call that has run are applied or
// discarded.
func optionsOf(c event.ConfirmRequest, whole bool) []permissionOption {
	if c.Review != nil {
		return reviewOptions(c.Review)
	}
	return permissionOptions(c.Rule, whole)
}

// planStep is a step of a workflow that a prompt runs.
type planStep struct {
	id, name string
	done     bool // by an earlier prompt
}

// withSteps makes the plan of a workflow's steps.
func (t *teller) withSteps(steps []planStep) {
	t.stepAt = map[string]int{}
	for _, s := range steps {
		t.stepAt[s.id] = len(t.steps)
		entry := planEntry{Content: s.name, Priority: "medium", Status: "pending"}
		if s.done {
			entry.Status = "completed"
		}
		t.steps = append(t.steps, entry)
	}
}
