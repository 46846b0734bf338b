package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// need skips a test that needs something the machine lacks. On a machine that
// claims to have everything a skip is a failure.
func need(t testing.TB, ok bool, what string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("FETTLE_TEST_REQUIRE") == "all" {
		t.Fatalf("FETTLE_TEST_REQUIRE=all, and this machine lacks %s", what)
	}
	t.Skipf("this machine lacks %s", what)
}

// real is a path without links, as grants want it.
func real(t testing.TB, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// cache is one folder for the whole run, so that the runner is compiled once.
var cache = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "fettle-python-*")
	if err != nil {
		panic(err)
	}
	return dir
})

type world struct {
	t  testing.TB
	rt *python.Runtime
	ws *toolset.Workspace
}

func newWorld(t testing.TB, o python.Options) *world {
	t.Helper()
	l := sandbox.New(sandbox.Options{KeeperEnv: []string{"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")}})
	o.Launcher = l
	if o.CacheDir == "" {
		o.CacheDir = real(t, cache())
	}
	w := &world{t: t, rt: python.New(o)}
	t.Cleanup(func() {
		if err := errors.Join(w.rt.Close(), l.Close()); err != nil {
			t.Error(err)
		}
	})
	if _, err := w.rt.Check(t.Context()); err != nil {
		need(t, false, "Python: "+err.Error())
	}
	var err error
	if w.ws, err = toolset.OpenManaged(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.ws.Close() })
	return w
}

// called is what came of a call.
type called struct {
	toolset.Result
	err     error
	updates []toolset.Progress
}

func (c called) message() string {
	var own *toolset.ToolError
	if errors.As(c.err, &own) {
		return own.Message
	}
	return ""
}

func (c called) traceback() string {
	var own *toolset.ToolError
	if errors.As(c.err, &own) {
		return own.Traceback
	}
	return ""
}

func (w *world) spec(module, function string) python.Spec {
	return python.Spec{
		Dir: real(w.t, "testdata/forms"), Module: module, Function: function,
		Policy: toolset.Policy{Least: toolset.LevelNone, Limits: toolset.Limits{FreeDisk: toolset.NoLimit}},
	}
}

func (w *world) call(ctx context.Context, s python.Spec, args string) called {
	w.t.Helper()
	var out called
	out.Result, out.err = w.rt.Runner(s).Run(ctx, toolset.Call{
		ID: "call", ChatID: "chat", Page: "reports", Tab: "2", Args: json.RawMessage(args), Workspace: w.ws,
		Progress: func(p toolset.Progress) { out.updates = append(out.updates, p) },
	})
	return out
}

func TestEveryForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{Spares: 1})
	if err := w.ws.Root.WriteFile("a.csv", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ function, args, text, data string }{
		{"plain", `{"a":1,"b":[true,null]}`, "", `{"args":{"a":1,"b":[true,null]},"there":["a.csv"],"type":true}`},
		{"named", `{"path":"x"}`, "", `{"path":"x","times":2}`},
		{"without_workspace", `{"a":1}`, "", `{"sum":2}`},
		{"keyword_only", `{"a":"\u00e9"}`, "", `{"a":"\u00e9"}`},
		{"text", `{}`, "just words", ``},
		{"result", `{}`, "for the model", `{"rows":2}`},
		{"result_without_text", `{}`, `{"rows":2}`, `{"rows":2}`},
		{"old_form", `{"x":"y"}`, "", `{"params":{"x":"y"},"db":null,"user":null,"chat":"chat","page":"reports","tab":"2","folder":true}`},
		{"streams", `{}`, "done", `{"seen":3}`},
		{"yields_its_result", `{}`, "", `{"last":true}`},
		{"waits", `{}`, "", `{"async":true}`},
		{"streams_async", `{}`, "", `{"async":"generator"}`},
		{"wrapped", `{"a":1}`, "", `{"wrapped":{"a":1}}`},
		{"instance", `{"a":1}`, "", `{"called":1}`},
		{"method", `{"a":1}`, "", `{"method":1}`},
		{"data_class", `{}`, "", `{"name":"n","size":1}`},
		{"uses_helper", `{}`, "", `{"helper":42,"asset":"an asset"}`},
		{"odd_numbers", `{}`, "", `{"nan":null,"inf":[null],"big":"1152921504606846976","lone":"?"}`},
		{"values", `{}`, "", `{"set":["a","b"],"tuple":[1,2],"path":false,"pure":"a/b","date":"2026-01-02","time":"2026-01-02T03:04:05","enum":"red",` +
			`"row":{"name":"n","size":1},"decimal":"1.10","uuid":"00000000-0000-0000-0000-000000000001","true":true,"none":null,"float":0.1,"int":9007199254740991,` +
			`"text":"\u00e9\u2028\n\"</script>","1":"number key","null":"none key","empty":[{},[]],"nested":{"a":[{"b":1.5}]}}`},
	} {
		got := w.call(t.Context(), w.spec("tools.forms", c.function), c.args)
		if got.err != nil {
			t.Errorf("%s: %v\n%s", c.function, got.err, got.traceback())
			continue
		}
		if string(got.Data) != c.data {
			t.Errorf("%s: data %s\nwant %s", c.function, got.Data, c.data)
		}
		if want := c.text; want != "" && got.Text != want || want == "" && got.Text != c.data {
			t.Errorf("%s: text %q", c.function, got.Text)
		}
	}
	if got := w.call(t.Context(), w.spec("relative", "run"), `{"a":1}`); string(got.Data) != `{"relative":1}` {
		t.Errorf("a module below tools: %s, %v", got.Data, got.err)
	}
}

func TestPayloadsAndProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	got := w.call(t.Context(), w.spec("tools.forms", "result"), `{}`)
	if string(got.WorkspacePayload) != `{"type":"table","title":"T","content":"","data":[]}` || string(got.Payload) != `{"type":"x","data":{}}` {
		t.Errorf("payloads %s and %s, %v", got.WorkspacePayload, got.Payload, got.err)
	}
	updates := func(function string) string {
		t.Helper()
		got := w.call(t.Context(), w.spec("tools.forms", function), `{}`)
		raw, err := json.Marshal(got.updates)
		if err != nil || got.err != nil {
			t.Fatal(err, got.err)
		}
		return string(raw)
	}
	for function, want := range map[string]string{
		"streams":           `[{"stage":"one","message":"first","data":{"n":1}},{"stage":"two","message":"second","progress":0.5},{"stage":"","message":"a text"}]`,
		"yields_its_result": `[{"stage":"s","message":"m","progress":1}]`,
		"streams_async":     `[{"stage":"a","message":"b"}]`,
		"reports":           `[{"stage":"stage","message":"message","progress":0.25,"data":{"k":1}}]`,
		"waits":             `null`,
	} {
		if got := updates(function); got != want {
			t.Errorf("%s: %s", function, got)
		}
	}
	if got := updates("odd_numbers"); !strings.Contains(got, "$.nan: nan became null") || !strings.Contains(got, "$.big: a number past 2^53") {
		t.Errorf("notes: %s", got)
	}
}

// What a tool prints, by whatever way, is kept and is no frame.
func TestWhatAToolPrints(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	got := w.call(t.Context(), w.spec("tools.forms", "prints"), `{}`)
	if string(got.Data) != `{"read":""}` || len(got.updates) != 1 {
		t.Fatalf("%s, %v, %v", got.Data, got.err, got.updates)
	}
	for _, word := range []string{"out", "err", "raw", "child"} {
		if !strings.Contains(string(got.updates[0].Data), word) {
			t.Errorf("%s is not in %s", word, got.updates[0].Data)
		}
	}
}
