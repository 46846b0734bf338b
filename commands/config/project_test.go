package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestProjectSearch(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	for _, f := range []string{
		"home/.fettle/config.yaml", "home/repo/.git/HEAD", "home/repo/.fettle/config.yaml", "home/repo/sub/x",
		"home/repo/mod/.git", "home/repo/mod/deep/x", "home/loose/a/b/x", "home/loose/.fettle/config.yaml",
		"tmp/.fettle/config.yaml", "tmp/job/x", "tmp/own/.fettle/config.yaml", "srv/repo/.git/HEAD", "srv/repo/a/b/x", "srv/repo/.fettle/config.yaml",
	} {
		write(t, filepath.Join(root, f), "")
	}
	for _, tt := range []struct{ name, work, want string }{
		{"in the root of a repository", "home/repo", "home/repo"},
		{"below it", "home/repo/sub", "home/repo"},
		{"a repository inside ends the search", "home/repo/mod/deep", ""},
		{"without a repository, up to below the home", "home/loose/a/b", "home/loose"},
		{"the home is no project for what is below", "home/loose/..", "home"},
		{"nor for a folder in it", "home", "home"},
		{"outside of home and repository nothing above counts", "tmp/job", ""},
		{"but the working directory's own does", "tmp/own", "tmp/own"},
		{"a repository outside of home", "srv/repo/a/b", "srv/repo"},
		{"nowhere", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want, work := "", ""
			if tt.want != "" {
				want = filepath.Join(root, tt.want, ".fettle", "config.yaml")
			}
			if tt.work != "" {
				work = filepath.Join(root, tt.work)
			}
			if got := findProject(work, home); got != want {
				t.Errorf("findProject(%q) = %q, want %q", work, got, want)
			}
		})
	}
}

func TestProjectInASharedFolderIsNotRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no mode bits")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".fettle/config.yaml"), "model: evil/model")
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, Options{WorkDir: dir})
	if c.Model != "" || len(c.Warnings) != 1 || len(c.Files) != 0 {
		t.Errorf("model %q, warnings %v, files %v: a file that anyone may have put there was read", c.Model, c.Warnings, c.Files)
	}
}

func TestUserFileIsNotAlsoTheProjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, ".fettle/config.yaml"), "allow: [a]")
	if c := mustLoad(t, Options{File: file, WorkDir: dir}); len(c.Files) != 1 || len(c.Allow) != 1 {
		t.Errorf("files %v, allow %v", c.Files, c.Allow)
	}
}
