package registry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/kv"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset/bundle"
)

// Use keeps the files of a revision from being removed until release is
// called, whichever process removes or updates the toolset meanwhile. dir is
// where they are. It gives [ErrGone] where they were removed before: then the
// mirror that named them is an old one and is to be read again.
func Use(dataDir, id, revision string) (dir string, release func(), err error) {
	lock, err := lockPath(dataDir, folderLock(id, revision))
	if err != nil {
		return "", nil, err
	}
	release, ok, err := lockfile.TryShared(lock)
	if err != nil {
		return "", nil, fmt.Errorf("use toolset %s: %w", id, err)
	}
	if !ok {
		return "", nil, fmt.Errorf("use toolset %s: %w", id, ErrGone) // somebody is removing them
	}
	dir = filepath.Join(dataDir, "toolsets", id, revision)
	if _, err := os.Stat(dir); err != nil {
		release()
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrGone
		}
		return "", nil, fmt.Errorf("use toolset %s: %w", id, err)
	}
	return dir, release, nil
}

func folderLock(id, revision string) string { return "toolset-" + id + "-" + revision }

// extract makes sure that the files of a plan are in their folder. The caller
// holds the lock of changes.
func (r *Registry) extract(ctx context.Context, p *Plan, progress func(done, total int64)) error {
	dir := r.folder(p.Manifest.ID, p.revision())
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	if err := bundle.RemoveLeftovers(parent); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		if damage := damaged(dir, p.Files); len(damage) == 0 {
			// Its files were on the disk before it had its name. Only the process that
			// made it knows whether its name is, too, and that process may have been
			// killed.
			return errors.Join(atomicfile.SyncDir(parent), atomicfile.SyncDir(r.folders()))
		}
		release, ok, err := r.tryFolder(p.Manifest.ID, p.revision())
		if err != nil {
			return err
		}
		if !ok {
			return &StateError{ID: p.Manifest.ID, Msg: "its files are damaged and in use; try again when the call has ended"}
		}
		defer release()
		if err := removeFolder(parent, p.revision()); err != nil {
			return err
		}
	}
	err := p.bundle.Extract(ctx, dir, bundle.ExtractOptions{
		Add: map[string][]byte{"toolset.yaml": p.yaml}, Under: p.under(), Durable: true, Progress: progress,
	})
	if err != nil {
		return err
	}
	return atomicfile.SyncDir(r.folders()) // parent may be new in it
}

// tryFolder takes the lock of a folder alone.
func (r *Registry) tryFolder(id, revision string) (func(), bool, error) {
	lock, err := lockPath(r.o.DataDir, folderLock(id, revision))
	if err != nil {
		return nil, false, err
	}
	return lockfile.Try(lock)
}

// removing is the beginning of the name of a folder that is being removed.
const removing = ".removing-"

