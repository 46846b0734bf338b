package kv

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncMapped brings a file to the disk that is written to through a mapping. On
// Linux what is in a mapping is what is in the file.
func syncMapped(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fdatasync(int(f.Fd())), f.Close())
}
