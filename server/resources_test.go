package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// install imports an example toolset.
func (h *house) install(name string) {
	h.t.Helper()
	dir := needtest.Toolset(h.t, name)
	p, err := h.eng.PlanToolset(h.t.Context(), dir, registry.PlanOptions{WorkDir: h.t.TempDir()})
	must(h.t, err)
	defer func() { must(h.t, p.Close()) }()
	_, err = h.eng.ImportToolset(h.t.Context(), p, registry.ApplyOptions{Approved: true})
	must(h.t, err)
}

const researchScript = `
responses:
  - {when: "plan it", text: 'RESEARCH_PLAN: {"question":"What helps?","aspects":["naps"],"sources":["workspace"]}'}
  - {when: "", text: An answer.}
`

const report = `{"question":"What helps?","summary":"s","findings":[{"aspect":"naps","strength":"none","evidence":[]}],"gaps":[],"sources":[],"read":1,"problems":[],"output":"","report":"the passages"}`

// research is a house with the example toolset of that name.
func research(t *testing.T) *house {
	t.Helper()
	h := open(t, plan{script: researchScript, runs: map[string]toolset.RunnerFunc{
		"research:deep_research": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Done.", Data: json.RawMessage(report)}, nil
		},
	}})
	h.install("research")
	return h
}

// parsed is what a parser gives of data that is whole.
func parsed(kind string, c toolset.Call) (toolset.Result, error) {
	var args struct{ Text string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return toolset.Result{}, err
	}
	return toolset.Result{Data: json.RawMessage(`{"type":"` + kind + `","data":` + args.Text + `}`)}, nil
}

// A payload is listed, shown, and accepted once; the tool that is told runs in a
// turn that is followed like any other.
func TestPayloads(t *testing.T) {
	t.Parallel()
	h := research(t)
	_, number := h.finish(doc{"message": "plan it"})
	path := fmt.Sprintf("/api/chats/%d/payloads", number)
	var list struct {
		Payloads []struct {
			ID, Type string
			Number   int
		}
	}
	a := h.call("GET", path, nil).is(200, &list)
	if len(list.Payloads) != 1 || list.Payloads[0].Type != "research" {
		t.Fatalf("payloads: %s", a.body)
	}
	one := path + "/" + list.Payloads[0].ID
	var shown struct {
		Payload struct{ ID string }
		Plan    json.RawMessage `json:"render_plan"`
	}
	h.call("GET", one, nil).is(200, &shown)
	if shown.Payload.ID != list.Payloads[0].ID {
		t.Errorf("shown is %+v", shown)
	}
	h.call("GET", path+"/none", nil).is(404, nil)
	h.call("POST", one+"/accept", doc{"remark": 1}).is(400, nil)
	var decided struct {
		Payload struct {
			Decision struct{ Decision, Remark string }
		}
		Again bool
		Turn  *struct{ Events string }
	}
	a = h.call("POST", one+"/accept", doc{"remark": "go on", "allow": []string{"*"}}).is(200, &decided)
	if decided.Payload.Decision.Decision != "accepted" || decided.Payload.Decision.Remark != "go on" || decided.Turn == nil {
		t.Fatalf("accepted: %s", a.body)
	}
	events := h.follow("GET", decided.Turn.Events, nil).all()
	if got := kinds(events); !strings.Contains(got, "tool_complete") || !strings.HasSuffix(got, "complete") {
		t.Errorf("the tool's turn: %s", got)
	}
	decided.Turn = nil
	h.call("POST", one+"/accept", nil).is(200, &decided)
	if !decided.Again || decided.Turn != nil {
		t.Errorf("again: %+v", decided)
	}
	h.call("POST", one+"/reject", nil).is(400, nil)
}

