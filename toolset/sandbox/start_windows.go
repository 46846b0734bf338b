package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// highestLevel is what this system could do at best.
const highestLevel = toolset.LevelNone

// canHold tells whether processes can be stopped for a while.
const canHold = false

// control is the launcher's end of the two pipes to a supervisor.
type control struct {
	in, out *os.File
	theirs  []*os.File
}

// Read reads what the supervisor says, Write tells it something, and CloseWrite
// says that nothing more comes.
func (c control) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c control) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c control) CloseWrite() error           { return c.out.Close() }

// Close closes both pipes; CloseWrite may have closed one.
func (c control) Close() error {
	c.out.Close()
	return c.in.Close()
}

func (c control) closeTheirs() {
	for _, f := range c.theirs {
		f.Close()
	}
}

// file gives nothing: descriptors don't travel by pipes.
func (c control) file() *os.File { return nil }

func newControl() (control, error) {
	in, theirOut, err := os.Pipe()
	if err != nil {
		return control{}, fmt.Errorf("make a pipe: %w", err)
	}
	theirIn, out, err := os.Pipe()
	if err != nil {
		return control{}, errors.Join(fmt.Errorf("make a pipe: %w", err), in.Close(), theirOut.Close())
	}
	return control{in: in, out: out, theirs: []*os.File{theirIn, theirOut}}, nil
}

// keeperCommand is a supervisor that is told by its arguments where its pipes are.
func keeperCommand(toolset.Level, toolset.Policy) (*exec.Cmd, control, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, control{}, fmt.Errorf("find our own program: %w", err)
	}
	ctl, err := newControl()
	if err != nil {
		return nil, control{}, err
	}
	attr := &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	args := []string{programName, supervisor.Arg}
	for _, f := range ctl.theirs {
		h := f.Fd()
		if err := windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			ctl.closeTheirs()
			return nil, control{}, errors.Join(fmt.Errorf("hand on a pipe: %w", err), ctl.Close())
		}
		// Go hands on the handles that are listed, and no other.
		attr.AdditionalInheritedHandles = append(attr.AdditionalInheritedHandles, syscall.Handle(h))
		args = append(args, strconv.FormatUint(uint64(h), 10))
	}
	return &exec.Cmd{Path: path, Args: args, SysProcAttr: attr}, ctl, nil
}

// refused is for systems that have something to refuse.
func refused(err error) error { return err }

// killGroup has nothing to do: the supervisor's job ends with it.
func killGroup(int) {}
