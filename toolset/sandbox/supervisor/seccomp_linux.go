package supervisor

import (
	"errors"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The parts of a filter's program, in the kernel's names.
const (
	bpfLoad  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	bpfBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	bpfRet   = unix.BPF_RET | unix.BPF_K

	// Where a system call's parts lie in what a filter looks at; of the
	// arguments it is the low half, which is all that these calls use.
	offNumber, offArch, offFirst, offSecond = 0, 4, 16, 24

	// newNamespaces are the flags of clone that make a namespace. In clone
	// itself CLONE_NEWTIME's bit is part of the signal's number.
	newNamespaces = unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
		unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS
)

// filter is a seccomp program that is being written.
type filter []unix.SockFilter

func (f *filter) add(code uint16, yes, no uint8, k uint32) {
	*f = append(*f, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func refuse(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }

// deny answers one system call with an error.
func (f *filter) deny(number uintptr, e unix.Errno) {
	f.add(bpfEqual, 0, 1, uint32(number))
	f.add(bpfRet, 0, 0, refuse(e))
}

// errNoFilter is for processors whose calls nobody has written down.
var errNoFilter = errors.New("there is no filter for this processor")

// seccomp binds this thread to a filter: calls that look into other processes,
// change the system, or make more of the kernel reachable than a tool needs
// are refused, as is what would get around the rest.
func (k *supervisor) seccomp() error {
	if auditArch == 0 {
		return errNoFilter
	}
	f := k.filter()
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

func (k *supervisor) filter() filter {
	var f filter
	f.add(bpfLoad, 0, 0, offArch)
	f.add(bpfEqual, 1, 0, auditArch)
	f.add(bpfRet, 0, 0, unix.SECCOMP_RET_KILL_PROCESS) // another table of calls
	f.add(bpfLoad, 0, 0, offNumber)
	if x32Bit != 0 {
		f.add(bpfLeast, 0, 1, x32Bit)
		f.add(bpfRet, 0, 0, refuse(unix.ENOSYS))
	}
	for _, number := range deniedCalls {
		f.deny(number, unix.EPERM)
	}
	for _, number := range deniedHere {
		f.deny(number, unix.EPERM)
	}
	if k.Level != Full {
		for _, number := range sharedCalls {
			f.deny(number, unix.EPERM)
		}
	}
	for _, number := range missingCalls {
		f.deny(number, unix.ENOSYS) // libraries then use another call
	}
	// clone3 keeps its flags where a filter can't look; libraries then use clone.
	f.deny(unix.SYS_CLONE3, unix.ENOSYS)
	f.add(bpfEqual, 0, 4, unix.SYS_CLONE)
	f.add(bpfLoad, 0, 0, offFirst)
	f.add(bpfBits, 0, 1, newNamespaces)
	f.add(bpfRet, 0, 0, refuse(unix.EPERM))
	f.add(bpfRet, 0, 0, unix.SECCOMP_RET_ALLOW)
	// Typing into a terminal on somebody's behalf.
	f.add(bpfEqual, 0, 5, unix.SYS_IOCTL)
	f.add(bpfLoad, 0, 0, offSecond)
	f.add(bpfEqual, 1, 0, unix.TIOCSTI)
	f.add(bpfEqual, 0, 1, tiocLinux)
	f.add(bpfRet, 0, 0, refuse(unix.EPERM))
	f.add(bpfRet, 0, 0, unix.SECCOMP_RET_ALLOW)
	f.modes(slices.Concat(modeCalls, modeCallsHere))
	f.pairs(!k.keepsUnixSockets())
	f.sockets(k.families())
	f.add(bpfRet, 0, 0, unix.SECCOMP_RET_ALLOW)
	return f
}

// tiocLinux is TIOCLINUX, by which a virtual console pastes.
const tiocLinux = 0x541c

// families are the kinds of sockets that the process may make. A pair of
// connected ones goes by another call, and is always allowed.
func (k *supervisor) families() []uint32 {
	var out []uint32
	if k.UnixSockets && k.keepsUnixSockets() {
		out = append(out, unix.AF_UNIX)
	}
	if k.Network != NetworkNone || k.Serves {
		out = append(out, unix.AF_INET, unix.AF_INET6)
	}
	if k.Network == NetworkAll {
		out = append(out, unix.AF_NETLINK) // by which libraries learn their addresses
	}
	return out
}

// keepsUnixSockets tells whether a socket of this kind could reach nothing but
// the sandbox: not the machine's agents and daemons, which listen at paths and
// at names without one.
func (k *supervisor) keepsUnixSockets() bool {
	version := LandlockVersion()
	switch {
	case k.Level == None:
		return true // it keeps nothing else, either
	case k.Level == Reduced:
		return version >= socketLandlock
	case k.Network == NetworkAll: // the names are the network's
		return version >= SignalLandlock
	}
	return true
}

// modeCall is a call that sets a file's permissions: the numbers of the arguments with
// the permissions and, where these count with some flags alone, with the flags.
type modeCall struct {
	number      uintptr
	mode, flags uint32
}

// modeCalls are those of every processor. Of openat2 a filter can't see the permissions:
// it is one of missingCalls.
var modeCalls = []modeCall{
	{number: unix.SYS_FCHMOD, mode: 1}, {number: unix.SYS_FCHMODAT, mode: 2}, {number: unix.SYS_FCHMODAT2, mode: 2},
	{number: unix.SYS_MKNODAT, mode: 2}, {number: unix.SYS_MKDIRAT, mode: 2}, {number: unix.SYS_OPENAT, mode: 3, flags: 2},
}

// modes refuses the set-user-id and set-group-id bits: a file that has one would run with
// the user's, or root's, rights outside of the sandbox.
func (f *filter) modes(calls []modeCall) {
	const (
		setID = unix.S_ISUID | unix.S_ISGID
		makes = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
		width = 8 // of an argument
	)
	for _, c := range calls {
		steps := uint8(4)
		if c.flags > 0 {
			steps = 6
		}
		f.add(bpfEqual, 0, steps, uint32(c.number))
		if c.flags > 0 {
			f.add(bpfLoad, 0, 0, offFirst+width*c.flags)
			f.add(bpfBits, 0, 3, makes) // to the last line
		}
		f.add(bpfLoad, 0, 0, offFirst+width*c.mode)
		f.add(bpfBits, 0, 1, setID)
		f.add(bpfRet, 0, 0, refuse(unix.EPERM))
		f.add(bpfRet, 0, 0, unix.SECCOMP_RET_ALLOW)
	}
}

// pairs allows pairs of Unix sockets alone. Of a pair for datagrams each socket can still
// send to any address, so that they are refused where the addresses are the machine's.
func (f *filter) pairs(machines bool) {
	const kind = 0xf // of a socket's type, without its flags
	steps := uint8(3)
	if machines {
		steps = 7
	}
	f.add(bpfEqual, 0, steps+1, unix.SYS_SOCKETPAIR)
	f.add(bpfLoad, 0, 0, offFirst)
	f.add(bpfEqual, 1, 0, unix.AF_UNIX)
	f.add(bpfRet, 0, 0, refuse(unix.EACCES))
	if machines {
		f.add(bpfLoad, 0, 0, offSecond)
		f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, kind)
		f.add(bpfEqual, 0, 1, unix.SOCK_DGRAM)
		f.add(bpfRet, 0, 0, refuse(unix.EACCES))
	}
	f.add(bpfRet, 0, 0, unix.SECCOMP_RET_ALLOW)
}

// sockets refuses every family but the given.
func (f *filter) sockets(families []uint32) {
	n := uint8(len(families))
	f.add(bpfEqual, 0, n+3, unix.SYS_SOCKET)
	f.add(bpfLoad, 0, 0, offFirst)
	for i, family := range families {
		f.add(bpfEqual, n-uint8(i), 0, family) // to the last line
	}
	f.add(bpfRet, 0, 0, refuse(unix.EACCES))
	f.add(bpfRet, 0, 0, unix.SECCOMP_RET_ALLOW)
}

// deniedCalls are refused on every processor.
var deniedCalls = []uintptr{
	// other processes
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	// large parts of the kernel that few need
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// keyrings
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	// mounts, roots and namespaces
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	// the system as a whole
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG,
	unix.SYS_PERSONALITY, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_VHANGUP, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_NFSSERVCTL,
}

// sharedCalls reach what all programs of the user share, if a process has no separate
// namespace: System V memory, semaphores and messages, and POSIX messages.
var sharedCalls = []uintptr{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// missingCalls are answered as by an older kernel. Memory of memfd_create counts for no
// process while it isn't mapped, and so for no limit.
var missingCalls = []uintptr{unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_OPENAT2}

// HasSeccomp asks the kernel whether a filter could end a process, and tells
// whether there is one for this processor.
func HasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0 && auditArch != 0
}
