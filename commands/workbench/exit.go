package workbench

import (
	"errors"
	"fmt"
)

// ErrSignal is the cause of a context that a signal ended.
var ErrSignal = errors.New("interrupted by a signal")

// ExitError ends the program with a status when all there is to say has been
// said.
type ExitError struct{ Status int }

// Error names the status.
func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Status) }

// ExitClosedPipe is what a shell reports of a program whose reader went away.
const ExitClosedPipe = 128 + 13
