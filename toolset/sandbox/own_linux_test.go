package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// ownWorld is a home with fettle's own state in it, and the grants of tools.
func ownWorld(t *testing.T) (home string, own toolset.OwnState) {
	t.Helper()
	home = tempDir(t)
	for name, text := range map[string]string{
		"share/fettle/store/keys": "secret", "share/fettle/toolsets/t/tool.py": "code", "share/other": "other",
		"config/fettle/config.yaml": "key: secret", "named/config.yaml": "secret", "named/mine": "mine", "ws/f": "ws",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return home, toolset.OwnState{
		filepath.Join(home, "share/fettle"), filepath.Join(home, "config/fettle"), filepath.Join(home, "named/config.yaml"), filepath.Join(home, "run/fettle"),
	}
}

// A grant that is fettle's own state, or is inside of it, is refused at each level,
// however it is written.
func TestGrantsOfOwnStateAreRefused(t *testing.T) {
	t.Parallel()
	levels(t, func(t *testing.T, level toolset.Level) {
		home, own := ownWorld(t)
		l := newLauncher(t, sandbox.Options{Own: own})
		link := filepath.Join(home, "link")
		if err := os.Symlink("share/fettle/store", link); err != nil {
			t.Fatal(err)
		}
		for _, grant := range []string{own[0], own[0] + "/store", own[0] + "/store/keys", own[1], own[2], link, link + "/keys"} {
			for _, write := range []bool{false, true} {
				p := policy(t, level)
				if p.Readable = []string{grant}; write {
					p.Readable, p.Writable = nil, []string{grant}
				}
				_, err := l.Start(t.Context(), p, shell("true"))
				if err == nil || !strings.Contains(err.Error(), "fettle's own state") {
					t.Errorf("%s: %v", grant, err)
				}
			}
		}
		p := policy(t, level)
		p.Readable = []string{own[0] + "/toolsets/t"}
		p.Lent = p.Readable
		wantOutput(t, run(t, l, p, shell("cat "+own[0]+"/toolsets/t/tool.py")), "code")
	}, toolset.LevelFull, toolset.LevelReduced)
}

// A grant that contains fettle's own state doesn't reach it, for reading and writing
// alike; what fettle lends inside of it can be reached.
func TestOwnStateInsideOfAGrantIsHidden(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	for _, write := range []bool{false, true} {
		home, own := ownWorld(t)
		l := newLauncher(t, sandbox.Options{Own: own})
		p := policy(t, toolset.LevelFull)
		p.Lent = []string{own[0] + "/toolsets/t"}
		if p.Readable = []string{home, p.Lent[0]}; write {
			p.Readable, p.Writable = p.Lent, []string{home}
		}
		ran := run(t, l, p, shell(strings.ReplaceAll(`cd BASE
cat share/other share/fettle/toolsets/t/tool.py named/mine; echo
for f in share/fettle/store/keys config/fettle/config.yaml named/config.yaml; do cat $f 2>/dev/null && echo "read $f"; done
t() { if sh -c "$1" 2>/dev/null; then echo "did $1"; fi; }
t 'echo x > share/fettle/new'
t 'echo x > config/fettle/config.yaml'
t 'echo x > named/config.yaml'
t 'rm -f named/config.yaml'
t 'mv config moved'
t 'mv share moved'
t 'mv named moved'
t 'mkdir -p run/fettle/x'
t 'mv run moved'
t 'rm -rf config'
t 'ln -s /tmp/x share/fettle/store/y'
t 'umount config/fettle'
echo end`, "BASE", home)))
		wantOutput(t, ran, "othercodemine\nend\n")
		for name, text := range map[string]string{"share/fettle/store/keys": "secret", "config/fettle/config.yaml": "key: secret", "named/config.yaml": "secret"} {
			if got, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(got) != text {
				t.Errorf("%s: %q %v", name, got, err)
			}
		}
	}
}

// Where no part of a grant can be hidden, one that contains fettle's own state is refused.
func TestOwnStateInsideOfAGrantIsRefusedWithoutMounts(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelReduced)
	home, own := ownWorld(t)
	l := newLauncher(t, sandbox.Options{Own: own})
	for _, p := range []toolset.Policy{{Readable: []string{home}}, {Writable: []string{home}}, {Workspace: home}, {Writable: []string{home}, Least: toolset.LevelNone}} {
		p.Most = toolset.LevelReduced
		p.Limits.FreeDisk = toolset.NoLimit
		_, err := l.Start(t.Context(), p, shell("true"))
		if err == nil || !strings.Contains(err.Error(), "fettle's own state is inside of "+home) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// A link to fettle's own state that a process could replace is refused.
func TestALinkToOwnStateInsideOfAGrantIsRefused(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	home, own := ownWorld(t)
	away := tempDir(t)
	if err := os.Rename(own[1], filepath.Join(away, "fettle")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(away, "fettle"), own[1]); err != nil {
		t.Fatal(err)
	}
	l := newLauncher(t, sandbox.Options{Own: own})
	p := policy(t, toolset.LevelFull)
	p.Writable = []string{home}
	if _, err := l.Start(t.Context(), p, shell("true")); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Error(err)
	}
}

// The name of a repository that doesn't exist is taken while a process runs, so that it
// can't make one there, and is free afterwards.
func TestSealedNamesThatDoNotExistAreTaken(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	l := newLauncher(t, sandbox.Options{})
	p := policy(t, toolset.LevelFull)
	git := filepath.Join(p.Workspace, ".git")
	p.Sealed = []string{git, filepath.Join(p.Workspace, "gone", ".git")}
	ran := run(t, l, p, shell(`t() { if sh -c "$1" 2>/dev/null; then echo "did $1"; fi; }
t 'mkdir .git'; t 'echo x > .git/config'; t 'mv .git x'; t 'rm -rf .git'; t 'echo x > .git'; t 'git init -q .'; t 'ln -sfT /tmp .git'; ls -A`))
	wantOutput(t, ran, ".git\n")
	if left, err := os.ReadDir(p.Workspace); err != nil || len(left) != 0 {
		t.Errorf("%v %v", left, err)
	}
}
