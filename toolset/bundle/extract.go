package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"
)

// stagingPrefix begins the names of folders that are being filled.
const stagingPrefix = ".fettle-bundle-"

// ExtractOptions is how a bundle becomes a folder.
type ExtractOptions struct {
	// Add are files beside the bundle's own, by path; one of the same path
	// takes the bundle's place. A toolset that was made of another kind gets
	// its toolset.yaml so.
	Add map[string][]byte
	// Under is a folder that all of the bundle's own files come to lie in, such
	// as assets for another kind's, which then make a toolset.
	Under string
	// Durable waits until the files would survive a loss of power.
	Durable bool
	// Progress hears how many files there are by now, and will be.
	Progress func(done, total int64)
}

// Extract makes dir, which must not be there, and fills it: wholly or not at
// all. The folder above it must be there. Files are readable by everyone and
// writable by their owner; none is executable.
func (b *Bundle) Extract(ctx context.Context, dir string, o ExtractOptions) error {
	if err := b.extract(ctx, filepath.Clean(dir), o); err != nil {
		return fmt.Errorf("extract bundle: %w", err)
	}
	return nil
}

func (b *Bundle) extract(ctx context.Context, dir string, o ExtractOptions) (err error) {
	for _, p := range slices.Sorted(maps.Keys(o.Add)) {
		if err := checkName(p); err != nil {
			return err
		}
	}
	if o.Under != "" {
		if err := checkName(o.Under); err != nil {
			return err
		}
	}
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	name := filepath.Base(dir)
	if _, err := parent.Lstat(name); err == nil {
		return fmt.Errorf("%s: %w", dir, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	staging := stagingPrefix + ulid.Make().String()
	if err := parent.Mkdir(staging, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, parent.RemoveAll(staging))
		}
	}()
	root, err := parent.OpenRoot(staging)
	if err != nil {
		return err
	}
	err = b.fill(ctx, root, o)
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	if err := parent.Rename(staging, name); err != nil {
		return err
	}
	if o.Durable {
		return syncFolder(parent)
	}
	return nil
}

// fill writes every file into an empty folder.
func (b *Bundle) fill(ctx context.Context, root *os.Root, o ExtractOptions) error {
	out := &folderWriter{root: root, made: map[string]*os.Root{}, durable: o.Durable}
	defer out.close()
	buf := make([]byte, copyBuffer)
	total := int64(len(b.entries) + len(o.Add))
	for i := range b.entries {
		e := &b.entries[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		to := path.Join(o.Under, e.path)
		if _, replaced := o.Add[to]; replaced {
			total--
			continue
		}
		err := out.write(to, func(f *os.File) error { return b.copy(f, i, buf) })
		if err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(int64(i+1), total)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(o.Add)) {
		err := out.write(p, func(f *os.File) error { _, err := f.Write(o.Add[p]); return err })
		if err != nil {
			return err
		}
	}
	if o.Durable {
		return out.sync()
	}
	return nil
}

// folderWriter makes files and the folders above them. It keeps each folder
// open while its files come, so that a path is walked once and not for each.
type folderWriter struct {
	root    *os.Root
	made    map[string]*os.Root
	durable bool
}

// maxOpenFolders bounds the folders that are kept open.
const maxOpenFolders = 64

func (w *folderWriter) folder(p string) (*os.Root, error) {
	if p == "." {
		return w.root, nil
	}
	if r, ok := w.made[p]; ok {
		return r, nil
	}
	if len(w.made) >= maxOpenFolders {
		w.close()
	}
	if err := w.root.MkdirAll(p, 0o755); err != nil {
		return nil, err
	}
	r, err := w.root.OpenRoot(p)
	if err != nil {
		return nil, err
	}
	w.made[p] = r
	return r, nil
}

func (w *folderWriter) close() {
	for _, r := range w.made {
		_ = r.Close() // it was only a way in
	}
	clear(w.made)
}

// write makes one file, which must not be there yet: where a file system takes
// two names for one, that is found here.
func (w *folderWriter) write(p string, fill func(*os.File) error) error {
	dir, err := w.folder(path.Dir(p))
	if err != nil {
		return fmt.Errorf("make the folder of %s: %w", Printable(p), err)
	}
	f, err := dir.OpenFile(path.Base(p), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("make %s: %w", Printable(p), err)
	}
	err = fill(f)
	if err == nil && w.durable && !syncsAll {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// sync makes sure that everything written is on the disk.
func (w *folderWriter) sync() error {
	if !syncsAll {
		return nil // each file was synced as it was written
	}
	return syncFolder(w.root)
}

// RemoveLeftovers takes away what an interrupted Extract left in a folder. No
// Extract may be under way there: the caller's lock sees to that.
func RemoveLeftovers(parent string) error {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return fmt.Errorf("remove leftovers: %w", err)
	}
	defer root.Close()
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("remove leftovers: %w", err)
	}
	var errs []error
	for _, e := range list {
		if strings.HasPrefix(e.Name(), stagingPrefix) && e.IsDir() {
			errs = append(errs, root.RemoveAll(e.Name()))
		}
	}
	return errors.Join(errs...)
}
