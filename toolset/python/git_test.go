package python_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
)

// A tool that works in the user's own folder changes no repository in it: undo
// couldn't bring back what it did there.
func TestAToolKeepsOutOfRepositories(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	report, err := w.launcher.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need(t, report.Level == toolset.LevelFull, "a sandbox at full: "+report.String())
	dir := realDir(t)
	heads := []string{filepath.Join(dir, ".git", "HEAD"), filepath.Join(dir, "sub", "nested", ".git", "HEAD")}
	for _, head := range heads {
		write(t, head, "ref: refs/heads/main\n")
	}
	ws, err := toolset.OpenBound(dir, toolset.Places{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	ws.Repositories = []string{".git", "sub/nested/.git", "gone/.git"}
	s := source(t, `
import shutil
def run(workspace):
    for git in (".git", "sub/nested/.git", "sub"):
        shutil.rmtree(workspace / git, ignore_errors=True)
    (workspace / "made").write_text("1")
    return {"text": "done"}
`)
	mustRun(t, w, s, call(ws, `{}`))
	for _, head := range append(heads, filepath.Join(dir, "made")) {
		if _, err := os.Stat(head); err != nil {
			t.Error(err)
		}
	}
}
