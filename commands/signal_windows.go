package commands

import (
	"errors"

	"golang.org/x/sys/windows"
)

func ignorePipe() {} // Windows has no such signal

// closedPipe tells the error of a write whose reader has gone.
func closedPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
