package server_test

import (
	"fmt"
	"strings"
	"testing"
)

// One call is undone alone, conflicts are listed with what changed the files, and undone
// calls are marked in the messages.
func TestOneCallIsUndoneAlone(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	_, number := h.finish(doc{"message": "write"})
	path := fmt.Sprintf("/api/chats/%d", number)
	ws := path + "/workspace"
	type calls struct {
		Calls []struct {
			ID     string
			Undone bool
		}
	}
	type done struct {
		Inverse string
		Summary struct {
			Files             []string
			Restored, Removed int
		}
		Blocked []struct{ Path, Reason string }
		After   string
	}
	var c calls
	h.call("GET", path+"/messages", nil).is(200, &c)
	if len(c.Calls) != 1 || c.Calls[0].Undone {
		t.Fatalf("calls %+v", c)
	}
	call := c.Calls[0].ID
	put := func(name, text string) {
		h.call("PUT", ws+"/files/"+name, text, "Content-Type", "text/plain").is(200, nil)
	}
	put("later.txt", "later")
	var d done
	h.call("POST", ws+"/undo", doc{"call": call}).is(200, &d)
	if d.Inverse != "redo" || d.Summary.Removed != 1 || strings.Join(d.Summary.Files, " ") != "notes/a.txt" {
		t.Errorf("undone: %+v", d)
	}
	if got := string(h.call("GET", ws+"/files/later.txt", nil).is(200, nil).body); got != "later" {
		t.Errorf("the later file is %q", got)
	}
	h.call("GET", ws+"/files/notes/a.txt", nil).is(404, nil)
	h.call("GET", path+"/messages", nil).is(200, &c)
	if !c.Calls[0].Undone {
		t.Errorf("it is not marked: %+v", c)
	}
	var states struct {
		States []struct {
			ID               string
			Source           string
			SourceRef        string `json:"source_ref"`
			Undone, Reverted bool
		}
	}
	h.call("GET", ws+"/states", nil).is(200, &states)
	marked := 0
	for _, s := range states.States {
		if s.Reverted && s.SourceRef == call {
			marked++
		}
	}
	if marked != 1 {
		t.Errorf("states %+v", states)
	}
	h.call("POST", ws+"/undo", doc{"call": call}).is(404, nil)
	h.call("POST", ws+"/undo", doc{"call": d.After}).is(200, &d)
	if d.Inverse != "redo" || d.Summary.Restored != 1 {
		t.Errorf("the undo of the undo: %+v", d)
	}
	put("notes/a.txt", "by hand")
	if a := h.call("POST", ws+"/undo", doc{"call": call}); a.status != 409 && a.status != 500 || !strings.Contains(string(a.body), "notes/a.txt  it was edited since") {
		t.Errorf("over an edit: %d %s", a.status, a.body)
	}
	h.call("POST", ws+"/undo", doc{"call": call, "dry_run": true}).is(200, &d)
	if len(d.Blocked) != 1 || d.Blocked[0].Path != "notes/a.txt" || d.Blocked[0].Reason != "it was edited since" {
		t.Errorf("the plan: %+v", d)
	}
	for op, body := range map[string]doc{"undo": {"call": call, "steps": 2}, "redo": {"call": call}, "restore": {"call": call, "manifest": "@-1"}} {
		h.call("POST", ws+"/"+op, body).is(400, nil)
	}
}
