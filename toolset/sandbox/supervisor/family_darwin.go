package supervisor

import (
	"os"

	"golang.org/x/sys/unix"
)

// family are the processes below the supervisor, by number, with the time of their
// start, which tells a process from a later one of the same number.
func family() map[int]unix.Timeval {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	parent, start := map[int]int{}, map[int]unix.Timeval{}
	for _, p := range all {
		pid := int(p.Proc.P_pid)
		parent[pid], start[pid] = int(p.Eproc.Ppid), p.Proc.P_starttime
	}
	self, out := os.Getpid(), map[int]unix.Timeval{}
	for pid := range parent {
		for up := parent[pid]; up > 1; up = parent[up] {
			if up == self {
				out[pid] = start[pid]
				break
			}
		}
	}
	return out
}

// startOf is when a process began.
func startOf(pid int) (unix.Timeval, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return unix.Timeval{}, false
	}
	return p.Proc.P_starttime, true
}
