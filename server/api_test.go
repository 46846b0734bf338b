package server_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/server"
)

// finish runs a turn to its end and gives its events and its chat's number.
func (h *house) finish(body doc) ([]doc, int) {
	h.t.Helper()
	turn, number := h.start(body)
	events := h.follow("GET", "/api/turns/"+turn+"/events", nil).all()
	if len(events) == 0 || events[len(events)-1]["type"] != "complete" {
		h.t.Fatalf("the turn ended with %v", kinds(events))
	}
	return events, number
}

type chatDoc struct {
	Chat struct {
		ID, Title string
		Number    int
		Messages  int
	}
	TurnID string `json:"turn_id"`
}

type messagesDoc struct {
	Messages []struct {
		ID, Role string
		Parts    []struct{ Type, Text string }
	}
	Total  int
	Before string
}

func TestChats(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	var made, got chatDoc
	h.call("POST", "/api/chats", doc{}).is(201, &made)
	path := fmt.Sprintf("/api/chats/%d", made.Chat.Number)
	h.finish(doc{"message": "what is this?", "conversation_id": made.Chat.Number})
	h.call("GET", "/api/chats/"+made.Chat.ID, nil).is(200, &got)
	if got.Chat.Title != "what is this?" || got.Chat.Messages != 2 || got.TurnID != "" {
		t.Errorf("the chat is %+v", got)
	}
	h.finish(doc{"message": "and this?", "chat_id": made.Chat.ID})
	var page messagesDoc
	h.call("GET", path+"/messages?limit=3", nil).is(200, &page)
	if len(page.Messages) != 3 || page.Total != 4 || page.Before != page.Messages[0].ID {
		t.Errorf("a page %+v", page)
	}
	first := page
	h.call("GET", path+"/messages?limit=3&before="+page.Before, nil).is(200, &page)
	if len(page.Messages) != 1 || page.Messages[0].Role != "user" {
		t.Errorf("the page before %+v", page)
	}
	h.call("GET", path+"/messages?before=x", nil).is(404, nil)

	// Edit and retry make branches; switch goes back.
	question := first.Messages[1].ID
	var turn struct {
		TurnID string `json:"turn_id"`
	}
	h.call("POST", path+"/edit", doc{"message_id": question, "message": "in other words"}).is(202, &turn)
	h.follow("GET", "/api/turns/"+turn.TurnID+"/events", nil).all()
	h.call("POST", path+"/retry", doc{"message_id": question}).is(202, &turn)
	h.follow("GET", "/api/turns/"+turn.TurnID+"/events", nil).all()
	h.call("POST", path+"/retry", doc{"message_id": question, "message": "x"}).is(400, nil)
	h.call("POST", path+"/edit", doc{"message_id": question}).is(400, nil)
	var branches struct {
		Branches []struct {
			Leaf   string `json:"leaf_message_id"`
			Active bool
		}
	}
	h.call("GET", path+"/branches", nil).is(200, &branches)
	if len(branches.Branches) != 3 {
		t.Errorf("branches %+v", branches)
	}
	h.call("POST", path+"/switch", doc{"message_id": branches.Branches[0].Leaf}).is(200, nil)
	h.call("GET", path+"/branches", nil).is(200, &branches)
	if !branches.Branches[0].Active {
		t.Error("it did not switch")
	}
	h.call("GET", path+"/workspace/states?all=true&changes=true", nil).is(200, nil)
	h.call("GET", path+"/workspace/states?all=perhaps", nil).is(400, nil)
	h.call("POST", path+"/fork", doc{"place": 2}).is(201, &got)
	if got.Chat.Messages != 2 || got.Chat.ID == made.Chat.ID {
		t.Errorf("the fork is %+v", got)
	}
	h.call("PATCH", path, doc{"title": "Another\ntitle"}).is(200, &got)
	if got.Chat.Title != "Another title" {
		t.Errorf("title %q", got.Chat.Title)
	}
	listsAndBin(t, h, path)
}

