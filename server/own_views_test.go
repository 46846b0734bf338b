package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// viewsManifest declares a view of each kind; its html type has the look of version %s.
const viewsManifest = `manifest_version: "1"
id: views
name: Views
version: "%[1]s.0.0"
description: Payload types with views of their own.
tools:
  - id: measure
    description: Measures.
    entrypoint: tools.measure:run
    input_schema: {type: object, properties: {}}
payloads:
  - type: dial
    parse_marker: "DIAL:"
    llm_instructions: Write DIAL with an object.
    renderer: {type: html, artifact: artifacts/dial.html, data: $return}
    render_options: {panelWidth: 640px, headerTitle: Dial %[1]s, headerIcon: chart}
    style: {icon: star, colour: green, label: Dial %[1]s}
  - type: rows
    renderer: {type: table}
  - type: paper
    parse_marker: "PAPER:"
    llm_instructions: Write PAPER with an object.
    renderer: {type: document, content: $return.text}
    style: {editable: true}
  - type: bare
    parse_marker: "BARE:"
    llm_instructions: Write BARE with an object.
    style: {label: Plain %[1]s}
`

// installViews installs a version of the toolset views from a folder that it writes.
func (h *house) installViews(version string) {
	h.t.Helper()
	dir := h.t.TempDir()
	for name, text := range map[string]string{
		"toolset.yaml":        fmt.Sprintf(viewsManifest, version),
		"artifacts/dial.html": "<!doctype html><title>Dial</title><p>Version " + version,
		"tools/measure.py":    "def run(workspace, **kw):\n    return {}\n",
	} {
		must(h.t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(h.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	p, err := h.eng.PlanToolset(h.t.Context(), dir, registry.PlanOptions{WorkDir: h.t.TempDir()})
	must(h.t, err)
	defer func() { must(h.t, p.Close()) }()
	_, err = h.eng.ImportToolset(h.t.Context(), p, registry.ApplyOptions{Approved: true})
	must(h.t, err)
}

// viewDoc is how a payload is shown.
type viewDoc struct {
	Renderer string
	Config   struct {
		Data    json.RawMessage
		Content string
	}
	Look *struct{ Icon, Colour, Label, PanelWidth, HeaderTitle, HeaderIcon string }
}

// ownViews returns the payloads of a chat as the page draws them: what the list of
// messages has of each, its whole plan, and its page.
func (h *house) ownViews(chat int) map[string]string {
	h.t.Helper()
	out := map[string]string{}
	path := fmt.Sprintf("/api/chats/%d", chat)
	var messages struct {
		Messages []struct {
			Parts []struct {
				Payload *struct {
					Type string
					Plan json.RawMessage `json:"render_plan"`
				}
			}
		}
		Calls []struct {
			Payload *struct{ Type string } `json:"workspace_payload"`
			Plan    json.RawMessage        `json:"workspace_plan"`
		}
	}
	h.call("GET", path+"/messages", nil).is(200, &messages)
	for _, m := range messages.Messages {
		for _, p := range m.Parts {
			if p.Payload != nil {
				out["card of "+p.Payload.Type] = string(p.Payload.Plan)
			}
		}
	}
	for _, c := range messages.Calls {
		if c.Payload != nil {
			out["card of "+c.Payload.Type] = string(c.Plan)
		}
	}
	var list struct{ Payloads []struct{ ID, Type string } }
	h.call("GET", path+"/payloads", nil).is(200, &list)
	for _, p := range list.Payloads {
		var one struct {
			Plan json.RawMessage `json:"render_plan"`
		}
		h.call("GET", path+"/payloads/"+p.ID, nil).is(200, &one)
		out["panel of "+p.Type] = string(one.Plan)
		if p.Type != "dial" {
			h.call("POST", path+"/payloads/"+p.ID+"/artifact", doc{}).is(404, nil)
			continue
		}
		var opened struct{ Kind, URL, Sandbox, Origin string }
		h.call("POST", path+"/payloads/"+p.ID+"/artifact", doc{}).is(200, &opened)
		if opened.Kind != "html" || opened.Sandbox != "allow-scripts" || strings.HasPrefix(h.url, opened.Origin) {
			h.t.Errorf("the page of %s is opened as %+v", p.Type, opened)
		}
		out["page of "+p.Type] = h.page(opened.URL)
	}
	return out
}

// page returns what is at an address of the other origin.
func (h *house) page(address string) string {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, address, nil)
	must(h.t, err)
	res, err := h.client.Do(req)
	must(h.t, err)
	defer func() { must(h.t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	must(h.t, err)
	return string(text)
}

// A payload keeps the view and the look that its type had when it came: a restart, an
// update and the removal of its toolset change neither its card nor its panel.
func TestOwnViewsOutliveTheirToolset(t *testing.T) {
	t.Parallel()
	p := plan{dir: t.TempDir(), script: `
responses:
  - {when: show, step: 0, text: 'DIAL: {"value": 7}', calls: [{name: "views:measure", args: {}}]}
  - {when: show, step: 1, text: 'PAPER: {"text": "# A paper"} and BARE: {"x": 1}'}
`, runs: map[string]toolset.RunnerFunc{
		"views:measure": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Measured.", WorkspacePayload: json.RawMessage(`{"type":"rows","title":"Rows","content":"","data":[{"a":1},{"a":2}]}`)}, nil
		},
	}}
	h := open(t, p)
	h.installViews("1")
	_, chat := h.finish(doc{"message": "show", "allow": []string{"*"}})
	want := h.ownViews(chat)
	if len(want) != 9 {
		t.Fatalf("the chat shows %d of 9: %v", len(want), want)
	}
	for name, check := range map[string]func(viewDoc) bool{
		"dial": func(v viewDoc) bool {
			return v.Renderer == "html" && string(v.Config.Data) == `{"value":7}` && v.Look != nil && v.Look.Label == "Dial 1" && v.Look.Icon == "star" &&
				v.Look.Colour == "green" && v.Look.PanelWidth == "640px" && v.Look.HeaderTitle == "Dial 1" && v.Look.HeaderIcon == "chart"
		},
		"rows":  func(v viewDoc) bool { return v.Renderer == "table" && string(v.Config.Data) == `[{"a":1},{"a":2}]` },
		"paper": func(v viewDoc) bool { return v.Renderer == "document" && v.Config.Content == "# A paper" },
		"bare":  func(v viewDoc) bool { return v.Renderer == "" && v.Look != nil && v.Look.Label == "Plain 1" },
	} {
		var v viewDoc
		must(t, json.Unmarshal([]byte(want["panel of "+name]), &v))
		if !check(v) || want["card of "+name] != want["panel of "+name] {
			t.Errorf("%s is shown by %s, in its card by %s", name, want["panel of "+name], want["card of "+name])
		}
	}
	if !strings.Contains(want["page of dial"], "Version 1") || !strings.Contains(want["page of dial"], `{"value":7}`) {
		t.Errorf("the page of dial is %s", want["page of dial"])
	}
	same := func(after string) {
		t.Helper()
		if got := h.ownViews(chat); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %s the chat shows\n%v\nwant\n%v", after, got, want)
		}
	}
	h.installViews("2")
	same("an update")
	_, err := h.eng.RemoveToolset(t.Context(), "views")
	must(t, err)
	same("the removal")
	must(t, h.stop())
	h = open(t, p)
	same("a restart")
}

// A plan that is too long for the list of messages is left there with its renderer and its
// look, and the payload has the whole.
func TestLongOwnViewsComeWithTheirPayload(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: `
responses:
  - {when: show, step: 0, text: I measure., calls: [{name: "views:measure", args: {}}]}
  - {when: show, step: 1, text: Done.}
`, runs: map[string]toolset.RunnerFunc{
		"views:measure": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Measured.", WorkspacePayload: json.RawMessage(`{"type":"dial","title":"","content":"","data":{"long":"` + strings.Repeat("x", 100_000) + `"}}`)}, nil
		},
	}})
	h.installViews("1")
	_, chat := h.finish(doc{"message": "show", "allow": []string{"*"}})
	got := h.ownViews(chat)
	var card, panel viewDoc
	must(t, json.Unmarshal([]byte(got["card of dial"]), &card))
	must(t, json.Unmarshal([]byte(got["panel of dial"]), &panel))
	if card.Renderer != "html" || card.Look == nil || card.Config.Data != nil || len(panel.Config.Data) < 100_000 {
		t.Errorf("the card has %.200s, the panel %d bytes", got["card of dial"], len(panel.Config.Data))
	}
}

