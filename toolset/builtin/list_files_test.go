package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func project(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"README.md": "# hi\n", "go.mod": "module x\n", "src/main.go": strings.Repeat("x", 1234), "src/a/b/deep.go": "x", "src/util.ts": "x",
		"package.json": "{}", "node_modules/left-pad/index.js": "x", "node_modules/pad.js": "x",
		"lib/node_modules/kept.js": "x", "venv/pyvenv.cfg": "", "venv/bin/python": "x", "build/CACHEDIR.TAG": "x", "build/out": "x",
		"rust/Cargo.toml": "", "rust/target/debug": "x", "target/aim": "x", "py/__pycache__/m.pyc": "x", ".git/HEAD": "x",
	}
}

func TestListFiles(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, project(t))
	if err := os.Mkdir(filepath.Join(ws.Path, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args object
		want string
	}{
		{"everything", object{}, `.git/  [git's own, not listed]
README.md  5 bytes
build/  [generated, 2 entries, not listed]
empty/
go.mod  9 bytes
lib/
lib/node_modules/
lib/node_modules/kept.js  1 byte
node_modules/  [generated, 2 entries, not listed]
package.json  2 bytes
py/
py/__pycache__/  [generated, 1 entry, not listed]
rust/
rust/Cargo.toml  0 bytes
rust/target/  [generated, 1 entry, not listed]
src/
src/a/
src/a/b/
src/a/b/deep.go  1 byte
src/main.go  1.2 kB
src/util.ts  1 byte
target/
target/aim  1 byte
venv/  [generated, 2 entries, not listed]`},
		{"one level", object{"path": "src", "depth": 1}, "src/a/\nsrc/main.go  1.2 kB\nsrc/util.ts  1 byte"},
		{"two levels", object{"path": "src/", "depth": 2}, "src/a/\nsrc/a/b/\nsrc/main.go  1.2 kB\nsrc/util.ts  1 byte"},
		{"a glob at any depth", object{"glob": "*.go"}, "src/a/b/deep.go  1 byte\nsrc/main.go  1.2 kB"},
		{"a glob with a path", object{"glob": "src/*.{go,ts}"}, "src/main.go  1.2 kB\nsrc/util.ts  1 byte"},
		{"a glob with any folders", object{"glob": "src/**/*.go"}, "src/a/b/deep.go  1 byte\nsrc/main.go  1.2 kB"},
		{"a glob below a path", object{"path": "src", "glob": "a/**"}, "src/a/\nsrc/a/b/\nsrc/a/b/deep.go  1 byte"},
		{"a glob that meets nothing", object{"glob": "*.rs"}, "[nothing in . matches *.rs]"},
		{"an empty folder", object{"path": "empty"}, "[empty is empty]"},
		{"a generated folder that is asked for", object{"path": "node_modules"}, "node_modules/left-pad/\nnode_modules/left-pad/index.js  1 byte\nnode_modules/pad.js  1 byte"},
		{"a file", object{"path": "src/main.go"}, "src/main.go  1.2 kB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := do(t, ws, "list_files", tt.args)
			if res.Text != tt.want {
				t.Errorf("got\n%s\nwant\n%s", res.Text, tt.want)
			}
			d := data[listData](t, res)
			if d.Text != res.Text || d.More != 0 || d.Minimum {
				t.Errorf("got %+v", d)
			}
			if lines := strings.Count(res.Text, "\n") + 1; !strings.HasPrefix(res.Text, "[") && len(d.Entries) != lines {
				t.Errorf("%d entries, %d lines", len(d.Entries), lines)
			}
		})
	}
	for name, args := range map[string]object{
		"there is no file scr; did you mean src?":                               {"path": "scr"},
		"glob [a is not valid: a bracket or brace is left open":                 {"glob": "[a"},
		"path /etc is outside the workspace" + relative:                         {"path": "/etc"},
		"README.md is a file, not a folder":                                     {"path": "README.md/x"},
		"there is no file lib/x/y: there is no folder lib/x":                    {"path": "lib/x/y"},
		"path ../ws is outside the workspace" + relative:                        {"path": "../ws"},
		"there is no file nothing-of-that-name; list_files shows what is there": {"path": "nothing-of-that-name"},
	} {
		if got := refused(t, ws, "list_files", args); got != name {
			t.Errorf("got %q, want %q", got, name)
		}
	}
}

func TestListFilesIsBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{"z-last": "x"}
	for i := range 700 {
		files[fmt.Sprintf("a/deep/%03d", i)] = ""
	}
	ws := newWorkspace(t, files)
	res := do(t, ws, "list_files", object{})
	d := data[listData](t, res)
	if len(d.Entries) != maxListed || d.More != 203 || d.Minimum {
		t.Errorf("%d entries, %d more", len(d.Entries), d.More)
	}
	if want := "\n[500 entries listed, 203 more not; narrow it with path, glob or depth]"; !strings.HasSuffix(res.Text, want) {
		t.Errorf("the text ends in %q", res.Text[len(res.Text)-100:])
	}
	// Higher levels come first, so the last name of the root is there.
	if last := d.Entries[maxListed-1]; last.Path != "z-last" || *last.Size != 1 {
		t.Errorf("the last entry is %+v", last)
	}
	if first := d.Entries[2].Path; first != "a/deep/000" {
		t.Errorf("the first file is %s", first)
	}
	if got := do(t, ws, "list_files", object{"glob": "69*"}).Text; strings.Count(got, "\n") != 9 {
		t.Errorf("a glob keeps\n%s", got)
	}
}
