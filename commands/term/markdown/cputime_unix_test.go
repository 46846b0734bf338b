//go:build unix

package markdown

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the processor time that this process has used. Other processes don't
// count, however busy the machine is.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
