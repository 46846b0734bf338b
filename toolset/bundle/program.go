package bundle

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// program reads the files of a file system that is part of fettle.
type program struct {
	fsys  fs.FS
	paths []string
}

func (p *program) open(index int) (io.ReadCloser, error) { return p.fsys.Open(p.paths[index]) }
func (p *program) close() error                          { return nil }

// OpenFS reads a bundle from a file system that is part of fettle. ref is the reference that
// its source names.
func OpenFS(ctx context.Context, fsys fs.FS, ref string, o Options) (*Bundle, error) {
	p := &program{fsys: fsys}
	var all []entry
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		all = append(all, entry{raw: name, size: info.Size(), packed: -1, index: len(all)})
		p.paths = append(p.paths, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	b, err := build(ctx, all, p, buildOptions{Options: o})
	if err != nil {
		return nil, err
	}
	b.Source = Source{Type: FromProgram, Ref: ref}
	return b, nil
}
