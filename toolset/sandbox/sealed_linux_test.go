package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

func TestSealed(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	p := policy(t, toolset.LevelFull)
	git := filepath.Join(p.Workspace, ".git", "hooks")
	if err := os.MkdirAll(git, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Workspace, ".git", "config"), []byte("[core]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Sealed = []string{filepath.Join(p.Workspace, ".git"), filepath.Join(p.Workspace, "not-there")}
	const try = `
cat .git/config
t() { if sh -c "$1" 2>/dev/null; then echo "did $1"; fi; }
t 'echo x > .git/hooks/pre-commit'
t 'echo x >> .git/config'
t 'rm .git/config'
t 'mv .git moved'
t 'rm -rf .git'
t 'chmod 777 .git/config'
t 'mount -o remount,rw .git'
echo free > other && cat other
`
	ran := run(t, l, p, toolset.Command{Args: []string{"sh", "-c", try}})
	if got := ran.Stdout.String(); got != "[core]\nfree\n" {
		t.Errorf("%s", got)
	}
	if raw, err := os.ReadFile(filepath.Join(p.Workspace, ".git", "config")); err != nil || !strings.HasPrefix(string(raw), "[core]") {
		t.Errorf("%q %v", raw, err)
	}
	if place, ok := p.Place(".git/config"); !ok || place.Writable {
		t.Errorf("%+v %v", place, ok)
	}
}
