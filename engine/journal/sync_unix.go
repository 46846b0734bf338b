//go:build !windows

package journal

import "os"

func syncFolder(f *os.File) error { return f.Sync() }

// renameOpen renames an open file, which stays open.
func renameOpen(f *os.File, from, to string) (*os.File, error) {
	return f, os.Rename(from, to)
}
