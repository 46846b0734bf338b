package supervisor

import "golang.org/x/sys/unix"

// auditArch names the table of system calls that the filter is for; x32Bit
// marks those of the x32 table, which the kernel takes beside it.
const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Bit    = 0x40000000
)

// deniedHere are refused on this processor, beyond those refused everywhere.
var deniedHere = []uintptr{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS_CREATE_MODULE,
	unix.SYS_MODIFY_LDT, unix.SYS__SYSCTL,
}

// modeCallsHere are the calls of this processor that set a file's permissions.
var modeCallsHere = []modeCall{
	{number: unix.SYS_CHMOD, mode: 1}, {number: unix.SYS_CREAT, mode: 1}, {number: unix.SYS_MKNOD, mode: 1}, {number: unix.SYS_MKDIR, mode: 1},
	{number: unix.SYS_OPEN, mode: 2, flags: 1},
}
