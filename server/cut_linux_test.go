package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/cas"
)

// What calls wrote that were cut off is listed, shown without being applied, and applied or
// discarded, once; a call of another chat is not found.
func TestCallsThatWereCutOff(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	_, number := h.finish(doc{"message": "write"})
	_, other := h.finish(doc{"message": "write"})
	var of chatDoc
	h.call("GET", fmt.Sprintf("/api/chats/%d", number), nil).is(200, &of)
	id := of.Chat.ID
	folder := filepath.Join(h.dir, "data", "chats", id, "workspace")
	const one, two = "01J00000000000000000000001", "01J00000000000000000000002"
	for _, call := range []string{one, two} {
		h.cutOff(id, folder, call)
	}
	calls := fmt.Sprintf("/api/chats/%d/workspace/cut-calls", number)
	var listed struct {
		Calls []struct {
			ID string `json:"call_id"`
		}
	}
	h.call("GET", calls, nil).is(200, &listed)
	if len(listed.Calls) != 2 {
		t.Fatalf("listed %+v", listed)
	}
	var shown struct {
		Review struct{ Files []struct{ Path, Kind string } }
	}
	h.call("GET", calls+"/"+one, nil).is(200, &shown)
	if len(shown.Review.Files) != 1 || shown.Review.Files[0].Path != one {
		t.Errorf("shown %+v", shown)
	}
	if _, err := os.Stat(filepath.Join(folder, one)); err == nil {
		t.Error("showing the call applied it")
	}
	h.call("POST", fmt.Sprintf("/api/chats/%d/workspace/cut-calls/%s/apply", other, one), nil).is(404, nil)
	h.call("POST", calls+"/"+one+"/apply", nil).is(200, nil)
	if text, err := os.ReadFile(filepath.Join(folder, one)); err != nil || string(text) != "1" {
		t.Errorf("applied %q, %v", text, err)
	}
	h.call("POST", calls+"/"+one+"/apply", nil).is(404, nil)
	h.call("DELETE", calls+"/"+two, nil).is(204, nil)
	if _, err := os.Stat(filepath.Join(folder, two)); err == nil {
		t.Error("the discarded file is there")
	}
	h.call("GET", calls, nil).is(200, &listed)
	if len(listed.Calls) != 0 {
		t.Errorf("left %+v", listed)
	}
}

// cutOff leaves what a call of a chat wrote that was cut off: a file with the call's id as
// its name.
func (h *house) cutOff(chat, folder, call string) {
	h.t.Helper()
	root, err := os.OpenRoot(folder)
	must(h.t, err)
	defer root.Close()
	layers := filepath.Join(h.dir, "data", "layers")
	must(h.t, os.MkdirAll(layers, 0o700))
	layer := filepath.Join(layers, call)
	_, err = cas.NewLayer(layer, &cas.Workspace{Root: root, Path: folder}, cas.LayerMeta{ChatID: chat, CallID: call})
	must(h.t, err)
	must(h.t, os.WriteFile(filepath.Join(layer, "upper", call), []byte("1"), 0o600))
}
