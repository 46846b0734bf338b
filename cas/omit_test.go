package cas

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// marks are what a call writes so that a rule would leave the user's folder out.
var marks = []struct{ name, file, text string }{
	{"a virtual environment", "src/pyvenv.cfg", "home = /usr"},
	{"a cache", "src/CACHEDIR.TAG", cacheTag},
	{"a package", "package.json", "{}"},
	{"a crate", "Cargo.toml", ""},
}

// TestAMarkHidesNothingThatTheStateBeforeHas covers files that a call removes, rewrites and
// marks, with the cache of stats and without it, as after another program's run.
func TestAMarkHidesNothingThatTheStateBeforeHas(t *testing.T) {
	t.Parallel()
	for _, mark := range marks {
		for _, forget := range []bool{false, true} {
			b := newBench(t)
			b.ws.Bound = true
			for _, name := range []string{"src/bin/a", "src/lib/b", "node_modules/mine", "target/mine"} {
				b.write(name, "of the user")
			}
			was := b.look()
			before := b.snapshot(SnapshotOptions{}).Manifest
			b.write(mark.file, mark.text)
			b.write("src/bin/a", "of the call")
			b.remove("src/lib")
			b.write("node_modules/mine", "of the call")
			b.remove("target/mine")
			if forget {
				if err := b.s.Forget(t.Context(), b.ws); err != nil {
					t.Fatal(err)
				}
			}
			after := b.snapshot(SnapshotOptions{Parent: before}).Manifest
			if got := b.entries(after.Root)["src/bin/a"]; got != "file of the call" {
				t.Errorf("%s, forgotten %v: the state has %q", mark.name, forget, got)
			}
			b.restore(before, RestoreOptions{Active: after})
			if diff := cmp.Diff(was, b.look()); diff != "" {
				t.Errorf("%s, forgotten %v: restored (-want +got):\n%s", mark.name, forget, diff)
			}
		}
	}
}

// TestARestoreRestoresWhatRulesLeaveOutNow covers a rule that the user has made since. What
// the state does not have stays as it is.
func TestARestoreRestoresWhatRulesLeaveOutNow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ws.Bound = true
	b.write("src/a", "one")
	b.write("src/sub/b", "two")
	b.write("x.log", "three")
	was := b.look()
	before := b.snapshot(SnapshotOptions{}).Manifest
	b.write(ignoreFile, "src/\n*.log\n")
	b.write("src/big", "of the user, in no state")
	active := b.snapshot(SnapshotOptions{Parent: before}).Manifest
	b.remove("src/a")
	b.remove("x.log")
	got := b.restore(before, RestoreOptions{Active: active, Keep: []string{ignoreFile}})
	was[ignoreFile], was["src/big"] = "file src/\n*.log\n", "file of the user, in no state"
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	// A file of which no state knows what the user did to it is theirs.
	b.write("src/a", "edited by the user")
	if _, err := b.tryRestore(before, RestoreOptions{Active: active, Keep: []string{ignoreFile}}); err == nil {
		t.Error("it was replaced")
	}
	was["src/a"] = "file edited by the user"
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	over := b.restore(before, RestoreOptions{Active: got.After, Keep: []string{ignoreFile}, Overwrite: true})
	b.restore(over.Before, RestoreOptions{Active: over.After, Overwrite: true})
	if diff := cmp.Diff(was, b.look()); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
}

// TestFoldersThatAlsoHoldTheUsersFilesAreContent covers a virtual environment that was made
// in a project's folder, and files that are older than the cache around them.
func TestFoldersThatAlsoHoldTheUsersFilesAreContent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ws.Bound = true
	for name, text := range map[string]string{
		"venv/pyvenv.cfg": "home", "venv/bin/python": "x", "venv/lib/p": "x",
		"app/pyvenv.cfg": "home", "app/bin/python": "x", "app/main.py": "of the user",
		"cache/CACHEDIR.TAG": cacheTag, "cache/x": "x",
		"notes/CACHEDIR.TAG": cacheTag, "notes/mine": "of the user",
	} {
		b.write(name, text)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(b.path("notes/mine"), old, old); err != nil {
		t.Fatal(err)
	}
	got := b.entries(b.snapshot(SnapshotOptions{}).Manifest.Root)
	for name, want := range map[string]string{
		"venv": "omitted", "cache": "omitted", "app/main.py": "file", "notes/mine": "file",
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s is %q, want %s", name, got[name], want)
		}
	}
}
