package supervisor

import "golang.org/x/sys/unix"

// auditArch names the table of system calls that the filter is for. There is
// no second table beside it.
const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0
)

// deniedHere is empty: this processor has no calls of its own to refuse.
var deniedHere = []uintptr{}

// modeCallsHere is empty, since this processor has no calls beyond those of all
// processors.
var modeCallsHere = []modeCall{}
