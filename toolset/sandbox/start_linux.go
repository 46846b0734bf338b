package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// highestLevel is what this system could do at best.
const highestLevel = toolset.LevelFull

// ownPath is our program whatever became of its file, as in an update.
func ownPath() (string, error) { return "/proc/self/exe", nil }

func socketPair() ([2]int, error) {
	return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
}

// keeperCommand is a supervisor in the namespaces of its level. The user stays who
// they are, alone in a user namespace, where the supervisor has the capabilities
// that it builds with; they mean nothing outside.
func keeperCommand(level toolset.Level, p toolset.Policy) (*exec.Cmd, control, error) {
	cmd, ctl, err := keeperProgram()
	if err != nil {
		return nil, ctl, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal, and no signals of one
	if level != toolset.LevelFull {
		return cmd, ctl, nil
	}
	uid, gid := os.Geteuid(), os.Getegid()
	a := cmd.SysProcAttr
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	if p.Network != toolset.NetworkAll {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN}
	if p.Layer != nil {
		// The kernel makes a folder of mode 000 in an overlay's work folder, and writes to it.
		a.AmbientCaps = append(a.AmbientCaps, unix.CAP_DAC_OVERRIDE)
	}
	return cmd, ctl, nil
}

// refused tells a machine that makes no namespaces from one that is short of
// something for a moment.
func refused(err error) error {
	for _, no := range []error{
		unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOSYS, unix.ENOSPC, unix.EUSERS,
	} {
		if errors.Is(err, no) {
			return supervisor.Lack("make namespaces", err)
		}
	}
	return err
}
