package builtin

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// findFile finds the place of a file that is to be read, which an editor alone may have.
func findFile(ws *toolset.Workspace, given string) (place, error) {
	at, err := resolve(ws, given)
	switch {
	case err != nil:
		return at, err
	case at.Info == nil && ws.Editor == nil:
		return at, notThere(ws, at)
	case at.Info != nil && at.Info.IsDir():
		return at, toolset.Errorf("%s is a folder; list_files shows what is in it", wspath.Show(at.Given))
	}
	return at, nil
}

// openRegular opens what find found, if it is a regular file: looked at before
// it is opened, since opening a pipe or a device has effects, and after, since
// it may have been replaced. The open doesn't wait for a pipe's other end.
func openRegular(ws *toolset.Workspace, at place) (*os.File, error) {
	if !at.Info.Mode().IsRegular() {
		return nil, special(at.Given, at.Info.Mode())
	}
	f, err := ws.Root.OpenFile(at.Name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, wspath.Explain("read", at.Given, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = special(at.Given, info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func special(name string, m fs.FileMode) error {
	return toolset.Errorf("%s is a %s; only regular files can be opened", wspath.Show(name), wspath.KindName(m))
}

// readDir lists a folder, sorted by name, up to a number of entries; more
// tells that there are others. Their infos must not be asked for: they are
// looked up by path, outside of the root.
func readDir(ws *toolset.Workspace, dir string, limit int) (entries []fs.DirEntry, more bool, err error) {
	f, err := ws.Root.OpenFile(dir, os.O_RDONLY|openFlags|openDirectory, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	entries, err = f.ReadDir(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if more = len(entries) > limit; more {
		entries = entries[:limit]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, more, nil
}
