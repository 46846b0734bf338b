package journal

import (
	"errors"
	"os"
)

// Windows has no sync of a folder; NTFS journals its names itself.
func syncFolder(*os.File) error { return nil }

// renameOpen closes the file for the rename, which Windows refuses to do to an
// open one, and opens it again.
func renameOpen(f *os.File, from, to string) (*os.File, error) {
	if err := errors.Join(f.Close(), os.Rename(from, to)); err != nil {
		return f, err
	}
	again, err := os.OpenFile(to, os.O_WRONLY, 0o600)
	if err != nil {
		return f, errors.Join(err, os.Remove(to))
	}
	return again, nil
}
