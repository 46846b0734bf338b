package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// folder reads the files of a folder beneath its root.
type folder struct {
	root  *os.Root
	paths []string
}

func (f *folder) open(index int) (io.ReadCloser, error) {
	file, err := f.root.OpenFile(f.paths[index], os.O_RDONLY|openNoWait, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refuse(Type, f.paths[index], "it is no regular file any more")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (f *folder) close() error { return f.root.Close() }

// OpenFolder reads a bundle from a folder of the user's. What doesn't belong
// into a bundle is left out with a note; what does is judged as in a ZIP.
func OpenFolder(ctx context.Context, dir string, o Options) (*Bundle, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open bundle: %w", err)
	}
	f := &folder{root: root}
	w := &walker{folder: f, kind: Toolset}
	for _, k := range []Kind{Skill, MCPB, Toolset} {
		if info, err := root.Lstat(k.ManifestFile()); err == nil && info.Mode().IsRegular() {
			w.kind = k
		}
	}
	if err := w.walk(ctx, ".", 0); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	b, err := build(ctx, w.all, f, buildOptions{Options: o, own: true})
	if err != nil {
		return nil, err
	}
	b.Notes = append(w.notes, b.Notes...)
	b.Source = Source{Type: FromFolder, Ref: dir}
	return b, nil
}

// walker lists a folder without following links.
type walker struct {
	folder *folder
	kind   Kind
	all    []entry
	notes  []Note
}

func (w *walker) walk(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return refuse(Depth, dir, "it lies more than %d levels deep", maxDepth)
	}
	d, err := w.folder.root.Open(dir)
	if err != nil {
		return err
	}
	list, err := d.ReadDir(-1)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	for _, e := range list {
		if err := w.take(ctx, path.Join(dir, e.Name()), e, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) take(ctx context.Context, p string, e fs.DirEntry, depth int) error {
	why := leftOut(p, e.IsDir())
	if why == "" && !strings.Contains(p, "/") {
		why = w.kind.misplaced(p, e.IsDir())
	}
	if why != "" {
		w.notes = append(w.notes, Note{Code: NoteLeftOut, Path: p, Msg: "left out: " + why})
		return nil
	}
	switch {
	case e.IsDir():
		return w.walk(ctx, p, depth+1)
	case !e.Type().IsRegular():
		return refuse(Type, p, "it is a link or a special file; a bundle has files and folders")
	case len(w.all) >= maxEntries:
		return refuse(Count, "", "it has more than %d files", maxEntries)
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	w.all = append(w.all, entry{raw: p, size: info.Size(), packed: -1, index: len(w.all), exec: false})
	w.folder.paths = append(w.folder.paths, p)
	return nil
}

// leftOut says why a place of a folder is not looked into: what programs put
// there, and what can be made again. It may be large, or hold secrets.
func leftOut(p string, dir bool) string {
	switch base := path.Base(p); {
	case strings.HasPrefix(base, "."):
		return "hidden"
	case dir && (base == "__pycache__" || base == "node_modules" || base == "venv"):
		return "it can be made again"
	case !dir && compiledCode(p) && strings.HasPrefix(path.Ext(base), ".py"):
		return "it can be made again"
	}
	return ""
}
