//go:build unix

package registry

import (
	"errors"
	"os"
)

// syncDir makes sure that a folder's names are on the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
