package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

const FrozenPrefix = "backup-" // a copy of the store while it is backed up

const StagePrefix = "restore-" // what is put back, before it is in its place

const OldPrefix = "replaced-" // what was there before

const RestoreMarkName = "restoring.json"

// TrustName is the file of what the user trusts.
const TrustName = "trust.json"

// RemovePrefixed removes the folders of a name's beginning.
func RemovePrefixed(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, atomicfile.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
