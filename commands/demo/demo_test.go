package demo

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// What stands in for the toolset's functions where there is no Python gives what
// they give.
func TestStandInsGiveWhatThePythonGives(t *testing.T) {
	t.Parallel()
	needtest.Program(t, "python3")
	dir := needtest.Toolset(t, toolsetID)
	data, err := os.ReadFile(filepath.Join(dir, manifest.FileName))
	if err != nil {
		t.Fatal(err)
	}
	doc := manifest.Parse("toolset.yaml", data, manifest.Options{})
	if err := doc.Err(); err != nil {
		t.Fatal(err)
	}
	box := workbench.NewToolbox(workbench.New(term.Test(term.TestOptions{}).Streams), &config.Config{}, paths.Dirs{Data: t.TempDir(), Home: t.TempDir()})
	defer func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	}()
	ws, err := toolset.OpenManaged(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for _, tool := range doc.Manifest.Tools {
		real, err := box.Authored(doc.Manifest, tool, dir)
		if err != nil {
			t.Fatal(err)
		}
		stand := standIns()[toolsetID+":"+tool.ID]
		for _, query := range []string{"login system", "login system auth", "PASSWORD, or whatever", "kubernetes", "?!", "oauth", "it's"} {
			args, err := json.Marshal(map[string]string{"query": query})
			if err != nil {
				t.Fatal(err)
			}
			call := toolset.Call{Args: args, Workspace: ws}
			want, wantErr := real.Run(t.Context(), call)
			got, gotErr := stand.Run(t.Context(), call)
			if wantErr != nil || gotErr != nil {
				t.Fatalf("%s %q: %v, %v", tool.ID, query, wantErr, gotErr)
			}
			if got.Text != want.Text || !sameJSON(t, got.Data, want.Data) {
				t.Errorf("%s %q gives %q %s, and the function %q %s", tool.ID, query, got.Text, got.Data, want.Text, want.Data)
			}
		}
	}
}

func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y map[string]string
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return len(x) == 1 && x["text"] == y["text"]
}
