package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fettle-cli/fettle/engine/fault"
)

// FinishRestore brings the return of a backup to its end that was cut off while
// names were exchanged. It costs one look where there was none, and is called
// before anything else is done with a data directory.
func FinishRestore(ctx context.Context, dataDir string) (err error) {
	if _, err := os.Lstat(filepath.Join(dataDir, markName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e := New(Options{DataDir: dataDir})
	defer func() { err = errors.Join(err, e.Close()) }()
	release, err := e.lock(ctx, "restore", nil) // whoever is at it, lives and finishes
	if err != nil {
		return err
	}
	defer release()
	mark, err := readMark(dataDir)
	if mark == nil || err != nil {
		return err
	}
	alone, err := e.dataAlone(ctx, func(string) {})
	if err != nil {
		return err
	}
	defer alone()
	err = e.store.Closed(ctx, func(string) error { return moveForward(dataDir, *mark, func(string) {}) })
	if err == nil {
		err = removeReplaced(dataDir)
	}
	if err != nil {
		return storeFault("bring the return of a backup to its end", err)
	}
	return nil
}

func readMark(dataDir string) (*restoreMark, error) {
	text, err := os.ReadFile(filepath.Join(dataDir, markName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	mark := new(restoreMark)
	if err == nil {
		err = json.Unmarshal(text, mark)
	}
	if err == nil && (!filepath.IsLocal(mark.Stage) || !filepath.IsLocal(mark.Old)) {
		err = errors.New("it names no folders")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Store, "read "+filepath.Join(dataDir, markName), err)
	}
	if mark.Version != restoreMarkVersion {
		return nil, fault.New(fault.Store, fmt.Sprintf("a newer fettle was putting a backup back (version %d)", mark.Version))
	}
	return mark, nil
}

// moveForward gives every name of the stage its place. It may be called again at
// any point, after a crash too. The caller keeps everybody out.
func moveForward(dataDir string, m restoreMark, pause func(string)) error {
	stage, old := filepath.Join(dataDir, m.Stage), filepath.Join(dataDir, m.Old)
	if err := os.MkdirAll(old, 0o700); err != nil {
		return err
	}
	if err := moveTrust(stage, m.State); err != nil {
		return err
	}
	for _, name := range union(m.Was, m.New) {
		from, at, away := filepath.Join(stage, name), filepath.Join(dataDir, name), filepath.Join(old, name)
		fresh := slices.Contains(m.New, name)
		if fresh && !there(from) {
			continue // it is in its place
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.MkdirAll(filepath.Dir(away), 0o700)); err != nil {
			return err
		}
		if there(at) && !there(away) {
			if err := os.Rename(at, away); err != nil {
				return err
			}
			pause("restore:away")
		}
		if fresh {
			if err := os.Rename(from, at); err != nil {
				return err
			}
			pause("restore:placed")
		}
	}
	if err := errors.Join(syncNames(dataDir), os.Remove(filepath.Join(dataDir, markName)), syncNames(dataDir)); err != nil {
		return err
	}
	pause("restore:unmarked")
	return nil
}

// removeReplaced removes what backups have replaced, and what is left of their
// stages. The caller has the lock "restore", and there is no mark.
func removeReplaced(dataDir string) error {
	return errors.Join(removePrefixed(dataDir, oldPrefix), removePrefixed(dataDir, stagePrefix))
}

// moveTrust puts what the user trusts into its folder, where that isn't in the
// data directory.
func moveTrust(stage, state string) error {
	from := filepath.Join(stage, "state", trustName)
	text, err := os.ReadFile(from)
	if state == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err == nil {
		err = replaceFile(filepath.Join(state, trustName), text)
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(stage, "state"))
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// syncNames makes a folder's names safe from a power cut. Windows has no such
// call, and needs none.
func syncNames(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
