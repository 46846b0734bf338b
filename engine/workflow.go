package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/nearest"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// Workflow is a fixed order of steps that a toolset brings, each a tool or an
// agent (document 000).
type Workflow struct {
	// ID is `<toolset>:<id>`.
	ID          string          `json:"id"`
	ToolsetID   string          `json:"toolset_id"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	Steps       []manifest.Step `json:"steps"`
}

// workflowsOf are the workflows of a toolset under its name.
func workflowsOf(set *registry.MirrorToolset) []Workflow {
	out := make([]Workflow, 0, len(set.Workflows))
	for _, w := range set.Workflows {
		out = append(out, Workflow{
			ID: set.ID + ":" + w.ID, ToolsetID: set.ID, Name: w.Name, Description: w.Description,
			InputSchema: w.InputSchema, Steps: w.Steps,
		})
	}
	return out
}

// AllWorkflows are those that can be started.
func (e *Engine) AllWorkflows(ctx context.Context) ([]Workflow, error) {
	box, err := e.toolbox(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(box.workflows), nil
}

// FindWorkflow gives a workflow by its id, or by its bare id if one alone has
// it.
func (e *Engine) FindWorkflow(ctx context.Context, name string) (Workflow, error) {
	all, err := e.AllWorkflows(ctx)
	if err != nil {
		return Workflow{}, err
	}
	var found []Workflow
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
		if near := nearest.Of(name, names); near != "" {
			msg += "; did you mean " + near + "?"
		}
		return Workflow{}, fault.New(fault.NotFound, msg, "fettle workflows list")
	}
	f := fault.New(fault.Usage, fmt.Sprintf("%d toolsets have a workflow %s; name it with its toolset", len(found), name))
	for _, w := range found {
		f.Detail = append(f.Detail, w.ID)
	}
	return Workflow{}, f
}

// The actions of ActWorkflow.
const (
	// ActContinue lets a workflow go on after a step that it waits behind.
	ActContinue = "continue"
	// ActRetry does the step again that failed or was interrupted.
	ActRetry = "retry"
)

// StartWorkflow begins an instance of a workflow, by a turn that runs its steps
// until one that it has to wait behind, or its end. The request says in which
// chat, with which model and by which policy; its message is made here. What the
// turn does is seen by Follow, and what became of the instance by
// WorkflowInstance.
func (e *Engine) StartWorkflow(ctx context.Context, name string, input json.RawMessage, req TurnRequest) (string, TurnID, error) {
	w, err := e.FindWorkflow(ctx, name)
	if err != nil {
		return "", "", err
	}
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if err := w.checkInput(input); err != nil {
		return "", "", err
	}
	now := e.o.Now()
	i := &WorkflowInstance{
		ID: e.newID(), Workflow: w, Input: input, State: WorkflowRunning, CreatedAt: now, UpdatedAt: now,
	}
	for _, s := range w.Steps {
		i.Steps = append(i.Steps, StepState{ID: s.ID, Name: s.Name, State: StepPending})
	}
	id, err := e.runWorkflow(ctx, i, "", req, "Workflow "+i.title()+argumentLines(input))
	return i.ID, id, err
}

// checkInput holds what a workflow is started with against its schema.
func (w *Workflow) checkInput(input json.RawMessage) error {
	hint := "fettle workflows start " + w.ID + " '{…}'"
	if !record.IsObject(input) || len(input) > chat.MaxData {
		return fault.New(fault.Usage, w.ID+": the input is no JSON object, or a very long one", hint)
	}
	if len(w.InputSchema) == 0 {
		return nil
	}
	s, err := schema.Compile(w.InputSchema)
	if err != nil {
		return fault.Wrap(fault.Failed, w.ID+": its input_schema can't be used", err)
	}
	if problems := s.Validate(input); len(problems) > 0 {
		f := fault.New(fault.Usage, w.ID+": the input doesn't fit its input_schema", hint)
		f.Detail = strings.Split(schema.Explain(problems), "\n")
		return f
	}
	return nil
}

// ActWorkflow goes on with an instance that waits, failed or was interrupted, by
// another turn of its chat.
func (e *Engine) ActWorkflow(ctx context.Context, id, action string, req TurnRequest) (TurnID, error) {
	i, err := e.WorkflowInstance(ctx, id)
	if err != nil {
		return "", err
	}
	if err := i.allows(action); err != nil {
		return "", err
	}
	req.Chat = ChatRef{ID: i.ChatID}
	return e.runWorkflow(ctx, &i, i.TurnID, req, "Workflow "+i.title()+": "+action)
}

// allows tells why an action can't be taken now.
func (i *WorkflowInstance) allows(action string) error {
	var can string
	switch i.State {
	case WorkflowRunning:
		return fault.New(fault.Busy, "the workflow "+i.ID+" is running", "fettle workflows cancel "+i.ID)
	case WorkflowWaiting:
		can = ActContinue
	case WorkflowFailed, WorkflowInterrupted:
		can = ActRetry
	default:
		return fault.New(fault.Usage, "the workflow "+i.ID+" is over: "+string(i.State), "fettle workflows start "+i.Workflow.ID+" '{…}'")
	}
	if action != can {
		return fault.New(fault.Usage, fmt.Sprintf("the workflow %s is %s: there is nothing to %s", i.ID, i.State, sanitize.Shorten(sanitize.Line(action), chat.MaxName)),
			"fettle workflows act "+i.ID+" "+can)
	}
	return nil
}

// runWorkflow starts the turn that runs the steps that are left. was is the turn
// that the instance was at last.
func (e *Engine) runWorkflow(ctx context.Context, i *WorkflowInstance, was TurnID, req TurnRequest, text string) (TurnID, error) {
	if req.Ephemeral {
		return "", fault.New(fault.Usage, "a workflow is kept, so that it can go on")
	}
	i.State = WorkflowRunning
	req.Parts = []provider.Part{{Kind: provider.TextPart, Text: text}}
	if req.Chat.isNew() {
		req.Title = i.title()
	}
	req.Docs, req.Calls, req.Agent, req.Schema = []string{}, nil, NoAgent, nil
	req.workflow = &workflowRun{instance: i, was: was}
	return e.Start(ctx, req)
}

// CancelWorkflow ends an instance for good. A turn of this process that runs it
// is cancelled and waited for; one of another process is Busy.
func (e *Engine) CancelWorkflow(ctx context.Context, id string) (WorkflowInstance, error) {
	i, err := e.WorkflowInstance(ctx, id)
	if err != nil {
		return i, err
	}
	if t := e.turn(i.TurnID); i.State == WorkflowRunning && t != nil {
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
	case WorkflowRunning:
		return i, e.workflowBusy(ctx, i)
	case WorkflowComplete, WorkflowCancelled:
		return i, nil // there is nothing to end
	}
	unlock, err := e.tryChat(ctx, chat.Chat{ID: i.ChatID, Number: i.Chat})
	if err != nil {
		return i, err
	}
	defer unlock()
	there, err := e.readWorkflow(ctx, &i) // it may have continued and ended since it was read
	if err != nil || !there || i.State == WorkflowComplete || i.State == WorkflowCancelled {
		return i, err
	}
	i.State, i.UpdatedAt = WorkflowCancelled, e.o.Now()
	return i, e.saveWorkflow(ctx, &i)
}

func (s *Store) workflowBusy(ctx context.Context, i WorkflowInstance) error {
	if busy := s.notMine(ctx, i.TurnID); fault.CodeOf(busy) == fault.Busy {
		return busy
	}
	return fault.New(fault.Busy, "the workflow "+i.ID+" is running")
}

// LastWorkflow names the instance that was begun last.
const LastWorkflow = "last"

// WorkflowInstance gives an instance as it stands, also while it runs. It is
// named by its id, by the number of its chat, where the last one counts, or as
// LastWorkflow.
func (s *Store) WorkflowInstance(ctx context.Context, ref string) (WorkflowInstance, error) {
	id, err := s.instanceID(ctx, ref)
	if err != nil {
		return WorkflowInstance{}, err
	}
	var i *WorkflowInstance
	err = s.view(ctx, func(tx *kv.Tx) (err error) {
		i, err = s.tables.workflows.Find(tx, "id", kv.Str(id))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return WorkflowInstance{}, fault.New(fault.NotFound, "no workflow instance "+sanitize.Shorten(sanitize.Line(id), chat.MaxName),
			"fettle workflows list --instances")
	}
	if err != nil {
		return WorkflowInstance{}, err
	}
	all := []WorkflowInstance{*i}
	if all, err = s.settleWorkflows(ctx, all); err != nil {
		return WorkflowInstance{}, err
	}
	if len(all) == 0 { // its start came to nothing
		return WorkflowInstance{}, fault.New(fault.NotFound, "no workflow instance "+id, "fettle workflows list --instances")
	}
	return all[0], nil
}

// ChatWorkflow gives the workflow that was begun last in a chat, as it stands; nil
// where none was.
func (s *Store) ChatWorkflow(ctx context.Context, chatID string) (*WorkflowInstance, error) {
	for {
		var last []WorkflowInstance
		err := s.view(ctx, func(tx *kv.Tx) error {
			last = nil
			for i, err := range legible(s, s.tables.workflows.Scan(tx, kv.Range{Prefix: kv.Str(chatID), Reverse: true, Limit: 1})) {
				if err != nil {
					return err
				}
				last = append(last, *i)
			}
			return nil
		})
		if err != nil && !errors.Is(err, kv.ErrNotFound) {
			return nil, err
		}
		if len(last) == 0 {
			return nil, nil
		}
		if last, err = s.settleWorkflows(ctx, last); err != nil {
			return nil, err
		}
		if len(last) == 1 {
			return &last[0], nil
		} // else its start came to nothing, and it is there no more
	}
}

// instanceID is the id that is meant by what a person calls an instance.
func (s *Store) instanceID(ctx context.Context, ref string) (string, error) {
	number, err := strconv.ParseInt(ref, 10, 64)
	if ref != LastWorkflow && (err != nil || number <= 0) {
		return ref, nil
	}
	chatID := ""
	if ref != LastWorkflow {
		chat, err := s.FindChat(ctx, ChatRef{Number: number})
		if err != nil {
			return "", err
		}
		chatID = chat.ID
	}
	all, err := s.GlanceWorkflows(ctx, math.MaxInt)
	if err != nil {
		return "", err
	}
	for _, i := range all { // the last begun first
		if chatID == "" || i.ChatID == chatID {
			return i.ID, nil
		}
	}
	if chatID != "" {
		return "", fault.New(fault.NotFound, "no workflow was started in chat "+ref, "fettle workflows list --instances")
	}
	return "", fault.New(fault.NotFound, "no workflow was started yet", "fettle workflows list")
}

// WorkflowInstances lists the instances as they stand, the last begun first.
func (s *Store) WorkflowInstances(ctx context.Context) ([]WorkflowInstance, error) {
	all, err := s.GlanceWorkflows(ctx, math.MaxInt)
	if err != nil {
		return nil, err
	}
	return s.settleWorkflows(ctx, all)
}

// GlanceWorkflows lists the instances as their records have them, the last begun
// first and at most limit of them. It writes nothing, so it is for suggestions.
func (s *Store) GlanceWorkflows(ctx context.Context, limit int) ([]WorkflowInstance, error) {
	var all []WorkflowInstance
	err := s.view(ctx, func(tx *kv.Tx) error {
		all = nil
		for i, err := range legible(s, s.tables.workflows.Scan(tx, kv.Range{})) {
			if err != nil {
				return err
			}
			all = append(all, *i)
		}
		return nil
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return nil, err
	}
	slices.SortFunc(all, func(a, b WorkflowInstance) int { return strings.Compare(b.ID, a.ID) })
	return all[:min(len(all), limit)], nil
}
