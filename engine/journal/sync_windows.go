package journal

import (
	"errors"
	"os"
)

// Windows has no sync of a folder; NTFS journals its names itself.
func syncFolder(*os.File) error { return nil }

// renameOpen closes the file for the rename, which Windows refuses to do to an
// open one, and opens it again at its end.
func renameOpen(f *os.File, from, to string) (*os.File, error) {
	if err := errors.Join(f.Close(), os.Rename(from, to)); err != nil {
		return f, err
	}
	return os.OpenFile(to, os.O_WRONLY|os.O_APPEND, 0o600)
}
