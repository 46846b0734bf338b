package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// FinishRestore brings the return of a backup to its end that was cut off while
// names were exchanged. It costs one look where there was none, and is called
// before anything else is done with a data directory. notice reports which process is
// waited for.
func FinishRestore(ctx context.Context, dataDir string, notice func(string)) (err error) {
	if _, err := os.Lstat(filepath.Join(dataDir, markName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e := NewStore(StoreOptions{DataDir: dataDir, Notice: notice})
	defer func() { err = errors.Join(err, e.Close()) }()
	release, err := e.lock(ctx, "restore", nil) // a process that holds it is alive, and finishes
	if err != nil {
		return err
	}
	defer release()
	mark, err := readMark(dataDir)
	if mark == nil || err != nil {
		return err
	}
	alone, err := e.dataAlone(ctx, notice)
	if err != nil {
		return err
	}
	defer alone()
	m := &mover{dataDir: dataDir, mark: *mark, pause: func(string) {}, sync: atomicfile.SyncDir}
	err = e.store.Closed(ctx, func(string) error { return m.forward() })
	if err == nil {
		err = removeReplaced(dataDir)
	}
	if err != nil {
		return storeFault("bring the return of a backup to its end", err)
	}
	return nil
}

func readMark(dataDir string) (*restoreMark, error) {
	text, err := atomicfile.ReadFile(filepath.Join(dataDir, markName))
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

// mover carries out an exchange, see restoreMark.
type mover struct {
	dataDir string
	mark    restoreMark
	// pause is called at each step that a crash could come after.
	pause func(string)
	// sync makes the names in a folder survive a power cut.
	sync func(dir string) error
}

// forward moves every name of the stage to its place. It may be called again at any
// point, after a crash too. The caller keeps all other processes out.
//
// A rename is durable when both folders are synced. So each folder that lost or got a
// name is synced before the mark is removed: without the mark nothing would move the
// names that a power cut has restored.
func (m *mover) forward() error {
	stage, old := filepath.Join(m.dataDir, m.mark.Stage), filepath.Join(m.dataDir, m.mark.Old)
	if err := os.MkdirAll(old, 0o700); err != nil {
		return err
	}
	if err := m.moveTrust(stage); err != nil {
		return err
	}
	changed := []string{stage, old}
	for _, name := range union(m.mark.Was, m.mark.New) {
		from, at, away := filepath.Join(stage, name), filepath.Join(m.dataDir, name), filepath.Join(old, name)
		for _, path := range []string{from, at, away} {
			if dir := filepath.Dir(path); !slices.Contains(changed, dir) {
				changed = append(changed, dir)
			}
		}
		if err := m.move(from, at, away, slices.Contains(m.mark.New, name)); err != nil {
			return err
		}
	}
	for _, dir := range slices.Backward(changed) { // those within before the name that they have
		if err := m.sync(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	m.pause("restore:synced")
	if err := m.sync(m.dataDir); err != nil {
		return err
	}
	if err := atomicfile.Remove(filepath.Join(m.dataDir, markName)); err != nil {
		return err
	}
	m.pause("restore:unmarked")
	return m.sync(m.dataDir)
}

// move moves the existing file or folder of a place away, and that of the stage, if
// any, to the place.
func (m *mover) move(from, at, away string, fresh bool) error {
	if fresh && !there(from) {
		return nil // it is in its place
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.MkdirAll(filepath.Dir(away), 0o700)); err != nil {
		return err
	}
	if there(at) && !there(away) {
		if err := atomicfile.Rename(at, away); err != nil {
			return err
		}
		m.pause("restore:away")
	}
	if !fresh {
		return nil
	}
	if err := atomicfile.Rename(from, at); err != nil {
		return err
	}
	m.pause("restore:placed")
	return nil
}

// removeReplaced removes what backups have replaced, and what is left of their
// stages. The caller has the lock "restore", and there is no mark.
func removeReplaced(dataDir string) error {
	return errors.Join(removePrefixed(dataDir, oldPrefix), removePrefixed(dataDir, stagePrefix))
}

// moveTrust puts what the user trusts into its folder, if that isn't in the data
// directory.
func (m *mover) moveTrust(stage string) error {
	state := m.mark.State
	text, err := os.ReadFile(filepath.Join(stage, "state", trustName))
	if state == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err == nil {
		err = replaceFile(filepath.Join(state, trustName), text)
	}
	for _, dir := range []string{state, filepath.Dir(state)} {
		if err == nil {
			err = m.sync(dir)
		}
	}
	if err != nil {
		return err
	}
	return atomicfile.RemoveAll(filepath.Join(stage, "state"))
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// syncFolders makes the names in dir and in all folders below it safe from a power
// cut, those within first; but not in the folders of chats, whose files aren't
// synced either.
func syncFolders(dir string) error {
	var all []string
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if all = append(all, at); filepath.Dir(at) == dir && d.Name() == "chats" {
			return filepath.SkipDir
		}
		return nil
	})
	for _, at := range slices.Backward(all) {
		err = errors.Join(err, atomicfile.SyncDir(at))
	}
	return err
}
