package server_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
)

// reachManifest has tools that declare nothing, that they only read, and that they reach
// nothing beyond the workspace.
const reachManifest = `manifest_version: "1"
id: reaching
name: Reaching
version: "1.0.0"
description: Tools with and without annotations.
%stools:
  - {id: plain, description: Works., entrypoint: "tools.all:run", input_schema: {type: object}}
  - {id: reads, description: Reads., entrypoint: "tools.all:run", input_schema: {type: object}, annotations: {read_only: true, open_world: true}}
  - {id: closed, description: Adds., entrypoint: "tools.all:run", input_schema: {type: object}, annotations: {destructive: false, open_world: false}}
`

type reachDoc struct {
	ToolID string `json:"tool_id"`
	Reach  toolset.Reach
}

// The picker, the details of a toolset and of a tool, and the plan of an import say the same
// of a tool: what the sandbox lets it reach.
func TestEveryListAgreesAboutWhatAToolReaches(t *testing.T) {
	t.Parallel()
	for permissions, want := range map[string]map[string]string{
		"": {
			"plain": "read and write the chat's workspace only", "reads": "read the chat's workspace only",
			"closed": "read and write the chat's workspace only",
		},
		"permissions: {network: [api.example.com]}\n": {
			"plain":  "read and write the chat's workspace, connect to api.example.com",
			"reads":  "read the chat's workspace, connect to api.example.com",
			"closed": "read and write the chat's workspace, connect to api.example.com",
		},
	} {
		t.Run(permissions, func(t *testing.T) {
			t.Parallel()
			h := open(t, plan{script: "responses: [{text: Hello.}]"})
			zipped := zipOf(t, map[string]string{
				"toolset.yaml": fmt.Sprintf(reachManifest, permissions), "tools/all.py": "def run(workspace, **kw):\n    return {}\n",
			})
			var looked struct {
				Approve string
				Items   []struct {
					Kind, Name string
					Fields     []struct{ Name, Value string }
				}
			}
			h.call("POST", "/api/toolsets", zipped, "Content-Type", "application/zip").is(200, &looked)
			got := map[string]string{}
			for _, item := range looked.Items {
				for _, f := range item.Fields {
					if item.Kind == "tool" && f.Name == "reach" {
						got["import "+item.Name] = f.Value
					}
				}
			}
			h.call("POST", "/api/toolsets?approve="+looked.Approve, zipped, "Content-Type", "application/zip").is(201, nil)
			var groups struct{ Groups []struct{ Tools []reachDoc } }
			h.call("GET", "/api/tools", nil).is(200, &groups)
			picked := map[string]toolset.Reach{}
			for _, g := range groups.Groups {
				for _, tool := range g.Tools {
					picked[tool.ToolID] = tool.Reach
				}
			}
			var detail struct{ Tools []reachDoc }
			h.call("GET", "/api/toolsets/reaching", nil).is(200, &detail)
			for _, tool := range detail.Tools {
				var one struct{ Tool reachDoc }
				h.call("GET", "/api/tools/"+tool.ToolID, nil).is(200, &one)
				if !reflect.DeepEqual(one.Tool.Reach, tool.Reach) || !reflect.DeepEqual(picked[tool.ToolID], tool.Reach) {
					t.Errorf("%s: %+v, %+v and %+v", tool.ToolID, picked[tool.ToolID], tool.Reach, one.Tool.Reach)
				}
				got[tool.ToolID] = tool.Reach.Text
				if !tool.Reach.Contained || tool.Reach.Outside() != (permissions != "") {
					t.Errorf("%s: %+v", tool.ToolID, tool.Reach)
				}
			}
			for id, text := range want {
				if got["reaching:"+id] != text || got["import "+id] != text {
					t.Errorf("%s: %q at import, %q installed; want %q", id, got["import "+id], got["reaching:"+id], text)
				}
			}
			if len(got) != 2*len(want) {
				t.Errorf("%d texts", len(got))
			}
		})
	}
}
