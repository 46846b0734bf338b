package kv

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives a part of a file blocks on the disk, and leaves what the file holds and
// its length alone. Where the file system can't it is errors.ErrUnsupported.
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
