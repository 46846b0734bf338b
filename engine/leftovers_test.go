package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

// leave creates in a data directory the leftovers of killed commands, and returns their
// paths, those of folders without their contents.
func leave(t *testing.T, data, away string) []string {
	t.Helper()
	token := strings.Repeat("K", 26)
	export := filepath.Join(away, ".fettle-"+token+".tmp")
	record, _ := json.Marshal(map[string]string{"path": export})
	in := func(names ...string) string { return filepath.Join(append([]string{data}, names...)...) }
	files := map[string]string{
		export:                                 "half an export",
		in(atomicfile.LedgerName, token):       string(record),
		in(".catalog.json.fettle-new"):         "{",
		in("cache", "models", ".m.fettle-new"): "{",
		in("journal", "A.jsonl.new"):           "{}\n",
		in("backup-1", "store", "x"):           "copy",
		in("restore-1", "store", "x"):          "copy",
		in("replaced-1", "store", "x"):         "copy",
		in("locks", "chat-1"):                  "pid 0\n",
		in("wait.7.lock"):                      "",
		in("blobs", "tmp", "unfinished"):       "half a blob",
		in("counter.json.new"):                 "{",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		export, in(".catalog.json.fettle-new"), in("cache", "models", ".m.fettle-new"), in("journal", "A.jsonl.new"),
		in("backup-1"), in("restore-1"), in("replaced-1"), in("locks", "chat-1"), in("wait.7.lock"),
		in("blobs", "tmp", "unfinished"), in("counter.json.new"),
	}
	slices.Sort(want)
	return want
}

func leftPaths(left []store.Leftover) []string {
	var out []string
	for _, l := range left {
		out = append(out, l.Path)
	}
	slices.Sort(out)
	return out
}

func TestLeftoversAreListedAndRemoved(t *testing.T) {
	t.Parallel()
	data, away := t.TempDir(), t.TempDir()
	want := leave(t, data, away)
	mine := filepath.Join(away, ".fettle-mine.tmp") // only a name like ours
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := New(Options{Options: store.Options{DataDir: data}})
	defer e.Close()
	for range 2 { // reading changes nothing
		left, err := e.Leftovers(t.Context())
		if got := leftPaths(left); !slices.Equal(got, want) || err != nil {
			t.Fatalf("listed %q, %v; want %q", got, err, want)
		}
	}
	left, err := e.RemoveLeftovers(t.Context())
	if got := leftPaths(left); !slices.Equal(got, want) || err != nil {
		t.Errorf("removed %q, %v; want %q", got, err, want)
	}
	for _, path := range want {
		if store.Exists(path) {
			t.Errorf("%s is still there", path)
		}
	}
	if !store.Exists(mine) {
		t.Error("a file without a record was removed")
	}
	if left, err := e.RemoveLeftovers(t.Context()); len(left) > 0 || err != nil {
		t.Errorf("a second time: %v, %v", left, err)
	}
}

func TestLeftoversOfLivingProcessesStay(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	leave(t, data, t.TempDir())
	for _, name := range []string{"backup", "restore"} {
		release, ok, err := lockfile.Try(filepath.Join(data, "locks", name))
		if err != nil || !ok {
			t.Fatal(err)
		}
		defer release()
	}
	for _, name := range []string{"gc.lock", store.DataLock} { // as a snapshot that is being taken has them
		release, ok, err := lockfile.TryShared(filepath.Join(data, "locks", name))
		if err != nil || !ok {
			t.Fatal(err)
		}
		defer release()
	}
	target := filepath.Join(data, "toolsets.json")
	f, err := atomicfile.Create(target)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	dir, remove, err := atomicfile.OpenLedger(data).TempDir(data, "scratch-")
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	e := New(Options{Options: store.Options{DataDir: data}})
	defer e.Close()
	if _, err := e.RemoveLeftovers(t.Context()); err != nil {
		t.Error(err)
	}
	for _, path := range []string{
		filepath.Join(data, "backup-1", "store", "x"), filepath.Join(data, "restore-1", "store", "x"), filepath.Join(data, "replaced-1", "store", "x"),
		filepath.Join(data, "locks", "backup"), filepath.Join(data, "locks", "restore"), f.Name(), dir,
		filepath.Join(data, "blobs", "tmp", "unfinished"), filepath.Join(data, "counter.json.new"),
	} {
		if !store.Exists(path) {
			t.Errorf("%s is in use and was removed", path)
		}
	}
}

// A restore that was cut off while names were exchanged is finished by the next
// command, from its folders.
func TestFoldersOfACutOffRestoreStay(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	leave(t, data, t.TempDir())
	if err := os.WriteFile(filepath.Join(data, store.RestoreMarkName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := New(Options{Options: store.Options{DataDir: data}})
	defer e.Close()
	for _, look := range []func() ([]store.Leftover, error){
		func() ([]store.Leftover, error) { return e.Leftovers(t.Context()) },
		func() ([]store.Leftover, error) { return e.RemoveLeftovers(t.Context()) },
	} {
		left, err := look()
		if err != nil {
			t.Error(err)
		}
		for _, l := range left {
			if l.Kind == store.LeftRestore {
				t.Errorf("%s is needed to finish the restore", l.Path)
			}
		}
	}
	if !store.Exists(filepath.Join(data, "restore-1")) || !store.Exists(filepath.Join(data, "replaced-1")) {
		t.Error("a folder of the restore was removed")
	}
}

func TestNextCommandRemovesTemporaryFiles(t *testing.T) {
	t.Parallel()
	data, away := t.TempDir(), t.TempDir()
	leave(t, data, away)
	e := New(Options{Options: store.Options{DataDir: data}})
	defer e.Close()
	if err := e.sweepTemporaries(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{away, filepath.Join(data, "journal"), filepath.Join(data, atomicfile.LedgerName)} {
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("%s has %v, %v", dir, left, err)
		}
	}
}
