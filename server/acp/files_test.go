package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// buffers is an editor with files open that are not saved.
type buffers struct {
	mu    sync.Mutex
	texts map[string]string // by path
	fails string            // the method that fails
}

func (b *buffers) answer(method string, params json.RawMessage) (any, *wireError) {
	var p struct{ Path, Content string }
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &wireError{-32602, err.Error(), nil}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if method == b.fails {
		return nil, &wireError{-32603, "the window is closed", nil}
	}
	if text, open := b.texts[p.Path]; open && method == "fs/read_text_file" {
		return obj{"content": text}, nil
	}
	if method == "fs/write_text_file" {
		b.texts[p.Path] = p.Content
	}
	return onDisk(method, params)
}

func (b *buffers) text(path string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.texts[path]
}

const editing = `
responses:
  - {when: edit, step: 0, calls: [{name: read_file, args: {path: a.txt}}, {name: search_files, args: {query: mine}}]}
  - {when: edit, step: 1, calls: [{name: edit_file, args: {path: a.txt, old_text: mine, new_text: ours}}]}
  - {when: edit, text: Edited.}
  - {when: "", text: Hello there.}
`

func (h *house) results(t *testing.T, session string) string {
	t.Helper()
	calls, err := h.eng.ToolCalls(t.Context(), session)
	must(t, err)
	raw, err := json.Marshal(calls)
	must(t, err)
	return string(raw)
}

// The model's file tools see what the editor has not saved and write through it; the states
// have both the user's text and the model's, so that undo brings back the user's.
func TestToolsUseTheEditorsBuffers(t *testing.T) {
	t.Parallel()
	h := open(t, editing)
	path := filepath.Join(h.project, "a.txt")
	must(t, os.WriteFile(path, []byte("saved\n"), 0o600))
	b := &buffers{texts: map[string]string{path: "mine, not saved\n"}}
	e := h.connect()
	e.fs, e.answer = b.answer, choose("allow")
	e.initialize()
	s := e.newSession(h.project)
	if stop := e.prompt(s, "edit it"); stop != "end_turn" {
		t.Fatalf("it stops for %s", stop)
	}
	if got := h.results(t, s); strings.Count(got, "mine, not saved") < 2 {
		t.Errorf("the calls are %s", got)
	}
	disk, err := os.ReadFile(path)
	must(t, err)
	if got := b.text(path); got != "ours, not saved\n" || string(disk) != got {
		t.Errorf("the editor has %q and the disk %q", got, disk)
	}
	_, err = h.eng.Undo(t.Context(), workspace.RestoreRequest{Chat: store.ChatRef{ID: s}, Steps: 1})
	must(t, err)
	if disk, err = os.ReadFile(path); err != nil || string(disk) != "mine, not saved\n" {
		t.Errorf("undo leaves %q, %v", disk, err)
	}
}

// A client that fails to read or to write leaves the file as it is, and the model gets the error.
func TestAnEditorThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file"} {
		h := open(t, editing)
		path := filepath.Join(h.project, "a.txt")
		must(t, os.WriteFile(path, []byte("mine\n"), 0o600))
		b := &buffers{texts: map[string]string{path: "mine\n"}, fails: method}
		e := h.connect()
		e.fs, e.answer = b.answer, choose("allow")
		e.initialize()
		s := e.newSession(h.project)
		e.prompt(s, "edit it")
		if got := h.results(t, s); !strings.Contains(got, "the window is closed") || !strings.Contains(got, "nothing was") && !strings.Contains(got, "did not run") {
			t.Errorf("%s: the calls are %s", method, got)
		}
		disk, err := os.ReadFile(path)
		must(t, err)
		if string(disk) != "mine\n" || b.text(path) != "mine\n" {
			t.Errorf("%s: the disk has %q and the editor %q", method, disk, b.text(path))
		}
	}
}

// An editor that offers no files is not asked for any.
func TestAnEditorWithoutFilesIsNotAsked(t *testing.T) {
	t.Parallel()
	h := open(t, usual)
	e := h.connect()
	e.fs = func(method string, _ json.RawMessage) (any, *wireError) {
		t.Errorf("it is asked for %s", method)
		return nil, &wireError{-32601, "no such method", nil}
	}
	e.answer = choose("allow")
	e.call("initialize", obj{"protocolVersion": 1, "clientCapabilities": obj{}}, nil)
	s := e.newSession(h.project)
	e.prompt(s, "write it")
	if got, err := os.ReadFile(filepath.Join(h.project, "notes", "a.txt")); err != nil || string(got) != "one\n" {
		t.Errorf("the file has %q, %v", got, err)
	}
}
