package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// maxStepResults bounds what the steps of an instance give together: they are
// kept in one record, which a value of the store holds.
const maxStepResults = 8 << 20

// workflowRun is what a turn runs of a workflow. The turn's goroutine alone uses
// it once the turn is accepted.
type workflowRun struct {
	instance *store.WorkflowInstance
	// was is the turn before, before the record as it was then; empty and nil
	// in the first one.
	was    store.TurnID
	before *store.WorkflowInstance
	// prompt is what the agent of a step is asked, and begins is where its part
	// of the answer begins; nil where no agent's step runs.
	prompt *chat.Message
	begins int
}

// hasAgents tells whether a step that is left needs a model.
func (w *workflowRun) hasAgents() bool {
	for n, s := range w.instance.Workflow.Steps {
		if s.Agent != "" && w.instance.Steps[n].State != store.StepDone {
			return true
		}
	}
	return false
}

// asksNobody tells whether the turn needs no model.
func (r *TurnRequest) asksNobody() bool {
	return len(r.Calls) > 0 || r.workflow != nil && !r.workflow.hasAgents()
}

// bindWorkflow notes that this turn runs the instance, with the chat's lock
// held. Who was faster has gone on with it already.
func (t *turn) bindWorkflow(ctx context.Context) error {
	w := t.req.workflow
	if w == nil {
		return nil
	}
	i := w.instance
	i.ChatID = t.accept.Chat.ID
	if w.was != "" {
		err := t.eng.View(ctx, func(tx *kv.Tx) (err error) {
			w.before, err = t.eng.Tables.Workflows.Get(tx, kv.Str(i.ChatID).Str(i.ID))
			return err
		})
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return err
		}
		if err != nil || w.before.TurnID != w.was || w.before.State == store.WorkflowRunning || w.before.State == store.WorkflowCancelled {
			return fault.New(fault.Busy, "somebody else went on with the workflow "+i.ID, "fettle workflows show "+i.ID)
		}
	}
	i.TurnID, i.UpdatedAt = t.id, t.accept.Time
	return t.eng.SaveWorkflow(ctx, i)
}

// unbindWorkflow takes bindWorkflow back where the turn wasn't accepted.
func (t *turn) unbindWorkflow(ctx context.Context) error {
	w := t.req.workflow
	switch {
	case w == nil:
		return nil
	case w.before != nil:
		return t.eng.SaveWorkflow(ctx, w.before)
	}
	return t.eng.DropWorkflow(ctx, w.instance)
}

// runWorkflow runs the steps that are left, until one that is to be waited
// behind. What each gave is in the events before the next begins, so that a
// crash loses none that was done.
func (t *turn) runWorkflow(limit int) error {
	i := t.req.workflow.instance
	t.begun = true
	t.allTools = t.offer
	for {
		n := i.Next()
		if n < 0 {
			return t.emitWorkflow("", string(store.WorkflowComplete), nil)
		}
		step := &i.Workflow.Steps[n]
		if err := t.emitWorkflow(step.ID, store.StepRunning, nil); err != nil {
			return err
		}
		result, err := t.runStep(step, limit)
		if cause := context.Cause(t.ctx); err != nil && cause != nil {
			return cause
		}
		if err != nil {
			return errors.Join(t.stepFailed(step, err), err)
		}
		if err := t.emitWorkflow(step.ID, store.StepDone, result); err != nil {
			return err
		}
		if step.Checkpoint && i.Next() >= 0 {
			return t.emitWorkflow(step.ID, string(store.WorkflowWaiting), nil)
		}
	}
}

func (t *turn) stepFailed(step *manifest.Step, err error) error {
	data, _ := record.Marshal(map[string]string{"error": sanitize.Clip(clean(fault.FirstLine(err)), maxResult)}) // a string can't fail
	return t.emitWorkflow(step.ID, store.StepFailed, data)
}

// emitWorkflow says how far the instance is, which follows from it.
func (t *turn) emitWorkflow(step, state string, data json.RawMessage) error {
	i := t.req.workflow.instance
	done := 0
	for _, s := range i.Steps {
		if s.State == store.StepDone {
			done++
		}
	}
	if state == store.StepDone {
		done++
	}
	part := float64(done) / float64(len(i.Steps))
	body := event.Workflow{Instance: i.ID, Step: step, State: state, Progress: &part, Data: data, Outside: t.tainted}
	if err := t.emit(body); err != nil {
		return err
	}
	i.Apply(event.Event{TurnID: string(t.id), Time: t.eng.o.Now(), Body: body})
	return nil
}

// runStep does one step and gives its result.
func (t *turn) runStep(step *manifest.Step, limit int) (json.RawMessage, error) {
	var result json.RawMessage
	var err error
	if step.Tool != "" {
		result, err = t.toolStep(step)
	} else {
		result, err = t.agentStep(step, limit)
	}
	if err != nil {
		return nil, err
	}
	size := len(result)
	for _, s := range t.req.workflow.instance.Steps {
		size += len(s.Result)
	}
	if size > maxStepResults {
		return nil, stepFault(step, fmt.Sprintf("the results of the steps have %d MB; %d MB are allowed: put them into files of the workspace", size>>20, maxStepResults>>20))
	}
	return result, nil
}

