package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

// next makes a request one of the last chat.
func next(req TurnRequest) TurnRequest {
	req.Chat, req.Workspace = store.ChatRef{Last: true}, ""
	return req
}

// completed is the end of the only call.
func completed(t *testing.T, events []event.Event) event.ToolComplete {
	t.Helper()
	for _, e := range events {
		if end, ok := e.Body.(event.ToolComplete); ok {
			return end
		}
	}
	t.Fatalf("no call ended: %s", outline(events))
	return event.ToolComplete{}
}

func save(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, dir, name, text string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, name))
	if text == "" && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || string(got) != text {
		t.Errorf("%s has %q, want %q: %v", name, got, text, err)
	}
}

func changesIn(end event.ToolComplete) string {
	var out []string
	for _, c := range end.Changes {
		out = append(out, c.Kind+" "+c.Path)
	}
	return strings.Join(out, ", ")
}
