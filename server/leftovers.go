package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// Leftovers lists what a killed server has left: its note in the data directory and its
// socket in runtimeDir, which may be empty. It removes nothing.
func Leftovers(dataDir, runtimeDir string) ([]string, error) {
	return eachLeft(dataDir, runtimeDir, func(string) error { return nil })
}

// RemoveLeftovers removes what Leftovers lists, and returns it.
func RemoveLeftovers(dataDir, runtimeDir string) (removed []string, err error) {
	return eachLeft(dataDir, runtimeDir, atomicfile.Remove)
}

// eachLeft calls do with the files that a server makes, if none is running.
func eachLeft(dataDir, runtimeDir string, do func(path string) error) ([]string, error) {
	left := leftByServer(dataDir, runtimeDir)
	if len(left) == 0 {
		return nil, nil
	}
	lock := filepath.Join(dataDir, "locks", "serve")
	if err := os.MkdirAll(filepath.Dir(lock), 0o700); err != nil {
		return nil, err
	}
	release, free, err := lockfile.Try(lock)
	if err != nil || !free {
		return nil, err
	}
	defer release()
	var done []string
	var errs []error
	for _, path := range leftByServer(dataDir, runtimeDir) { // a server that has ended has removed its own
		if err := do(path); err != nil {
			errs = append(errs, err)
			continue
		}
		done = append(done, path)
	}
	return done, errors.Join(errs...)
}

// leftByServer lists the files that exist of those that a server makes.
func leftByServer(dataDir, runtimeDir string) (out []string) {
	for path, kind := range map[string]fs.FileMode{filepath.Join(dataDir, NoteFile): 0, socketPath(dataDir, runtimeDir): fs.ModeSocket} {
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() == kind {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}
