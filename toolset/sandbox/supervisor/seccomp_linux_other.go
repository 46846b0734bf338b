//go:build linux && !amd64 && !arm64

package supervisor

// auditArch 0 says that there is no filter.
const (
	auditArch = 0
	x32Bit    = 0
)

// deniedHere is empty, as there is no filter.
var deniedHere = []uintptr{}

// modeCallsHere is empty, since this processor has no filter.
var modeCallsHere = []modeCall{}
