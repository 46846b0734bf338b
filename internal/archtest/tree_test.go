package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// modulePath is what our import paths begin with.
const modulePath = "github.com/fettle-cli/fettle"

// file is one Go file of the tree.
type file struct {
	path    string // from the module's root, with slashes
	room    string // "." or "./engine/event"
	test    bool
	lines   int
	ast     *ast.File
	fset    *token.FileSet
	imports []string // ours as rooms, others as they are
}

// at gives the place of a node as path:line.
func (f *file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// command tells whether the file belongs to a program rather than a library.
func (f *file) command() bool { return f.ast.Name.Name == "main" }

// tree is a set of Go files, ordered by path.
type tree []*file

// rooms gives the files of each room, rooms in order.
func (t tree) rooms() ([]string, map[string]tree) {
	byRoom := map[string]tree{}
	for _, f := range t {
		byRoom[f.room] = append(byRoom[f.room], f)
	}
	names := make([]string, 0, len(byRoom))
	for name := range byRoom {
		names = append(names, name)
	}
	sort.Strings(names)
	return names, byRoom
}

// sources gives the files that are no tests.
func (t tree) sources() tree {
	return slices.DeleteFunc(slices.Clone(t), func(f *file) bool { return f.test })
}

// program gives the sources that are linked into something people run: without
// the rooms that only tests use, such as conformance suites.
func (t tree) program() tree {
	suite := map[string]bool{}
	for _, f := range t.sources() {
		if strings.HasSuffix(f.room, "test") && slices.Contains(f.imports, "testing") {
			suite[f.room] = true
		}
	}
	return slices.DeleteFunc(t.sources(), func(f *file) bool { return suite[f.room] })
}

// moduleRoot finds the folder of go.mod above the tests' folder.
var moduleRoot = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(data, []byte("module "+modulePath+"\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod of %s above the tests", modulePath)
		}
		dir = parent
	}
})

// root is moduleRoot for a test.
func root(t *testing.T) string {
	t.Helper()
	dir, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var wholeTree = sync.OnceValues(func() (tree, error) {
	dir, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return loadTree(os.DirFS(dir))
})

// project is the project's own tree.
func project(t *testing.T) tree {
	t.Helper()
	whole, err := wholeTree()
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// loadTree parses every Go file that the go command would see on some system.
func loadTree(fsys fs.FS) (tree, error) {
	var out tree
	fset := token.NewFileSet()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && unseen(d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || unseen(d.Name()) {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := parseFile(fset, name, src)
		if err != nil {
			return err
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// unseen tells which names the go command passes over.
func unseen(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") ||
		base == "testdata" || base == "vendor" || base == "node_modules"
}

func parseFile(fset *token.FileSet, name string, src []byte) (*file, error) {
	parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	f := &file{
		path: name, room: roomOf(path.Dir(name)), test: strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(src, []byte("\n")), ast: parsed, fset: fset,
	}
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.imports = append(f.imports, localPath(p))
	}
	return f, nil
}

func roomOf(dir string) string {
	if dir == "." {
		return "."
	}
	return "./" + dir
}

// localPath writes an import path of ours as a room and leaves others.
func localPath(importPath string) string {
	if importPath == modulePath {
		return "."
	}
	if below, ok := strings.CutPrefix(importPath, modulePath+"/"); ok {
		return "./" + below
	}
	return importPath
}

// run gives what a command prints, run at the module's root.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = root(t)
	// go.mod is as it is: nothing here may mend it, or look beside it.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

// report fails a test with each complaint.
func report(t *testing.T, complaints []string) {
	t.Helper()
	for _, c := range complaints {
		t.Error(c)
	}
}

// exceptions are places where a check does not hold, each with its reason.
type exceptions map[string]string

// sift takes away the complaints about excepted places, and adds one for each
// exception that excused nothing or gives no reason.
func (e exceptions) sift(complaints []complaint) []string {
	used := map[string]bool{}
	var out []string
	for _, c := range complaints {
		if _, ok := e[c.place]; ok {
			used[c.place] = true
			continue
		}
		out = append(out, c.text)
	}
	for place, reason := range e {
		if !used[place] {
			out = append(out, fmt.Sprintf("the exception for %s is not needed any more: take it out of the list", place))
		}
		if strings.TrimSpace(reason) == "" {
			out = append(out, fmt.Sprintf("the exception for %s gives no reason", place))
		}
	}
	sort.Strings(out)
	return out
}

// complaint is something that a check found: where, by a name that survives
// edits (a path, or path and function), and what to print.
type complaint struct{ place, text string }

// madeUp makes a tree from path and source pairs.
func madeUp(t *testing.T, files map[string]string) tree {
	t.Helper()
	fset := token.NewFileSet()
	var out tree
	for name, src := range files {
		f, err := parseFile(fset, name, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].path < out[j].path })
	return out
}

// wantComplaints checks that each pattern meets one complaint and that none is
// left over.
func wantComplaints(t *testing.T, got []string, want ...string) {
	t.Helper()
	rest := slices.Clone(got)
	for _, pattern := range want {
		re := regexp.MustCompile(pattern)
		i := slices.IndexFunc(rest, re.MatchString)
		if i < 0 {
			t.Errorf("no complaint like %q in:\n  %s", pattern, strings.Join(got, "\n  "))
			continue
		}
		rest = slices.Delete(rest, i, i+1)
	}
	for _, c := range rest {
		t.Errorf("unexpected complaint: %s", c)
	}
}

func texts(complaints []complaint) []string {
	var out []string
	for _, c := range complaints {
		out = append(out, c.text)
	}
	return out
}

func TestLoadTree(t *testing.T) {
	t.Parallel()
	whole := project(t)
	_, byRoom := whole.rooms()
	for _, room := range []string{".", "./engine/event", "./internal/archtest"} {
		if len(byRoom[room]) == 0 {
			t.Errorf("the tree has no room %s", room)
		}
	}
	for _, f := range whole {
		if strings.Contains(f.path, "testdata/") {
			t.Errorf("%s: test data was read as code", f.path)
		}
	}
}

func TestExceptionsMustBeNeeded(t *testing.T) {
	t.Parallel()
	e := exceptions{"a": "it is so", "b": "it was so", "c": " "}
	got := e.sift([]complaint{{"a", "a: long"}, {"c", "c: long"}, {"d", "d: long"}})
	wantComplaints(t, got, `^d: long$`, `exception for b is not needed`, `exception for c gives no reason`)
}
