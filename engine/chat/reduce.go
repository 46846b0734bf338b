package chat

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

// Reducer turns a turn's events into what the turn adds to its chat: the
// answer and the records of its tool calls. A live turn and a fold use the
// same one, so that what a model is sent in mid-turn is what is kept.
type Reducer struct {
	accept *Acceptance
	Parts  []provider.Part
	open   provider.PartKind // the kind of the part that text is added to
	agent  string
	text   strings.Builder
	Step   int
	Calls  []ToolCall
	ByUse  map[string]int // tool_use_id → place in calls
	Answer Message
	Last   event.Event
	// stopDetail is the provider's own word for the last stop reason.
	stopDetail string
	// Summaries are those that the turn has made of the messages before it.
	Summaries []event.Summary
}

// NewReducer makes a Reducer of a turn that has been accepted.
func NewReducer(a *Acceptance) *Reducer {
	return &Reducer{
		accept: a,
		ByUse:  map[string]int{},
		Answer: Message{
			ChatID: a.Chat.ID, ID: a.MessageID, ParentID: a.UserMessageID, TurnID: a.TurnID,
			Role: provider.Assistant, Status: Unfinished, Model: a.Model, CreatedAt: a.Time,
			ManifestID: a.ManifestID, Plan: a.Plan,
		},
	}
}

// Add takes the next event. Events come in order, each once.
func (r *Reducer) Add(e event.Event) {
	r.Last = e
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
		r.Answer.Citations = append(r.Answer.Citations, b.Annotations...)
	case event.Footnote:
		r.Answer.Notes = append(r.Answer.Notes, b.Text)
	case event.Prompted:
		r.Answer.Usage = r.Answer.Usage.Add(b.Usage)
	case event.Summary:
		r.Answer.Usage = r.Answer.Usage.Add(b.Usage)
		if b.Text != "" && b.MessageID != "" {
			r.Summaries = append(r.Summaries, b)
		}
	case event.Meta:
		r.Answer.Usage = r.Answer.Usage.Add(b.Usage)
		r.Answer.StopReason, r.stopDetail = b.StopReason, b.StopDetail
		if b.Model != "" {
			r.Answer.Model = b.Model
		}
		r.flush()
		r.sign(b)
		r.Step++
	case event.Complete:
		r.Leave()
		r.Answer.Status = Answered
		r.Answer.SuggestedValues = b.Payload.SuggestedValues
		r.Answer.SuggestedActions = b.Payload.SuggestedActions
	case event.Cancelled:
		r.Answer.Status = Stopped
	case event.Error:
		r.Answer.Status, r.Answer.Error = Failed, &b
		if b.Code == string(fault.Interrupted) {
			r.Answer.Status = CutShort
		}
	}
}

func (r *Reducer) write(kind provider.PartKind, text, agent string) {
	if r.open != kind || r.agent != agent {
		r.flush()
		r.open, r.agent = kind, agent
	}
	r.text.WriteString(text)
}

// reason keeps a signed part apart from others, since it is passed back whole.
func (r *Reducer) reason(b event.Reasoning) {
	if b.Said {
		r.write(provider.AgentTextPart, b.Text, b.Agent)
		return
	}
	r.write(provider.ReasoningPart, b.Text, b.Agent)
	if len(b.Details) > 0 {
		r.flush()
		r.Parts = append(r.Parts, provider.Part{
			Kind: provider.ReasoningPart, Step: r.Step, Details: b.Details,
		})
	}
}

// mark adds a part of its own.
func (r *Reducer) mark(p provider.Part) {
	r.flush()
	p.Step = r.Step
	r.Parts = append(r.Parts, p)
}

// shown keeps a payload at its place: of a tool with its call, of the model in
// the response that it wrote.
func (r *Reducer) shown(b event.Payload) {
	r.mark(provider.Part{Kind: provider.PayloadPart, Payload: &provider.Payload{
		ID: b.PayloadID, Type: b.Kind, Data: b.Data, Source: b.Source, Toolset: b.Toolset, Title: b.Title, RenderPlan: b.RenderPlan,
	}})
	if b.Source == payloads.FromTool {
		r.Parts[len(r.Parts)-1].Step = r.callStep()
	}
}

// sign records in the reasoning of a response that has ended which model made it and in
// which field it came. That of a response that was cut off gets neither, and is never sent
// back.
func (r *Reducer) sign(m event.Meta) {
	for i := len(r.Parts) - 1; i >= 0 && r.Parts[i].Step == r.Step; i-- {
		switch p := &r.Parts[i]; {
		case len(p.Details) > 0:
			p.Model = m.Model
		case p.Kind == provider.ReasoningPart && m.ReasoningField != "":
			p.Model, p.Field = m.Model, m.ReasoningField
		}
	}
}

