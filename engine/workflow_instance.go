package engine

import "github.com/fettle-cli/fettle/engine/store"

// The states of an instance. All but the last two can be gone on from.
const (
	WorkflowCancelled store.WorkflowState = "cancelled"
)

// The states of a step. Workflow events also have an instance's waiting and
// complete.
const (
	StepPending = "pending"

	StepInterrupted = "interrupted"
)
