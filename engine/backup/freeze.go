package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// item is an entry of a backup and the file that it is read from.
type item struct {
	archive.Entry
	from string
	// sealed files don't change between the writing of the backup and its end: one
	// that is missing or has another size than Entry.Size makes the backup fail.
	sealed bool
}

// freeze copies what the backup holds of one moment into a separate folder.
func (b *backingUp) freeze(ctx context.Context) error {
	e := b.e
	b.frozen = filepath.Join(e.Options.DataDir, store.FrozenPrefix+e.NewID())
	if err := os.Mkdir(b.frozen, 0o700); err != nil {
		return err
	}
	b.o.Stage("copying the store", 0)
	if err := e.KV.CopyAhead(ctx, filepath.Join(b.frozen, "store")); err != nil {
		return err
	}
	if err := b.moment(ctx); err != nil {
		return err
	}
	e.Pause("backup:frozen")
	for _, id := range b.raw {
		dir := filepath.Join("chats", id)
		if err := b.copyTree(ctx, filepath.Join(e.Options.DataDir, dir), filepath.Join(b.frozen, dir)); err != nil {
			return err
		}
	}
	if err := b.checkFrozen(ctx); err != nil {
		return err
	}
	return b.list(ctx)
}

// moment copies the store, the journals and the small files while no process
// folds, changes toolsets or has the store open. So each turn is in the store, in
// its journal, or in both, and the toolsets that the store names have their files,
// which stay until the backup is done.
func (b *backingUp) moment(ctx context.Context) error {
	e := b.e
	toolsets := e.Installed()
	release, err := toolsets.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := os.MkdirAll(filepath.Join(e.Options.DataDir, "journal"), 0o700); err != nil {
		return err
	}
	unfold, _, err := e.BeginFold(ctx, store.FoldAll)
	if err != nil {
		return err
	}
	defer unfold()
	if err := b.copyJournals(ctx); err != nil { // first: what they name is in the store
		return err
	}
	if err := e.KV.Freeze(ctx, filepath.Join(b.frozen, "store")); err != nil {
		return err
	}
	if b.pinned, err = toolsets.Revisions(ctx); err != nil {
		return err
	}
	for id, revision := range b.pinned {
		_, unpin, err := registry.Use(e.Options.DataDir, id, revision)
		if errors.Is(err, registry.ErrGone) {
			continue // the toolset has lost its files, and its listing reports that
		}
		if err != nil {
			return err
		}
		b.unpin = append(b.unpin, unpin)
	}
	return b.copySmall(ctx)
}

// copyJournals copies the journals that wait or live, and those that were set
// aside. Of one that grows it copies whole lines.
func (b *backingUp) copyJournals(ctx context.Context) error {
	dir := filepath.Join(b.e.Options.DataDir, "journal")
	to := filepath.Join(b.frozen, "journal")
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); isJournal(name) {
			err = errors.Join(err, copyOut(ctx, os.Open, filepath.Join(dir, name), filepath.Join(to, name)), ctx.Err())
		}
	}
	return err
}

// copySmall copies the files of the data directory itself, and what the user
// trusts.
func (b *backingUp) copySmall(ctx context.Context) error {
	entries, err := os.ReadDir(b.e.Options.DataDir)
	for _, entry := range entries {
		if name := entry.Name(); entry.Type().IsRegular() && !transient(name) {
			err = errors.Join(err, copyOut(ctx, os.Open, filepath.Join(b.e.Options.DataDir, name), filepath.Join(b.frozen, name)))
		}
	}
	if err != nil || b.o.State == "" {
		return err
	}
	if err := os.Mkdir(filepath.Join(b.frozen, "state"), 0o700); err != nil {
		return err
	}
	return copyOut(ctx, os.Open, filepath.Join(b.o.State, store.TrustName), filepath.Join(b.frozen, "state", store.TrustName))
}

