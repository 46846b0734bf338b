package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if dir, err := sharedCache(); err == nil {
			os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

// need skips a test that needs something the machine lacks. On a machine that
// claims to have everything a skip is a failure.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	if !ok {
		needtest.Lacking(t, what)
	}
}

// world is a runtime with what it told.
type world struct {
	*python.Runtime
	launcher *sandbox.Launcher
	cache    string

	mu      sync.Mutex
	notices []string
	printed strings.Builder
}

// sharedCache spares most tests the look at the interpreter. It is the
// tests' own, so that each run compiles what it tests.
var sharedCache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "fettle-python-test-*") })

// newWorld makes a runtime over a real sandbox.
func newWorld(t *testing.T, o python.Options) *world {
	t.Helper()
	w := &world{}
	if o.Launcher == nil {
		w.launcher = sandbox.New(sandbox.Options{KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})
		o.Launcher = w.launcher
	}
	if o.CacheDir == "" {
		dir, err := sharedCache()
		if err != nil {
			t.Fatal(err)
		}
		o.CacheDir = dir
	}
	w.cache = o.CacheDir
	o.Least = toolset.LevelNone
	o.Notice = func(s string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notices = append(w.notices, s)
	}
	o.Output = func(_ toolset.Call, out toolset.Output) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.printed.WriteString(out.String())
	}
	w.Runtime = python.New(o)
	t.Cleanup(func() {
		if err := w.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if w.launcher != nil {
			w.launcher.Close()
		}
	})
	if o.Interpreter == "" {
		_, err := w.Interpreter(t.Context())
		var none *python.UnavailableError
		need(t, !errors.As(err, &none), "a Python that tools can run on")
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.notices, "\n")
}

func (w *world) output() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.printed.String()
}

// toolsetDir copies a toolset of the test data to where any user can reach it.
func toolsetDir(t *testing.T, from string) string {
	t.Helper()
	dir := realDir(t)
	if err := os.CopyFS(filepath.Join(dir, "set"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "set")
}

// source makes a toolset of one file.
func source(t *testing.T, text string) python.Spec {
	t.Helper()
	dir := realDir(t)
	write(t, filepath.Join(dir, "tools", "tool.py"), text)
	return spec(dir, "tools/tool.py", "run")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// spec is one whose tests don't depend on how full the disk is.
func spec(dir, module, function string) python.Spec {
	return python.Spec{
		ToolsetID: "testing", Dir: dir, Module: module, Function: function,
		Policy: toolset.Policy{Least: toolset.LevelNone, Limits: toolset.Limits{FreeDisk: toolset.NoLimit}},
	}
}

func workspace(t *testing.T) *toolset.Workspace {
	t.Helper()
	ws, err := toolset.OpenManaged(filepath.Join(realDir(t), "ws"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func call(ws *toolset.Workspace, args string) toolset.Call {
	return toolset.Call{ID: "c1", ChatID: "chat-1", Args: json.RawMessage(args), Workspace: ws, Page: "reports"}
}

// mustRun fails the test with what a call failed of.
func mustRun(t *testing.T, w *world, s python.Spec, c toolset.Call) toolset.Result {
	t.Helper()
	res, err := w.Runner(s).Run(t.Context(), c)
	if err != nil {
		t.Fatal(explain(err))
	}
	return res
}

// mustFail gives the ToolError that a call has to end with.
func mustFail(t *testing.T, w *world, s python.Spec, c toolset.Call) *toolset.ToolError {
	t.Helper()
	res, err := w.Runner(s).Run(t.Context(), c)
	var wrong *toolset.ToolError
	if !errors.As(err, &wrong) {
		t.Fatalf("want a ToolError: %v, %+v", err, res)
	}
	return wrong
}

func explain(err error) string {
	var wrong *toolset.ToolError
	if errors.As(err, &wrong) {
		return wrong.Message + "\n" + wrong.Traceback
	}
	return err.Error()
}

// golden compares a text with a file of the test data.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it anew\n%s", path, got)
	}
}
