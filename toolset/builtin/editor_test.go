package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// notepad is an editor with some files open, by name.
type notepad struct {
	dir   string
	texts map[string]string
	// failsRead and failsWrite are what it answers with; keeps leaves the disk as it is,
	// and saves, where set, is what it makes of a text before it saves it.
	failsRead, failsWrite error
	keeps                 bool
	saves                 func(string) string
	asked                 int
}

func (n *notepad) ReadText(_ context.Context, name string) (string, bool, error) {
	n.asked++
	text, ok := n.texts[name]
	return text, ok, n.failsRead
}

func (n *notepad) WriteText(_ context.Context, name, text string) (bool, error) {
	if n.failsWrite != nil {
		return true, n.failsWrite
	}
	n.texts[name] = text
	if n.keeps {
		return true, nil
	}
	if n.saves != nil {
		text = n.saves(text)
	}
	return true, os.WriteFile(filepath.Join(n.dir, filepath.FromSlash(name)), []byte(text), 0o600)
}

func withEditor(t *testing.T, files, texts map[string]string) (*toolset.Workspace, *notepad) {
	t.Helper()
	ws := newWorkspace(t, files)
	n := &notepad{dir: ws.Path, texts: texts}
	ws.Editor = n
	return ws, n
}

// The file tools read what an editor has and has not saved, write through it, and leave
// the text on the disk.
func TestUnsavedTextIsWhatToolsSee(t *testing.T) {
	t.Parallel()
	ws, n := withEditor(t,
		map[string]string{"a.txt": "saved\n", "same.txt": "one\r\ntwo\r\n", "pic.bin": "\x00\x01"},
		map[string]string{"a.txt": "not saved\nyet\n", "same.txt": "one\ntwo\n", "pic.bin": "text?", "new.txt": "only here\n"})
	if got := do(t, ws, "read_file", object{"path": "a.txt"}).Text; !strings.HasPrefix(got, "not saved\nyet\n[") || !strings.Contains(got, "not saved yet]") {
		t.Errorf("read_file gives %q", got)
	}
	if got := do(t, ws, "read_file", object{"path": "a.txt", "offset": 2, "limit": 1}).Text; !strings.HasPrefix(got, "yet\n") {
		t.Errorf("the second line is %q", got)
	}
	if got := do(t, ws, "read_file", object{"path": "same.txt"}).Text; !strings.Contains(got, "CRLF") || strings.Contains(got, "editor") {
		t.Errorf("a file that differs in line endings alone is %q", got)
	}
	if got := do(t, ws, "read_file", object{"path": "new.txt"}).Text; !strings.HasPrefix(got, "only here\n") {
		t.Errorf("a file that was never saved is %q", got)
	}
	if got := do(t, ws, "read_file", object{"path": "pic.bin"}).Text; !strings.Contains(got, "binary") {
		t.Errorf("a binary file is %q", got)
	}
	if got := do(t, ws, "search_files", object{"query": "yet"}).Text; !strings.Contains(got, "a.txt\n2: yet") {
		t.Errorf("search_files finds %q", got)
	}
	if got := do(t, ws, "search_files", object{"query": "saved", "path": "a.txt"}).Text; !strings.Contains(got, "1: not saved") {
		t.Errorf("search_files in one file finds %q", got)
	}
	do(t, ws, "edit_file", object{"path": "a.txt", "old_text": "yet", "new_text": "edited"})
	if got := get(t, ws, "a.txt"); got != "not saved\nedited\n" || n.texts["a.txt"] != got {
		t.Errorf("the edit leaves %q on the disk and %q in the editor", got, n.texts["a.txt"])
	}
	do(t, ws, "write_file", object{"path": "deep/er/b.txt", "content": "b\n"})
	if got := get(t, ws, "deep/er/b.txt"); got != "b\n" || n.texts["deep/er/b.txt"] != got {
		t.Errorf("the new file has %q on the disk and %q in the editor", got, n.texts["deep/er/b.txt"])
	}
}

