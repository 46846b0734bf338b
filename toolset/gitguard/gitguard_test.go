package gitguard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset/gitguard"
)

// folder makes a folder with files, by their paths; a path that ends in / is a folder.
func folder(t *testing.T, files ...string) (string, *os.Root) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files...)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dir, root
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err == nil {
			err = os.WriteFile(path, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func scan(t *testing.T, root *os.Root) *gitguard.Found {
	t.Helper()
	f, err := gitguard.Scan(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func setAside(t *testing.T, f *gitguard.Found, root *os.Root, o gitguard.Options) []string {
	t.Helper()
	moved, err := f.SetAside(t.Context(), root, o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range moved {
		out = append(out, fmt.Sprintf("%s>%s>%v", m.Path, m.To, m.Restored))
	}
	slices.Sort(out)
	return out
}

func TestNewRepositoriesAreSetAside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		adds  []string
		moved []string
	}{
		{"a .git", []string{".git/HEAD", ".git/config"}, []string{".git>git-set-aside>false"}},
		{"a whole .git", []string{".git/HEAD", ".git/objects/", ".git/refs/"}, []string{".git>git-set-aside>false", "git-set-aside/HEAD>git-set-aside/HEAD-set-aside>false"}},
		{"a .git in the making", []string{"a/.git/config"}, []string{"a/.git>a/git-set-aside>false"}},
		{"other letter case", []string{"a/.GiT/config"}, []string{"a/.GiT>a/git-set-aside>false"}},
		{"a file", []string{"a/.git", "b/HEAD", "b/commondir"}, []string{"a/.git>a/git-set-aside>false", "b/HEAD>b/HEAD-set-aside>false"}},
		{"a blank at the end", []string{"a/.git ./config"}, []string{"a/.git .>a/git-set-aside>false"}},
		{"characters that can't be seen", []string{"a/.g\u200cit/config"}, []string{"a/.g\u200cit>a/git-set-aside>false"}},
		{"a short name", []string{"a/GIT~1/config"}, []string{"a/GIT~1>a/git-set-aside>false"}},
		{"a bare repository", []string{"x/y/HEAD", "x/y/objects/", "x/y/refs/", "x/y/config"}, []string{"x/y/HEAD>x/y/HEAD-set-aside>false"}},
		{"below a folder that snapshots leave out", []string{"package.json", "node_modules/p/.git/config", ".fettleignore", "out/.git/config"},
			[]string{"node_modules/p/.git>node_modules/p/git-set-aside>false", "out/.git>out/git-set-aside>false"}},
		{"a name that is taken", []string{".git/config", "git-set-aside"}, []string{".git>git-set-aside-2>false"}},
		{"an empty .git", []string{".git/"}, nil},
		{"what only looks like one", []string{"HEAD", "a/HEAD", "a/refs/", "gitx/config", ".gitignore", ".github/workflows/"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, root := folder(t, "mine/.git/HEAD", "mine/.git/config", "mine/bare/HEAD", "mine/bare/objects/", "mine/bare/refs/")
			before := scan(t, root)
			write(t, dir, c.adds...)
			if got := setAside(t, before, root, gitguard.Options{}); !slices.Equal(got, c.moved) {
				t.Errorf("it moved %q, want %q", got, c.moved)
			}
			if got := setAside(t, scan(t, root), root, gitguard.Options{Restore: true}); got != nil {
				t.Errorf("a second time it moved %q", got)
			}
			if got := scan(t, root).Repositories(); !slices.Equal(got, []string{"mine/.git"}) && c.moved != nil {
				t.Errorf("there are %q", got)
			}
			if got := scan(t, root).BareParts(); c.moved != nil && !slices.Equal(got, []string{"mine/bare/config", "mine/bare/hooks"}) {
				t.Errorf("of bare repositories there are %q", got)
			}
		})
	}
}

// A link named .git is a repository as soon as its target is one.
func TestALinkIsSetAside(t *testing.T) {
	t.Parallel()
	dir, root := folder(t)
	before := scan(t, root)
	if err := os.Symlink("/nowhere", filepath.Join(dir, ".git")); err != nil {
		t.Skip(err)
	}
	if got := setAside(t, before, root, gitguard.Options{}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// A repository in a folder that can be entered and not listed is found, and the user's
// own folders keep their permissions.
func TestFoldersThatCanNotBeListed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir, root := folder(t, "mine/f", "new/.git/config")
	mine, added := filepath.Join(dir, "mine"), filepath.Join(dir, "new")
	if err := os.Chmod(mine, 0o311); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(mine, 0o755) }) // so that it can be removed
	if err := os.Rename(added, added+"-away"); err != nil {
		t.Fatal(err)
	}
	hidden := t.TempDir()
	if err := os.Rename(added+"-away", filepath.Join(hidden, "new")); err != nil {
		t.Fatal(err)
	}
	before := scan(t, root)
	if err := os.Rename(filepath.Join(hidden, "new"), added); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(added, 0o311); err != nil {
		t.Fatal(err)
	}
	if got := setAside(t, before, root, gitguard.Options{}); !slices.Equal(got, []string{"new/.git>new/git-set-aside>false"}) {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat(mine); err != nil || info.Mode().Perm() != 0o311 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// The files of an existing repository from which git runs commands are restored if
// nothing sealed them; the changed file is kept.
func TestChangesOfARepositoryAreRestored(t *testing.T) {
	t.Parallel()
	dir, root := folder(t, ".git/HEAD", ".git/config", ".git/hooks/pre-commit", ".git/objects/", ".git/modules/m/HEAD", ".git/modules/m/objects/", ".git/modules/m/refs/", ".git/modules/m/config", "sub/.git")
	before := scan(t, root)
	for name, text := range map[string]string{".git/config": "evil", ".git/hooks/post-checkout": "evil", ".git/modules/m/config": "evil", "sub/.git": "evil", ".git/index": "fine"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, ".git/hooks/pre-commit")); err != nil {
		t.Fatal(err)
	}
	if got := setAside(t, before, root, gitguard.Options{}); got != nil {
		t.Errorf("it restored what was sealed: %q", got)
	}
	want := []string{
		".git/config>.git/config-set-aside>true", ".git/hooks/post-checkout>.git/hooks/post-checkout-set-aside>false",
		".git/hooks/pre-commit>>true", ".git/modules/m/config>.git/modules/m/config-set-aside>true", "sub/.git>sub/.git-set-aside>true",
	}
	if got := setAside(t, before, root, gitguard.Options{Restore: true}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, name := range []string{".git/config", ".git/hooks/pre-commit", ".git/modules/m/config", "sub/.git"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != name {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

// Git itself does not use a repository that was set aside.
func TestGitUsesNothingThatWasSetAside(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	dir, root := folder(t, "in/f")
	before := scan(t, root)
	run := func(at string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir = at
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{{"init", "in"}, {"init", "--bare", "bare"}, {"init", "--separate-git-dir", "gitdir", "tree"}} {
		if out, err := run(dir, args...); err != nil {
			t.Fatal(err, out)
		}
	}
	setAside(t, before, root, gitguard.Options{})
	for _, at := range []string{"in", "bare", "tree", "gitdir", "in/git-set-aside"} {
		if out, err := run(filepath.Join(dir, at), "rev-parse", "--git-dir"); err == nil {
			t.Errorf("in %s git uses %s", at, out)
		}
	}
}

func TestAScanEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, root := folder(t, "a/b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gitguard.Scan(ctx, root); err == nil {
		t.Error("it didn't end")
	}
}

// An index finds what was added at any place, whether or not its listings are reused.
func TestAnIndexFindsWhatWasAdded(t *testing.T) {
	t.Parallel()
	for _, settled := range []bool{false, true} {
		dir, root := folder(t, "mine/.git/config", "a/b/c/f", "a/d/f", "node_modules/p/f")
		ix := new(gitguard.Index)
		if settled {
			gitguard.SetTime(ix, time.Now().Add(time.Hour))
		}
		for i, c := range []struct{ adds, moved string }{
			{"a/b/c/.git/config", "a/b/c/.git>a/b/c/git-set-aside>false"},
			{"new/deep/.GIT/config", "new/deep/.GIT>new/deep/git-set-aside>false"},
			{"node_modules/p/.git", "node_modules/p/.git>node_modules/p/git-set-aside>false"},
			{"a/b/c/.git", "a/b/c/.git>a/b/c/git-set-aside-2>false"},
		} {
			before, err := ix.Scan(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			if settled && i > 0 && gitguard.Reused(ix) == 0 {
				t.Error("no listing is kept")
			}
			write(t, dir, c.adds)
			got := setAside(t, before, root, gitguard.Options{Index: ix})
			if !slices.Equal(got, []string{c.moved}) {
				t.Errorf("settled %v: %s: %q", settled, c.adds, got)
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(t.TempDir(), filepath.Join(dir, "a")); err != nil {
			t.Skip(err)
		}
		if found, err := ix.Scan(t.Context(), root); err != nil || !slices.Equal(found.Repositories(), []string{"mine/.git"}) {
			t.Errorf("%v %v", found, err)
		}
	}
}

// BenchmarkScan compares a search of 5,100 folders with one whose listings are known.
func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		for j := range 50 {
			at := filepath.Join(dir, fmt.Sprint(i), fmt.Sprint(j))
			if err := os.MkdirAll(at, 0o755); err != nil {
				b.Fatal(err)
			}
			for k := range 4 {
				if err := os.WriteFile(filepath.Join(at, fmt.Sprint(k)), nil, 0o644); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if _, err := gitguard.Scan(b.Context(), root); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("indexed", func(b *testing.B) {
		ix := new(gitguard.Index)
		gitguard.SetTime(ix, time.Now().Add(time.Hour))
		for b.Loop() {
			if _, err := ix.Scan(b.Context(), root); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A .git that a call moved out of its folder is moved back, one that moved with its folder
// stays, and one that was removed is reported.
func TestMovedAndRemovedRepositories(t *testing.T) {
	t.Parallel()
	whole := []string{"HEAD", "config", "objects/", "refs/"}
	var files []string
	for _, at := range []string{"a", "b", "c", "d"} {
		for _, f := range whole {
			files = append(files, at+"/.git/"+f)
		}
	}
	for name, encoded := range map[string]bool{"in this process": false, "in another process": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := folder(t, files...)
			before := scan(t, root)
			if encoded {
				data, err := json.Marshal(before)
				if err != nil {
					t.Fatal(err)
				}
				before = new(gitguard.Found)
				if err := json.Unmarshal(data, before); err != nil {
					t.Fatal(err)
				}
			}
			at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
			if err := errors.Join(os.Rename(at("a/.git"), at("a/away")), os.Rename(at("b/.git"), at("c/b.git")),
				os.Rename(at("c"), at("moved")), os.RemoveAll(at("d/.git"))); err != nil {
				t.Fatal(err)
			}
			got := setAside(t, before, root, gitguard.Options{Restore: true})
			if want := []string{"a/.git>>true", "b/.git>>true", "d/.git>>false"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if got := scan(t, root).Repositories(); !slices.Equal(got, []string{"a/.git", "b/.git", "moved/.git"}) {
				t.Errorf("there are %q", got)
			}
		})
	}
}
