package workbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/toolset"
)

// ownSecret is in every file of fettle's own state.
const ownSecret = "hunter2hunter2"

// ownWorld makes places of fettle's own in a home, each with a secret, and a file of the
// user's next to them.
func ownWorld(t *testing.T, named bool) (home string, dirs paths.Dirs, secrets []string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	dirs = paths.Dirs{
		Home: home, Data: in("share/fettle"), State: in("state/fettle"), Cache: in("cache/fettle"), Runtime: in("run/fettle"),
		Config: in("config/fettle"), ConfigFile: in("config/fettle/config.yaml"),
	}
	names := []string{"share/fettle/serve.token", "share/fettle/store/x", "state/fettle/trust.json", "cache/fettle/x", "run/fettle/x", "config/fettle/config.yaml", "config/fettle/keys.yaml"}
	if named {
		dirs.Config, dirs.ConfigFile, dirs.ConfigNamed = in("dots"), in("dots/mine.yaml"), true
		names = append(names[:5], "dots/mine.yaml", "dots/keys.yaml")
	}
	for _, name := range append(names, "mine/file") {
		if err := errors.Join(os.MkdirAll(filepath.Dir(in(name)), 0o755), os.WriteFile(in(name), []byte(ownSecret), 0o644)); err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, in(name))
	}
	secrets = secrets[:len(secrets)-1]
	if err := os.WriteFile(in("mine/file"), []byte("of the user"), 0o644); err != nil {
		t.Fatal(err)
	}
	return home, dirs, secrets
}

// The launcher that the program gives its tools reaches nothing of fettle's own by any
// grant: not by one that is a part of it or contains it, nor by a link, at any level.
func TestNoGrantReachesOwnState(t *testing.T) {
	t.Parallel()
	for _, level := range []toolset.Level{toolset.LevelFull, toolset.LevelReduced} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, a named configuration %v", level, named), func(t *testing.T) {
				t.Parallel()
				home, dirs, secrets := ownWorld(t, named)
				box := NewToolbox(New(term.Test(term.TestOptions{}).Streams), &config.Config{}, dirs)
				t.Cleanup(func() {
					if err := box.Close(); err != nil {
						t.Error(err)
					}
				})
				if r, err := box.launcher.Report(t.Context()); err != nil || r.Level < level {
					needtest.Lacking(t, fmt.Sprintf("level %s: %v %v", level, r, err))
				}
				for i, secret := range secrets {
					link := filepath.Join(home, "mine", fmt.Sprint("link", i))
					if err := errors.Join(os.Symlink(secret, link), os.Symlink(filepath.Dir(secret), link+"dir")); err != nil {
						t.Fatal(err)
					}
					for _, grant := range []string{secret, filepath.Dir(secret), filepath.Dir(filepath.Dir(secret)), home, link, link + "dir"} {
						for _, write := range []bool{false, true} {
							reachOwn(t, box, toolset.Policy{Least: level, Most: level}, grant, write, secrets)
						}
					}
				}
				p := toolset.Policy{Least: level, Most: level, Readable: []string{filepath.Join(home, "mine", "file")}}
				ran, err := box.launcher.Run(t.Context(), p, toolset.Command{Args: []string{"cat", p.Readable[0]}})
				if err != nil || ran.Stdout.String() != "of the user" {
					t.Errorf("a grant of the user's own file: %q %v", ran.Stdout, err)
				}
			})
		}
	}
}

// reachOwn tries to read and change fettle's own files by one grant.
func reachOwn(t *testing.T, box *toolbox, p toolset.Policy, grant string, write bool, secrets []string) {
	t.Helper()
	if p.Readable = []string{grant}; write {
		p.Readable, p.Writable = nil, []string{grant}
	}
	p.Limits.FreeDisk = toolset.NoLimit
	const script = `for f do cat "$f"; echo changed > "$f"; rm -f "$f"; done 2>/dev/null; cat "$0" "$0"/* 2>/dev/null; echo ended`
	ran, err := box.launcher.Run(t.Context(), p, toolset.Command{Args: append([]string{"sh", "-c", script, grant}, secrets...)})
	out := ran.Stdout.String()
	if strings.Contains(out, ownSecret) || err == nil && !strings.Contains(out, "ended") {
		t.Errorf("the grant %s (write %v) gives %q: %v", grant, write, out, err)
	}
	for _, secret := range secrets {
		if text, err := os.ReadFile(secret); err != nil || string(text) != ownSecret {
			t.Fatalf("the grant %s (write %v) has changed %s to %q: %v", grant, write, secret, text, err)
		}
	}
}

// The same as an unprivileged user.
func TestNobodysGrantReachesOwnState(t *testing.T) { runAsNobody(t, "TestNoGrantReachesOwnState", 5) }