// The example of docs/views.md is the toolset in testdata, has fewer than 40 lines, and
// shows what a model writes by its page.
func TestTheDocumentedViewIsShown(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/views.md")
	must(t, err)
	lines := 0
	for _, name := range []string{"toolset.yaml", "artifacts/gauge.html"} {
		file, err := os.ReadFile(filepath.Join("../testdata/toolsets/gauge", name))
		must(t, err)
		lines += strings.Count(string(file), "\n")
		if !strings.Contains(string(text), string(file)+"```") {
			t.Errorf("docs/views.md has another %s", name)
		}
	}
	if lines >= 40 {
		t.Errorf("the example has %d lines", lines)
	}
	h := open(t, plan{script: `responses: [{text: 'Here: GAUGE: {"label": "Disk", "value": 40, "max": 100}'}]`})
	h.install("gauge")
	_, chat := h.finish(doc{"message": "How full is it?"})
	path := fmt.Sprintf("/api/chats/%d/payloads", chat)
	var list struct{ Payloads []struct{ ID, Type string } }
	h.call("GET", path, nil).is(200, &list)
	if len(list.Payloads) != 1 || list.Payloads[0].Type != "gauge" {
		t.Fatalf("the payloads are %+v", list.Payloads)
	}
	var opened struct{ URL string }
	h.call("POST", path+"/"+list.Payloads[0].ID+"/artifact", doc{}).is(200, &opened)
	if page := h.page(opened.URL); !strings.Contains(page, "<meter") || !strings.Contains(page, `"label":"Disk"`) {
		t.Errorf("the page is %s", page)
	}
}