func stepFault(step *manifest.Step, why string) error {
	return fault.New(fault.Failed, "the step "+step.ID+" failed: "+why)
}

// toolStep is a call as any other of a turn: its policy, sandbox, states and
// records.
func (t *turn) toolStep(step *manifest.Step) (json.RawMessage, error) {
	i := t.req.workflow.instance
	t.agent, t.entry, t.offer = nil, nil, t.allTools
	t.names = t.offer.Names()
	tool := i.Workflow.ToolsetID + ":" + step.Tool
	if _, own := t.names.Lookup(tool); !own {
		if _, ok := t.box.Tools.Get(step.Tool); ok {
			tool = step.Tool
		}
	}
	if _, known := t.names.Lookup(tool); !known {
		return nil, t.noTool(tool)
	}
	args := fillStep(step.Args, t.stepValues())
	if !record.IsObject(args) {
		args = json.RawMessage("{}")
	}
	use := provider.ToolCall{ID: "call_" + t.eng.NewID(), Name: tool, Args: args}
	before := len(t.red.Calls)
	if err := t.runCalls([]provider.ToolCall{use}); err != nil {
		return nil, err
	}
	if len(t.red.Calls) == before {
		return nil, stepFault(step, "its call left no record")
	}
	call := t.red.Calls[len(t.red.Calls)-1]
	if call.Status != event.CallSuccess {
		return nil, stepFault(step, firstLineOf(call.Error))
	}
	var got struct {
		Text string          `json:"text"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(call.Result, &got); err != nil {
		return nil, stepFault(step, "its result can't be read: "+err.Error())
	}
	if len(got.Data) > 0 && string(got.Data) != "null" {
		return got.Data, nil
	}
	return textResult(got.Text), nil
}

func firstLineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func textResult(text string) json.RawMessage {
	raw, _ := record.Marshal(map[string]string{"text": text}) // a string can't fail
	return raw
}

// agentStep lets an agent answer the step's prompt, with its tools and with
// whomever it hands over to. It sees the prompt alone.
func (t *turn) agentStep(step *manifest.Step, limit int) (json.RawMessage, error) {
	w := t.req.workflow
	a := t.box.Agents.Get(w.instance.Workflow.ToolsetID + ":" + step.Agent)
	if a == nil {
		return nil, stepFault(step, "there is no agent "+step.Agent+" any more")
	}
	t.agent, t.entry = a, a
	t.useTools()
	if err := t.agentModel(); err != nil {
		return nil, err
	}
	w.begins = len(t.red.Message().Parts)
	w.prompt = &chat.Message{Role: provider.User, Parts: []provider.Part{
		{Kind: provider.TextPart, Text: fillText(step.Prompt, t.stepValues())},
	}}
	defer func() { w.prompt = nil }()
	if err := t.announce(); err != nil {
		return nil, err
	}
	if err := t.rounds(limit); err != nil {
		return nil, err
	}
	said := t.red.Message()
	said.Parts = said.Parts[min(w.begins, len(said.Parts)):]
	text := strings.TrimSpace(said.Text())
	if text == "" {
		return nil, stepFault(step, "the agent "+step.Agent+" said nothing")
	}
	return textResult(text), nil
}

// stepValues are what the references of a step may mean.
func (t *turn) stepValues() map[string]json.RawMessage {
	i := t.req.workflow.instance
	steps := map[string]json.RawMessage{}
	for _, s := range i.Steps {
		if s.State == store.StepDone {
			steps[s.ID] = s.Result
		}
	}
	all, _ := record.Marshal(steps) // valid JSON can't fail
	text := func(s string) json.RawMessage {
		raw, _ := record.Marshal(s) // a string can't fail
		return raw
	}
	return map[string]json.RawMessage{
		"args": i.Input, "steps": all, "chat_id": text(t.accept.Chat.ID), "toolset": text(i.Workflow.ToolsetID),
		"workspace": text(t.eng.WorkspacePath(t.accept.Chat)),
	}
}

// ofStep makes an assembly that of the agent of a step.
func (w *workflowRun) ofStep(a *assembly) {
	if w == nil || w.prompt == nil {
		return
	}
	a.history, a.begins = []chat.Message{*w.prompt}, w.begins
	if a.answer != nil && len(a.answer.Parts) <= w.begins {
		a.answer = nil // nothing of the step yet
	}
	a.history = slices.Clip(a.history)
	if a.fit != nil && a.fit.summary != nil { // of messages that a step doesn't see
		alone := *a.fit
		alone.summary = nil
		a.fit = &alone
	}
}
