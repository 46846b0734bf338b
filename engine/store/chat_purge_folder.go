package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oklog/ulid/v2"
)

// removeFolder removes a chat's own folder, entry by entry, so that it can be
// stopped. A link is removed, and what it leads to is left.
func (s *Store) removeFolder(ctx context.Context, chatID string) error {
	if _, err := ulid.ParseStrict(chatID); err != nil {
		return nil // not a folder of ours: the name could lead anywhere
	}
	root, err := os.OpenRoot(filepath.Join(s.Options.DataDir, "chats"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	return removeTree(ctx, root, chatID)
}

func removeTree(ctx context.Context, root *os.Root, path string) error {
	info, err := root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if info.Mode().Perm()&0o700 != 0o700 { // a tool may have locked its own folder
			_ = root.Chmod(path, 0o700) // else reading it returns the reason
		}
		if err := removeEntries(ctx, root, path); err != nil {
			return err
		}
	}
	if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func removeEntries(ctx context.Context, root *os.Root, path string) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir, err := root.Open(path)
		if err != nil {
			return err
		}
		names, err := dir.Readdirnames(purgeFiles)
		if err := dir.Close(); err != nil {
			return err
		}
		if len(names) == 0 {
			return nil // the end, or an error that removing the folder itself will return
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := removeTree(ctx, root, filepath.Join(path, name)); err != nil {
				return err
			}
		}
	}
}
