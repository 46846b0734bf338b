package python_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
)

// index is a package index on the loopback with one wheel, and one package that
// there is as source alone.
type index struct {
	url      string
	hash     string // of the wheel
	requests atomic.Int32
	closed   atomic.Bool
}

func newIndex(t *testing.T) *index {
	t.Helper()
	ix := &index{}
	wheel := makeWheel(t)
	sum := sha256.Sum256(wheel)
	ix.hash = hex.EncodeToString(sum[:])
	const name = "fettle_testing_words-1.2-py3-none-any.whl"
	mux := http.NewServeMux()
	page := func(file, digest string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<!DOCTYPE html><html><body><a href=\"/files/%s%s\">%s</a></body></html>", file, digest, file)
		}
	}
	mux.HandleFunc("/simple/fettle-testing-words/", page(name, "#sha256="+ix.hash))
	mux.HandleFunc("/simple/fettle-testing-source/", page("fettle_testing_source-1.0.tar.gz", ""))
	mux.HandleFunc("/files/"+name, func(w http.ResponseWriter, _ *http.Request) { w.Write(wheel) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ix.requests.Add(1)
		if ix.closed.Load() {
			http.Error(w, "closed", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ix.url = server.URL + "/simple/"
	return ix
}

// makeWheel makes a package of one module.
func makeWheel(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	const info = "fettle_testing_words-1.2.dist-info/"
	for _, f := range []struct{ name, text string }{
		{"fettle_testing_words.py", "def greet(name):\n    return 'hello ' + name\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: fettle-testing-words\nVersion: 1.2\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: testing\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", "fettle_testing_words.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(f.name)
		if err == nil {
			_, err = w.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// newPackageWorld is a runtime with a cache of its own, whose packages come from
// an index.
func newPackageWorld(t *testing.T, url string) *world {
	t.Helper()
	w := newWorld(t, python.Options{CacheDir: realDir(t), IndexEnv: []string{
		"PIP_INDEX_URL=" + url, "PIP_RETRIES=0", "PIP_TRUSTED_HOST=127.0.0.1",
	}})
	in, err := w.Interpreter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = exec.CommandContext(t.Context(), in.Path, "-I", "-c", "import pip, venv; assert int(pip.__version__.split('.')[0]) >= 23").Run()
	need(t, err == nil, "a Python with pip 23 or later")
	return w
}

func packageSpec(t *testing.T, requirements ...string) python.Spec {
	s := source(t, "import sys\nimport fettle_testing_words as words\n\ndef run(workspace, name):\n    return {'greeting': words.greet(name), 'own': sys.prefix != sys.base_prefix}\n")
	s.Requirements = requirements
	return s
}

func TestRequirementsAreInstalledOnce(t *testing.T) {
	t.Parallel()
	ix := newIndex(t)
	w := newPackageWorld(t, ix.url)
	s, ws := packageSpec(t, "fettle-testing-words==1.2"), workspace(t)
	var missing *python.RequirementsError
	if _, err := w.Check(t.Context(), s); !errors.As(err, &missing) {
		t.Errorf("before: %v", err)
	}
	var mu sync.Mutex
	var said []string
	progress := func(p toolset.Progress) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, p.Message)
	}
	var wg sync.WaitGroup
	for range 2 { // at once: one makes it, the other waits
		wg.Go(func() {
			if err := w.Prepare(t.Context(), s, progress); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	text := strings.Join(said, "\n")
	for _, part := range []string{"making an environment for fettle-testing-words==1.2", "Collecting fettle-testing-words", "Successfully installed"} {
		if strings.Count(text, part) != 1 {
			t.Errorf("not once %q:\n%s", part, text)
		}
	}
	ix.closed.Store(true) // nothing is asked for again
	for range 2 {
		if res := mustRun(t, w, s, call(ws, `{"name":"world"}`)); string(res.Data) != `{"greeting":"hello world","own":true}` {
			t.Errorf("%s", res.Data)
		}
	}
	if _, err := w.Check(t.Context(), s); err != nil {
		t.Error(err)
	}
	// Another toolset with the same requirements has them, one without hasn't.
	mustRun(t, w, packageSpec(t, "fettle-testing-words==1.2"), call(ws, `{"name":"x"}`))
	if wrong := mustFail(t, w, packageSpec(t), call(ws, `{"name":"x"}`)); !strings.HasPrefix(wrong.Message, "ModuleNotFoundError: ") {
		t.Error(wrong.Message)
	}
}

// What can't be installed disables its own tools, and says why.
func TestRequirementsThatCannotBeInstalled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	ix := newIndex(t)
	w := newPackageWorld(t, ix.url)
	ws := workspace(t)
	for requirement, says := range map[string]string{
		"fettle-testing-words==9": "No matching distribution found for fettle-testing-words==9",
		"fettle-testing-source":   "No matching distribution found for fettle-testing-source",
	} {
		s := packageSpec(t, requirement)
		wrong := mustFail(t, w, s, call(ws, `{"name":"x"}`))
		var missing *python.RequirementsError
		if !strings.Contains(wrong.Message, says) || !strings.Contains(wrong.Message, "toolset testing") || !errors.As(wrong, &missing) {
			t.Errorf("%s: %s", requirement, wrong.Message)
		}
		asked := ix.requests.Load()
		mustFail(t, w, s, call(ws, `{"name":"x"}`))
		if ix.requests.Load() != asked {
			t.Error("the index was asked again at once")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.cache, "venv-*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
	mustRun(t, w, source(t, "def run(workspace):\n    return {}\n"), call(ws, `{}`))
}

func TestRequirementsOffline(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	w := newPackageWorld(t, gone.URL+"/simple/")
	wrong := mustFail(t, w, packageSpec(t, "fettle-testing-words"), call(workspace(t), `{"name":"x"}`))
	if !strings.Contains(wrong.Message, "the package index can't be reached") {
		t.Error(wrong.Message)
	}
}

// An installation that is cut short leaves nothing that is taken for whole.
func TestRequirementsCancelled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	ix := newIndex(t)
	w := newPackageWorld(t, ix.url)
	s := packageSpec(t, "fettle-testing-words")
	ctx, cancel := context.WithCancel(t.Context())
	err := w.Prepare(ctx, s, func(p toolset.Progress) {
		if strings.HasPrefix(p.Message, "Collecting ") {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	in, err := w.Interpreter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// As after a kill: a folder with something in it, and no mark.
	half := filepath.Join(w.cache, python.EnvironmentKey(in, s.Requirements))
	write(t, filepath.Join(half, "bin", "python"), "not an interpreter")
	if err := w.Prepare(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	mustRun(t, w, s, call(workspace(t), `{"name":"x"}`))
}

// A requirement that could install code from anywhere is refused before
// anything is started.
func TestRequirementsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	for _, line := range []string{
		"-r /etc/passwd", "--index-url=http://evil.example", "pkg @ https://evil.example/x.whl", "./local", "git+https://evil.example/x",
		"https://evil.example/x.whl", "a b", "a == --pre", "a ; x --index-url=http://evil.example", "a ;--pre", "a\n--pre", "a==1 --hash=sha256:00", "", strings.Repeat("a", 8001), "a ; x @ y", "é",
	} {
		s := packageSpec(t, line)
		if wrong := mustFail(t, w, s, call(workspace(t), `{"name":"x"}`)); !strings.Contains(wrong.Message, "want a package's name and versions") {
			t.Errorf("%q: %s", line, wrong.Message)
		}
	}
	if err := w.Prepare(t.Context(), packageSpec(t, make([]string, 201)...), nil); err == nil {
		t.Error("201 requirements were taken")
	}
}

// Where the manifest has hashes, pip is held to them.
func TestRequirementsWithHashes(t *testing.T) {
	t.Parallel()
	ix := newIndex(t)
	w := newPackageWorld(t, ix.url)
	right, wrong := "fettle-testing-words==1.2 --hash=sha256:"+ix.hash, "fettle-testing-words==1.2 --hash=sha256:"+strings.Repeat("0", 64)
	if err := w.Prepare(t.Context(), packageSpec(t, wrong), nil); err == nil {
		t.Error("another file than that of the hash was installed")
	}
	res := mustRun(t, w, packageSpec(t, wrong+" --hash=sha256:"+ix.hash), call(workspace(t), `{"name":"x"}`))
	if !strings.Contains(res.Text, "hello x") {
		t.Error(res.Text)
	}
	if err := w.Prepare(t.Context(), packageSpec(t, right, "idna==3.10"), nil); err == nil || !strings.Contains(err.Error(), "1 of 2 requirements have hashes") {
		t.Errorf("half of them: %v", err)
	}
}

// An environment stays while a call uses it, and goes when nothing needs it.
func TestEnvironmentsInUseArePrunedLater(t *testing.T) {
	t.Parallel()
	ix := newIndex(t)
	w := newPackageWorld(t, ix.url)
	s, ws := packageSpec(t, "fettle-testing-words==1.2"), workspace(t)
	write(t, filepath.Join(s.Dir, "tools", "tool.py"),
		"import time\n\ndef run(workspace, name):\n    (workspace / 'begun').touch()\n    while not (workspace / 'go').exists():\n        time.sleep(0.005)\n    import fettle_testing_words\n    return {}\n")
	ended := make(chan error, 1)
	go func() {
		_, err := w.Runner(s).Run(t.Context(), call(ws, `{"name":"x"}`))
		ended <- err
	}()
	waitFor(t, filepath.Join(ws.Path, "begun"))
	p, err := python.Prune(t.Context(), w.cache, python.PruneOptions{})
	if err != nil || len(p.Removed) != 0 || p.Kept == 0 {
		t.Errorf("while it is used: %+v, %v", p, err)
	}
	write(t, filepath.Join(ws.Path, "go"), "")
	if err := <-ended; err != nil {
		t.Fatal(explain(err))
	}
	p, err = python.Prune(t.Context(), w.cache, python.PruneOptions{})
	if err != nil || len(p.Removed) != 1 || p.Bytes == 0 {
		t.Errorf("after it: %+v, %v", p, err)
	}
	mustRun(t, w, s, call(ws, `{"name":"x"}`)) // it is made again
}

func TestNoPython(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("sh")
	need(t, err == nil, "a shell")
	old := filepath.Join(realDir(t), "python-old")
	write(t, old, "#!/bin/sh\ncat >/dev/null\necho '{\"version\":\"3.6.15\",\"major\":3,\"minor\":6,\"executable\":\"/bin/sh\",\"prefixes\":[]}'\n")
	broken := filepath.Join(realDir(t), "python-broken")
	write(t, broken, "#!/bin/sh\necho 'pyenv: version 9 is not installed' >&2\nexit 127\n")
	other := filepath.Join(realDir(t), "not-python")
	write(t, other, "#!/bin/sh\necho hello\n")
	for _, path := range []string{old, broken, other} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for interpreter, says := range map[string]string{
		"/no/such/python": "/no/such/python is not there", old: "is Python 3.6.15", broken: "pyenv: version 9 is not installed", other: "not as Python does",
	} {
		w := newWorld(t, python.Options{Interpreter: interpreter, CacheDir: realDir(t)})
		wrong := mustFail(t, w, source(t, "def run(workspace):\n    return {}\n"), call(workspace(t), `{}`))
		var none *python.UnavailableError
		if !errors.As(wrong, &none) || !strings.Contains(wrong.Message, says) || !strings.Contains(wrong.Message, "install Python 3.9 or later") {
			t.Errorf("%s: %s", interpreter, wrong.Message)
		}
	}
}

// What is known of an interpreter holds as long as its files are the same.
func TestInterpreterIsRemembered(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("sh")
	need(t, err == nil, "a shell")
	cache, dir := realDir(t), realDir(t)
	in, err := newWorld(t, python.Options{CacheDir: cache}).Interpreter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shim, asked := filepath.Join(dir, "python3"), filepath.Join(dir, "asked")
	write(t, shim, "#!/bin/sh\necho x >> '"+asked+"'\nexec '"+in.Path+"' \"$@\"\n")
	if err := os.Chmod(shim, 0o755); err != nil {
		t.Fatal(err)
	}
	tool, ws := source(t, "def run(workspace):\n    return {}\n"), workspace(t)
	look := func(want int) *world {
		t.Helper()
		w := newWorld(t, python.Options{CacheDir: cache, Interpreter: shim})
		mustRun(t, w, tool, call(ws, `{}`))
		mustRun(t, w, tool, call(ws, `{}`))
		if got, err := w.Interpreter(t.Context()); err != nil || got.Path != in.Path || got.Asked != shim {
			t.Errorf("%+v %v", got, err)
		}
		if data, err := os.ReadFile(asked); err != nil || strings.Count(string(data), "x") != want {
			t.Errorf("asked %q, want %d times: %v", data, want, err)
		}
		return w
	}
	look(1)
	w := look(1)
	write(t, shim, "#!/bin/sh\n# another\necho x >> '"+asked+"'\nexec '"+in.Path+"' \"$@\"\n")
	mustRun(t, w, tool, call(ws, `{}`)) // while it runs, too
	look(2)
	// What was damaged is made anew.
	for n, pattern := range []string{"interpreter-*.json", "runner-*", "runner-*/fettle.pyc"} {
		found, _ := filepath.Glob(filepath.Join(cache, pattern))
		if len(found) == 0 {
			t.Errorf("nothing is kept as %s", pattern)
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
		look(3 + n)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, ".*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// Each Python that the machine has under its number runs tools.
func TestEachPython(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	ran := 0
	for minor := 9; minor < 20; minor++ {
		name := fmt.Sprintf("python3.%d", minor)
		w := newWorld(t, python.Options{CacheDir: realDir(t), Interpreter: name})
		in, err := w.Interpreter(t.Context())
		var none *python.UnavailableError
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		ran++
		forms, hostile, ws := toolsetDir(t, "testdata/forms"), toolsetDir(t, "testdata/hostile"), workspace(t)
		for _, c := range []struct{ function, want string }{
			{"registries", `{"same":true,"tools":1,"repr":"ToolProgress(stage='s', message='m', data=None, progress=None)"}`},
			{"siblings", `{"helper":"helper","again":"helper","deeper":"deeper than helper","shared":"shared"}`},
			{"async_then_stream", `{"rows":2}`}, {"gives_str", `{"text":"grüße, 世界"}`},
		} {
			if res := mustRun(t, w, spec(forms, "tools/forms.py", c.function), call(ws, `{}`)); string(res.Data) != c.want {
				t.Errorf("%s: %s: %s", in.Version, c.function, res.Data)
			}
		}
		mustRun(t, w, spec(forms, "tools/forms.py", "odd_values"), call(ws, `{}`))
		if wrong := mustFail(t, w, spec(hostile, "tools/hostile.py", "raises"), call(ws, `{}`)); !strings.Contains(wrong.Traceback, `File "tools/hostile.py", line 7, in raises`) {
			t.Errorf("%s: %s", in.Version, explain(wrong))
		}
	}
	need(t, ran > 0, "a Python under its number, such as python3.11")
	t.Logf("%d", ran)
}

func TestSpecsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	good := source(t, "def run(workspace):\n    return {}\n")
	for says, change := range map[string]func(*python.Spec){
		"not an absolute path":     func(s *python.Spec) { s.Dir = "relative" },
		"not a Python file":        func(s *python.Spec) { s.Module = "../tool.py" },
		"a Python file of its own": func(s *python.Spec) { s.Module = "tools/tool.so" },
		"a module's name":          func(s *python.Spec) { s.Module = "tools/a-b.py" },
		"a function's name":        func(s *python.Spec) { s.Function = "run()" },
		"has no file tools/x.py":   func(s *python.Spec) { s.Module = "tools/x.py" },
	} {
		s := good
		change(&s)
		if wrong := mustFail(t, w, s, call(workspace(t), `{}`)); !strings.Contains(wrong.Message, says) {
			t.Errorf("%s: %s", says, wrong.Message)
		}
		if _, err := w.Check(t.Context(), s); err == nil {
			t.Errorf("%s: nothing was found", says)
		}
	}
	if in, err := w.Check(t.Context(), good); err != nil || in.Version == "" {
		t.Errorf("%+v %v", in, err)
	}
}
