package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

// fileCall is a call of a file tool in the last chat.
func fileCall(tool string, args map[string]string) TurnRequest {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return next(direct(tool, string(raw)))
}

// filesBench is an engine with the file tools, and a chat in a folder with a known state.
func filesBench(t *testing.T, files map[string]string) (b *bench, dir string) {
	t.Helper()
	b, dir = newBench(t, yes), t.TempDir()
	b.sandboxed(nil, builtin.Commands{})
	for name, text := range files {
		save(t, dir, name, text)
	}
	first := fileCall("write_file", map[string]string{"path": "first", "content": ""})
	first.Chat, first.Workspace = store.ChatRef{}, dir
	if end := completed(t, b.run(first)); changesIn(end) != "added first" {
		t.Fatalf("%s %s", end.Error, changesIn(end))
	}
	return b, dir
}

// What a file tool changes is known from what it wrote: what another program saves meanwhile is
// not the call's, and undo leaves it.
func TestFileToolsLand(t *testing.T) {
	t.Parallel()
	b, dir := filesBench(t, map[string]string{"d/a": "one\n", "d/b": "1"})
	for name, mode := range map[string]os.FileMode{"d/a": 0o640, "d": 0o750} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	b.Pause = func(step string) {
		if step == "layer:read" {
			save(t, dir, "user", "the user's")
			save(t, dir, "d/b", "2")
		}
	}
	end := completed(t, b.run(fileCall("edit_file", map[string]string{"path": "d/a", "old_text": "one", "new_text": "two"})))
	if end.Status != event.CallSuccess || changesIn(end) != "modified d/a" || len(end.Conflicts) != 0 {
		t.Errorf("%s %s %v", end.Error, changesIn(end), end.Conflicts)
	}
	wantFile(t, dir, "d/a", "two\n")
	for name, mode := range map[string]os.FileMode{"d/a": 0o640, "d": 0o750} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	end = completed(t, b.run(fileCall("write_file", map[string]string{"path": "new/deep/c", "content": "3"})))
	if changesIn(end) != "added new/deep/c" {
		t.Errorf("%s %s", end.Error, changesIn(end))
	}
	b.Pause = func(string) {}
	for range 2 {
		if _, err := b.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{Last: true}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"d/a": "one\n", "d/b": "2", "user": "the user's", "new/deep/c": ""} {
		wantFile(t, dir, name, text)
	}
	b.noLayersLeft(t)
}

// If the user saves the file that a tool has read, the user's version stays, and the model gets
// a note.
func TestFileToolsAndTheUserChangeTheSame(t *testing.T) {
	t.Parallel()
	b, dir := filesBench(t, map[string]string{"a": "one\n"})
	b.Pause = func(step string) {
		if step == "layer:read" {
			save(t, dir, "a", "the user's")
		}
	}
	end := completed(t, b.run(fileCall("edit_file", map[string]string{"path": "a", "old_text": "one", "new_text": "two"})))
	if len(end.Conflicts) != 1 || end.Conflicts[0].Path != "a" || !strings.Contains(end.Result, "not applied") {
		t.Errorf("%s %s %v", end.Result, changesIn(end), end.Conflicts)
	}
	wantFile(t, dir, "a", "the user's")
}

// A call that fails has changed nothing, and is not a step.
func TestAFailedFileToolIsNoStep(t *testing.T) {
	t.Parallel()
	b, dir := filesBench(t, map[string]string{"a": "one\n"})
	end := completed(t, b.run(fileCall("edit_file", map[string]string{"path": "a", "old_text": "none", "new_text": "two"})))
	if end.Status != event.CallError || len(end.Changes) != 0 || end.PreManifestID != end.PostManifestID {
		t.Errorf("%+v", end)
	}
	wantFile(t, dir, "a", "one\n")
	b.noLayersLeft(t)
}