// removeFolder removes a revision's folder. It is renamed first, so that a
// crash leaves no folder that looks whole.
func removeFolder(parent, revision string) error {
	root, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(removing + revision); err != nil {
		return err
	}
	err = atomicfile.Retry(func() error { return root.Rename(revision, removing+revision) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, root.RemoveAll(removing+revision))
}

// collect removes the folders and rows of files that no record names and
// nobody uses. The caller holds the lock of changes. What is still in use stays
// for the next time.
func (r *Registry) collect(ctx context.Context) error {
	current, err := r.Revisions(ctx)
	if err != nil {
		return err
	}
	sets, err := os.ReadDir(r.folders())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, set := range sets {
		revision, known := current[set.Name()]
		if unreadable := known && revision == ""; set.IsDir() && !unreadable {
			errs = append(errs, r.collectSet(ctx, set.Name(), revision))
		}
	}
	return errors.Join(errs...)
}

// Revisions returns the current revision of each installed toolset by its id: the
// folders of files that the records need. It is "" for a toolset whose record is damaged:
// each of its folders may be the current one.
func (r *Registry) Revisions(ctx context.Context) (map[string]string, error) {
	current := map[string]string{}
	err := r.view(ctx, func(tx *kv.Tx) error {
		ids, err := keysOf(tx, r.tables.toolsets)
		if err != nil {
			return err
		}
		for _, id := range ids {
			current[id] = ""
		}
		for t, err := range r.tables.toolsets.Scan(tx, kv.Range{}) {
			if err == nil {
				current[t.ID] = t.Revision
			} else if !isDamaged(err) {
				return err
			}
		}
		return nil
	})
	return current, err
}

// collectSet removes what one toolset needs no more: folders, and then the rows
// of revisions that have none.
func (r *Registry) collectSet(ctx context.Context, id, current string) error {
	parent := filepath.Join(r.folders(), id)
	list, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	if len(list) == 1 && list[0].Name() == current {
		return nil
	}
	if err := bundle.RemoveLeftovers(parent); err != nil {
		return err
	}
	if list, err = os.ReadDir(parent); err != nil {
		return err
	}
	var kept []string
	for _, e := range list {
		gone, err := r.collectRevision(id, e.Name(), current)
		if err != nil {
			return err
		}
		if !gone {
			kept = append(kept, e.Name())
		}
	}
	if err := r.dropFiles(ctx, id, append(kept, current)); err != nil || len(kept) > 0 {
		return err
	}
	return os.Remove(parent)
}

func (r *Registry) collectRevision(id, name, current string) (gone bool, err error) {
	parent := filepath.Join(r.folders(), id)
	if name == current {
		return false, nil
	}
	if strings.HasPrefix(name, removing) {
		return true, os.RemoveAll(filepath.Join(parent, name))
	}
	if !isRevision(name) {
		return false, nil // somebody else's; it is none of ours to remove
	}
	release, ok, err := r.tryFolder(id, name)
	if err != nil || !ok {
		return false, err
	}
	defer release()
	return true, removeFolder(parent, name)
}

func isRevision(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == revisionLength
}

// dropFiles removes a toolset's rows of files but those of the kept revisions.
func (r *Registry) dropFiles(ctx context.Context, id string, kept []string) error {
	var keys []kv.Key
	err := r.view(ctx, func(tx *kv.Tx) error {
		keys = nil
		for k, err := range r.tables.files.Keys(tx, kv.Range{Prefix: kv.Str(id)}) {
			if err != nil {
				return err
			}
			parts, err := k.Parts()
			if err != nil {
				return err
			}
			if revision, ok := parts[1].(string); ok && !slices.Contains(kept, revision) {
				keys = append(keys, k)
			}
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	return r.o.Store.Batch(ctx, func(b *kv.Batch) error {
		for _, k := range keys {
			if err := r.tables.files.Delete(b, k); err != nil {
				return err
			}
		}
		return nil
	})
}

// Damage is one file of an installed toolset that isn't as it was imported.
type Damage struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// damaged lists what of a folder isn't as its rows say, and what is there
// beside them.
func damaged(dir string, files []File) []Damage {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return []Damage{{Path: ".", Reason: "the folder is not there"}}
	}
	defer root.Close()
	var out []Damage
	buf := make([]byte, 64<<10)
	for _, f := range files {
		if why := differs(root, f, buf); why != "" {
			out = append(out, Damage{f.Path, why})
		}
	}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, known := findFile(files, []string{p}); !known && !d.IsDir() {
			out = append(out, Damage{p, "it was not in the bundle"})
		}
		return nil
	})
	if err != nil {
		out = append(out, Damage{".", "the folder can't be listed"})
	}
	slices.SortFunc(out, func(a, b Damage) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// differs says why a file isn't what its row says; empty if it is.
func differs(root *os.Root, f File, buf []byte) string {
	info, err := root.Lstat(filepath.FromSlash(f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is not there"
	case err != nil:
		return "it can't be read"
	case !info.Mode().IsRegular():
		return "it is no regular file"
	case info.Size() != f.Size:
		return "its size is another"
	}
	in, err := root.Open(filepath.FromSlash(f.Path))
	if err != nil {
		return "it can't be read"
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{in}, buf); err != nil {
		return "it can't be read"
	}
	want, err := hex.DecodeString(f.SHA256)
	if err != nil || !bytes.Equal(want, sum.Sum(nil)) {
		return "its contents are others"
	}
	return ""
}

// files reads the rows of a toolset's current files, sorted by path.
func (r *Registry) files(tx *kv.Tx, set *Toolset) ([]File, error) {
	var out []File
	for f, err := range r.tables.files.Scan(tx, kv.Range{Prefix: kv.Str(set.ID).Str(set.Revision)}) {
		if err != nil {
			return nil, err
		}
		f.StoredPath = filepath.Join(r.folder(set.ID, set.Revision), filepath.FromSlash(f.Path))
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// oneFile gives the first of several paths that a toolset has; nil where it has
// none of them.
func (r *Registry) oneFile(tx *kv.Tx, set *Toolset, paths []string) (*File, error) {
	for _, p := range paths {
		f, err := r.tables.files.Get(tx, kv.Str(set.ID).Str(set.Revision).Str(p))
		if !errors.Is(err, kv.ErrNotFound) {
			return f, err
		}
	}
	return nil, nil
}

// Verify reads every file of an installed toolset and tells which aren't as
// they were imported.
func (r *Registry) Verify(ctx context.Context, id string) ([]Damage, error) {
	var set *rows
	var files []File
	err := r.view(ctx, func(tx *kv.Tx) (err error) {
		if set, err = r.load(tx, id); err == nil {
			err = set.whole()
		}
		if err == nil {
			files, err = r.files(tx, &set.set)
		}
		return err
	})
	if err == nil && set == nil {
		err = &NotFoundError{What: "toolset", ID: id}
	}
	if err != nil {
		return nil, err
	}
	return damaged(r.folder(id, set.set.Revision), files), ctx.Err()
}

// VerifyFile tells whether one file of a folder is still what it was: dir and
// the other two are of a [MirrorTool], which has them of the records.
func VerifyFile(dir, file, sha256 string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("verify %s: %w", bundle.Printable(file), err)
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(path.Clean(file)))
	if err != nil {
		return fmt.Errorf("verify %s: %w", bundle.Printable(file), err)
	}
	if why := differs(root, File{Path: file, SHA256: sha256, Size: info.Size()}, make([]byte, 64<<10)); why != "" {
		return fmt.Errorf("verify %s: %s", bundle.Printable(file), why)
	}
	return nil
}
