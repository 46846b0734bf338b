package cas

import (
	"context"
	"errors"
	"fmt"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Foreign returns an entry of the folder that the last scan found to belong to another user
// or group; "" is none. What is inside of folders that states leave out is not looked at.
func (s *Store) Foreign(ctx context.Context, ws *Workspace) (path string, err error) {
	f, release, err := s.folder(ctx, ws.key())
	if err != nil {
		return "", err
	}
	defer release()
	if f.foreign != nil {
		return *f.foreign, nil
	}
	if path, err = s.foreignOf(ctx, ws.key()); err != nil {
		return "", err
	}
	f.foreign = &path
	return path, nil
}

func (s *Store) foreignOf(ctx context.Context, key string) (path string, err error) {
	err = s.kv.View(ctx, func(tx *kv.Tx) error {
		text, err := s.owners.Get(tx, kv.Str(key))
		if errors.Is(err, kv.ErrNotFound) {
			return nil
		}
		path = string(text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read whom the files of a folder belong to: %w", err)
	}
	return path, nil
}

// noteForeign keeps what a scan has found about owners, where that has changed.
func (s *Store) noteForeign(ctx context.Context, ws *Workspace, f *folderState, path string) error {
	if f.foreign == nil {
		was, err := s.foreignOf(ctx, ws.key())
		if err != nil {
			return err
		}
		f.foreign = &was
	}
	if *f.foreign == path {
		return nil
	}
	err := s.kv.Update(ctx, func(tx *kv.Tx) error {
		if path == "" {
			return s.owners.Delete(tx, kv.Str(ws.key()))
		}
		return s.owners.Put(tx, kv.Str(ws.key()), []byte(path))
	})
	if err == nil {
		f.foreign = &path
	}
	return err
}

// foundForeign takes in that an entry belongs to another user or group.
func (s *scanner) foundForeign(path string) {
	s.foreignMu.Lock()
	defer s.foreignMu.Unlock()
	if s.foreign == "" || path < s.foreign {
		s.foreign = path
	}
}
