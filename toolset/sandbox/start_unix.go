//go:build unix && !linux

package sandbox

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/toolset"
)

// highestLevel is what this system could do at best.
const highestLevel = toolset.LevelNone

func ownPath() (string, error) { return os.Executable() }

// socketPair makes a socket that no other program inherits.
func socketPair() ([2]int, error) {
	syscall.ForkLock.RLock() // nobody starts a program between the two calls
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	return fds, err
}

// keeperCommand is a supervisor in a session of its own, away from the terminal.
func keeperCommand(toolset.Level, toolset.Policy) (*exec.Cmd, control, error) {
	cmd, ctl, err := keeperProgram()
	if err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	return cmd, ctl, err
}

// refused is for systems that have something to refuse.
func refused(err error) error { return err }
