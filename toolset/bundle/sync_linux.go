package bundle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncsAll: one call writes back all of a file system, which is far cheaper
// than one for each of two thousand files.
const syncsAll = true

func syncFolder(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