// copyTree copies a chat's folder. A file that vanishes meanwhile is left out, and one
// that cannot be read is left out with a notice, so that it does not prevent the
// backup.
func (b *backingUp) copyTree(ctx context.Context, from, to string) error {
	root, err := os.OpenRoot(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	return filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, rerr := filepath.Rel(from, at)
		if rerr != nil {
			return rerr
		}
		if err == nil {
			err = copyEntry(ctx, root, rel, filepath.Join(to, rel))
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, fs.ErrPermission):
			b.e.Options.Notice("left out of the backup, since it can't be read: " + cas.EscapePath(filepath.ToSlash(at)))
			return nil
		}
		return err
	})
}

// copyEntry copies one file, folder or link; a socket has no content.
func copyEntry(ctx context.Context, root *os.Root, rel, to string) error {
	info, err := root.Lstat(rel)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		return os.Chmod(to, info.Mode().Perm()|0o700)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(rel)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case info.Mode().IsRegular():
		return copyOut(ctx, root.Open, rel, to)
	}
	return nil
}

// copyOut copies a file, which open opens, with its permissions; of a journal it copies
// whole lines. A file that no longer exists is left out.
func copyOut(ctx context.Context, open func(string) (*os.File, error), from, to string) error {
	in, err := open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if filepath.Base(filepath.Dir(to)) == "journal" {
		if size, err = wholeLines(in, size); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	for err == nil && size > 0 {
		n := min(size, copyPiece)
		size -= n
		if _, err = io.CopyN(out, in, n); errors.Is(err, io.EOF) {
			err, size = nil, 0 // it became shorter
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	return errors.Join(err, out.Chmod(info.Mode().Perm()|0o600), out.Close())
}

// copyPiece is how much is copied between two checks of the context: some tenths of a
// second for a slow disk. The system copies without the bytes passing through here.
const copyPiece = 16 << 20

// checkFrozen opens the copy of the store, counts its chats, and reads all that
// names contents. Damage goes into the report, for it is the store's own.
func (b *backingUp) checkFrozen(ctx context.Context) (err error) {
	b.o.Stage("checking the copy", 0)
	side := store.New(store.Options{DataDir: b.frozen, Now: b.e.Options.Now, Notice: b.e.Options.Notice})
	defer func() { err = errors.Join(err, side.Close()) }()
	if b.report.Chats, err = countChats(ctx, side); err != nil {
		return err
	}
	contents := cas.Open(cas.Options{Dir: b.e.Options.DataDir, KV: side.KV, Now: b.e.Options.Now})
	report, err := contents.Check(ctx)
	if isCorrupt(err) {
		b.report.Problems = []cas.Problem{{What: "store", Reason: err.Error()}}
		return nil
	}
	if err != nil {
		return err
	}
	b.report.Problems = report.Problems
	return nil
}

// list notes every copy with its size, which it must still have when it is written.
// No process uses the copies any more.
func (b *backingUp) list(ctx context.Context) error {
	return filepath.WalkDir(b.frozen, func(at string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || at == b.frozen {
			return err
		}
		rel, err := filepath.Rel(b.frozen, at)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if filepath.Dir(rel) == "." && transient(name) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		it, err := entryOf(at, name, d)
		if err != nil || it.Kind == 0 {
			return err
		}
		it.sealed = true
		b.items = append(b.items, it)
		return nil
	})
}

// entryOf describes a file, folder or link; the Kind of anything else is 0.
func entryOf(at, name string, d fs.DirEntry) (it item, err error) {
	it.Name, it.from = name, at
	info, err := d.Info()
	if err != nil {
		return it, err
	}
	switch {
	case d.IsDir():
		it.Kind, it.Mode = archive.Folder, info.Mode().Perm()|0o700
	case d.Type() == fs.ModeSymlink:
		it.Kind, it.Mode = archive.Link, 0o777
		it.Target, err = os.Readlink(at)
	case d.Type().IsRegular():
		it.Kind, it.Mode, it.Size = archive.File, info.Mode().Perm()|0o600, info.Size()
	}
	return it, err
}

// changedError reports that a file has changed since it was listed.
type changedError struct {
	name      string
	was, size int64
}

func (c *changedError) Error() string {
	return fmt.Sprintf("%s changed while it was backed up: it had %d bytes and has %d", cas.EscapePath(c.name), c.was, c.size)
}
