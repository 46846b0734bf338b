package journal

import (
	"errors"
	"os"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// renameOpen closes the file for the rename, which Windows refuses for an open
// one, and opens it again. The caller holds the journal's lock meanwhile.
func renameOpen(f *os.File, from, to string) (*os.File, error) {
	if err := errors.Join(f.Close(), atomicfile.Rename(from, to)); err != nil {
		return f, err
	}
	again, err := os.OpenFile(to, os.O_WRONLY, 0o600)
	if err != nil {
		return f, errors.Join(err, atomicfile.Remove(to))
	}
	return again, nil
}
