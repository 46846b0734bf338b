package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// pythonServer is a server of testdata that an interpreter runs.
func pythonServer(t *testing.T, python, name string) mcp.Server {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "python"))
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Server{
		ID: "py", Command: python, Args: []string{filepath.Join(dir, name)}, Own: true,
		Policy: toolset.Policy{Network: toolset.NetworkAll, Readable: []string{dir}, Least: toolset.LevelNone},
	}
}

// realPython is an interpreter with its own tree, not a shim.
func realPython(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		needtest.Lacking(t, "python3")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-c", "import sys, os; print(os.path.realpath(sys.executable))").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// starts reports what a server that an interpreter runs answers.
func starts(t *testing.T, python string) string {
	t.Helper()
	w := newWorld(t, mcp.Options{})
	report, err := w.Look(t.Context(), pythonServer(t, python, "modern.py"), nil)
	if err != nil {
		t.Errorf("%s: %v", python, err)
		return ""
	}
	return report.Name
}

// TestAPythonOfPyenvStarts starts the python3 of the machine's pyenv by its shim.
func TestAPythonOfPyenvStarts(t *testing.T) {
	t.Parallel()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip(err)
	}
	shim := filepath.Join(home, ".pyenv", "shims", "python3")
	if _, err := os.Stat(shim); err != nil {
		t.Skip("there is no pyenv")
	}
	if name := starts(t, shim); name != "modern.py" {
		t.Errorf("it is %q", name)
	}
}

// TestInterpretersOfVersionManagersStart starts interpreters from trees as version
// managers make them: the shim cannot run there, and the interpreter can.
func TestInterpretersOfVersionManagersStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the trees are those of Unix")
	}
	python := realPython(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	write := func(path, text string, mode os.FileMode) string {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const shim = "#!/bin/sh\nexec manager-that-is-not-there \"$0\"\n"
	install := func(path string) { // an interpreter that finds its library by its real place
		write(path, "#!/bin/sh\n. \"$(dirname \"$(readlink -f \"$0\")\")/../lib/settings\"\nexec "+python+" \"$@\"\n", 0o755)
		write(filepath.Join(filepath.Dir(filepath.Dir(path)), "lib", "settings"), "READ=1\n", 0o644)
	}
	link := func(target, path string) string {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, path := range []string{
		".pyenv/versions/3.9.1/bin/python3", ".pyenv/versions/3.12.4/bin/python3", ".asdf/installs/python/3.12.1/bin/python3",
		".local/share/mise/installs/python/3.13.0/bin/python3", ".volta/tools/image/node/20.1.0/bin/node", ".nvm/versions/node/v20.1.0/bin/node",
		".local/share/fnm/node-versions/v20.1.0/installation/bin/node", ".local/share/uv/python/cpython-3.12.4-linux/bin/python3.12",
	} {
		install(path)
	}
	write(".pyenv/version", "3.12\n", 0o644)
	write(".tool-versions", "python 3.12.1\n", 0o644)
	write(".volta/tools/user/platform.json", `{"node":{"runtime":"20.1.0"}}`, 0o644)
	link("cpython-3.12.4-linux", ".local/share/uv/python/cpython-3.12-linux")
	link(filepath.Join(home, ".local/share/uv/python/cpython-3.12-linux/bin/python3.12"), "project/.venv/bin/python")
	link("python", "project/.venv/bin/python3")
	for name, command := range map[string]string{
		"pyenv": write(".pyenv/shims/python3", shim, 0o755), "asdf": write(".asdf/shims/python3", shim, 0o755),
		"mise": link("/usr/bin/false", ".local/share/mise/shims/python3"), "volta": link("volta-shim", ".volta/bin/node"),
		"nvm": filepath.Join(home, ".nvm/versions/node/v20.1.0/bin/node"),
		"fnm": link(filepath.Join(home, ".local/share/fnm/node-versions/v20.1.0/installation/bin/node"), "run/fnm_multishells/1/bin/node"),
		"uv":  link(filepath.Join(home, ".local/share/uv/python/cpython-3.12-linux/bin/python3.12"), ".local/bin/python3.12"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mcp.Options{})
			s := pythonServer(t, command, "modern.py")
			s.Policy.Readable = append(s.Policy.Readable, filepath.Dir(filepath.Dir(python)))
			if _, err := w.Look(t.Context(), s, nil); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("virtual environment", func(t *testing.T) {
		// the interpreter itself, so that it finds the environment by the name it is called by
		real := filepath.Join(home, ".local/share/uv/python/cpython-3.12.4-linux/bin/python3.12")
		if err := os.Remove(real); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(python, real); err != nil {
			t.Fatal(err)
		}
		write("project/.venv/pyvenv.cfg", "home = "+filepath.Dir(real)+"\n", 0o644)
		w := newWorld(t, mcp.Options{})
		s := pythonServer(t, filepath.Join(home, "project/.venv/bin/python3"), "modern.py")
		s.Policy.Readable = append(s.Policy.Readable, filepath.Dir(filepath.Dir(python)))
		res, err := w.Runner(s, toolset.Tool{ID: "py:where"}).Run(t.Context(), toolset.Call{Args: json.RawMessage(`{}`)})
		if err != nil || !strings.Contains(res.Text, filepath.Join("project", ".venv")) {
			t.Errorf("it runs with the prefix %q, %v", res.Text, err)
		}
	})
}