func listsAndBin(t *testing.T, h *house, path string) {
	t.Helper()
	var list struct {
		Chats []struct{ Number int }
		Next  string
	}
	h.call("GET", "/api/chats?limit=1", nil).is(200, &list)
	if len(list.Chats) != 1 || list.Next == "" {
		t.Fatalf("a page %+v", list)
	}
	after := list.Next
	list.Next = ""
	h.call("GET", "/api/chats?after="+after, nil).is(200, &list)
	if len(list.Chats) != 1 || list.Chats[0].Number != 1 || list.Next != "" {
		t.Errorf("the next %+v", list)
	}
	var found struct {
		Chats []struct{ Matches []struct{ Excerpt string } }
	}
	h.call("GET", "/api/search?q=%22other+words%22", nil).is(200, &found)
	if len(found.Chats) != 1 || len(found.Chats[0].Matches) == 0 || !strings.Contains(found.Chats[0].Matches[0].Excerpt, "other words") {
		t.Errorf("found %+v", found)
	}
	h.call("GET", "/api/search", nil).is(400, nil)
	h.call("DELETE", path, nil).is(204, nil)
	h.call("GET", path, nil).is(404, nil)
	h.call("GET", "/api/deleted-chats", nil).is(200, &list)
	if len(list.Chats) != 1 {
		t.Errorf("deleted %+v", list)
	}
	h.call("POST", path+"/restore", nil).is(200, nil)
	h.call("GET", path, nil).is(200, nil)
	for _, bad := range []string{"/api/chats/0", "/api/chats/-1", "/api/chats/nobody", "/api/chats/999"} {
		if code, _ := h.call("GET", bad, nil).is(404, nil).failure(); code != "not_found" {
			t.Errorf("%s: %s", bad, code)
		}
	}
}

func TestWorkspace(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	_, number := h.finish(doc{"message": "write it", "uploads": []doc{{"name": "in.csv", "text": "a,b\n"}}})
	path := fmt.Sprintf("/api/chats/%d/workspace", number)
	var files struct {
		Files    []struct{ Path, Kind, SHA256 string }
		Manifest struct{ ID string }
	}
	h.call("GET", path+"/files", nil).is(200, &files)
	if len(files.Files) != 3 || files.Files[2].Path != "notes/a.txt" {
		t.Fatalf("files %+v", files)
	}
	if a := h.call("GET", path+"/files/notes/a.txt", nil).is(200, nil); string(a.body) != "one\n" ||
		!strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment") || !strings.Contains(a.header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%q %v", a.body, a.header)
	}
	var long strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&long, "%08d\n", i)
	}
	h.call("PUT", path+"/files/deep/long.txt", long.String(), "Content-Type", "text/plain").is(200, nil)
	ranges(t, h, path+"/files/deep/long.txt", long.String())
	for bad, status := range map[string]int{
		"/files/..%2f..%2fx": 404, "/files/a/../b": 404, "/files/notes": 422, "/files/none": 404, "/files/notes/a.txt?manifest=none": 404,
	} {
		h.call("GET", path+bad, nil).is(status, nil)
	}
	var manifest struct {
		Files map[string]string
	}
	h.call("GET", path+"/manifest?manifest=@-1", nil).is(200, &manifest)
	if manifest.Files["notes/a.txt"] == "" || manifest.Files["in.csv"] == "" {
		t.Errorf("manifest %+v", manifest)
	}
	var diff struct {
		Changes []struct{ Path, Change string }
	}
	h.call("GET", path+"/diff?from="+files.Manifest.ID, nil).is(200, &diff)
	if len(diff.Changes) == 0 || !slices.ContainsFunc(diff.Changes, func(c struct{ Path, Change string }) bool { return c.Path == "deep/long.txt" && c.Change == "added" }) {
		t.Errorf("diff %+v", diff)
	}
	var restored struct {
		Changes []struct{ Path, Change string }
	}
	h.call("POST", path+"/undo", doc{"dry_run": true}).is(200, &restored)
	h.call("GET", path+"/files/deep/long.txt", nil).is(200, nil)
	h.call("POST", path+"/undo", doc{}).is(200, &restored)
	h.call("GET", path+"/files/deep/long.txt", nil).is(404, nil)
	h.call("POST", path+"/redo", nil).is(200, nil)
	h.call("GET", path+"/files/deep/long.txt", nil).is(200, nil)
	h.call("POST", path+"/restore", doc{"manifest": files.Manifest.ID}).is(200, nil)
	h.call("GET", path+"/files/deep/long.txt", nil).is(404, nil)
	var states struct{ States []doc }
	h.call("GET", path+"/states?limit=2", nil).is(200, &states)
	if len(states.States) != 2 {
		t.Errorf("states %+v", states)
	}
}

