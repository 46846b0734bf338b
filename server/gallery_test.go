package server_test

import (
	"bytes"
	"testing"
)

// The gallery over HTTP: the list, what a toolset wants, its installation after an approval,
// and document 003's POST /chat, which enters by its agent.
func TestTheGallery(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: "responses: [{text: Hello.}]"})
	installed := func() map[string]bool {
		var list struct {
			Toolsets []struct {
				ID        string
				Tools     []string
				Installed bool
			}
		}
		h.call("GET", "/api/gallery", nil).is(200, &list)
		out := map[string]bool{}
		for _, s := range list.Toolsets {
			out[s.ID] = s.Installed
			if len(s.Tools) == 0 {
				t.Errorf("%s has no tools", s.ID)
			}
		}
		return out
	}
	if got := installed(); len(got) != 5 || got["chaoscontext"] {
		t.Errorf("the gallery is %v", got)
	}
	var looked struct {
		Approve   string
		Installed bool
		Agents    []string
		Record    struct {
			SourceRef string `json:"source_ref"`
		} `json:"toolset"`
	}
	h.call("POST", "/api/gallery/chaoscontext", nil).is(200, &looked)
	if looked.Installed || looked.Approve == "" || installed()["chaoscontext"] {
		t.Errorf("a look installed it: %+v", looked)
	}
	h.call("POST", "/api/gallery/chaoscontext?approve=another", nil).is(409, nil)
	h.call("POST", "/api/gallery/chaoscontext?approve="+looked.Approve, nil).is(201, &looked)
	if !looked.Installed || looked.Record.SourceRef != "gallery:chaoscontext" || !installed()["chaoscontext"] {
		t.Errorf("it is not installed: %+v", looked)
	}
	h.call("POST", "/api/gallery/nothing", nil).is(404, nil)

	var page struct{ Agent string }
	h.call("GET", "/api/page", nil).is(200, &page)
	if page.Agent != "chaoscontext:interface" {
		t.Errorf("the page says that chats begin with %q", page.Agent)
	}
	a := h.call("POST", "/chat", doc{"session_id": "s", "message": "hi", "model": "script/m.yaml"}, "Accept", "text/event-stream")
	if want := `event: agent_start`; !bytes.Contains(a.body, []byte(want)) {
		t.Errorf("POST /chat lacks %s: %s", want, a.body)
	}
}
