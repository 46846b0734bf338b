//go:build unix

package store

import (
	"errors"
	"syscall"
)

// ProcessAlive tells whether there is a process with this number.
func ProcessAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
