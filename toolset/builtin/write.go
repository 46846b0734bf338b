package builtin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// maxWrite bounds a file that the tools write or edit. Models write far less;
// edit_file holds the file in memory several times.
const maxWrite = 16 << 20

// findWritable finds a place where a regular file is, or may be made.
func findWritable(ws *toolset.Workspace, given string) (place, error) {
	at, err := resolve(ws, given)
	switch {
	case err != nil:
		return at, err
	case at.Info == nil:
		return at, nil
	case at.Info.IsDir():
		return at, toolset.Errorf("%s is a folder, so no file can be written there", wspath.Show(at.Given))
	case !at.Info.Mode().IsRegular():
		return at, special(at.Given, at.Info.Mode())
	case at.Info.Mode().Perm()&0o222 == 0:
		// The rename would succeed all the same; somebody protected it.
		return at, toolset.Errorf("%s is read-only (mode %04o)", wspath.Show(at.Given), at.Info.Mode().Perm())
	}
	return at, nil
}

// writeAtomic replaces the content of the place at once: it writes a file next to it,
// syncs that and renames it. An existing file's mode stays, and so does its owner if
// the system allows it. at.Info is what the caller saw; if the file has changed since
// then, writeAtomic returns an error and writes nothing. A workspace with a layer has the
// content written there.
func writeAtomic(ctx context.Context, ws *toolset.Workspace, at place, content []byte) (err error) {
	if ws.Layer != nil {
		return writeLayer(ctx, ws, at, content)
	}
	dir := path.Dir(at.Name)
	if err := ws.Root.MkdirAll(dir, 0o777); err != nil {
		return wspath.Explain("make the folder", dir, err)
	}
	reserved, done := ws.Temporaries.ReserveBeside(filepath.Join(ws.Path, filepath.FromSlash(dir)))
	tmp := path.Join(dir, filepath.Base(reserved))
	f, err := ws.Root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openFlags, 0o666)
	if err != nil {
		done()
		return wspath.Explain("write in", dir, err)
	}
	defer func() {
		if err != nil {
			f.Close() // a second close changes nothing
			if ws.Root.Remove(tmp) != nil {
				return // the record stays, for a sweep
			}
		}
		done()
	}()
	if err := fill(ctx, f, content); err != nil {
		return explainUnlessEnded(ctx, "write", at.Given, err)
	}
	if at.Info != nil {
		keepOwner(f, at.Info)
		if err := f.Chmod(at.Info.Mode().Perm()); err != nil {
			return wspath.Explain("keep the mode of", at.Given, err)
		}
	}
	if err := f.Sync(); err != nil {
		return wspath.Explain("write", at.Given, err)
	}
	if err := f.Close(); err != nil {
		return wspath.Explain("write", at.Given, err)
	}
	if err := unchanged(ws, at); err != nil {
		return err
	}
	if err := atomicfile.Retry(func() error { return ws.Root.Rename(tmp, at.Name) }); err != nil {
		return wspath.Explain("write", at.Given, err)
	}
	return nil
}

// writeChunk is how much is written between two looks at the context.
const writeChunk = 1 << 20

func fill(ctx context.Context, f *os.File, content []byte) error {
	for len(content) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(content), writeChunk)
		if _, err := f.Write(content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	return ctx.Err()
}

func explainUnlessEnded(ctx context.Context, doing, name string, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil && errors.Is(err, ctxErr) {
		return err
	}
	return wspath.Explain(doing, name, err)
}

// unchanged tells whether the place is as the caller saw it.
func unchanged(ws *toolset.Workspace, at place) error {
	now, err := ws.Root.Lstat(at.Name)
	switch {
	case at.Info == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case at.Info != nil && err == nil && os.SameFile(at.Info, now) &&
		now.Size() == at.Info.Size() && now.ModTime().Equal(at.Info.ModTime()):
		return nil
	}
	return toolset.Errorf("%s was changed by someone else meanwhile; nothing was written; read it again", wspath.Show(at.Given))
}
