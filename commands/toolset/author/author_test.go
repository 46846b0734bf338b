package author

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/commands/cireport"
	"github.com/fettle-cli/fettle/commands/newfile"
	"github.com/fettle-cli/fettle/commands/starter"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/check"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/validate"
)

var updateAuthor = flag.Bool("update-author", false, "write the golden files of the commands around toolsets")

// goldenAuthor holds an output against a file, with what differs between runs
// taken out.
func goldenAuthor(t *testing.T, name, got string) {
	t.Helper()
	got = regexp.MustCompile(`\b[0-9.]+ m?s\b`).ReplaceAllString(got, "N ms")
	got = regexp.MustCompile(`("duration_ms": |time=")[0-9.]+`).ReplaceAllString(got, "${1}0")
	got = strings.ReplaceAll(got, "\\", "/")
	path := filepath.Join("testdata", "toolset", name)
	if *updateAuthor {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\\", "/") {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

// testToolset has a test that passes, and one of each way not to.
const testToolset = `manifest_version: "1"
id: demo
name: Demo
version: "1.0.0"
description: A demo.
tools:
  - {id: write, description: Writes., entrypoint: "tools.t:write", input_schema: {type: object}}
  - {id: other, description: Does., entrypoint: "tools.t:other", input_schema: {type: object}}
tests:
  - {name: writes it, tool: write, args: {text: hello}, expect: {files: {out.txt: hello}, return: {size: 5}}}
  - name: writes more
    tool: write
    args: {text: "one\ntwo\nthree\n"}
    expect: {files: {out.txt: "one\n2\nthree\n"}, return: {size: 3, name: out.txt}, absent: [out.txt]}
  - {tool: write, args: {fail: "50% of it\nis gone"}}
  - {name: fails otherwise, tool: write, args: {fail: no}, expect: {error: yes it does}}
  - {name: can't be run, tool: other}
`

// goTools are runners in Go, in place of an interpreter.
func goTools(_ *manifest.Manifest, tool manifest.Tool, dir string) (toolset.Runner, error) {
	if tool.ID != "write" {
		return nil, errors.New("there is no interpreter for it")
	}
	return toolset.RunnerFunc(func(_ context.Context, call toolset.Call) (toolset.Result, error) {
		var args struct{ Text, Fail string }
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return toolset.Result{}, err
		}
		if args.Fail != "" {
			return toolset.Result{}, &toolset.ToolError{Message: args.Fail, Traceback: "tools/t.py:3 in write\n    raise \x1b[31mError"}
		}
		if err := call.Workspace.Root.WriteFile("out.txt", []byte(args.Text), 0o644); err != nil {
			return toolset.Result{}, err
		}
		data, err := json.Marshal(map[string]any{"size": len(args.Text), "name": "out.txt"})
		return toolset.Result{Data: data}, err
	}), nil
}

// runTests runs `toolset test` on the demo, which lies in a folder called demo.
func runTests(t *testing.T, o toolsetTestOptions, options term.TestOptions) (string, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	writeAll(t, dir, map[string]string{"toolset.yaml": testToolset, "tools/t.py": "def write(workspace, **kw): pass\n\n\ndef other(workspace): pass\n", ".git/HEAD": ""})
	s := term.Test(options)
	o.ref, o.timeout = dir, time.Minute
	err := runToolsetTest(t.Context(), workbench.New(s.Streams), o, goTools)
	return strings.ReplaceAll(s.Stdout.String(), dir, "demo"), err
}

func writeAll(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestToolsetTestPrints(t *testing.T) {
	t.Parallel()
	for format, file := range map[string]string{"text": "test.txt", "json": "test.json", "github": "test.github", "junit": "test.xml"} {
		out, err := runTests(t, toolsetTestOptions{output: format}, term.TestOptions{})
		if !errors.Is(err, workbench.ExitError{Status: 1}) {
			t.Errorf("%s: %v", format, err)
		}
		goldenAuthor(t, file, out)
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s has an escape: %q", format, out)
		}
		if format == "junit" && xml.Unmarshal([]byte(out), new(struct{ XMLName xml.Name })) != nil {
			t.Error("it is no XML")
		}
	}
}

func TestToolsetTestSelects(t *testing.T) {
	t.Parallel()
	out, err := runTests(t, toolsetTestOptions{output: "text", run: regexp.MustCompile("^writes it$")}, term.TestOptions{})
	if err != nil || !strings.HasPrefix(out, "✓ writes it  ") || !strings.HasSuffix(out, "\n1 passed\n") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestToolsetTestShowsProgressOnATerminal(t *testing.T) {
	t.Parallel()
	out, _ := runTests(t, toolsetTestOptions{output: "text", jobs: 1}, term.TestOptions{OutTerminal: true, ErrTerminal: true})
	if !strings.Contains(out, "✗\x1b[39m writes more") {
		t.Errorf("printed %q", out)
	}
}

func TestFindingsFitATerminal(t *testing.T) {
	t.Parallel()
	r := &validate.Report{Findings: []validate.Finding{
		{File: "toolset.yaml", Line: 14, Column: 19, Level: validate.Error, Code: "function", Message: "entrypoint tools.analyze:rnu: tools/analyze.py has no function rnu (did you mean run?)"},
		{File: "artifacts/" + strings.Repeat("long", 12) + ".html", Line: 1, Column: 1, Level: validate.Warning, Message: "a page that loads " + strings.Repeat("more and ", 12)},
		{File: "tools/\x1b[31mé.py", Level: validate.Note, Message: "nothing mentions this file"},
	}}
	for _, width := range []int{40, 80, 200} {
		s := term.Test(term.TestOptions{OutTerminal: true, Width: width, Env: map[string]string{"NO_COLOR": "1"}})
		a := &author{rt: workbench.New(s.Streams)}
		a.printFindings(s.Streams.Out, []judged{{bundlePlace{ref: "."}, r}})
		for line := range strings.Lines(s.Stdout.String()) {
			if n := term.Cells(strings.TrimRight(line, "\r\n")); n > width && !strings.Contains(line, "longlong") {
				t.Errorf("%d of %d columns: %q", n, width, line)
			}
		}
		if got := s.Stdout.String(); strings.Contains(got, "\x1b[31m") || !strings.Contains(strings.Join(strings.Fields(got), " "), "did you mean run?)") {
			t.Errorf("%q", got)
		}
	}
}

func TestPathsOfArchivesAndOfStandardInput(t *testing.T) {
	t.Parallel()
	a := &author{rt: workbench.New(term.Test(term.TestOptions{}).Streams)}
	f := validate.Finding{File: "tools/a.py", Line: 3, Column: 1, Level: validate.Error, Code: "x", Message: "m"}
	for _, tt := range []struct {
		place bundlePlace
		shown string
		want  cireport.Finding
	}{
		{bundlePlace{ref: "-"}, "tools/a.py", cireport.Finding{Level: "error", Code: "x", Message: "tools/a.py:3:1: m"}},
		{bundlePlace{ref: "x.zip"}, "x.zip/tools/a.py", cireport.Finding{Path: "author/x.zip", Level: "error", Code: "x", Message: "tools/a.py:3:1: m"}},
		{bundlePlace{ref: "demo", folder: true}, filepath.Join("demo", "tools", "a.py"), cireport.Finding{Path: "author/demo/tools/a.py", Line: 3, Column: 1, Level: "error", Code: "x", Message: "m"}},
	} {
		a.root = filepath.Dir(mustAbs(t, "."))
		if got := a.finding(tt.place, f); got != tt.want {
			t.Errorf("got %+v, want %+v", got, tt.want)
		}
		if got := tt.place.shown(f.File); got != tt.shown {
			t.Errorf("shown as %s, want %s", got, tt.shown)
		}
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := realAbs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// The server of a new toolset speaks MCP as it stands.
func TestStarterServerAnswers(t *testing.T) {
	t.Parallel()
	python := needtest.Program(t, "python3")
	files, err := starter.Files(starter.Options{ID: "x", Name: "X", With: []starter.Part{starter.MCP}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "server.py")
	if err := os.WriteFile(path, files["tools/server.py"], 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-I", path)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
{"jsonrpc":"2.0","method":"notifications/initialized"}

{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"now","arguments":{}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"never"}}
nonsense
`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, want := range []string{`"protocolVersion": "2025-06-18"`, `"name": "now"`, `"type": "text"`, `"code": -32601`, `"code": -32700`} {
		if i >= len(lines) || !strings.Contains(lines[i], want) || !json.Valid([]byte(lines[i])) {
			t.Errorf("answer %d is not %s: %q", i, want, lines)
		}
	}
}

// The tests of a new toolset are what its function does; without an interpreter
// of fettle's own, Python itself is asked.
func TestStarterTestsPassInPython(t *testing.T) {
	t.Parallel()
	python := needtest.Program(t, "python3")
	dir := filepath.Join(t.TempDir(), "words")
	s := term.Test(term.TestOptions{})
	if err := runToolsetInit(workbench.New(s.Streams), toolsetInitOptions{dir: dir}); err != nil {
		t.Fatal(err)
	}
	runner := func(_ *manifest.Manifest, tool manifest.Tool, files string) (toolset.Runner, error) {
		return toolset.RunnerFunc(func(ctx context.Context, call toolset.Call) (toolset.Result, error) {
			e, err := manifest.ParseEntrypoint(tool.Entrypoint)
			if err != nil {
				return toolset.Result{}, err
			}
			cmd := exec.CommandContext(ctx, python, "-c", "import importlib, json, pathlib, sys; f = getattr(importlib.import_module(sys.argv[1]), sys.argv[2]); "+
				"print(json.dumps(f(workspace=pathlib.Path(sys.argv[3]), **json.loads(sys.argv[4]))))", e.Module, e.Function, call.Workspace.Path, string(call.Args))
			cmd.Dir = files
			out, err := cmd.Output()
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				return toolset.Result{}, &toolset.ToolError{Message: string(exit.Stderr)}
			}
			return toolset.Result{Data: out}, err
		}), nil
	}
	s = term.Test(term.TestOptions{})
	err := runToolsetTest(t.Context(), workbench.New(s.Streams), toolsetTestOptions{ref: dir, output: "text", timeout: time.Minute}, runner)
	if err != nil || !strings.HasSuffix(s.Stdout.String(), "\n2 passed\n") {
		t.Errorf("%v:\n%s%s", err, s.Stdout, s.Stderr)
	}
}

// Half of a toolset is never left: what was made is taken away again.
func TestInitTakesBackWhatItMade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	err := newfile.WriteNew(dir, map[string][]byte{"a/b/c.txt": nil, "z": nil, "z/y": nil}) // z can't be both
	if err == nil {
		t.Fatal("a file was made inside a file")
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

func TestStandardInputThatIsTooLong(t *testing.T) {
	t.Parallel()
	s := term.Test(term.TestOptions{Stdin: io.LimitReader(zeros{}, 1<<20)})
	a := &author{rt: workbench.New(s.Streams)}
	r, err := a.judge(t.Context(), stdinRef)
	if err != nil || r.Errors != 1 || r.Findings[0].Code != "bundle-format" {
		t.Errorf("%+v, %v", r, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

var _ check.RunnerFor = goTools
