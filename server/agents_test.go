package server_test

import (
	"strings"
	"testing"
)

// An agent that the user made by accepting a proposal is listed, changed, exported and removed
// over HTTP. The agents of toolsets are not.
func TestAgentsOfTheUser(t *testing.T) {
	t.Parallel()
	h := reviewed(t, `{"type":"agent_create","title":"An agent","agent_data":{"id":"planner","name":"Planner","purpose":"Plans trips","prompt":"You plan trips.","tools":["read_file"]}}`)
	h.install("chaoscontext")
	h.finish(doc{"message": "review", "allow": []string{"*"}, "agent": "none"})
	var payloads struct{ Payloads []struct{ ID string } }
	h.call("GET", "/api/chats/1/payloads", nil).is(200, &payloads)
	h.call("POST", "/api/chats/1/payloads/"+payloads.Payloads[0].ID+"/accept", doc{}).is(200, nil)

	const path = "/api/agents/planner"
	type agentDoc struct {
		ID, Name, Prompt, Source string
		Tools                    []string
	}
	listed := func() bool {
		var list struct {
			Agents   []agentDoc
			Unusable []any
		}
		h.call("GET", "/api/agents", nil).is(200, &list)
		for _, a := range list.Agents {
			if a.ID == "planner" {
				return true
			}
		}
		return list.Unusable == nil // it is a list
	}
	if !listed() {
		t.Error("the agent is not listed")
	}
	var a agentDoc
	h.call("PATCH", path, doc{"prompt": "You plan short trips.", "tools": []string{"read_file", "list_files"}}).is(200, &a)
	if a.Prompt != "You plan short trips." || a.Name != "Planner" || len(a.Tools) != 2 {
		t.Errorf("changed: %+v", a)
	}
	for want, body := range map[string]doc{
		"no_such_tool": {"tools": []string{"no_such_tool"}, "name": "Other"},
		"colour":       {"colour": "red"},
		"no field":     {},
	} {
		if _, message := h.call("PATCH", path, body).is(400, nil).failure(); !strings.Contains(message, want) {
			t.Errorf("%v: %s", body, message)
		}
	}
	h.call("PATCH", "/api/agents/chaoscontext:interface", doc{"prompt": "x"}).is(400, nil)
	h.call("DELETE", "/api/agents/chaoscontext:interface", nil).is(400, nil)
	h.call("GET", "/api/agents/chaoscontext:interface/export", nil).is(400, nil)
	h.call("PATCH", "/api/agents/nobody", doc{"prompt": "x"}).is(404, nil)

	exported := h.call("GET", path+"/export", nil).is(200, nil)
	want := "agents:\n  planner:\n    name: Planner\n    purpose: Plans trips\n    prompt: You plan short trips.\n    tools: [read_file, list_files]\n"
	if string(exported.body) != want || exported.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("the export is %s\n%s", exported.header.Get("Content-Type"), exported.body)
	}
	h.call("DELETE", path, nil).is(204, nil)
	h.call("DELETE", path, nil).is(404, nil)
	if listed() {
		t.Error("the agent is still listed")
	}
}
