//go:build unix

package server

import (
	"fmt"
	"os"
)

// onlyOwner refuses a file that others may read or write.
func onlyOwner(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s may be read by others, so it is no secret; remove it, and another is made", path)
	}
	return nil
}
