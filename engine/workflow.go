package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// AllWorkflows are those that can be started.
func (e *Engine) AllWorkflows(ctx context.Context) ([]store.Workflow, error) {
	box, err := e.Toolbox(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(box.Workflows), nil
}

// FindWorkflow gives a workflow by its id, or by its bare id if one alone has
// it.
func (e *Engine) FindWorkflow(ctx context.Context, name string) (store.Workflow, error) {
	all, err := e.AllWorkflows(ctx)
	if err != nil {
		return store.Workflow{}, err
	}
	var found []store.Workflow
	var names []string
	for _, w := range all {
		if w.ID == name {
			return w, nil
		}
		if chat.BareID(w.ID) == name {
			found = append(found, w)
		}
		names = append(names, w.ID, chat.BareID(w.ID))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		msg := "no workflow " + sanitize.Shorten(sanitize.Line(name), chat.MaxName)
		if near := didyoumean.Of(name, names); near != "" {
			msg += "; did you mean " + near + "?"
		}
		return store.Workflow{}, fault.New(fault.NotFound, msg, fault.Try(fault.ListWorkflows))
	}
	f := fault.New(fault.Usage, fmt.Sprintf("%d toolsets have a workflow %s; name it with its toolset", len(found), name))
	for _, w := range found {
		f.Detail = append(f.Detail, w.ID)
	}
	return store.Workflow{}, f
}

// StartWorkflow begins an instance of a workflow, by a turn that runs its steps
// until one that it has to wait behind, or its end. The request says in which
// chat, with which model and by which policy; its message is made here. What the
// turn does is seen by Follow, and what became of the instance by
// WorkflowInstance.
func (e *Engine) StartWorkflow(ctx context.Context, name string, input json.RawMessage, req TurnRequest) (string, store.TurnID, error) {
	w, err := e.FindWorkflow(ctx, name)
	if err != nil {
		return "", "", err
	}
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if err := w.CheckInput(input); err != nil {
		return "", "", err
	}
	now := e.o.Now()
	i := &store.WorkflowInstance{
		ID: e.NewID(), Workflow: w, Input: input, State: store.WorkflowRunning, CreatedAt: now, UpdatedAt: now,
	}
	for _, s := range w.Steps {
		i.Steps = append(i.Steps, store.StepState{ID: s.ID, Name: s.Name, State: store.StepPending})
	}
	id, err := e.runWorkflow(ctx, i, "", req, "Workflow "+i.Title()+argumentLines(input))
	return i.ID, id, err
}

// ActWorkflow goes on with an instance that waits, failed or was interrupted, by
// another turn of its chat.
func (e *Engine) ActWorkflow(ctx context.Context, id, action string, req TurnRequest) (store.TurnID, error) {
	i, err := e.WorkflowInstance(ctx, id)
	if err != nil {
		return "", err
	}
	if err := i.Allows(action); err != nil {
		return "", err
	}
	req.Chat = store.ChatRef{ID: i.ChatID}
	return e.runWorkflow(ctx, &i, i.TurnID, req, "Workflow "+i.Title()+": "+action)
}

// runWorkflow starts the turn that runs the steps that are left. was is the turn
// that the instance was at last.
func (e *Engine) runWorkflow(ctx context.Context, i *store.WorkflowInstance, was store.TurnID, req TurnRequest, text string) (store.TurnID, error) {
	if req.Ephemeral {
		return "", fault.New(fault.Usage, "a workflow is kept, so that it can go on")
	}
	i.State = store.WorkflowRunning
	req.Parts = []provider.Part{{Kind: provider.TextPart, Text: text}}
	if req.Chat.IsNew() {
		req.Title = i.Title()
	}
	req.Docs, req.Calls, req.Agent, req.Schema = []string{}, nil, catalog.NoAgent, nil
	req.workflow = &workflowRun{instance: i, was: was}
	return e.Start(ctx, req)
}

// CancelWorkflow ends an instance for good. A turn of this process that runs it
// is cancelled and waited for; one of another process is Busy.
func (e *Engine) CancelWorkflow(ctx context.Context, id string) (store.WorkflowInstance, error) {
	i, err := e.WorkflowInstance(ctx, id)
	if err != nil {
		return i, err
	}
	if t := e.turn(i.TurnID); i.State == store.WorkflowRunning && t != nil {
		if err := e.Cancel(ctx, i.TurnID); err != nil {
			return i, err
		}
		for _, err := range e.Follow(ctx, i.TurnID, 0) {
			if err != nil {
				return i, err
			}
		}
		if i, err = e.WorkflowInstance(ctx, id); err != nil {
			return i, err
		}
	}
	switch i.State {
	case store.WorkflowRunning:
		return i, e.WorkflowBusy(ctx, i)
	case store.WorkflowComplete, store.WorkflowCancelled:
		return i, nil // there is nothing to end
	}
	unlock, err := e.TryChat(ctx, chat.Chat{ID: i.ChatID, Number: i.Chat})
	if err != nil {
		return i, err
	}
	defer unlock()
	there, err := e.ReadWorkflow(ctx, &i) // it may have continued and ended since it was read
	if err != nil || !there || i.State == store.WorkflowComplete || i.State == store.WorkflowCancelled {
		return i, err
	}
	i.State, i.UpdatedAt = store.WorkflowCancelled, e.o.Now()
	return i, e.SaveWorkflow(ctx, &i)
}
