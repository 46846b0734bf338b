package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const boardPage = "<!doctype html><title>Board</title><script>parent.postMessage({}, '*')</script>"

// A payload type with the renderer mcp_app is opened as an app: the bundle's page with the
// payload's data as a tool's result, in the proxy on the other origin, without a server. It
// stays when its toolset is gone.
func TestAPayloadIsShownByAnApp(t *testing.T) {
	t.Parallel()
	h := open(t, plan{script: `responses: [{text: 'BOARD: {"players": ["Ada"]}` + "\n\n" + `LIST: [1, 2]'}]`})
	zipped := zipOf(t, map[string]string{
		"artifacts/board.html": boardPage,
		"toolset.yaml": "manifest_version: \"1\"\nid: boards\nname: Boards\nversion: \"1.0.0\"\ndescription: For tests\npayloads:\n" +
			"  - {type: board, parse_marker: 'BOARD:', llm_instructions: Write BOARD., renderer: {type: mcp_app, artifact: artifacts/board.html}}\n" +
			"  - {type: part, parse_marker: 'LIST:', llm_instructions: Write LIST., renderer: {type: mcp_app, artifact: artifacts/board.html, data: $return}}\n",
	})
	var looked struct{ Approve string }
	h.call("POST", "/api/toolsets", zipped, "Content-Type", "application/zip").is(200, &looked)
	h.call("POST", "/api/toolsets?approve="+looked.Approve, zipped, "Content-Type", "application/zip").is(201, nil)
	_, chat := h.finish(doc{"message": "show"})
	shown := func() map[string]string {
		out := map[string]string{}
		var list struct{ Payloads []struct{ ID, Type string } }
		h.call("GET", fmt.Sprintf("/api/chats/%d/payloads", chat), nil).is(200, &list)
		for _, p := range list.Payloads {
			var opened struct {
				Kind, URL, Origin, Sandbox string
				App                        struct {
					HTML   string
					Tools  []string
					Server string          `json:"server_id"`
					Result json.RawMessage `json:"tool_result"`
				}
			}
			h.call("POST", fmt.Sprintf("/api/chats/%d/payloads/%s/artifact", chat, p.ID), doc{}).is(200, &opened)
			if opened.Kind != "mcp_app" || opened.Sandbox != "allow-scripts allow-same-origin" || opened.Origin == "" || strings.HasPrefix(h.url, opened.Origin) {
				t.Errorf("%s is opened as %+v", p.Type, opened)
			}
			if opened.App.HTML != boardPage || len(opened.App.Tools) != 0 || opened.App.Server != "" {
				t.Errorf("%s has the app %+v", p.Type, opened.App)
			}
			if proxy := h.page(opened.URL); !strings.Contains(proxy, "fettle-host") {
				t.Errorf("the proxy of %s is %s", p.Type, proxy)
			}
			out[p.Type] = string(opened.App.Result)
		}
		return out
	}
	for _, when := range []string{"at first", "after the removal of the toolset"} {
		got := shown()
		if want := `{"content":[{"text":"{\"players\":[\"Ada\"]}","type":"text"}],"structuredContent":{"players":["Ada"]}}`; got["board"] != want {
			t.Errorf("%s the board gets %s", when, got["board"])
		}
		if want := `{"content":[{"text":"[1,2]","type":"text"}]}`; got["part"] != want { // MCP's structured content is an object
			t.Errorf("%s the part gets %s", when, got["part"])
		}
		h.call("POST", "/api/toolsets/boards/uninstall", nil)
	}
}
