package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// FinishRestore brings the return of a backup to its end that was cut off while
// names were exchanged. It costs one look where there was none, and is called
// before anything else is done with a data directory. notice reports which process is
// waited for.
func FinishRestore(ctx context.Context, dataDir string, notice func(string)) (err error) {
	if _, err := os.Lstat(filepath.Join(dataDir, RestoreMarkName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	e := New(Options{DataDir: dataDir, Notice: notice})
	defer func() { err = errors.Join(err, e.Close()) }()
	release, err := e.Lock(ctx, "restore", nil) // a process that holds it is alive, and finishes
	if err != nil {
		return err
	}
	defer release()
	mark, err := readMark(dataDir)
	if mark == nil || err != nil {
		return err
	}
	alone, err := e.DataAlone(ctx, notice)
	if err != nil {
		return err
	}
	defer alone()
	m := &Exchange{DataDir: dataDir, Mark: *mark, Pause: func(string) {}, Sync: atomicfile.SyncDir}
	err = e.KV.Closed(ctx, func(string) error { return m.Forward() })
	if err == nil {
		err = RemoveReplaced(dataDir)
	}
	if err != nil {
		return StoreFault("bring the return of a backup to its end", err)
	}
	return nil
}

func readMark(dataDir string) (*RestoreMark, error) {
	text, err := atomicfile.ReadFile(filepath.Join(dataDir, RestoreMarkName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	mark := new(RestoreMark)
	if err == nil {
		err = json.Unmarshal(text, mark)
	}
	if err == nil && (!filepath.IsLocal(mark.Stage) || !filepath.IsLocal(mark.Old)) {
		err = errors.New("it names no folders")
	}
	if err != nil {
		return nil, fault.Wrap(fault.Store, "read "+filepath.Join(dataDir, RestoreMarkName), err)
	}
	if mark.Version != RestoreMarkVersion {
		return nil, fault.New(fault.Store, fmt.Sprintf("a newer fettle was putting a backup back (version %d)", mark.Version))
	}
	return mark, nil
}

// Exchange carries out an exchange, see RestoreMark.
type Exchange struct {
	DataDir string
	Mark    RestoreMark
	// Pause is called at each step that a crash could come after.
	Pause func(string)
	// Sync makes the names in a folder survive a power cut.
	Sync func(dir string) error
}

// Forward moves every name of the stage to its place. It may be called again at any
// point, after a crash too. The caller keeps all other processes out.
//
// A rename is durable when both folders are synced. So each folder that lost or got a
// name is synced before the mark is removed: without the mark nothing would move the
// names that a power cut has restored.
func (m *Exchange) Forward() error {
	stage, old := filepath.Join(m.DataDir, m.Mark.Stage), filepath.Join(m.DataDir, m.Mark.Old)
	if err := os.MkdirAll(old, 0o700); err != nil {
		return err
	}
	if err := m.moveTrust(stage); err != nil {
		return err
	}
	changed := []string{stage, old}
	for _, name := range union(m.Mark.Was, m.Mark.New) {
		from, at, away := filepath.Join(stage, name), filepath.Join(m.DataDir, name), filepath.Join(old, name)
		for _, path := range []string{from, at, away} {
			if dir := filepath.Dir(path); !slices.Contains(changed, dir) {
				changed = append(changed, dir)
			}
		}
		if err := m.move(from, at, away, slices.Contains(m.Mark.New, name)); err != nil {
			return err
		}
	}
	for _, dir := range slices.Backward(changed) { // those within before the name that they have
		if err := m.Sync(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	m.Pause("restore:synced")
	if err := m.Sync(m.DataDir); err != nil {
		return err
	}
	if err := atomicfile.Remove(filepath.Join(m.DataDir, RestoreMarkName)); err != nil {
		return err
	}
	m.Pause("restore:unmarked")
	return m.Sync(m.DataDir)
}

// move moves the existing file or folder of a place away, and that of the stage, if
// any, to the place.
func (m *Exchange) move(from, at, away string, fresh bool) error {
	if fresh && !Exists(from) {
		return nil // it is in its place
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.MkdirAll(filepath.Dir(away), 0o700)); err != nil {
		return err
	}
	if Exists(at) && !Exists(away) {
		if err := atomicfile.Rename(at, away); err != nil {
			return err
		}
		m.Pause("restore:away")
	}
	if !fresh {
		return nil
	}
	if err := atomicfile.Rename(from, at); err != nil {
		return err
	}
	m.Pause("restore:placed")
	return nil
}

// RemoveReplaced removes what backups have replaced, and what is left of their
// stages. The caller has the lock "restore", and there is no mark.
func RemoveReplaced(dataDir string) error {
	return errors.Join(RemovePrefixed(dataDir, OldPrefix), RemovePrefixed(dataDir, StagePrefix))
}

// moveTrust puts what the user trusts into its folder, if that isn't in the data
// directory.
func (m *Exchange) moveTrust(stage string) error {
	state := m.Mark.State
	text, err := os.ReadFile(filepath.Join(stage, "state", TrustName))
	if state == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(state, 0o700)
	}
	if err == nil {
		err = ReplaceFile(filepath.Join(state, TrustName), text)
	}
	for _, dir := range []string{state, filepath.Dir(state)} {
		if err == nil {
			err = m.Sync(dir)
		}
	}
	if err != nil {
		return err
	}
	return atomicfile.RemoveAll(filepath.Join(stage, "state"))
}

// Exists reports whether there is something at a path, a link that leads nowhere included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// RestoreMark is the journal of an exchange. While it is there, names are moved
// forward: what is in the stage goes to its place, and what was there to the old
// ones.
type RestoreMark struct {
	Version int       `json:"version"`
	Stage   string    `json:"stage"`
	Old     string    `json:"old"`
	Was     []string  `json:"was"` // names that are there, and those of the stage
	New     []string  `json:"new"`
	State   string    `json:"state,omitempty"`
	Begun   time.Time `json:"begun"`
}

// RestoreMarkVersion is the version of a RestoreMark that this program writes and reads.
const RestoreMarkVersion = 1

func union(a, b []string) []string {
	out := append([]string(nil), a...)
	for _, name := range b {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Names in the data directory that only backups use.
const (
	FrozenPrefix    = "backup-"        // folders: a copy of the store while it is backed up
	StagePrefix     = "restore-"       // folders: what a backup holds, before it is in its place
	OldPrefix       = "replaced-"      // folders: what was there before a restore
	RestoreMarkName = "restoring.json" // the file of a RestoreMark
)

// TrustName is the file of what the user trusts.
const TrustName = "trust.json"

// RemovePrefixed removes the folders of a name's beginning.
func RemovePrefixed(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, atomicfile.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
