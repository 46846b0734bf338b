package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/backup/archive"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// takeFolders stores the chats' own folders.
func (b *backingUp) takeFolders(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(b.e.Options.DataDir, "chats"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	b.o.Stage("taking in the folders of chats", 0)
	for _, entry := range entries {
		id := entry.Name()
		if _, err := ulid.ParseStrict(id); err != nil || !entry.IsDir() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b.report.Folders++
		state, err := b.e.TakeFolder(ctx, id)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || state == "" {
			b.raw = append(b.raw, id)
			continue
		}
		b.folders[id] = state
	}
	return nil
}

// layOutAll writes the files of the chats' states into the chats' own folders, for each
// chat in the store that has a state and a folder, unless the backup holds the folder
// itself. The store decides, not the list of the backup, since a turn may have run, or
// a chat may have been removed, between the two.
func (s *staged) layOutAll(ctx context.Context, side *store.Store) error {
	states := map[string]string{}
	err := side.View(ctx, func(tx *kv.Tx) error {
		for c, err := range side.Tables.Chats.Scan(tx, kv.Range{}) {
			if isCorrupt(err) {
				continue // without Damaged it would have been refused
			}
			if err != nil {
				return err
			}
			if c.Workspace == "" && c.ActiveManifest != "" && !store.Exists(side.ManagedDir(c.ID)) {
				states[c.ID] = c.ActiveManifest
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for chat, state := range states {
		m, err := side.Manifest(ctx, state)
		if err != nil {
			return err
		}
		_, listed := s.folders[chat]
		if !listed && (m == nil || m.ChatID != chat) {
			continue // the folder did not exist, or had not been filled yet
		}
		if m == nil && s.o.Damaged {
			continue
		}
		if m == nil {
			return fmt.Errorf("%w: the state %s of a chat's folder is missing", archive.ErrDamaged, cas.EscapePath(state))
		}
		if err := s.layOut(ctx, side, chat, m); err != nil {
			return err
		}
		s.report.Folders++
	}
	return nil
}

// layOut writes the files of a state into a chat's folder.
func (s *staged) layOut(ctx context.Context, side *store.Store, chat string, m *cas.Manifest) error {
	dir := side.ManagedDir(chat)
	if !filepath.IsLocal(chat) || filepath.Dir(dir) == s.dir {
		return fmt.Errorf("%w: a folder %s", archive.ErrDamaged, cas.EscapePath(chat))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // every file was closed
	var folders []cas.Located
	for f, err := range side.Files(ctx, m) {
		if err == nil {
			err = layOutOne(ctx, side, root, f)
		}
		if f.Kind == cas.Folder {
			folders = append(folders, f)
		}
		var damage *cas.DamageError
		if errors.As(err, &damage) && s.o.Damaged {
			continue // it was removed before the backup
		}
		if err != nil {
			return err
		}
		s.o.Moved(1, f.Size)
	}
	for _, f := range slices.Backward(folders) { // their bits may forbid to write in them
		if err := permLaidOut(f, func(mode os.FileMode) error { return root.Chmod(filepath.FromSlash(f.Path), mode) }); err != nil {
			return err
		}
	}
	return nil
}

// permLaidOut gives a file or folder the permission bits of its state, where it has some.
func permLaidOut(f cas.Located, chmod func(os.FileMode) error) error {
	if !f.Perm.Known() || runtime.GOOS == "windows" {
		return nil
	}
	return chmod(f.Perm.FileMode())
}

func layOutOne(ctx context.Context, side *store.Store, root *os.Root, f cas.Located) error {
	name := filepath.FromSlash(f.Path)
	mode := os.FileMode(0o644)
	switch f.Kind {
	case cas.Folder:
		return root.MkdirAll(name, 0o755)
	case cas.Link:
		return root.Symlink(f.Text, name)
	case cas.Executable:
		mode = 0o755
	case cas.File:
	default:
		return nil // it was not content
	}
	if f.Perm.Known() {
		mode = 0o600 // until it has its own
	}
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(side.Snapshots.Read(ctx, out, f.Entry), permLaidOut(f, out.Chmod), out.Close())
}
