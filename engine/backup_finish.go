package engine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// syncFolders makes the names in dir and in all folders below it safe from a power
// cut, those within first; but not in the folders of chats, whose files aren't
// synced either.
func syncFolders(dir string) error {
	var all []string
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if all = append(all, at); filepath.Dir(at) == dir && d.Name() == "chats" {
			return filepath.SkipDir
		}
		return nil
	})
	for _, at := range slices.Backward(all) {
		err = errors.Join(err, atomicfile.SyncDir(at))
	}
	return err
}
