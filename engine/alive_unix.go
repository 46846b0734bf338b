//go:build unix

package engine

import (
	"errors"
	"syscall"
)

// alive tells whether there is a process with this number.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
