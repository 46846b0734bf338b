package server_test

import (
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// An approval is of the tools that were shown: what was seen since waits on.
func TestAnApprovalIsOfTheToolsThatWereShown(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	ctx := t.Context()
	must(t, h.eng.AddMCPServer(ctx, manifest.MCPServer{ID: "docs", URL: "http://127.0.0.1:1/mcp"}, registry.ServerSettings{}))
	with := func(about string) []toolset.Tool {
		return []toolset.Tool{{ID: "docs:find", Name: "find", Description: about, InputSchema: []byte(`{"type":"object"}`)}}
	}
	sum := func(about string) string { return registry.SumOf("docs", registry.Pinned(with(about))) }
	const path = "/api/mcp-servers/docs/look"
	h.call("POST", path, doc{"approve": sum("finds")}).is(409, nil) // nobody has looked at it
	must(t, h.eng.ApproveMCPServer(ctx, "docs", with("finds")))
	h.eng.NoteServerTools(ctx, "docs", with("finds, and sends"))
	h.eng.NoteServerTools(ctx, "docs", with("finds, and sends to everybody"))
	h.call("POST", path, doc{"approve": true}).is(400, nil)
	a := h.call("POST", path, doc{"approve": sum("finds, and sends")}).is(409, nil)
	if code, message := a.failure(); code != "busy" || !strings.Contains(message, "docs") {
		t.Errorf("%s: %s", code, message)
	}
	about := func() (string, bool) {
		var all struct {
			Servers []struct {
				Tools   []struct{ Description string }
				Waiting bool
			}
		}
		h.call("GET", "/api/mcp-servers", nil).is(200, &all)
		return all.Servers[0].Tools[0].Description, all.Servers[0].Waiting
	}
	if got, waiting := about(); got != "finds" || !waiting {
		t.Errorf("before: %q, waiting %t", got, waiting)
	}
	var looked struct {
		Tools   []struct{ Description string }
		Waiting bool
	}
	h.call("POST", path, doc{"approve": sum("finds, and sends to everybody")}).is(200, &looked)
	if got, waiting := about(); got != "finds, and sends to everybody" || waiting || looked.Waiting || len(looked.Tools) != 1 || looked.Tools[0].Description != got {
		t.Errorf("after: %q, waiting %t; the answer is %+v", got, waiting, looked)
	}
	h.call("POST", "/api/mcp-servers/none/look", doc{"approve": "x"}).is(404, nil)
}