// What an editor fails at is reported to the model, and nothing is changed by half.
func TestAnEditorThatFails(t *testing.T) {
	t.Parallel()
	ws, n := withEditor(t, map[string]string{"a.txt": "saved\n"}, map[string]string{"a.txt": "saved\n"})
	n.failsRead = errors.New("the buffer is locked")
	if got := do(t, ws, "read_file", object{"path": "a.txt"}).Text; !strings.HasPrefix(got, "saved\n[the editor failed") || !strings.Contains(got, "the buffer is locked") {
		t.Errorf("read_file gives %q", got)
	}
	if got := do(t, ws, "search_files", object{"query": "saved"}).Text; !strings.Contains(got, "may be missing") {
		t.Errorf("search_files gives %q", got)
	}
	if got := refused(t, ws, "edit_file", object{"path": "a.txt", "old_text": "saved", "new_text": "x"}); !strings.Contains(got, "the buffer is locked; nothing was changed") {
		t.Errorf("edit_file is refused with %q", got)
	}
	n.failsRead, n.failsWrite = nil, errors.New("the window is closed")
	for id, args := range map[string]object{
		"edit_file":  {"path": "a.txt", "old_text": "saved", "new_text": "x"},
		"write_file": {"path": "new/b.txt", "content": "b"},
	} {
		if got := refused(t, ws, id, args); !strings.Contains(got, "the window is closed; nothing was written") {
			t.Errorf("%s is refused with %q", id, got)
		}
	}
	if got := get(t, ws, "a.txt"); got != "saved\n" {
		t.Errorf("the file has %q", got)
	}
	if _, err := os.Stat(filepath.Join(ws.Path, "new")); !os.IsNotExist(err) {
		t.Errorf("a folder for the file that was not written stays: %v", err)
	}
}

// The disk has what was written also where the editor keeps it to itself; what the editor
// saves differently stays, and the model gets the error.
func TestTheDiskHasWhatTheEditorWrote(t *testing.T) {
	t.Parallel()
	ws, n := withEditor(t, map[string]string{"a.txt": "old\n"}, map[string]string{})
	n.keeps = true
	do(t, ws, "write_file", object{"path": "a.txt", "content": "new\n"})
	do(t, ws, "write_file", object{"path": "b.txt", "content": "b\n"})
	if a, b := get(t, ws, "a.txt"), get(t, ws, "b.txt"); a != "new\n" || b != "b\n" {
		t.Errorf("the disk has %q and %q", a, b)
	}
	n.keeps, n.saves = false, strings.ToUpper
	if got := do(t, ws, "write_file", object{"path": "a.txt", "content": "third\n"}).Text; !strings.Contains(got, "changes of its own") {
		t.Errorf("it says %q", got)
	}
	if got := get(t, ws, "a.txt"); got != "THIRD\n" {
		t.Errorf("the disk has %q", got)
	}
}

// Before the state is taken that undo returns to, a call saves the text that it is about to
// change; one that would fail saves nothing.
func TestUnsavedTextIsSavedBeforeACall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, args, want string
	}{
		{"edit_file", `{"path":"a.txt","old_text":"mine","new_text":"x"}`, "mine\n"},
		{"edit_file", `{"path":"a.txt","old_text":"absent","new_text":"x"}`, "saved\n"},
		{"write_file", `{"path":"a.txt","content":"x"}`, "mine\n"},
		{"read_file", `{"path":"a.txt"}`, "saved\n"},
		{"write_file", `{"path":"../a.txt","content":"x"}`, "saved\n"},
	} {
		ws, _ := withEditor(t, map[string]string{"a.txt": "saved\n"}, map[string]string{"a.txt": "mine\n"})
		for _, e := range Entries(Options{}) {
			if e.Tool.ID != c.id || e.Prepare == nil {
				continue
			}
			if err := e.Prepare(t.Context(), toolset.Call{Args: json.RawMessage(c.args), Workspace: ws}); err != nil {
				t.Errorf("%s %s: %v", c.id, c.args, err)
			}
		}
		if got := get(t, ws, "a.txt"); got != c.want {
			t.Errorf("%s %s: the disk has %q, want %q", c.id, c.args, got, c.want)
		}
	}
}

// A search asks an editor for so many files and no more, and says so.
func TestASearchAsksForSomeFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range maxAsked + 10 {
		files[fmt.Sprintf("f%04d.txt", i)] = "word\n"
	}
	ws, n := withEditor(t, files, map[string]string{})
	got := do(t, ws, "search_files", object{"query": "word", "limit": 1000}).Text
	if n.asked != maxAsked || !strings.Contains(got, "in the first 200 files only") || !strings.Contains(got, "f0209.txt") {
		t.Errorf("it asked %d times; %.200q", n.asked, got[max(0, len(got)-200):])
	}
}
