package builtin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// modeBits are the bits of a mode that chmod sets.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// writableFolder is what the mode of a folder must have so that its owner can add a name.
const writableFolder = 0o300

// writeLayer writes the content of the place to the layer of the workspace, in the form in
// which an overlay would leave it. The engine lands it in the folder after the call.
func writeLayer(ctx context.Context, ws *toolset.Workspace, at place, content []byte) (err error) {
	upper, err := os.OpenRoot(ws.Layer.Upper)
	if err != nil {
		return wspath.Explain("write", at.Given, err)
	}
	defer func() { err = errors.Join(err, upper.Close()) }()
	if err := layerFolder(ws, upper, path.Dir(at.Name)); err != nil {
		return err
	}
	f, err := upper.OpenFile(at.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return wspath.Explain("write", at.Given, err)
	}
	err = fill(ctx, f, content)
	if err == nil && at.Info != nil {
		err = f.Chmod(at.Info.Mode() & modeBits)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return explainUnlessEnded(ctx, "write", at.Given, err)
	}
	return unchanged(ws, at)
}

// layerFolder makes a folder and those above it in the layer. Those that the workspace has
// get the same mode: another one would land as a change.
func layerFolder(ws *toolset.Workspace, upper *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := layerFolder(ws, upper, path.Dir(dir)); err != nil {
		return err
	}
	info, err := ws.Root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = makeOnce(upper, dir)
	case err != nil:
	case !info.IsDir():
		return toolset.Errorf("%s is not a folder any more; nothing was written", wspath.Show(dir))
	case info.Mode()&writableFolder != writableFolder:
		return toolset.Errorf("the folder %s is read-only (mode %04o)", wspath.Show(dir), info.Mode().Perm())
	default:
		if err = makeOnce(upper, dir); err == nil {
			err = upper.Chmod(dir, info.Mode()&modeBits)
		}
	}
	if err != nil {
		return wspath.Explain("make the folder", dir, err)
	}
	return nil
}

func makeOnce(root *os.Root, dir string) error {
	if err := root.Mkdir(dir, 0o777); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
