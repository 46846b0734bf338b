//go:build !windows

package commands

import (
	"os/signal"
	"syscall"
)

// ignorePipe makes a write to a closed pipe an error (EPIPE) on standard
// output too, where it would end the program before it could tidy up.
func ignorePipe() { signal.Ignore(syscall.SIGPIPE) }
