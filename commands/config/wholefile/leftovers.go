package wholefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// RemoveLeftover removes the temporary file that a killed Replace has left next to the
// file: for a private file it contains a secret. It costs one system call if there is
// none.
func RemoveLeftover(path string) error {
	file, err := real(path)
	if err != nil {
		return err
	}
	_, err = atomicfile.RemoveLeftover(file)
	return err
}

// real returns the file that a path leads to, or the path itself if it leads to none.
func real(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return file, err
}

// Leftovers lists the files that killed processes have left next to a file, also
// those of versions that used random names. It changes nothing.
func Leftovers(path string) ([]string, error) {
	file, err := real(path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	older := regexp.MustCompile(`^\.` + regexp.QuoteMeta(filepath.Base(file)) + `-[0-9]+$`)
	var out []string
	for _, e := range entries {
		name := filepath.Join(filepath.Dir(file), e.Name())
		if !e.Type().IsRegular() || name != atomicfile.TempName(file) && !older.MatchString(e.Name()) {
			continue
		}
		stale, err := atomicfile.Stale(name)
		if err != nil {
			return out, err
		}
		if stale {
			out = append(out, name)
		}
	}
	return out, nil
}

// RemoveLeftovers removes what Leftovers lists, under the file's lock, and returns
// it.
func RemoveLeftovers(ctx context.Context, path string) (removed []string, err error) {
	left, err := Leftovers(path)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	release, err := Lock(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	var errs []error
	for _, name := range left {
		gone, err := atomicfile.RemoveStale(name)
		if gone {
			removed = append(removed, name)
		}
		errs = append(errs, err)
	}
	return removed, errors.Join(errs...)
}
