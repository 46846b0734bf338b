package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/internal/kv"
)

// WorkflowInstance is a workflow that was started: document 000's
// workflow_instances record. It follows from the workflow events of its turns;
// the record is what was known of it when its last turn began, or later.
type WorkflowInstance struct {
	ID string `json:"id"`
	// Workflow is as it was when the instance was begun: an update of its
	// toolset changes none that is under way.
	Workflow Workflow        `json:"workflow"`
	Input    json.RawMessage `json:"input"`
	State    WorkflowState   `json:"state"`
	Steps    []StepState     `json:"steps"`
	ChatID   string          `json:"chat_id"`
	// Chat is the chat's number; 0 where it is gone.
	Chat int64 `json:"chat,omitempty"`
	// TurnID is the last turn that ran steps.
	TurnID TurnID `json:"turn_id"`
	// Outside names the sources beyond this machine whose content the results of steps
	// contain; empty if there are none.
	Outside   string    `json:"outside,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// WorkflowState is how far an instance is.
type WorkflowState string

// The states of an instance. It can go on from all but the last two.
const (
	WorkflowRunning     WorkflowState = "running"
	WorkflowWaiting     WorkflowState = "waiting" // at a checkpoint, for the user
	WorkflowFailed      WorkflowState = "failed"
	WorkflowInterrupted WorkflowState = "interrupted" // by a cancel or a crash
	WorkflowComplete    WorkflowState = "complete"
	WorkflowCancelled   WorkflowState = "cancelled"
)

// StepState is one step of an instance.
type StepState struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	State string `json:"state"`
	// Result is what the step gave: a tool's data, or {"text": …}.
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty"`
	TurnID     TurnID          `json:"turn_id,omitempty"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	FinishedAt *time.Time      `json:"finished_at,omitempty"`
}

// The states of a step. Workflow events also have an instance's waiting and complete.
const (
	StepPending     = "pending"
	StepRunning     = "running"
	StepDone        = "done"
	StepFailed      = "failed"
	StepInterrupted = "interrupted"
)

func workflowsTable() *kv.Table[WorkflowInstance] {
	return kv.NewTable("workflow_instances", func(i *WorkflowInstance) kv.Key { return kv.Str(i.ChatID).Str(i.ID) },
		kv.UniqueOn("id", func(i *WorkflowInstance) kv.Key { return kv.Str(i.ID) }))
}

// Title is what people call it.
func (i *WorkflowInstance) Title() string {
	if i.Workflow.Name != "" {
		return i.Workflow.Name
	}
	return i.Workflow.ID
}

// Next is the first step that isn't done; -1 where all are.
func (i *WorkflowInstance) Next() int {
	return slices.IndexFunc(i.Steps, func(s StepState) bool { return s.State != StepDone })
}

// Apply takes the next event of the turn that runs the instance.
func (i *WorkflowInstance) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Workflow:
		if b.Instance == i.ID {
			i.applyStep(e, b)
		}
	case event.Cancelled:
		i.Stop(WorkflowInterrupted, "", e.Time)
	case event.Error:
		if b.Code == string(fault.Interrupted) {
			i.Stop(WorkflowInterrupted, "", e.Time)
		} else {
			i.Stop(WorkflowFailed, b.Message, e.Time)
		}
	}
}

func (i *WorkflowInstance) applyStep(e event.Event, b event.Workflow) {
	i.UpdatedAt, i.Outside = e.Time, cmp.Or(i.Outside, b.Outside)
	if b.State == string(WorkflowWaiting) || b.State == string(WorkflowComplete) {
		i.State = WorkflowState(b.State)
		return
	}
	n := slices.IndexFunc(i.Steps, func(s StepState) bool { return s.ID == b.Step })
	if n < 0 {
		return
	}
	at := e.Time
	switch s := &i.Steps[n]; b.State {
	case StepRunning:
		i.State = WorkflowRunning
		*s = StepState{ID: s.ID, Name: s.Name, State: StepRunning, TurnID: TurnID(e.TurnID), StartedAt: &at}
	case StepDone:
		s.State, s.Result, s.FinishedAt = StepDone, b.Data, &at
	case StepFailed:
		var why struct {
			Error string `json:"error"`
		}
		_ = json.Unmarshal(b.Data, &why) // without it the turn's end says more
		i.Stop(WorkflowFailed, why.Error, at)
	}
}

// Stop ends the step that runs, and the run. One that has ended stays so.
func (i *WorkflowInstance) Stop(state WorkflowState, why string, at time.Time) {
	if i.State != WorkflowRunning {
		return
	}
	i.State, i.UpdatedAt = state, at
	for n := range i.Steps {
		if s := &i.Steps[n]; s.State == StepRunning {
			s.State, s.Error, s.FinishedAt = string(state), why, &at
		}
	}
}

// SaveWorkflow stores an instance, durably.
func (s *Store) SaveWorkflow(ctx context.Context, i *WorkflowInstance) error {
	err := s.KV.UpdateSync(ctx, func(tx *kv.Tx) error { return PutBounded(s.In(tx), s.Tables.Workflows, i, "workflow "+i.ID) })
	if err != nil {
		return s.StoreTrouble(err)
	}
	return nil
}

// settleWorkflows brings instances up to what their turns have done, and leaves
// out those whose start came to nothing. Where nobody is at its chat any more,
// what a crash has left running is interrupted, and that is kept.
func (s *Store) settleWorkflows(ctx context.Context, all []WorkflowInstance) ([]WorkflowInstance, error) {
	var out []WorkflowInstance
	ids := make([]string, 0, len(all))
	for _, i := range all {
		if i.State == WorkflowRunning {
			Exists, err := s.settleWorkflow(ctx, &i)
			if err != nil {
				return nil, err
			}
			if !Exists {
				continue
			}
		}
		out, ids = append(out, i), append(ids, i.ChatID)
	}
	chats, err := s.ChatsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	for n := range out {
		if number := chats[out[n].ChatID].Number; number > 0 {
			out[n].Chat = number
		}
	}
	return out, nil
}

func (s *Store) settleWorkflow(ctx context.Context, i *WorkflowInstance) (Exists bool, err error) {
	unlock, err := s.TryChat(ctx, chat.Chat{ID: i.ChatID})
	if fault.CodeOf(err) == fault.Busy { // somebody is at it
		_, err := s.readSteps(ctx, i)
		return true, err
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	// It may have been settled, and continued, since it was read.
	if Exists, err = s.ReadWorkflow(ctx, i); err != nil || !Exists || i.State != WorkflowRunning {
		return Exists, err
	}
	known, err := s.readSteps(ctx, i)
	if err != nil {
		return false, err
	}
	if !known && !slices.ContainsFunc(i.Steps, func(step StepState) bool { return step.TurnID != "" }) {
		return false, s.DropWorkflow(ctx, i) // its turn was never accepted: nothing was done
	}
	i.Stop(WorkflowInterrupted, "", s.Options.Now())
	return true, s.SaveWorkflow(ctx, i)
}

// ReadWorkflow reads the record of an instance again, and reports whether it still
// exists.
func (s *Store) ReadWorkflow(ctx context.Context, i *WorkflowInstance) (Exists bool, err error) {
	err = s.View(ctx, func(tx *kv.Tx) error {
		now, err := s.Tables.Workflows.Get(tx, kv.Str(i.ChatID).Str(i.ID))
		if err == nil {
			now.Chat = i.Chat
			*i = *now
		}
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// DropWorkflow removes the record of an instance.
func (s *Store) DropWorkflow(ctx context.Context, i *WorkflowInstance) error {
	err := s.KV.UpdateSync(ctx, func(tx *kv.Tx) error {
		return s.Tables.Workflows.Delete(tx, kv.Str(i.ChatID).Str(i.ID))
	})
	if err != nil {
		return s.StoreTrouble(err)
	}
	return nil
}

// readSteps applies what the instance's last turn has done so far, from its
// journal or, once that is folded, from the store, and tells whether there is
// such a turn.
func (s *Store) readSteps(ctx context.Context, i *WorkflowInstance) (known bool, err error) {
	fresh := *i
	fresh.Steps = slices.Clone(i.Steps)
	r, err := s.Journals.Read(string(i.TurnID))
	if err == nil {
		defer r.Close()
		for line, err := range r.Events() {
			if err != nil {
				break // the last line is being written, or was torn
			}
			fresh.Apply(line.Event)
		}
		*i = fresh
		return true, nil
	}
	if !errors.Is(err, journal.ErrNoJournal) && !errors.Is(err, journal.ErrDamaged) {
		return false, StoreFault("read the steps of the workflow "+i.ID, err)
	}
	err = s.Replay(ctx, i.TurnID, 0, func(ev event.Event, _ error) bool {
		fresh.Apply(ev)
		return true
	})
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.Busy:
		return false, nil
	}
	if err == nil {
		*i = fresh
	}
	return err == nil, err
}