// ranges asks for parts of a file.
func ranges(t *testing.T, h *house, path, text string) {
	t.Helper()
	whole := h.call("GET", path, nil).is(200, nil)
	if string(whole.body) != text {
		t.Error("the file came otherwise than it went")
	}
	tag := whole.header.Get("ETag")
	h.call("GET", path, nil, "If-None-Match", tag).is(304, nil)
	n := len(text)
	for header, want := range map[string]string{
		"bytes=0-0": text[:1], "bytes=9-17": text[9:18], "bytes=10000-": text[10000:], "bytes=-10": text[n-10:],
		"bytes=35990-999999999": text[35990:], "bytes=-999999999": text,
	} {
		if a := h.call("GET", path, nil, "Range", header).is(206, nil); string(a.body) != want {
			t.Errorf("%s: %d bytes, want %d", header, len(a.body), len(want))
		}
	}
	h.call("GET", path, nil, "Range", fmt.Sprintf("bytes=%d-", n)).is(416, nil)
	for _, odd := range []string{"bytes=5-2", "bytes=0-1,4-5", "lines=1-2", "bytes=x-y", "bytes=--5"} {
		if a := h.call("GET", path, nil, "Range", odd).is(200, nil); len(a.body) != n {
			t.Errorf("%s: %d bytes", odd, len(a.body))
		}
	}
	h.call("GET", path, nil, "Range", "bytes=0-0", "If-Range", `"other"`).is(200, nil)
	if a := h.call("HEAD", path, nil).is(200, nil); a.header.Get("Content-Length") != fmt.Sprint(n) {
		t.Errorf("HEAD says %v", a.header)
	}
}

const askScript = `
responses:
  - {when: twice, step: 0, calls: [{name: remove, args: {path: a}}]}
  - {when: "", text: Done.}
`

func asking(t *testing.T, h *house) (turn string, s *stream, approval doc) {
	t.Helper()
	turn, _ = h.start(doc{"message": "twice", "confirm": true})
	s = h.follow("GET", "/api/turns/"+turn+"/events", nil)
	s.until("confirm_request")
	return turn, s, s.until("approval")
}

// An approval carries its arguments as a user has to see them, in a stream and in the list.
func TestApprovalsShowHostileArguments(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: strings.Replace(askScript, "{path: a}", `{path: "a\u3164\u3164\u3164b\u202E", "pa\u200B\u200Bth": "x"}`, 1), tools: removeTool()})
	turn, _, approval := asking(t, h)
	want := []any{
		map[string]any{"name": "pa[2 blanks]th", "text": "x", "size": "1 byte"},
		map[string]any{"name": "path", "text": "a[3 blanks]b‹U+202E›", "size": "14 bytes"},
	}
	var list struct{ Approvals []doc }
	h.call("GET", "/api/turns/"+turn+"/approvals", nil).is(200, &list)
	for _, got := range []doc{approval, list.Approvals[0]} {
		args, _ := got["arguments"].([]any)
		slices.SortFunc(args, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
		})
		if !reflect.DeepEqual(args, want) || got["rule"] != nil && got["rule_text"] == nil {
			t.Errorf("the approval is %v", got)
		}
	}
}

