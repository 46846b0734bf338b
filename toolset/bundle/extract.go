package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/fettle-cli/fettle/internal/atomicfile"
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
	if err := atomicfile.Retry(func() error { return parent.Rename(staging, name) }); err != nil {
		return err
	}
	if o.Durable {
		return syncFolder(parent)
	}
	return nil
}

// fill writes every file into an empty folder.
func (b *Bundle) fill(ctx context.Context, root *os.Root, o ExtractOptions) error {
	job := &filling{Bundle: b, root: root, o: o, total: int64(len(b.entries) + len(o.Add))}
	// What is in memory can be written by two at once, each in folders of its own
	// but for one: making a file waits for its folder and for the disk's journal.
	half := len(b.entries)
	if len(b.held) == half && half >= sideBySide {
		half /= 2
	}
	rest := make(chan error, 1)
	go func() { rest <- job.write(ctx, half, len(b.entries)) }()
	if err := errors.Join(job.write(ctx, 0, half), <-rest); err != nil {
		return err
	}
	out := &folderWriter{root: root, made: map[string]openFolder{}, durable: o.Durable}
	defer out.close()
	for _, p := range slices.Sorted(maps.Keys(o.Add)) {
		err := out.write(p, func(f io.Writer) error { _, err := f.Write(o.Add[p]); return err })
		if err != nil {
			return err
		}
	}
	if o.Durable {
		return out.sync()
	}
	return nil
}

// sideBySide is from how many files on a second goroutine is worth it.
const sideBySide = 64

// filling is one writing of a bundle's files, maybe by two goroutines.
type filling struct {
	*Bundle
	root *os.Root
	o    ExtractOptions

	mu          sync.Mutex
	done, total int64
}

// write writes the files of a range of entries.
func (w *filling) write(ctx context.Context, from, to int) error {
	out := &folderWriter{root: w.root, made: map[string]openFolder{}, durable: w.o.Durable}
	defer out.close()
	buf := make([]byte, copyBuffer)
	for i := from; i < to; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(w.o.Under, w.entries[i].path)
		_, replaced := w.o.Add[name]
		if !replaced {
			if err := out.write(name, func(f io.Writer) error { return w.copy(f, i, buf) }); err != nil {
				return err
			}
		}
		w.count(replaced)
	}
	return nil
}

// count notes that a file was written, or won't be, since another one takes its
// place.
func (w *filling) count(replaced bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if replaced {
		w.total--
		return
	}
	if w.done++; w.o.Progress != nil {
		w.o.Progress(w.done, w.total)
	}
}

// folderWriter makes files and the folders above them. It keeps each folder
// open while its files come, so that a path is walked once and not for each.
type folderWriter struct {
	root    *os.Root
	made    map[string]openFolder
	durable bool
}

// maxOpenFolders bounds the folders that are kept open.
const maxOpenFolders = 64

func (w *folderWriter) folder(p string) (openFolder, error) {
	if r, ok := w.made[p]; ok {
		return r, nil
	}
	if len(w.made) >= maxOpenFolders {
		w.close()
	}
	if p != "." {
		if err := w.root.MkdirAll(p, 0o755); err != nil {
			return nil, err
		}
	}
	r, err := folderIn(w.root, p)
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
func (w *folderWriter) write(p string, fill func(io.Writer) error) error {
	dir, err := w.folder(path.Dir(p))
	if err != nil {
		return fmt.Errorf("make the folder of %s: %w", Printable(p), err)
	}
	f, err := makeIn(dir, path.Base(p))
	if err != nil {
		return fmt.Errorf("make %s: %w", Printable(p), err)
	}
	if err = fill(f); err != nil {
		err = fmt.Errorf("write %s: %w", Printable(p), err)
	}
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
