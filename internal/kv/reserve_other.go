//go:build !linux

package kv

import (
	"errors"
	"os"
)

// allocate is for the systems that can allocate blocks to a hole of a file. Windows
// makes no holes.
func allocate(*os.File, int64, int64) error {
	if windows {
		return nil
	}
	return errors.ErrUnsupported
}

// populate is for Linux alone.
func populate(int, int64, int64) error { return errors.ErrUnsupported }
