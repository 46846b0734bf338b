package pysource

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// dump is a Python program that says in JSON what ast finds in the files that
// it is given, a line each: what Parse has to find too.
const dump = `
import ast, json, os, sys
def names(t):
    if isinstance(t, ast.Name): return [t.id]
    if isinstance(t, (ast.Tuple, ast.List)): return [n for e in t.elts for n in names(e)]
    if isinstance(t, ast.Starred): return names(t.value)
    return []
def walk(body, out, cond):
    for s in body:
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            a = s.args
            ps = []
            free = len(a.posonlyargs) + len(a.args) - len(a.defaults)
            for i, p in enumerate(a.posonlyargs + a.args):
                ps.append([p.arg, 0 if i < len(a.posonlyargs) else 1, i >= free])
            if a.vararg: ps.append([a.vararg.arg, 2, False])
            for p, d in zip(a.kwonlyargs, a.kw_defaults): ps.append([p.arg, 3, d is not None])
            if a.kwarg: ps.append([a.kwarg.arg, 4, False])
            gen = False
            todo = list(s.body)
            while todo:
                n = todo.pop()
                if isinstance(n, (ast.Yield, ast.YieldFrom)): gen = True
                if not isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)): todo += ast.iter_child_nodes(n)
            out["functions"].append([s.name, s.lineno, isinstance(s, ast.AsyncFunctionDef), bool(s.decorator_list), gen, cond, ps])
        elif isinstance(s, ast.ClassDef): out["classes"].append(s.name)
        elif isinstance(s, ast.Assign): out["names"] += [n for t in s.targets for n in names(t)]
        elif isinstance(s, ast.AnnAssign) and s.value is not None: out["names"] += names(s.target)
        elif isinstance(s, (ast.For, ast.AsyncFor)): out["names"] += names(s.target)
        elif isinstance(s, (ast.With, ast.AsyncWith)):
            out["names"] += [n for i in s.items if i.optional_vars for n in names(i.optional_vars)]
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): continue
        inner = cond or not isinstance(s, (ast.With, ast.AsyncWith))
        walk(getattr(s, "body", []), out, inner)
        for h in getattr(s, "handlers", []):
            if h.name: out["names"].append(h.name)
            walk(h.body, out, True)
        for k in getattr(s, "cases", []): walk(k.body, out, True)
        walk(getattr(s, "orelse", []), out, inner)
        walk(getattr(s, "finalbody", []), out, inner)
for path in sys.stdin.read().split("\n"):
    if not path: continue
    out = {"path": path, "functions": [], "classes": [], "names": [], "imports": []}
    try:
        src = open(path, "rb").read()
        src.decode("utf-8")
        tree = ast.parse(src)
    except (SyntaxError, ValueError) as e:
        out["error"] = str(e)
    else:
        walk(tree.body, out, False)
        for n in ast.walk(tree):
            if isinstance(n, ast.Import): out["imports"] += [[a.name, 0, "", a.asname or a.name.split(".")[0], n.lineno] for a in n.names]
            if isinstance(n, ast.ImportFrom): out["imports"] += [[n.module or "", n.level, a.name, "" if a.name == "*" else a.asname or a.name, n.lineno] for a in n.names]
    print(json.dumps(out))
`

type pythonSays struct {
	Path, Error    string
	Functions      [][]json.RawMessage
	Classes, Names []string
	Imports        [][]json.RawMessage
}

// library are files of the machine's standard library: every nth, so that there
// are about as many as FETTLE_TEST_PYTHON_FILES says.
func library(t *testing.T, python string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(strings.TrimSpace(string(out)), func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".py") && e.Type().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("found %d files of the standard library: %v", len(files), err)
	}
	want := 250
	if testing.Short() {
		want = 60
	}
	if s := os.Getenv("FETTLE_TEST_PYTHON_FILES"); s != "" {
		if want, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	step := max(len(files)/max(want, 1), 1)
	var out2 []string
	for i := 0; i < len(files); i += step {
		out2 = append(out2, files[i])
	}
	return out2
}

// TestAgainstPython holds Parse against Python's own parser on many files.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	python := needtest.Program(t, "python3")
	files := library(t, python)
	cmd := exec.CommandContext(t.Context(), python, "-I", "-W", "ignore", "-c", dump)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	compared, refused := 0, 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var says pythonSays
		if err := json.Unmarshal(lines.Bytes(), &says); err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(says.Path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse(src)
		if says.Error != "" {
			if err != nil {
				refused++
			} else {
				t.Logf("%s: not refused: %s", says.Path, says.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: refused: %v", says.Path, err)
			continue
		}
		compared++
		compare(t, says, m)
	}
	if compared < len(files)*8/10 {
		t.Errorf("only %d of %d files were compared", compared, len(files))
	}
	t.Logf("%d files agree; both refuse %d", compared, refused)
}

func compare(t *testing.T, says pythonSays, m *Module) {
	t.Helper()
	last := map[string]string{} // what was bound last may be something else
	for _, f := range says.Functions {
		var name string
		_ = json.Unmarshal(f[0], &name)
		text, _ := json.Marshal(f)
		last[name] = string(text)
	}
	for name, want := range last {
		b, ok := m.Names[name]
		if !ok {
			t.Errorf("%s: function %s is missing", says.Path, name)
			continue
		}
		if b.Kind != Defined {
			continue
		}
		f := b.Function
		params := make([][]any, 0, len(f.Params))
		for _, p := range f.Params {
			params = append(params, []any{p.Name, int(p.Kind), p.Default})
		}
		got, _ := json.Marshal([]any{f.Name, f.Place.Line, f.Async, f.Decorated, f.Generator, b.Conditional, params})
		if string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", says.Path, got, want)
		}
	}
	for _, name := range slices.Concat(says.Classes, says.Names) {
		if _, ok := m.Names[name]; !ok {
			t.Errorf("%s: the name %s is missing", says.Path, name)
		}
	}
	for _, name := range m.Functions() {
		if _, ok := last[name]; !ok {
			t.Errorf("%s: there is no function %s", says.Path, name)
		}
	}
	compareImports(t, says, m)
}

func compareImports(t *testing.T, says pythonSays, m *Module) {
	t.Helper()
	var got, want []string
	for _, i := range m.Imports {
		text, _ := json.Marshal([]any{i.Module, i.Level, i.Name, i.As, i.Place.Line})
		got = append(got, string(text))
	}
	for _, i := range says.Imports {
		text, _ := json.Marshal(i)
		want = append(want, string(text))
	}
	slices.Sort(got)
	slices.Sort(want)
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: imports\n got %s\nwant %s", says.Path, g, w)
	}
}
