package store

import (
	"errors"

	"github.com/fettle-cli/fettle/internal/lockfile"
)

// LockRecord locks a record for the process that wrote it.
func (s *Store) LockRecord(name string) (release func(), err error) {
	path, err := s.LockPath("guard-" + name)
	if err != nil {
		return nil, err
	}
	release, free, err := lockfile.Try(path)
	if err == nil && !free {
		err = errors.New("another process has its lock")
	}
	if err != nil {
		return nil, StoreFault("note the repositories of a folder", err)
	}
	return release, nil
}
