package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/record"
)

// reducer turns a turn's events into what the turn adds to its chat: the
// answer and the records of its tool calls. A live turn and a fold use the
// same one, so that what a model is told in mid-turn is what is kept.
type reducer struct {
	accept *acceptance
	parts  []provider.Part
	open   provider.PartKind // the kind of the part that text is added to
	agent  string
	text   strings.Builder
	step   int
	calls  []ToolCall
	byUse  map[string]int // tool_use_id → place in calls
	answer Message
	last   event.Event
	// stopDetail is the provider's own word for the last stop reason.
	stopDetail string
	// summaries are those that the turn has made of the messages before it.
	summaries []event.Summary
}

func newReducer(a *acceptance) *reducer {
	return &reducer{
		accept: a,
		byUse:  map[string]int{},
		answer: Message{
			ChatID: a.Chat.ID, ID: a.MessageID, ParentID: a.UserMessageID, TurnID: a.TurnID,
			Role: provider.Assistant, Status: Unfinished, Model: a.Model, CreatedAt: a.Time,
			ManifestID: a.ManifestID, Plan: a.Plan,
		},
	}
}

// add takes the next event. Events come in order, each once.
func (r *reducer) add(e event.Event) {
	r.last = e
	switch b := e.Body.(type) {
	case event.TextDelta:
		r.write(provider.TextPart, b.Text, b.Agent)
	case event.Reasoning:
		r.reason(b)
	case event.AgentStart:
		r.mark(provider.Part{Kind: provider.AgentStartPart, Agent: b.Agent})
	case event.Handoff:
		r.mark(provider.Part{Kind: provider.HandoffPart, Agent: b.From, Name: b.To, Text: b.Reason})
	case event.ToolStart:
		r.startCall(e.Time, b)
	case event.ToolComplete:
		r.endCall(e.Time, b)
	case event.Payload:
		r.shown(b)
	case event.Annotations:
		r.answer.Citations = append(r.answer.Citations, b.Annotations...)
	case event.Footnote:
		r.answer.Notes = append(r.answer.Notes, b.Text)
	case event.Prompted:
		r.answer.Usage = r.answer.Usage.Add(b.Usage)
	case event.Summary:
		r.answer.Usage = r.answer.Usage.Add(b.Usage)
		if b.Text != "" && b.MessageID != "" {
			r.summaries = append(r.summaries, b)
		}
	case event.Meta:
		r.answer.Usage = r.answer.Usage.Add(b.Usage)
		r.answer.StopReason, r.stopDetail = b.StopReason, b.StopDetail
		if b.Model != "" {
			r.answer.Model = b.Model
		}
		r.flush()
		r.sign(b)
		r.step++
	case event.Complete:
		r.leave()
		r.answer.Status = Answered
		r.answer.SuggestedValues = b.Payload.SuggestedValues
		r.answer.SuggestedActions = b.Payload.SuggestedActions
	case event.Cancelled:
		r.answer.Status = Stopped
	case event.Error:
		r.answer.Status, r.answer.Error = Failed, &b
		if b.Code == string(fault.Interrupted) {
			r.answer.Status = CutShort
		}
	}
}

func (r *reducer) write(kind provider.PartKind, text, agent string) {
	if r.open != kind || r.agent != agent {
		r.flush()
		r.open, r.agent = kind, agent
	}
	r.text.WriteString(text)
}

// reason keeps a signed part apart from others, since it is passed back whole.
func (r *reducer) reason(b event.Reasoning) {
	if b.Said {
		r.write(provider.AgentTextPart, b.Text, b.Agent)
		return
	}
	r.write(provider.ReasoningPart, b.Text, b.Agent)
	if len(b.Details) > 0 {
		r.flush()
		r.parts = append(r.parts, provider.Part{
			Kind: provider.ReasoningPart, Step: r.step, Details: b.Details,
		})
	}
}

// mark adds a part that stands for itself.
func (r *reducer) mark(p provider.Part) {
	r.flush()
	p.Step = r.step
	r.parts = append(r.parts, p)
}

// shown keeps a payload at its place: of a tool with its call, of the model in
// the response that it wrote.
func (r *reducer) shown(b event.Payload) {
	r.mark(provider.Part{Kind: provider.PayloadPart, Payload: &provider.Payload{
		ID: b.PayloadID, Type: b.Kind, Data: b.Data, Source: b.Source, Toolset: b.Toolset, Title: b.Title, RenderPlan: b.RenderPlan,
	}})
	if b.Source == payloads.FromTool {
		r.parts[len(r.parts)-1].Step = r.callStep()
	}
}

// sign records in the reasoning of a response that has ended which model made it and in
// which field it came. That of a response that was cut off gets neither, and is never sent
// back.
func (r *reducer) sign(m event.Meta) {
	for i := len(r.parts) - 1; i >= 0 && r.parts[i].Step == r.step; i-- {
		switch p := &r.parts[i]; {
		case len(p.Details) > 0:
			p.Model = m.Model
		case p.Kind == provider.ReasoningPart && m.ReasoningField != "":
			p.Model, p.Field = m.Model, m.ReasoningField
		}
	}
}

// flush closes the part that text was added to.
func (r *reducer) flush() {
	if r.text.Len() > 0 {
		r.parts = append(r.parts, provider.Part{
			Kind: r.open, Step: r.step, Text: r.text.String(), Agent: r.agent,
		})
	}
	r.text.Reset()
	r.open, r.agent = "", ""
}

