//go:build !windows

package term

import (
	"errors"
	"syscall"
)

// ClosedPipe tells the error of a write whose reader has gone.
func ClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