// A workflow is started, followed to its checkpoint, gone on with, and over; one
// that waits is cancelled.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	h := research(t)
	h.call("GET", "/api/workflows", nil).is(200, nil)
	h.call("GET", "/api/workflows/research", nil).is(200, nil)
	h.call("GET", "/api/workflows/none", nil).is(404, nil)
	h.call("POST", "/api/workflows/research/start", doc{"input": doc{"question": 1}}).is(400, nil)
	type started struct {
		InstanceID string `json:"instance_id"`
		Turn       struct {
			Events         string
			ConversationID int `json:"conversation_id"`
		}
	}
	state := func(id string) string {
		var i struct{ State string }
		h.call("GET", "/api/workflow-instances/"+id, nil).is(200, &i)
		return i.State
	}
	begin := func() (out started) {
		t.Helper()
		h.call("POST", "/api/workflows/research/start", doc{
			"input": doc{"question": "What helps?", "aspects": []string{"naps"}}, "allow": []string{"*"},
		}).is(202, &out)
		if events := h.follow("GET", out.Turn.Events, nil).all(); !strings.HasSuffix(kinds(events), "complete") {
			t.Fatalf("the first step: %v", events)
		}
		if got := state(out.InstanceID); got != "waiting" {
			t.Fatalf("after the first step it is %s", got)
		}
		return out
	}
	first := begin()
	act := "/api/workflow-instances/" + first.InstanceID + "/act"
	h.call("POST", act, doc{"action": "retry"}).is(400, nil)
	var next started
	h.call("POST", act, doc{"action": "continue"}).is(202, &next)
	if next.InstanceID != first.InstanceID || next.Turn.ConversationID != first.Turn.ConversationID {
		t.Errorf("it goes on as %+v, not %+v", next, first)
	}
	h.follow("GET", next.Turn.Events, nil).until("complete")
	if got := state(first.InstanceID); got != "complete" {
		t.Errorf("at its end it is %s", got)
	}
	second := begin()
	h.call("POST", "/api/workflow-instances/"+second.InstanceID+"/cancel", nil).is(200, nil)
	if got := state(second.InstanceID); got != "cancelled" {
		t.Errorf("cancelled, it is %s", got)
	}
	var all struct{ Instances []struct{ ID string } }
	h.call("GET", "/api/workflow-instances", nil).is(200, &all)
	if len(all.Instances) != 2 || all.Instances[0].ID != second.InstanceID {
		t.Errorf("instances: %+v", all)
	}
	h.call("GET", "/api/workflow-instances/last", nil).is(404, nil)
}

// A document is stored once, read as it was, removed and brought back.
func TestDocuments(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	put := func(path, body string) answer { return h.call("PUT", path, body, "Content-Type", "text/markdown") }
	put("/api/documents/guide.md", "# Guide <script>\n").is(http.StatusCreated, nil)
	put("/api/documents/guide.md", "# Guide <script>\n").is(http.StatusOK, nil)
	put("/api/documents/guide.md", "other\n").is(http.StatusBadRequest, nil)
	put("/api/documents/a%20b%0A", "x").is(http.StatusBadRequest, nil)
	put("/api/documents/data.bin", "\x00\x01\x02\xff").is(http.StatusBadRequest, nil)
	var d struct{ ID, Name, MIME string }
	h.call("GET", "/api/documents/guide.md", nil).is(200, &d)
	a := h.call("GET", "/api/documents/"+d.ID+"/content", nil).is(200, nil)
	if string(a.body) != "# Guide <script>\n" || a.header.Get("Content-Type") != "text/plain; charset=utf-8" || a.header.Get("Content-Disposition") != "attachment" {
		t.Errorf("content %q as %q", a.body, a.header)
	}
	names := func(query string) int {
		var list struct{ Documents []struct{ Name string } }
		h.call("GET", "/api/documents"+query, nil).is(200, &list)
		return len(list.Documents)
	}
	h.call("DELETE", "/api/documents/guide.md", nil).is(204, nil)
	h.call("GET", "/api/documents/guide.md", nil).is(404, nil)
	if names("") != 0 || names("?deleted=true") != 1 {
		t.Errorf("%d documents, %d removed", names(""), names("?deleted=true"))
	}
	h.call("POST", "/api/documents/guide.md/restore", nil).is(200, nil)
	if names("") != 1 || names("?deleted=true") != 0 {
		t.Errorf("%d documents, %d removed", names(""), names("?deleted=true"))
	}
}

// What a page tells of where the person is and what they did is kept with the
// question, and told to the model by the engine.
func TestATurnKeepsWhatThePersonDid(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: `
responses:
  - {when: "the person took the action value_selected", text: The action was told.}
  - {when: "", text: It was not.}
`})
	_, number := h.finish(doc{
		"message": "this one", "context": doc{"own": 1}, "interaction_type": "value_selected", "action_metadata": doc{"value": "a"},
	})
	var chat struct {
		Messages []struct {
			InteractionType string `json:"interaction_type"`
			ActionMetadata  doc    `json:"action_metadata"`
			Parts           []struct{ Text string }
		}
	}
	h.call("GET", fmt.Sprintf("/api/chats/%d/messages", number), nil).is(200, &chat)
	if m := chat.Messages[0]; m.InteractionType != "value_selected" || m.ActionMetadata["value"] != "a" || m.Parts[0].Text != "this one" {
		t.Errorf("the question is %+v", m)
	}
}