// Two pages see the same question: one of them answers it.
func TestAnApprovalIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool()})
	turn, s, approval := asking(t, h)
	path := "/api/turns/" + turn + "/confirm"
	body := func(change doc) doc {
		b := doc{"tool_use_id": approval["tool_use_id"], "nonce": approval["nonce"], "decision": "allow"}
		for k, v := range change {
			b[k] = v
		}
		return b
	}
	h.call("POST", path, body(doc{"nonce": "other"})).is(400, nil)
	h.call("POST", path, body(doc{"tool_use_id": "other"})).is(404, nil)
	h.call("POST", path, body(doc{"decision": "maybe"})).is(400, nil)
	other := h.follow("GET", "/api/turns/"+turn+"/events", nil)
	if again := other.until("approval"); again["nonce"] != approval["nonce"] {
		t.Error("the second page has another nonce")
	}
	var list struct{ Approvals []doc }
	h.call("GET", "/api/turns/"+turn+"/approvals", nil).is(200, &list)
	if len(list.Approvals) != 1 || list.Approvals[0]["tool"] != "remove" {
		t.Errorf("approvals %v", list)
	}
	var got [8]int
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			a := h.call("POST", path, body(doc{"decision": []string{"allow", "deny"}[i%2]}), "X-Request-Id", fmt.Sprint("page-", i))
			if got[i] = a.status; a.status == 409 && !strings.Contains(string(a.body), "by request page-") {
				t.Errorf("it doesn't say who was first: %s", a.body)
			}
		})
	}
	all.Wait()
	slices.Sort(got[:])
	if got != [8]int{204, 409, 409, 409, 409, 409, 409, 409} {
		t.Errorf("statuses %v", got)
	}
	h.call("POST", path, body(nil)).is(409, nil) // whether the turn has ended or not
	events := s.all()
	if k := kinds(other.all()); strings.Count(k, "confirm_result") != 1 {
		t.Errorf("the other page sees %s", k)
	}
	if n := strings.Count(kinds(events), "confirm_result"); n != 1 || !strings.HasSuffix(kinds(events), "complete") {
		t.Errorf("events %s", kinds(events))
	}
	if k := kinds(h.follow("GET", "/api/turns/"+turn+"/events", nil).all()); strings.Contains(k, "approval") {
		t.Error("an approval that was answered is shown again")
	}
}

func TestAnApprovalRunsOut(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: askScript, tools: removeTool(), change: func(o *server.Options) { o.ApprovalTime = time.Second }})
	turn, s, approval := asking(t, h)
	result := s.until("confirm_result")
	if result["decision"] != "deny" || !strings.Contains(fmt.Sprint(result["reason"]), "nobody answered") {
		t.Errorf("result %v", result)
	}
	code, message := h.call("POST", "/api/turns/"+turn+"/confirm", doc{
		"tool_use_id": approval["tool_use_id"], "nonce": approval["nonce"], "decision": "allow",
	}).is(409, nil).failure()
	if code != "busy" || !strings.Contains(message, "was denied already, by the time limit of 1s") {
		t.Errorf("%s: %s", code, message)
	}
	if k := kinds(s.all()); !strings.HasSuffix(k, "complete") {
		t.Errorf("ended with %s", k)
	}
}

