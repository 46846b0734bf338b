package toolset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Launcher starts processes under a policy. It is safe for concurrent use.
type Launcher interface {
	// Start starts a process. ctx bounds the start alone: the process lives on
	// until it ends, until it is stopped, or until fettle ends.
	Start(ctx context.Context, p Policy, c Command) (Process, error)
	// Run starts a process, waits for it and gives what it wrote. When ctx
	// ends, the process is stopped in order, which takes some seconds at most.
	Run(ctx context.Context, p Policy, c Command) (Ran, error)
}

// Command is what a process runs.
type Command struct {
	// Args are the program and its arguments; no shell is involved. A program
	// without a slash is looked for in Path.
	Args []string
	// Dir is where it starts; empty is the workspace.
	Dir string
	// Env are variables of fettle's own making, NAME=value, beyond those that
	// every process gets. They win over the policy's.
	Env []string
	// Path are folders to look for programs in, before the system's.
	Path []string
	// Stdin is what it reads; nil leaves that to [Process.Stdin]. Run gives it
	// nothing to read then.
	Stdin io.Reader
	// Joined sends standard error where standard output goes, in order.
	Joined bool
	// Spare is for a process that is started before its call is known: the
	// time limit's clock stands until [Process.Begin].
	Spare bool
}

// Process is one that was started. Its methods may be called from several
// goroutines, and after its end.
type Process interface {
	// Level is how well it is contained.
	Level() Level
	// Stdin and Stdout are the process's; the caller reads Stdout to its end,
	// or stops the process. Standard error is captured, see [Exit].
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	// Begin starts the time limit's clock, and the watch over the workspace,
	// unless that was done before.
	Begin()
	// Stop ends the process in order: an interrupt, then a request to end, then
	// force. It returns when all its processes are gone. A ctx that ends brings
	// on force at once.
	Stop(ctx context.Context)
	// Kill ends all its processes at once and returns when they are gone.
	Kill()
	// Wait waits until the process and all that it started are gone. An error
	// is ctx's alone.
	Wait(ctx context.Context) (Exit, error)
}

// Reacher is a [Process] whose ports can be reached from outside of its sandbox.
type Reacher interface {
	// OwnNetwork tells whether the process is alone in its network: its ports are
	// then reached by DialPort and in no other way.
	OwnNetwork() bool
	// DialPort connects to a port that the process listens on. ErrNotListening is
	// that nobody does, as yet.
	DialPort(ctx context.Context, port int) (net.Conn, error)
	// Hold stops all of the process's processes, so that nothing is written
	// meanwhile, until release is called, which may be called twice. It does
	// nothing where the process has ended.
	Hold(ctx context.Context) (release func())
}

// ErrNotListening says that nobody listens on a port.
var ErrNotListening = errors.New("nobody listens on the port")

// Exit is how a process ended.
type Exit struct {
	Cause Cause
	// Code is the exit status, -1 where there is none. Signal is the name of
	// the signal that ended it.
	Code   int
	Signal string
	// Detail says more about the cause, for people and models.
	Detail string
	// Stderr is what was kept of standard error, unless that was joined.
	Stderr Output
	// Left is how many processes were still there at the end and were ended.
	Left int
	// Took is from the start, or from Begin, and CPU what all that it waited
	// for used.
	Took, CPU time.Duration
}

// Cause says why a process ended.
type Cause string

// The causes. The process itself ended by Exited and Signalled; we ended it by
// the others, Lost aside: there the sandbox's own process went away.
const (
	Exited       Cause = "exited"
	Signalled    Cause = "signalled"
	Stopped      Cause = "stopped"
	TimeOver     Cause = "time"
	MemoryOver   Cause = "memory"
	ProcessOver  Cause = "processes"
	WorkspaceBig Cause = "workspace"
	DiskFull     Cause = "disk"
	Lost         Cause = "lost"
)

// String says how it ended in a clause.
func (e Exit) String() string {
	switch {
	case e.Cause == Exited:
		return fmt.Sprintf("exit status %d", e.Code)
	case e.Cause == Signalled:
		return "ended by " + e.Signal
	case e.Detail != "":
		return e.Detail
	}
	return string(e.Cause)
}

// Output is what was kept of a stream: its beginning, and its end where that
// didn't follow at once.
type Output struct {
	Head, Tail []byte
	// Total is how many bytes there were.
	Total int64
}

// Dropped is how many bytes between Head and Tail were not kept.
func (o Output) Dropped() int64 { return o.Total - int64(len(o.Head)) - int64(len(o.Tail)) }

// String joins what was kept, with a line where something is missing.
func (o Output) String() string {
	if n := o.Dropped(); n > 0 {
		return fmt.Sprintf("%s\n[%d bytes left out]\n%s", o.Head, n, o.Tail)
	}
	return string(o.Head) + string(o.Tail)
}

// Ran is what came of a process that was run to its end.
type Ran struct {
	Exit   Exit
	Level  Level
	Stdout Output
}

// UncontainedError says that a machine can't contain a process as well as its
// policy asks.
type UncontainedError struct {
	Have, Want Level
	// Why says what is missing, Fix what to do about it; Fix may be empty.
	Why, Fix string
}

// Error says what is missing.
func (e *UncontainedError) Error() string {
	switch e.Have {
	case LevelNone:
		return "this system cannot contain imported tools: " + e.Why
	case LevelReduced:
		return "this system can contain imported tools only in part: " + e.Why
	}
	return "contain a tool: " + e.Why
}
