package term

import (
	"errors"

	"golang.org/x/sys/windows"
)

// ClosedPipe tells the error of a write whose reader has gone.
func ClosedPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
