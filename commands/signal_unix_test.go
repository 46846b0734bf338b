//go:build !windows

package commands_test

import (
	"os"
	"syscall"
)

func endingSignals() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}
