package commands

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/engine/fault"
)

// mustBeNew refuses a file that is there already; replace is the command that
// replaces it.
func mustBeNew(path, replace string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fault.New(fault.Usage, path+" is there already; nothing was written", replace+"   replaces it")
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fault.Wrap(fault.Failed, "look at "+path, err)
}

// writeWhole writes a file as a whole: it appears, or is replaced, when all of it
// is there. What it holds may be private, so it is its owner's alone.
func writeWhole(path string, write func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Wrap(fault.Failed, "make the folder "+dir, err)
	}
	f, err := os.CreateTemp(dir, ".fettle-*.tmp")
	if err != nil {
		return fault.Wrap(fault.Failed, "write "+path, err)
	}
	defer os.Remove(f.Name()) // gone where it was renamed
	buffered := bufio.NewWriter(f)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fault.Wrap(fault.Failed, "write "+path, err)
	}
	return nil
}
