package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// LeftoverKind is the operation that a killed process was doing.
type LeftoverKind string

const (
	LeftTemporary LeftoverKind = "temporary" // a file or folder that was being written
	LeftJournal   LeftoverKind = "journal"   // the beginning of a turn that was never accepted
	LeftBackup    LeftoverKind = "backup"    // a copy of the data that was being backed up
	LeftRestore   LeftoverKind = "restore"   // a backup that was being restored, or the data that it replaced
	LeftLock      LeftoverKind = "lock"      // the file of a lock that no process holds
)

// Leftover is a file or folder of a process that was killed. No process uses it.
type Leftover struct {
	Path  string
	Kind  LeftoverKind
	Bytes int64
}

// Leftovers lists what killed processes have left: in the data directory, and
// temporary files elsewhere that its records name. It changes nothing. Locks are
// judged by the process that their files name.
func (s *Store) Leftovers(ctx context.Context) ([]Leftover, error) {
	sw := sweep{e: s}
	err := sw.all(ctx)
	return sw.found, err
}

// RemoveLeftovers removes what killed processes have left, and returns it. The
// locks of living processes decide what stays. Where something can't be removed
// it continues with the rest.
func (s *Store) RemoveLeftovers(ctx context.Context) ([]Leftover, error) {
	sw := sweep{e: s, remove: true}
	err := sw.all(ctx)
	return sw.found, err
}

// sweep is one search for leftovers.
type sweep struct {
	e      *Store
	remove bool
	found  []Leftover
}