// callStep is the step whose response asked for the calls: the one that the
// last meta event closed.
func (r *reducer) callStep() int { return max(0, r.step-1) }

func (r *reducer) startCall(at time.Time, b event.ToolStart) {
	r.flush()
	r.byUse[b.ToolUseID] = len(r.calls)
	r.calls = append(r.calls, ToolCall{
		ID: b.CallID, ChatID: r.accept.Chat.ID, MessageID: r.accept.MessageID, TurnID: r.accept.TurnID,
		ToolUseID: b.ToolUseID, ToolID: b.ToolID, Args: b.Input, Status: event.CallRunning,
		StartedAt: at, Index: b.Index, AppOf: r.accept.App, PreManifestID: b.PreManifestID,
	})
	if b.PreManifestID != "" {
		r.answer.ManifestID = b.PreManifestID
	}
	p := provider.Part{
		Kind: provider.ToolCallPart, Step: r.callStep(), Agent: b.Agent,
		Call: &provider.ToolCall{ID: b.ToolUseID, Name: b.ToolID, Args: b.Input, Extra: b.Extra, ClientForm: b.ClientForm},
	}
	if len(b.Extra) > 0 {
		p.Model = r.answer.Model
	}
	r.parts = append(r.parts, p)
}

func (r *reducer) endCall(at time.Time, b event.ToolComplete) {
	r.flush()
	i, ok := r.byUse[b.ToolUseID]
	if !ok {
		return // a complete without its start: nothing to answer
	}
	c := &r.calls[i]
	c.Status, c.Error, c.FinishedAt = b.Status, b.Error, &at
	if b.PostManifestID != "" {
		r.answer.ManifestID = b.PostManifestID
	}
	c.WorkspacePlan = b.WorkspacePlan
	c.RenderPlan, c.PreManifestID, c.PostManifestID = b.RenderPlan, b.PreManifestID, b.PostManifestID
	c.Result, _ = record.Marshal(map[string]any{ // plain strings and valid JSON can't fail
		"text": b.Result, "data": orNull(b.Data), "workspace_payload": orNull(b.WorkspacePayload),
		"payload": orNull(b.Payload),
	})
	r.parts = append(r.parts, provider.Part{
		Kind: provider.ToolResultPart, Step: r.callStep(),
		Result: &provider.ToolResult{
			ID: b.ToolUseID, Name: b.ToolID, Text: b.Result, Error: b.Status == event.CallError, Outside: b.Outside,
			Media: mediaParts(b.Media),
		},
	})
}

// mediaParts converts the images and sounds of a call's end to parts.
func mediaParts(all []event.Media) []provider.Part {
	var out []provider.Part
	for _, m := range all {
		kind := provider.ImagePart
		if strings.HasPrefix(m.MIME, "audio/") {
			kind = provider.AudioPart
		}
		out = append(out, provider.Part{Kind: kind, MIME: m.MIME, Data: m.Data})
	}
	return out
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// leave marks the calls that a whole turn leaves to the client.
func (r *reducer) leave() {
	for i := range r.calls {
		if r.calls[i].FinishedAt == nil && isClientTool(r.calls[i].ToolID) {
			r.calls[i].Status = event.CallPending
		}
	}
}

// openCalls gives a result to each call that has started and has none.
func (r *reducer) openCalls(why, result string) []event.Body {
	var bodies []event.Body
	for _, c := range r.calls {
		if c.FinishedAt == nil {
			bodies = append(bodies, event.ToolComplete{
				Tool: bareID(c.ToolID), ToolID: c.ToolID, Index: c.Index, ToolUseID: c.ToolUseID, CallID: c.ID,
				Status: event.CallError, Error: why, Result: result, RenderPlan: failedPlan(why, ""), PreManifestID: c.PreManifestID,
			})
		}
	}
	return bodies
}

// interrupt gives the events that a turn lacks whose owner died: a result for
// each call that had started, and the end. It gives none for a whole turn.
func (r *reducer) interrupt(at time.Time) []event.Event {
	if r.last.Body != nil && r.last.Ends() {
		return nil
	}
	bodies := append(r.openCalls("interrupted", "error: the call was interrupted; it may have done part of its work"),
		event.Error{Message: "the turn was cut short", Code: string(fault.Interrupted), Retryable: true})
	events := make([]event.Event, len(bodies))
	for i, b := range bodies {
		events[i] = event.Event{
			TurnID: r.accept.TurnID, Seq: r.last.Seq + event.Seq(i) + 1, Time: at, Body: b,
		}
	}
	return events
}

func bareID(toolID string) string {
	if i := strings.LastIndexByte(toolID, ':'); i >= 0 {
		return toolID[i+1:]
	}
	return toolID
}

// message is the answer as far as it came.
func (r *reducer) message() Message {
	r.flush()
	m := r.answer
	m.Parts, m.StateUnknown = r.parts, r.stateUnknown()
	return m
}

// stateUnknown tells that the last call that ran has no state after it; where none
// ran, the turn leaves that as it was.
func (r *reducer) stateUnknown() bool {
	for _, c := range slices.Backward(r.calls) {
		if c.PreManifestID != "" {
			return c.PostManifestID == ""
		}
	}
	return r.accept.StateUnknown
}
