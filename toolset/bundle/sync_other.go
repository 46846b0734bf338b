//go:build !linux

package bundle

import (
	"errors"
	"os"
	"runtime"
)

// syncsAll: each file is synced by itself.
const syncsAll = false

// syncFolder makes sure that a folder's names are on the disk, where the
// system has a way to say so.
func syncFolder(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
