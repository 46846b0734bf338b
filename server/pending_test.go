package server_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/kv"
)

// A chat in whose folder an undo was cut short says so, and so does the list of its
// states; other chats do not.
func TestAChatShowsAnUndoThatWasCutShort(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.finish(doc{"message": "hi"})
	h.finish(doc{"message": "hi"})
	var got struct {
		Chat struct {
			ID string `json:"id"`
		} `json:"chat"`
		Pending string `json:"pending"`
	}
	h.call("GET", "/api/chats/1", nil).is(http.StatusOK, &got)
	if got.Pending != "" {
		t.Fatalf("before: %q", got.Pending)
	}
	// the journal of an undo, as a killed process leaves it
	type journal struct {
		Workspace string    `json:"workspace"`
		Path      string    `json:"path"`
		ChatID    string    `json:"chat_id"`
		Doing     string    `json:"doing"`
		Started   time.Time `json:"started"`
		Record    string    `json:"record"`
	}
	left := journal{Workspace: "w", Path: filepath.Join(h.dir, "folder"), ChatID: got.Chat.ID, Doing: "undo", Started: time.Unix(1_700_000_000, 0), Record: "r"}
	table := kv.NewTable("workspace_restores", func(j *journal) kv.Key { return kv.Str(j.Workspace) })
	must(t, h.stop()) // which has the store
	store := kv.Open(filepath.Join(h.dir, "data", "store"), kv.Options{})
	must(t, store.UpdateSync(t.Context(), func(tx *kv.Tx) error { return table.Put(tx, &left) }))
	must(t, store.Close())
	h = open(t, plan{dir: h.dir})
	for path, want := range map[string]bool{
		"/api/chats/1": true, "/api/chats/1/workspace/states": true, "/api/chats/2": false, "/api/chats/2/workspace/states": false,
	} {
		got.Pending = ""
		h.call("GET", path, nil).is(http.StatusOK, &got)
		if is := strings.Contains(got.Pending, "undo in "+left.Path+" was cut short"); is != want {
			t.Errorf("%s: pending is %q", path, got.Pending)
		}
	}
}
