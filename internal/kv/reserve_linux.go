package kv

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocate allocates blocks on the disk to a part of a file, and does not change the
// file's content or length. It returns errors.ErrUnsupported if the file system can't do
// that.
func allocate(f *os.File, at, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, at, n)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil:
			return nil
		}
		return fmt.Errorf("reserve %d bytes for %s: %w", n, f.Name(), err)
	}
}