// What was shown is what runs: with another version of the toolset the call can
// only be denied.
func TestAnApprovalIsForOneVersion(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: `
responses:
  - {when: twice, step: 0, calls: [{name: page, args: {}}]}
  - {when: "", text: Done.}
`})
	zipped := []string{"Content-Type", "application/zip"}
	install := func(version string) {
		text := bundleOf(t, version, "    requires_confirmation: true\n")
		var looked struct{ Approve string }
		h.call("POST", "/api/toolsets", text, zipped...).is(200, &looked)
		h.call("POST", "/api/toolsets?approve="+looked.Approve, text, zipped...).is(201, nil)
	}
	install("1.0.0")
	turn, s, approval := asking(t, h)
	install("2.0.0")
	body := doc{"tool_use_id": approval["tool_use_id"], "nonce": approval["nonce"], "decision": "allow"}
	if _, message := h.call("POST", "/api/turns/"+turn+"/confirm", body).is(409, nil).failure(); !strings.Contains(message, "the toolset was changed") {
		t.Errorf("it says %s", message)
	}
	body["decision"] = "deny"
	h.call("POST", "/api/turns/"+turn+"/confirm", body).is(204, nil)
	if result := s.until("confirm_result"); result["decision"] != "deny" {
		t.Errorf("result %v", result)
	}
	s.all()
}

// bundle is a toolset as a ZIP.
func bundle(t *testing.T, version string) string {
	t.Helper()
	return bundleOf(t, version, "")
}

// bundleOf has more said of its tool.
func bundleOf(t *testing.T, version, more string) string {
	t.Helper()
	return zipOf(t, map[string]string{
		"toolset.yaml": "manifest_version: \"1\"\nid: small-set\nname: Small\nversion: \"" + version + "\"\ndescription: For tests\ntools:\n" +
			"  - id: page\n    name: Page\n    description: shows a page\n    entrypoint: tools.page:run\n    input_schema: {type: object}\n" +
			"    renderer: {type: html, artifact: artifacts/page.html, data: \"$return\"}\n" + more,
		"tools/page.py":       "def run(workspace):\n    return {}\n",
		"artifacts/page.html": "<html><head></head><body>hello</body></html>",
	})
}

// zipOf returns a ZIP with the files, in the order of their names.
func zipOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		must(t, err)
		_, err = w.Write([]byte(files[name]))
		must(t, err)
	}
	must(t, z.Close())
	return b.String()
}

func TestToolsets(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: "responses:\n  - {when: show, step: 0, calls: [{name: page, args: {}}]}\n  - {when: \"\", text: Done.}\n"})
	zipped := []string{"Content-Type", "application/zip"}
	var looked struct {
		Installed bool
		Approve   string
		Items     []doc
	}
	one := bundle(t, "1.0.0")
	h.call("POST", "/api/toolsets", one, zipped...).is(200, &looked)
	if looked.Installed || len(looked.Items) == 0 || looked.Approve == "" {
		t.Errorf("looked at: %+v", looked)
	}
	h.call("GET", "/api/toolsets/small-set", nil).is(404, nil)
	h.call("POST", "/api/toolsets?approve="+looked.Approve, bundle(t, "2.0.0"), zipped...).is(409, nil)
	h.call("POST", "/api/toolsets?approve="+looked.Approve, one, zipped...).is(201, &looked)
	h.call("POST", "/api/toolsets", "no zip", zipped...).is(422, nil)
	h.call("POST", "/api/toolsets", one, "Content-Type", "text/plain").is(415, nil)
	var set struct {
		Toolset struct{ Version string }
		Tools   []doc
	}
	h.call("GET", "/api/toolsets/small-set", nil).is(200, &set)
	if set.Toolset.Version != "1.0.0" || len(set.Tools) != 1 {
		t.Errorf("%+v", set)
	}
	available := func() string { return string(h.call("GET", "/api/available-tools", nil).is(200, nil).body) }
	if !strings.Contains(available(), "small-set:page") {
		t.Error("its tool is not available")
	}
	showsPage(t, h)
	h.call("POST", "/api/tools/page/enable", doc{"enabled": false}).is(200, nil)
	if strings.Contains(available(), "small-set:page") {
		t.Error("a tool that is off is available")
	}
	h.call("POST", "/api/toolsets/small-set/enable", doc{}).is(400, nil)
	h.call("POST", "/api/toolsets/small-set/enable", doc{"enabled": false}).is(200, nil)
	h.call("GET", "/api/tools/page", nil).is(200, nil)
	exported := h.call("GET", "/api/toolsets/small-set/export", nil).is(200, nil)
	if _, err := zip.NewReader(bytes.NewReader(exported.body), int64(len(exported.body))); err != nil {
		t.Errorf("exported: %v", err)
	}
	h.call("POST", "/api/toolsets/small-set/uninstall", nil).is(200, nil)
	h.call("GET", "/api/toolsets/small-set", nil).is(404, nil)
	h.call("GET", "/api/models", nil).is(200, nil)
	h.call("GET", "/api/agents", nil).is(200, nil)
	h.call("GET", "/api/agents/none", nil).is(404, nil)
}

