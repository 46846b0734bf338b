package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/web"
)

// The page is at its addresses without a token; its policy allows frames of the
// second origin alone, and what isn't there has no page in its place.
func TestThePageIsServed(t *testing.T) {
	t.Parallel()
	h := open(t, plan{change: func(o *server.Options) {
		o.Demo, o.Model, o.Agent = true, "script/m.yaml", "guide"
		o.Suggestions = []server.Suggestion{{Title: "t", Message: "m", Uploads: []server.SuggestedFile{{Name: "a", Text: "b"}}}}
		o.Effective = func() server.Effective {
			return server.Effective{Files: []string{}, Settings: []server.Setting{{Key: "model", Value: "x", Origin: []string{"default"}}}}
		}
	}})
	none := []string{"Authorization", ""}
	var page struct {
		Version        string
		ArtifactOrigin string `json:"artifact_origin"`
		Demo           bool
		Model, Agent   string
		Limits         struct {
			Turn int64 `json:"turn_bytes"`
		}
		Suggestions []server.Suggestion
	}
	h.call("GET", "/api/page", nil, none...).is(401, nil)
	h.call("GET", "/api/page", nil).is(200, &page)
	if page.Version != "1.2.3" || !page.Demo || page.Model != "script/m.yaml" || page.Agent != "guide" || page.Limits.Turn == 0 ||
		len(page.Suggestions) != 1 || page.Suggestions[0].Uploads[0].Text != "b" || !strings.HasPrefix(page.ArtifactOrigin, "http://127.0.0.1:") || page.ArtifactOrigin == h.url {
		t.Errorf("the page is told %+v", page)
	}
	var settings server.Effective
	h.call("GET", "/api/settings", nil, none...).is(401, nil)
	h.call("GET", "/api/settings", nil).is(200, &settings)
	if len(settings.Settings) != 1 || settings.Settings[0].Key != "model" {
		t.Errorf("settings %+v", settings)
	}
	built, err := web.New()
	must(t, err)
	for _, path := range []string{"/", "/c/12", "/c/01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		a := h.call("GET", path, nil, none...).is(200, nil)
		policy := a.header.Get("Content-Security-Policy")
		if built.Built() && (!strings.Contains(policy, "frame-src "+page.ArtifactOrigin+" "+strings.Replace(page.ArtifactOrigin, "127.0.0.1", "*.localhost", 1)+";") || !strings.Contains(policy, "script-src 'self';") || strings.Contains(string(a.body), web.NonceMark)) {
			t.Errorf("%s: %s", path, policy)
		}
		for name, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
			"X-Frame-Options": "DENY", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if strings.Contains(string(a.body), h.token) {
			t.Errorf("%s holds the token", path)
		}
	}
	for _, path := range []string{"/assets/none.js", "/c/", "/c/1/2", "/page", "/assets/..%2findex.html"} {
		if a := h.call("GET", path, nil, none...); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	h.call("GET", "/", nil, "Authorization", "", "Sec-Fetch-Site", "cross-site").is(403, nil)
}

// calls are what list_messages tells of calls.
type calls struct {
	Chat     struct{ ID string }
	Messages []struct {
		ID, Role string
		Parts    []struct{ Type string }
	}
	Calls []struct {
		ID, Status, Renderer string
		ToolID               string `json:"tool_id"`
		MessageID            string `json:"message_id"`
		DurationMS           *int64 `json:"duration_ms"`
		Changes              []struct{ Path, Kind string }
		Changed              int
		Post                 string `json:"post_manifest_id"`
		Args                 any
	}
	Siblings map[string]struct {
		IDs   []string
		Index int
	}
}

// After a reload a page has what it needs to draw cards and branches again.
func TestMessagesTellOfCallsAndSiblings(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	_, number := h.finish(doc{"message": "write"})
	path := fmt.Sprintf("/api/chats/%d", number)
	var m calls
	h.call("GET", path+"/messages", nil).is(200, &m)
	if len(m.Calls) != 1 || len(m.Siblings) != 0 {
		t.Fatalf("messages: %+v", m)
	}
	c := m.Calls[0]
	if c.ToolID != "write_file" || c.Status != "success" || c.MessageID != m.Messages[1].ID || c.DurationMS == nil || c.Changed != 1 ||
		c.Changes[0].Path != "notes/a.txt" || c.Changes[0].Kind != "added" || c.Renderer != "code" || c.Args != nil {
		t.Errorf("the call is %+v", c)
	}
	var whole struct {
		Args   struct{ Path string }
		Result struct{ Text string }
		Plan   struct{ Renderer string } `json:"render_plan"`
	}
	h.call("GET", "/api/tool-calls/"+c.ID, nil).is(200, &whole)
	if whole.Args.Path != "notes/a.txt" || whole.Result.Text == "" || whole.Plan.Renderer != "code" {
		t.Errorf("the whole call is %+v", whole)
	}
	h.call("GET", "/api/tool-calls/01ARZ3NDEKTSV4RRFFQ69G5FAV", nil).is(404, nil)
	h.call("GET", "/api/tool-calls/x", nil).is(404, nil)
	if a := h.call("POST", "/api/tool-calls/"+c.ID+"/artifact", nil); a.status != 404 { // code is drawn by the page itself
		t.Errorf("a page of code: %d %s", a.status, a.body)
	}

	// Another answer to the same question, and another question in its place.
	for _, body := range []doc{{"message_id": m.Messages[1].ID}, {"message_id": m.Messages[0].ID, "message": "hello", "files": []doc{{"name": "f.txt", "text": "x"}}}} {
		op := "/retry"
		if body["message"] != nil {
			op = "/edit"
		}
		var turn struct{ Events string }
		h.call("POST", path+op, body).is(202, &turn)
		h.follow("GET", turn.Events, nil).until("complete")
	}
	var now calls
	h.call("GET", path+"/messages", nil).is(200, &now)
	first := now.Siblings[now.Messages[0].ID]
	if len(first.IDs) != 2 || first.Index != 1 || first.IDs[0] != m.Messages[0].ID || len(now.Calls) != 0 || now.Messages[0].Parts[0].Type != "file" {
		t.Errorf("after the edit: %+v", now)
	}
	h.call("POST", path+"/switch", doc{"message_id": m.Messages[1].ID}).is(200, nil)
	h.call("GET", path+"/messages", nil).is(200, &now)
	if answers := now.Siblings[m.Messages[1].ID]; len(now.Messages) != 2 || len(answers.IDs) != 2 || answers.Index != 0 || len(now.Calls) != 1 || now.Calls[0].ID != c.ID {
		t.Errorf("after the switch: %+v", now)
	}
	var list struct {
		Chats []struct {
			Number  int
			Preview string
		}
	}
	h.call("PATCH", path, doc{"title": "Renamed"}).is(200, nil)
	h.finish(doc{"message": "What   is\nthis long question that goes on and on about?"})
	h.call("POST", "/api/chats", doc{}).is(201, nil)
	h.call("GET", "/api/chats", nil).is(200, &list)
	if len(list.Chats) != 3 || list.Chats[0].Preview != "" || list.Chats[1].Preview != "What is this long question that goes on…" || list.Chats[2].Preview != "write" {
		t.Errorf("chats %+v", list)
	}
}

// A person's changes of files are steps that undo takes back; an editor that has read
// an older file writes nothing.
func TestFilesAreEditedAndUndone(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	_, number := h.finish(doc{"message": "write"})
	ws := fmt.Sprintf("/api/chats/%d/workspace", number)
	names := func() string {
		var out struct{ Files []struct{ Path, Kind string } }
		h.call("GET", ws+"/files", nil).is(200, &out)
		var all []string
		for _, f := range out.Files {
			if f.Kind != "folder" {
				all = append(all, f.Path)
			}
		}
		return strings.Join(all, " ")
	}
	put := func(text string, header ...string) answer {
		return h.call("PUT", ws+"/files/notes/a.txt", text, append([]string{"Content-Type", "text/plain"}, header...)...)
	}
	tag := h.call("GET", ws+"/files/notes/a.txt", nil).is(200, nil).header.Get("ETag")
	changes := func(a answer) string { // of a step, but for folders
		var out struct {
			Changes []struct {
				Path, Change string
				Old, New     *struct{ Kind string }
			}
		}
		a.is(200, &out)
		var all []string
		for _, c := range out.Changes {
			if c.Old != nil && c.Old.Kind != "folder" || c.New != nil && c.New.Kind != "folder" {
				all = append(all, c.Change+" "+c.Path)
			}
		}
		return strings.Join(all, ", ")
	}
	if got := changes(put("two\n", "If-Match", tag)); got != "modified notes/a.txt" {
		t.Errorf("the edit changed %q", got)
	}
	if got := changes(put("two\n")); got != "" {
		t.Errorf("what was that already changed %q", got)
	}
	put("three\n", "If-Match", tag).is(http.StatusConflict, nil)
	put("three\n", "If-None-Match", "*").is(http.StatusConflict, nil)
	put("three\n", "If-Match", `"odd"`).is(400, nil)
	if got := string(h.call("GET", ws+"/files/notes/a.txt", nil).is(200, nil).body); got != "two\n" {
		t.Errorf("the file is %q", got)
	}
	if got := changes(h.call("PUT", ws+"/files/new.txt", "n", "Content-Type", "text/plain", "If-None-Match", "*")); got != "added new.txt" {
		t.Errorf("the new file changed %q", got)
	}
	h.call("PUT", ws+"/files/gone.txt", "n", "Content-Type", "text/plain", "If-Match", tag).is(http.StatusConflict, nil)

	if got := changes(h.call("POST", ws+"/move", doc{"from": "new.txt", "to": "notes/deep/b.txt"})); got != "removed new.txt, added notes/deep/b.txt" {
		t.Errorf("the move changed %q", got)
	}
	h.call("POST", ws+"/move", doc{"from": "notes/a.txt", "to": "notes/deep/b.txt"}).is(http.StatusConflict, nil)
	h.call("POST", ws+"/move", doc{"from": "notes", "to": "notes/in"}).is(400, nil)
	h.call("POST", ws+"/move", doc{"from": "none", "to": "other"}).is(404, nil)
	for _, bad := range []string{"../x", "/etc/x", "", ".", "a/../../x", ".git/config", "a/.GIT/hooks/x"} {
		h.call("POST", ws+"/move", doc{"from": "notes/a.txt", "to": bad}).is(400, nil)
		h.call("POST", ws+"/move", doc{"from": bad, "to": "y"}).is(400, nil)
	}
	if got := names(); got != "notes/a.txt notes/deep/b.txt" {
		t.Errorf("after the move: %s", got)
	}
	h.call("DELETE", ws+"/files/none.txt", nil).is(404, nil)
	if got := changes(h.call("DELETE", ws+"/files/notes", nil)); got != "removed notes/a.txt, removed notes/deep/b.txt" {
		t.Errorf("the removal changed %q", got)
	}
	if got := names(); got != "" {
		t.Errorf("after the removal: %s", got)
	}
	var states struct {
		States []struct {
			Source  string
			Changes struct {
				Changed int
				Paths   []struct{ Path, Kind string }
			}
		}
	}
	h.call("GET", ws+"/states?changes=true", nil).is(200, &states)
	var told []string
	for _, s := range states.States {
		told = append(told, fmt.Sprint(s.Source, " ", s.Changes.Changed))
	}
	if got := strings.Join(told, ", "); got != "edit 2, edit 2, edit 1, edit 1, tool_run 1, external 0" {
		t.Errorf("the states: %s", got)
	}
	for _, want := range []string{"notes/a.txt notes/deep/b.txt", "new.txt notes/a.txt", "notes/a.txt", "notes/a.txt", ""} {
		h.call("POST", ws+"/undo", doc{}).is(200, nil)
		if got := names(); got != want {
			t.Errorf("after the undo: %q, want %q", got, want)
		}
	}
}

// The types of payloads are listed with how they look, the known ones included.
func TestPayloadTypes(t *testing.T) {
	t.Parallel()
	h := research(t)
	var out struct {
		Types []struct {
			Type      string
			ToolsetID string `json:"toolset_id"`
		}
		Pages []struct{ ID string }
	}
	a := h.call("GET", "/api/payload-types", nil).is(200, &out)
	own, known := false, false
	for _, p := range out.Types {
		own = own || p.ToolsetID == "research" && p.Type == "research"
		known = known || p.ToolsetID == "" && p.Type == "table"
	}
	if !own || !known {
		t.Errorf("types: %.2000s", a.body)
	}
}
