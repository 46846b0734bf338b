package cas

import (
	"errors"
	"os"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Leftovers lists the unfinished files that killed processes have left among the
// contents. It lists none while a process may be writing there.
func (s *Store) Leftovers() ([]string, error) {
	return s.idleTemps(func(string) error { return nil })
}

// RemoveLeftovers removes what Leftovers lists, and returns it.
func (s *Store) RemoveLeftovers() (removed []string, err error) {
	return s.idleTemps(atomicfile.Remove)
}

// idleTemps calls do with each unfinished file, if no process is writing contents.
func (s *Store) idleTemps(do func(name string) error) ([]string, error) {
	all, err := s.temps()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	path, err := s.lockPath()
	if err != nil {
		return nil, err
	}
	release, free, err := lockfile.Try(path)
	if err != nil || !free {
		return nil, err
	}
	defer release()
	if all, err = s.temps(); err != nil { // those of a process that has finished are gone
		return nil, err
	}
	var done []string
	var errs []error
	for _, name := range all {
		err := do(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		done = append(done, name)
	}
	return done, errors.Join(errs...)
}
