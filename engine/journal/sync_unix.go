//go:build !windows

package journal

import (
	"os"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// renameOpen renames an open file, which stays open.
func renameOpen(f *os.File, from, to string) (*os.File, error) {
	return f, atomicfile.Rename(from, to)
}