func (s *sweep) all(ctx context.Context) error {
	if _, err := os.Stat(s.e.Options.DataDir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var errs []error
	for _, step := range []func(context.Context) error{s.recorded, s.unfinished, s.journals, s.contents, s.older, s.copies, s.layers, s.locks} {
		if ctx.Err() != nil {
			return errors.Join(append(errs, context.Cause(ctx))...)
		}
		errs = append(errs, step(ctx))
	}
	if err := errors.Join(errs...); err != nil {
		return StoreFault("look for what killed commands have left", err)
	}
	return nil
}

// recorded are the temporary files and folders with a record.
func (s *sweep) recorded(context.Context) error {
	look := s.e.Temporaries.Leftovers
	if s.remove {
		look = s.e.Temporaries.Sweep
	}
	left, err := look()
	for _, l := range left {
		s.found = append(s.found, Leftover{l.Path, LeftTemporary, l.Size})
	}
	return err
}

// unfinished are the temporary files of targets in the data directory. The next
// writer of the same target would remove them, too.
func (s *sweep) unfinished(context.Context) error {
	var errs []error
	for _, pattern := range []string{"", "blobs", "cache", filepath.Join("cache", "*")} {
		names, err := filepath.Glob(filepath.Join(s.e.Options.DataDir, pattern, ".*"))
		errs = append(errs, err)
		for _, name := range names {
			if atomicfile.IsTempName(name) {
				errs = append(errs, s.unfinishedFile(name))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *sweep) unfinishedFile(name string) error {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil // it has its final name by now, or is not ours
	}
	stale, err := atomicfile.Stale(name)
	if s.remove && stale {
		stale, err = atomicfile.RemoveStale(name)
	}
	if stale {
		s.found = append(s.found, Leftover{name, LeftTemporary, info.Size()})
	}
	return err
}

// journals are those that were never published.
func (s *sweep) journals(ctx context.Context) error {
	left, err := s.e.Journals.Unpublished()
	if err != nil {
		return err
	}
	var files []Leftover
	for _, u := range left {
		for _, name := range u.Files {
			if info, err := os.Lstat(name); err == nil && !lives(u.Owner) {
				files = append(files, Leftover{name, LeftJournal, info.Size()})
			}
		}
	}
	if !s.remove {
		s.found = append(s.found, files...)
		return nil
	}
	err = s.e.Journals.Sweep(ctx)
	for _, f := range files {
		if !Exists(f.Path) {
			s.found = append(s.found, f)
		}
	}
	return err
}

// contents are the unfinished files among the contents of snapshots.
func (s *sweep) contents(context.Context) error {
	listed, err := s.e.Snapshots.Leftovers()
	if err != nil || len(listed) == 0 {
		return err
	}
	sizes := map[string]int64{}
	for _, name := range listed {
		sizes[name] = atomicfile.SizeOf(name)
	}
	if s.remove {
		listed, err = s.e.Snapshots.RemoveLeftovers()
	}
	for _, name := range listed {
		s.found = append(s.found, Leftover{name, LeftTemporary, sizes[name]})
	}
	return err
}

// older are the temporary files of earlier programs in the data directory: NAME.json.new.
// They are removed if no process uses the data directory.
func (s *sweep) older(context.Context) error {
	names, err := filepath.Glob(filepath.Join(s.e.Options.DataDir, "*.json.new"))
	if err != nil || len(names) == 0 {
		return err
	}
	if s.remove {
		lock, err := s.e.LockPath(DataLock)
		if err != nil {
			return err
		}
		release, free, err := lockfile.Try(lock)
		if err != nil || !free {
			return err
		}
		defer release()
	}
	var errs []error
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if s.remove {
			if err := atomicfile.Remove(name); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		s.found = append(s.found, Leftover{name, LeftTemporary, info.Size()})
	}
	return errors.Join(errs...)
}

// copies are whole copies of the data. Each kind has a lock that is held as long
// as one is in use. A restore that was cut off while names were exchanged has a
// mark; the next command finishes it, and its folders are needed until then.
func (s *sweep) copies(context.Context) error {
	entries, err := os.ReadDir(s.e.Options.DataDir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case !entry.IsDir():
		case strings.HasPrefix(name, FrozenPrefix):
			errs = append(errs, s.copy(name, "backup", LeftBackup))
		case strings.HasPrefix(name, StagePrefix), strings.HasPrefix(name, OldPrefix):
			errs = append(errs, s.copy(name, "restore", LeftRestore))
		}
	}
	return errors.Join(errs...)
}

func (s *sweep) copy(name, lock string, kind LeftoverKind) error {
	path := filepath.Join(s.e.Options.DataDir, name)
	lockPath := filepath.Join(s.e.Options.DataDir, "locks", lock)
	marked := func() bool { return kind == LeftRestore && Exists(filepath.Join(s.e.Options.DataDir, RestoreMarkName)) }
	if !s.remove {
		if !lives(lockfile.OwnerPID(lockPath)) && !marked() {
			s.found = append(s.found, Leftover{path, kind, atomicfile.SizeOf(path)})
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(lockPath), 0o700); err != nil {
		return err
	}
	release, free, err := lockfile.Try(lockPath)
	if err != nil || !free {
		return err
	}
	defer release()
	if marked() || !Exists(path) {
		return nil
	}
	size := atomicfile.SizeOf(path)
	if err := atomicfile.RemoveAll(path); err != nil {
		return err
	}
	s.found = append(s.found, Leftover{path, kind, size})
	return nil
}

// locks are the files of locks that no process holds.
func (s *sweep) locks(context.Context) error {
	inner, _ := filepath.Glob(filepath.Join(s.e.Options.DataDir, "locks", "*"))
	outer, _ := filepath.Glob(filepath.Join(s.e.Options.DataDir, "*.lock"))
	var errs []error
	for _, name := range append(inner, outer...) {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || !s.remove && lives(lockfile.OwnerPID(name)) {
			continue
		}
		if s.remove {
			release, free, err := lockfile.Try(name)
			if err != nil {
				errs = append(errs, err)
			}
			if !free {
				continue
			}
			release() // which removes the file
		}
		s.found = append(s.found, Leftover{name, LeftLock, info.Size()})
	}
	return errors.Join(errs...)
}

// lives reports whether the process that a lock's file names may be alive.
func lives(pid int) bool { return pid > 0 && ProcessAlive(pid) }

// TryLayer takes the lock of a layer if no process uses it.
func (s *Store) TryLayer(call string) (release func(), free bool, err error) {
	path, err := s.LockPath(LayerLock(call))
	if err != nil {
		return nil, false, err
	}
	return lockfile.Try(path)
}
