package mcp

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A shim starts the version that a variable, a file of the project or the user's setting
// names, in this order.
func TestShimsChooseTheVersionThatIsWanted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the trees are those of Unix")
	}
	home, project := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []string{"3.9.1", "3.11.7", "3.12.4"} {
		put(filepath.Join(home, ".pyenv/versions", v, "bin/python3"), "")
		put(filepath.Join(home, ".asdf/installs/python", v, "bin/python3"), "")
	}
	put(filepath.Join(home, ".pyenv/shims/python3"), "")
	put(filepath.Join(home, ".asdf/shims/python3"), "")
	put(filepath.Join(home, ".pyenv/version"), "3.9.1\n")
	put(filepath.Join(home, ".tool-versions"), "python 3.9.1\n")
	put(filepath.Join(home, "bin/python3"), "")
	put(filepath.Join(project, "pinned/.python-version"), "# of the project\n3.11\n")
	put(filepath.Join(project, "pinned/src/main.py"), "")
	put(filepath.Join(project, "tools/.tool-versions"), "nodejs 20.1.0\npython 3.11.7\n")
	put(filepath.Join(project, "hostile/.python-version"), "../../../bin\n/bin\n")
	for name, c := range map[string]struct {
		manager, folder string
		env             map[string]string
		want            string // below the home folder
	}{
		"pyenv: the user's setting":       {manager: ".pyenv", want: ".pyenv/versions/3.9.1/bin/python3"},
		"pyenv: a file above":             {manager: ".pyenv", folder: "pinned/src", want: ".pyenv/versions/3.11.7/bin/python3"},
		"pyenv: the variable comes first": {manager: ".pyenv", folder: "pinned", env: map[string]string{"PYENV_VERSION": "3.10:3.12"}, want: ".pyenv/versions/3.12.4/bin/python3"},
		"pyenv: the system's":             {manager: ".pyenv", env: map[string]string{"PYENV_VERSION": "system", "PATH": filepath.Join(home, ".pyenv/shims") + ":" + filepath.Join(home, "bin")}, want: "bin/python3"},
		"pyenv: a path is no version":     {manager: ".pyenv", folder: "hostile", want: ".pyenv/versions/3.12.4/bin/python3"},
		"asdf: the user's setting":        {manager: ".asdf", want: ".asdf/installs/python/3.9.1/bin/python3"},
		"asdf: a project's tools":         {manager: ".asdf", folder: "tools", want: ".asdf/installs/python/3.11.7/bin/python3"},
		"asdf: a project's Python":        {manager: ".asdf", folder: "pinned", want: ".asdf/installs/python/3.11.7/bin/python3"},
		"asdf: the variable comes first":  {manager: ".asdf", folder: "tools", env: map[string]string{"ASDF_PYTHON_VERSION": "3.12.4"}, want: ".asdf/installs/python/3.12.4/bin/python3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := shims{value: func(name string) string { return c.env[name] }}
			if c.folder != "" {
				s.folder = filepath.Join(project, c.folder)
			}
			if got := s.program(filepath.Join(home, c.manager, "shims/python3")); got != filepath.Join(home, c.want) {
				t.Errorf("it starts %s, want %s", got, c.want)
			}
		})
	}
}
