package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// bareRepository makes the names by which git recognizes a repository.
func bareRepository(t *testing.T, dir, name string) {
	t.Helper()
	for file, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": "", "config": "[core]\n", "hooks/x": ""} {
		save(t, dir, filepath.Join(name, file), text)
	}
}

// searched returns what the last search for repositories in a folder found; another search has
// another result.
func (b *bench) searched(t *testing.T, dir string) any {
	t.Helper()
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	g := b.GuardOf(path)
	g.Mu.Lock()
	defer g.Mu.Unlock()
	return g.Known
}

// Only the first call of a process searches the user's folder for repositories.
func TestCallsWithLayersSearchOnce(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	bareRepository(t, dir, "p/.git")
	b.first(t, dir)
	once := b.searched(t, dir)
	end := completed(t, b.run(next(command("", "echo 1 > a; mkdir d; echo 1 > d/HEAD; echo 1 >> p/.git/config"))))
	if changesIn(end) != "added a, added d/HEAD" || !strings.Contains(end.Result, "ead-only") {
		t.Errorf("%s %s", changesIn(end), end.Result)
	}
	if end = completed(t, b.run(fileCall("write_file", map[string]string{"path": "d/f", "content": ""}))); changesIn(end) != "added d/f" {
		t.Errorf("%s %s", end.Error, changesIn(end))
	}
	if b.searched(t, dir) != once {
		t.Error("the folder was searched again")
	}
}

// A repository that the user makes between two calls is not known to the second, which can
// neither change nor remove it.
func TestRepositoriesThatTheUserMakesMeanwhile(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	b.first(t, dir)
	for _, name := range []string{"changed/.git", "removed/.git", "bare"} {
		bareRepository(t, dir, name)
	}
	save(t, dir, "removed/f", "1")
	end := completed(t, b.run(next(command("", "for r in changed/.git bare; do echo evil >> $r/config; echo evil > $r/hooks/pre-commit; chmod +x $r/hooks/pre-commit; done; rm -rf removed"))))
	if end.Status != event.CallSuccess {
		t.Fatalf("%+v", end)
	}
	for _, name := range []string{"changed/.git", "removed/.git", "bare"} {
		wantFile(t, dir, name+"/config", "[core]\n")
		wantFile(t, dir, name+"/hooks/pre-commit", "")
	}
	wantFile(t, dir, "removed/f", "")
	var paths []string
	for _, c := range end.Conflicts {
		paths = append(paths, c.Path)
	}
	if strings.Join(paths, " ") != "changed/.git removed/.git" {
		t.Errorf("%+v", end.Conflicts)
	}
	for _, what := range []string{"changed/.git", "bare/config"} {
		if !strings.Contains(end.Result, what) {
			t.Errorf("the model gets no note about %s: %s", what, end.Result)
		}
	}
	end = completed(t, b.run(next(command("", "echo evil >> removed/.git/config"))))
	wantFile(t, dir, "removed/.git/config", "[core]\n")
}

// A repository that several calls make in parts is set aside with the last of them, and so are
// exclusion rules.
func TestRepositoriesMadeByLayers(t *testing.T) {
	t.Parallel()
	b, dir := layeredBench(t), t.TempDir()
	b.first(t, dir)
	for _, line := range []string{"mkdir -p r/objects r/refs; touch r/refs/x", "mkdir r/hooks; echo evil > r/hooks/pre-commit", "echo 'ref: refs/heads/main' > r/HEAD"} {
		end := completed(t, b.run(next(command("", line))))
		if _, err := os.Stat(filepath.Join(dir, "r/HEAD")); err == nil {
			t.Errorf("git accepts the folder: %s", end.Result)
		}
	}
	end := completed(t, b.run(next(command("", "echo '*.secret' > .fettleignore"))))
	wantFile(t, dir, ".fettleignore", "")
	wantFile(t, dir, workspace.ProposedRules, "*.secret\n")
	if !strings.Contains(end.Result, workspace.ProposedRules) {
		t.Error(end.Result)
	}
}
