package newfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// MustBeNew refuses a file that is there already; replace is the command that
// replaces it.
func MustBeNew(path, replace string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fault.New(fault.Usage, path+" is there already; nothing was written", fault.Run(replace+"   replaces it"))
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fault.Wrap(fault.Failed, "look at "+path, err)
}

// WriteWhole writes a file as a whole: it appears, or is replaced, when all of it has
// been written. What it holds may be private, so only its owner can read it. Its folder
// must exist: a missing one was most likely mistyped. l records the file until it is
// whole.
func WriteWhole(l *atomicfile.Ledger, path string, write func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Usage, "there is no folder "+term.Clean(dir)+"; nothing was written", fault.Run("mkdir -p "+cmdline.ShellWord(dir)))
	}
	f, err := l.Create(path)
	if err != nil {
		return fault.Wrap(fault.Failed, "write "+path, err)
	}
	buffered := bufio.NewWriter(f)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Commit(atomicfile.Synced)
	}
	if err != nil {
		return fault.Wrap(fault.Failed, "write "+path, errors.Join(err, f.Discard()))
	}
	return nil
}

// WriteNew writes files into a folder, which is made where it isn't there: all
// of them or none, and none where one is there already.
func WriteNew(dir string, files map[string][]byte) (err error) {
	names := slices.Sorted(maps.Keys(files))
	var there []string
	for _, p := range names {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p))); err == nil {
			there = append(there, p)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Failed, "look into "+dir, err)
		}
	}
	if len(there) > 0 {
		return &fault.Fault{
			Code: fault.Usage, Msg: fmt.Sprintf("%s has %s already; nothing was written", term.Clean(dir), term.Count(len(there), "file of a toolset", "files of a toolset")),
			Detail: there, Remedies: []fault.Remedy{fault.Run("fettle toolset init " + cmdline.ShellWord(filepath.Join(dir, "my-tools")))},
		}
	}
	var made []string // what is taken back where something goes wrong
	defer func() {
		if err == nil {
			return
		}
		for _, p := range slices.Backward(made) {
			_ = os.Remove(p) // a folder that somebody put something into stays
		}
	}()
	for _, p := range names {
		parents, err := makeParents(filepath.Join(dir, filepath.FromSlash(path.Dir(p))))
		made = append(made, parents...)
		if err != nil {
			return fault.Wrap(fault.Failed, "make the folder "+dir, err)
		}
		file := filepath.Join(dir, filepath.FromSlash(p))
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fault.Wrap(fault.Failed, "write "+file, err)
		}
		made = append(made, file)
		_, err = f.Write(files[p])
		if err = errors.Join(err, f.Close()); err != nil {
			return fault.Wrap(fault.Failed, "write "+file, err)
		}
	}
	return nil
}

// makeParents makes a folder and those above it, and gives those that it made.
func makeParents(dir string) ([]string, error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	var made []string
	for _, at := range slices.Backward(missing) {
		if err := os.Mkdir(at, 0o755); err != nil {
			return made, err
		}
		made = append(made, at)
	}
	return made, nil
}