// showsPage has a tool's page shown: from another origin, which lets it reach
// nothing.
func showsPage(t *testing.T, h *house) {
	t.Helper()
	events, _ := h.finish(doc{"message": "show"})
	call := ""
	for _, e := range events {
		if e["type"] == "tool_complete" {
			call = fmt.Sprint(e["tool_call_id"])
		}
	}
	var shown struct {
		URL string
	}
	h.call("GET", "/api/tool-calls/"+call+"/render", nil).is(200, &shown)
	if shown.URL == "" || strings.HasPrefix(shown.URL, h.url+"/") {
		t.Fatalf("shown at %q", shown.URL)
	}
	res, err := h.client.Get(shown.URL)
	must(t, err)
	defer res.Body.Close()
	var page bytes.Buffer
	_, err = page.ReadFrom(res.Body)
	must(t, err)
	if policy := res.Header.Get("Content-Security-Policy"); res.StatusCode != 200 || !strings.HasPrefix(policy, "sandbox allow-scripts;") ||
		!strings.Contains(page.String(), "hello") || !strings.Contains(page.String(), "__TOOL_DATA__") {
		t.Errorf("status %d, policy %q, page %s", res.StatusCode, policy, page.String())
	}
	gone, err := h.client.Get(shown.URL + "x")
	must(t, err)
	defer gone.Body.Close()
	if gone.StatusCode != http.StatusNotFound {
		t.Errorf("another address: %d", gone.StatusCode)
	}
	h.call("GET", "/api/tool-calls/01ARZ3NDEKTSV4RRFFQ69G5FAV/render", nil).is(404, nil)
}

// The description has each operation of the mux, with the names that document 004
// gives them.
func TestTheDescriptionIsOfTheRoutes(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	var d struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []struct{ Name, In string }
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}
	a := h.call("GET", "/openapi.json", nil).is(200, &d)
	var names []string
	for path, methods := range d.Paths {
		for method, op := range methods {
			names = append(names, op.OperationID)
			concrete := path
			for _, p := range op.Parameters {
				if p.In == "path" {
					concrete = strings.ReplaceAll(concrete, "{"+p.Name+"}", "01ARZ3NDEKTSV4RRFFQ69G5FAV")
				}
			}
			// The mux knows what the description does: anything but "nothing here".
			got := h.call(strings.ToUpper(method), concrete, nil)
			if got.status == 405 || got.status == 404 && strings.Contains(string(got.body), "nothing at this address") && !strings.Contains(path, "tool-calls") {
				t.Errorf("%s %s (%s): %d %s", method, path, op.OperationID, got.status, got.body)
			}
		}
	}
	slices.Sort(names)
	if want := server.Operations(); !slices.Equal(names, want) {
		t.Errorf("described:\n%v\nserved:\n%v", names, want)
	}
	for _, name := range []string{
		"list_toolsets", "get_toolset", "import_toolset", "export_toolset", "enable_toolset", "uninstall_toolset", "list_tools", "get_tool",
		"get_workspace_files", "get_workspace_file", "get_workspace_manifest", "stream", "get_available_tools",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("there is no operation %s", name)
		}
	}
	for _, ref := range strings.Split(string(a.body), `"$ref": "#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		if d.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s", name)
		}
	}
}
