package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// names are the names in each folder of a data directory, by the folder.
func names(t testing.TB, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(dir, func(at string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		out[at] = namesIn(at)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func namesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{"gone"}
	}
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// exchangeable is a data directory with a stage next to it, as a restore leaves them
// when it has written its mark.
func exchangeable(t *testing.T) (dir string, mark store.RestoreMark) {
	t.Helper()
	dir = t.TempDir()
	mark = store.RestoreMark{
		Version: store.RestoreMarkVersion, Stage: store.StagePrefix + "x", Old: store.OldPrefix + "x", State: filepath.Join(t.TempDir(), "state"),
		Was: []string{"counter.json", "journal/a.jsonl", "journal/b.jsonl", "store", "only-old"},
		New: []string{"chats", "counter.json", "journal/c.jsonl", "store"},
	}
	for _, name := range mark.Was {
		put(t, filepath.Join(dir, fileOf(name)), []byte("old "+name))
	}
	for _, name := range mark.New {
		put(t, filepath.Join(dir, mark.Stage, fileOf(name)), []byte("new "+name))
	}
	put(t, filepath.Join(dir, mark.Stage, "state", store.TrustName), []byte("trust"))
	put(t, filepath.Join(dir, store.RestoreMarkName), []byte("{}"))
	return dir, mark
}

// fileOf is a name of a data directory, or a file in it where it is a folder's.
func fileOf(name string) string {
	if filepath.Ext(name) == "" {
		return filepath.Join(name, "file")
	}
	return name
}

// POSIX lets a power cut revert any change of a folder's names that came after the
// folder's last sync. When the mark is removed there must be none, regardless of where
// an earlier crash has interrupted the exchange.
func TestAnExchangeIsSyncedBeforeItsMarkGoes(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	for crashAt := range 12 {
		t.Run(fmt.Sprint("a crash at step ", crashAt), func(t *testing.T) {
			t.Parallel()
			dir, mark := exchangeable(t)
			durable := names(t, dir)
			m := &store.Exchange{DataDir: dir, Mark: mark}
			m.Sync = func(dir string) error {
				if _, err := os.Lstat(dir); err != nil {
					return err
				}
				durable[dir] = namesIn(dir)
				return nil
			}
			step, looked := 0, false
			m.Pause = func(at string) {
				if at == "restore:synced" {
					looked = true
					now := names(t, dir)
					durable[dir], now[dir] = nil, nil // synced next, as the last folder
					for folder := range durable {
						if _, ok := now[folder]; !ok {
							delete(durable, folder) // it was moved, and the folder that it was in is synced
						}
					}
					for folder, in := range now {
						if _, ok := durable[folder]; !ok && filepath.Base(filepath.Dir(folder)) != mark.Stage {
							durable[folder] = in // it was moved as it was
						}
					}
					if diff := cmp.Diff(durable, now); diff != "" {
						t.Errorf("not synced:\n%s", diff)
					}
				}
				if step++; step == crashAt {
					panic(crash)
				}
			}
			func() {
				defer func() {
					if r := recover(); r != nil && r != any(crash) {
						panic(r)
					}
				}()
				if err := m.Forward(); err != nil {
					t.Fatal(err)
				}
			}()
			if _, err := os.Lstat(filepath.Join(dir, store.RestoreMarkName)); err == nil { // what the next command does
				if err := m.Forward(); err != nil {
					t.Fatal(err)
				}
			}
			if !looked {
				t.Error("the mark went without a look")
			}
			exchanged(t, dir, mark)
		})
	}
}

// exchanged checks that the names of the stage are in their places, and no others.
func exchanged(t *testing.T, dir string, mark store.RestoreMark) {
	t.Helper()
	got, err := backup.Contents(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(slices.Values(mark.New)); !slices.Equal(got, want) {
		t.Errorf("there is %v, want %v", got, want)
	}
	for _, name := range mark.New {
		if text, err := os.ReadFile(filepath.Join(dir, fileOf(name))); string(text) != "new "+name {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(mark.State, store.TrustName)); string(text) != "trust" {
		t.Errorf("trust is %q, %v", text, err)
	}
}

// What can't be synced keeps the mark, so that the next command tries again.
func TestAnExchangeThatCannotBeSyncedKeepsItsMark(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	dir, mark := exchangeable(t)
	count := 0
	m := &store.Exchange{DataDir: dir, Mark: mark, Pause: func(string) {}, Sync: func(string) error { count++; return nil }}
	if err := m.Forward(); err != nil {
		t.Fatal(err)
	}
	for fail := 1; fail < count; fail++ { // the last one comes after the mark
		dir, mark := exchangeable(t)
		n := 0
		m := &store.Exchange{DataDir: dir, Mark: mark, Pause: func(string) {}, Sync: func(string) error {
			if n++; n == fail {
				return broken
			}
			return nil
		}}
		if err := m.Forward(); !errors.Is(err, broken) {
			t.Errorf("sync %d of %d: %v", fail, count, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, store.RestoreMarkName)); err != nil {
			t.Errorf("sync %d of %d: the mark: %v", fail, count, err)
		}
		m.Sync = atomicfile.SyncDir
		if err := m.Forward(); err != nil {
			t.Fatal(err)
		}
		exchanged(t, dir, mark)
	}
}