// flush closes the part that text was added to.
func (r *Reducer) flush() {
	if r.text.Len() > 0 {
		r.Parts = append(r.Parts, provider.Part{
			Kind: r.open, Step: r.Step, Text: r.text.String(), Agent: r.agent,
		})
	}
	r.text.Reset()
	r.open, r.agent = "", ""
}

// callStep is the step whose response asked for the calls: the one that the
// last meta event closed.
func (r *Reducer) callStep() int { return max(0, r.Step-1) }

func (r *Reducer) startCall(at time.Time, b event.ToolStart) {
	r.flush()
	r.ByUse[b.ToolUseID] = len(r.Calls)
	r.Calls = append(r.Calls, ToolCall{
		ID: b.CallID, ChatID: r.accept.Chat.ID, MessageID: r.accept.MessageID, TurnID: r.accept.TurnID,
		ToolUseID: b.ToolUseID, ToolID: b.ToolID, Args: b.Input, Status: event.CallRunning,
		StartedAt: at, Index: b.Index, AppOf: r.accept.App, PreManifestID: b.PreManifestID,
	})
	if b.PreManifestID != "" {
		r.Answer.ManifestID = b.PreManifestID
	}
	p := provider.Part{
		Kind: provider.ToolCallPart, Step: r.callStep(), Agent: b.Agent,
		Call: &provider.ToolCall{ID: b.ToolUseID, Name: b.ToolID, Args: b.Input, Extra: b.Extra, ClientForm: b.ClientForm},
	}
	if len(b.Extra) > 0 {
		p.Model = r.Answer.Model
	}
	r.Parts = append(r.Parts, p)
}

func (r *Reducer) endCall(at time.Time, b event.ToolComplete) {
	r.flush()
	i, ok := r.ByUse[b.ToolUseID]
	if !ok {
		return // a complete without its start: nothing to answer
	}
	c := &r.Calls[i]
	c.Status, c.Error, c.FinishedAt = b.Status, b.Error, &at
	if b.PostManifestID != "" {
		r.Answer.ManifestID = b.PostManifestID
	}
	c.WorkspacePlan = b.WorkspacePlan
	c.RenderPlan, c.PreManifestID, c.PostManifestID = b.RenderPlan, b.PreManifestID, b.PostManifestID
	c.Result, _ = record.Marshal(map[string]any{ // plain strings and valid JSON can't fail
		"text": b.Result, "data": orNull(b.Data), "workspace_payload": orNull(b.WorkspacePayload),
		"payload": orNull(b.Payload),
	})
	r.Parts = append(r.Parts, provider.Part{
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

// Leave marks the calls that a whole turn leaves to the client.
func (r *Reducer) Leave() {
	for i := range r.Calls {
		if r.Calls[i].FinishedAt == nil && IsClientTool(r.Calls[i].ToolID) {
			r.Calls[i].Status = event.CallPending
		}
	}
}

// OpenCalls gives a result to each call that has started and has none.
func (r *Reducer) OpenCalls(why, result string) []event.Body {
	var bodies []event.Body
	for _, c := range r.Calls {
		if c.FinishedAt == nil {
			bodies = append(bodies, event.ToolComplete{
				Tool: BareID(c.ToolID), ToolID: c.ToolID, Index: c.Index, ToolUseID: c.ToolUseID, CallID: c.ID,
				Status: event.CallError, Error: why, Result: result, RenderPlan: FailedPlan(why, ""), PreManifestID: c.PreManifestID,
			})
		}
	}
	return bodies
}

// Interrupt gives the events that a turn lacks whose owner died: a result for
// each call that had started, and the end. It gives none for a whole turn.
func (r *Reducer) Interrupt(at time.Time) []event.Event {
	if r.Last.Body != nil && r.Last.Ends() {
		return nil
	}
	bodies := append(r.OpenCalls("interrupted", "error: the call was interrupted; it may have done part of its work"),
		event.Error{Message: "the turn was cut short", Code: string(fault.Interrupted), Retryable: true})
	events := make([]event.Event, len(bodies))
	for i, b := range bodies {
		events[i] = event.Event{
			TurnID: r.accept.TurnID, Seq: r.Last.Seq + event.Seq(i) + 1, Time: at, Body: b,
		}
	}
	return events
}

// BareID returns a tool id without its toolset.
func BareID(toolID string) string {
	if i := strings.LastIndexByte(toolID, ':'); i >= 0 {
		return toolID[i+1:]
	}
	return toolID
}

// Message is the answer as far as it came.
func (r *Reducer) Message() Message {
	r.flush()
	m := r.Answer
	m.Parts, m.StateUnknown = r.Parts, r.stateUnknown()
	return m
}

// stateUnknown reports that the last call that ran has no state after it; where none
// ran, the turn leaves that as it was.
func (r *Reducer) stateUnknown() bool {
	for _, c := range slices.Backward(r.Calls) {
		if c.PreManifestID != "" {
			return c.PostManifestID == ""
		}
	}
	return r.accept.StateUnknown
}
