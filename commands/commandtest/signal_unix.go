//go:build !windows

package commandtest

import (
	"os"
	"syscall"
)

// EndingSignals are those that end a program in order.
func EndingSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}
