package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset/registry"
)

// The hints about a toolset's tool are what its sandbox lets it do, not what it declares.
func TestHintsAreWhatTheSandboxAllows(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for id, network := range map[string]string{"near": "", "far": "permissions: {network: [api.example.com]}\n"} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"tools/all.py": "def run(workspace, **kw):\n    return {}\n",
			"toolset.yaml": fmt.Sprintf("manifest_version: \"1\"\nid: %s\nname: Set\nversion: \"1.0.0\"\ndescription: For tests\n%stools:\n", id, network) +
				"  - {id: plain, description: Works., entrypoint: \"tools.all:run\", input_schema: {type: object}}\n" +
				"  - {id: reads, description: Reads., entrypoint: \"tools.all:run\", input_schema: {type: object}, annotations: {read_only: true, open_world: false}}\n",
		} {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		p, err := h.eng.PlanToolset(t.Context(), dir, registry.PlanOptions{WorkDir: t.TempDir()})
		must(t, err)
		_, err = h.eng.ImportToolset(t.Context(), p, registry.ApplyOptions{Approved: true})
		must(t, err)
		must(t, p.Close())
	}
	u := connect(t, &sdk.StreamableClientTransport{Endpoint: h.serve(nil), HTTPClient: client(t)}, modern, nil)
	list, err := u.ListTools(t.Context(), nil)
	must(t, err)
	got := map[string][3]bool{}
	for _, tool := range list.Tools {
		a := tool.Annotations
		got[tool.Name] = [3]bool{a.ReadOnlyHint, *a.DestructiveHint, *a.OpenWorldHint}
	}
	for name, want := range map[string][3]bool{
		"near__plain": {false, true, false}, "near__reads": {true, false, false},
		"far__plain": {false, true, true}, "far__reads": {true, false, true},
		"read_file": {true, false, false}, "web_fetch": {true, false, true},
	} {
		if hints, listed := got[name]; !listed || hints != want {
			t.Errorf("%s: read-only, destructive, open world are %v, want %v (listed: %t)", name, hints, want, listed)
		}
	}
}
