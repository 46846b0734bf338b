package store

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
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset/manifest"
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

// The actions of ActWorkflow.
const (
	// ActContinue lets a workflow go on after a step that it waits behind.
	ActContinue = "continue"
	// ActRetry does the step again that failed or was interrupted.
	ActRetry = "retry"
)

// CheckInput holds what a workflow is started with against its schema.
func (w *Workflow) CheckInput(input json.RawMessage) error {
	hint := fault.Try(fault.StartWorkflow, w.ID)
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

// Allows tells why an action can't be taken now.
func (i *WorkflowInstance) Allows(action string) error {
	var can string
	switch i.State {
	case WorkflowRunning:
		return fault.New(fault.Busy, "the workflow "+i.ID+" is running", fault.Try(fault.CancelWorkflow, i.ID))
	case WorkflowWaiting:
		can = ActContinue
	case WorkflowFailed, WorkflowInterrupted:
		can = ActRetry
	default:
		return fault.New(fault.Usage, "the workflow "+i.ID+" is over: "+string(i.State), fault.Try(fault.StartWorkflow, i.Workflow.ID))
	}
	if action != can {
		return fault.New(fault.Usage, fmt.Sprintf("the workflow %s is %s: there is nothing to %s", i.ID, i.State, sanitize.Shorten(sanitize.Line(action), chat.MaxName)),
			fault.Try(fault.ActOnWorkflow, i.ID, can))
	}
	return nil
}

// WorkflowBusy refuses to change an instance whose turn runs.
func (s *Store) WorkflowBusy(ctx context.Context, i WorkflowInstance) error {
	if busy := s.NotMine(ctx, i.TurnID); fault.CodeOf(busy) == fault.Busy {
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
	err = s.View(ctx, func(tx *kv.Tx) (err error) {
		i, err = s.Tables.Workflows.Find(tx, "id", kv.Str(id))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return WorkflowInstance{}, fault.New(fault.NotFound, "no workflow instance "+sanitize.Shorten(sanitize.Line(id), chat.MaxName),
			fault.Try(fault.ListInstances))
	}
	if err != nil {
		return WorkflowInstance{}, err
	}
	all := []WorkflowInstance{*i}
	if all, err = s.settleWorkflows(ctx, all); err != nil {
		return WorkflowInstance{}, err
	}
	if len(all) == 0 { // its start came to nothing
		return WorkflowInstance{}, fault.New(fault.NotFound, "no workflow instance "+id, fault.Try(fault.ListInstances))
	}
	return all[0], nil
}

// ChatWorkflow gives the workflow that was begun last in a chat, as it stands; nil
// where none was.
func (s *Store) ChatWorkflow(ctx context.Context, chatID string) (*WorkflowInstance, error) {
	for {
		var last []WorkflowInstance
		err := s.View(ctx, func(tx *kv.Tx) error {
			last = nil
			for i, err := range Legible(s, s.Tables.Workflows.Scan(tx, kv.Range{Prefix: kv.Str(chatID), Reverse: true, Limit: 1})) {
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
		return "", fault.New(fault.NotFound, "no workflow was started in chat "+ref, fault.Try(fault.ListInstances))
	}
	return "", fault.New(fault.NotFound, "no workflow was started yet", fault.Try(fault.ListWorkflows))
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
	err := s.View(ctx, func(tx *kv.Tx) error {
		all = nil
		for i, err := range Legible(s, s.Tables.Workflows.Scan(tx, kv.Range{})) {
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
