package toolset

import (
	"context"
	"time"
)

// Terminal runs commands in a program's own terminal, where the user watches them. Nothing
// contains such a command: it has the rights of that program.
type Terminal interface {
	// RunInTerminal runs a command to its end, which ctx and the command's time bring about
	// by killing it. The error of an ended ctx is ctx's; another one says that the command
	// could not be run, or what became of it is not known. It is safe for concurrent use.
	RunInTerminal(ctx context.Context, c TerminalCommand) (TerminalEnd, error)
}

// TerminalCommand is a command for a terminal.
type TerminalCommand struct {
	// UseID is the id that the model gave its call.
	UseID string
	Args  []string
	// Time bounds how long it runs, and Output how many bytes of its output are kept, which
	// are the last ones.
	Time   time.Duration
	Output int
}

// TerminalEnd is what became of a command.
type TerminalEnd struct {
	Exit   Exit
	Output string
	// Cut reports that the beginning of the output was left out.
	Cut bool
}
