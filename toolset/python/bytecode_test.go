package python_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset/python"
)

// largeTool is a toolset whose files are worth keeping compiled.
func largeTool(t *testing.T, answer string) python.Spec {
	t.Helper()
	dir := realDir(t)
	write(t, filepath.Join(dir, "tools", "tool.py"), "from tools.parts import big\n\ndef run(workspace):\n    return {'answer': big.answer(), 'name': big.answer.__code__.co_filename, 'env': 'FETTLE_BYTECODE' in __import__('os').environ}\n")
	write(t, filepath.Join(dir, "tools", "parts", "big.py"), "def answer():\n    return "+answer+"\n"+strings.Repeat("X = {'some': ['data', 1, 2.5], 'more': None}\n", 500))
	write(t, filepath.Join(dir, "tools", "broken.py"), "def oh(:\n")
	write(t, filepath.Join(dir, "assets", "data.py"), "never = 'compiled'\n")
	return spec(dir, "tools/tool.py", "run")
}

// compiledFolder is the only folder of compiled files in a cache; "" is none.
func compiledFolder(t *testing.T, cache string) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(cache, "bytecode-*"))
	if err != nil || len(dirs) > 1 {
		t.Fatalf("%v, %v", dirs, err)
	}
	if len(dirs) == 0 {
		return ""
	}
	return dirs[0]
}

func oneCallWorld(t *testing.T, cache string) *world {
	t.Helper()
	return newWorld(t, python.Options{CacheDir: cache, NoSpares: true})
}

func TestFilesOfALargerToolsetAreCompiledOnce(t *testing.T) {
	t.Parallel()
	w, s := oneCallWorld(t, realDir(t)), largeTool(t, "1")
	want := `{"answer":1,"name":"` + filepath.ToSlash(s.Dir) + `/tools/parts/big.py","env":false}`
	if res := mustRun(t, w, s, call(nil, "{}")); res.Text != want {
		t.Error(res.Text)
	}
	dir := compiledFolder(t, w.cache)
	for name, there := range map[string]bool{
		"tools/tool.pyc": true, "tools/parts/big.pyc": true, "fettle-bytecode.json": true, "tools/broken.pyc": false, "assets/data.pyc": false,
	} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	before, err := os.Stat(filepath.Join(dir, "tools", "parts", "big.pyc"))
	if err != nil {
		t.Fatal(err)
	}
	// Another program finds it, and makes nothing anew.
	if res := mustRun(t, oneCallWorld(t, w.cache), s, call(nil, "{}")); res.Text != want {
		t.Error(res.Text)
	}
	if after, err := os.Stat(filepath.Join(dir, "tools", "parts", "big.pyc")); err != nil || !os.SameFile(before, after) {
		t.Errorf("%v", err)
	}
}

// What was compiled runs, so that the text is not compiled again; but only what
// was compiled of this very text.
func TestCompiledFilesAreHeldAgainstTheSource(t *testing.T) {
	t.Parallel()
	w, s := oneCallWorld(t, realDir(t)), largeTool(t, "1")
	mustRun(t, w, s, call(nil, "{}"))
	// The same size and the same time, as an editor or a copy may leave it.
	path := filepath.Join(s.Dir, "tools", "parts", "big.py")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, []byte(strings.Replace(string(text), "return 1", "return 2", 1)), 0o644), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	// this runtime believes for a while that the files are what they were
	if res := mustRun(t, w, s, call(nil, "{}")); !strings.Contains(res.Text, `"answer":2`) {
		t.Error(res.Text)
	}
	// Another one compiles anew, in the place of the old.
	old := compiledFolder(t, w.cache)
	if res := mustRun(t, oneCallWorld(t, w.cache), s, call(nil, "{}")); !strings.Contains(res.Text, `"answer":2`) {
		t.Error(res.Text)
	}
	if now := compiledFolder(t, w.cache); now == old {
		t.Error("it is the old one")
	}
}

func TestCompiledFilesThatAreDamagedAreMadeAnew(t *testing.T) {
	t.Parallel()
	w, s := oneCallWorld(t, realDir(t)), largeTool(t, "1")
	mustRun(t, w, s, call(nil, "{}"))
	path := filepath.Join(compiledFolder(t, w.cache), "tools", "parts", "big.pyc")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// its header is right, so that Python would believe it
	write(t, path, string(good[:16])+"not a code object")
	if res := mustRun(t, oneCallWorld(t, w.cache), s, call(nil, "{}")); !strings.Contains(res.Text, `"answer":1`) {
		t.Error(res.Text)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(good) {
		t.Errorf("it is as it was: %v", err)
	}
}

// A tool sees what was compiled of it, and can't change it.
func TestToolCantWriteCompiledFiles(t *testing.T) {
	t.Parallel()
	w := oneCallWorld(t, realDir(t))
	report, err := w.launcher.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need(t, report.Level > 1, "a sandbox")
	s := largeTool(t, "1")
	mustRun(t, w, s, call(nil, "{}"))
	dir := compiledFolder(t, w.cache)
	write(t, filepath.Join(s.Dir, "tools", "tool.py"), "import os\n\ndef run(workspace):\n    out = {}\n"+
		"    for name in ('tools/parts/big.pyc', 'new.pyc'):\n        try:\n            open('"+dir+"/' + name, 'ab').write(b'x')\n            out[name] = 'written'\n        except OSError as e:\n            out[name] = 'refused'\n    return out\n")
	if res := mustRun(t, w, s, call(nil, "{}")); res.Text != `{"tools/parts/big.pyc":"refused","new.pyc":"refused"}` {
		t.Error(res.Text)
	}
}

func TestSmallToolsetHasNoCompiledFiles(t *testing.T) {
	t.Parallel()
	w := oneCallWorld(t, realDir(t))
	mustRun(t, w, source(t, "def run(workspace):\n    return {}\n"), call(nil, "{}"))
	if dir := compiledFolder(t, w.cache); dir != "" {
		t.Error(dir)
	}
}

// A spare has compiled what the last call loaded, and still runs what is there
// when it is called.
func TestSpareRunsWhatIsThere(t *testing.T) {
	t.Parallel()
	l := newCounting(t)
	w := newWorld(t, python.Options{Launcher: l})
	s, ws := source(t, "from tools import part\n\ndef run(workspace):\n    return {'n': part.N}\n"), workspace(t)
	part := filepath.Join(s.Dir, "tools", "part.py")
	write(t, part, "N = 1\n")
	for n := range 3 {
		if n == 2 {
			write(t, part, "N = 'another'\n")
		}
		want := []string{`{"n":1}`, `{"n":1}`, `{"n":"another"}`}[n]
		if res := mustRun(t, w, s, call(ws, "{}")); res.Text != want {
			t.Errorf("call %d: %s", n, res.Text)
		}
		l.waitSpares(t, n+1)
	}
	if cold, _ := l.counts(); cold != 1 {
		t.Errorf("%d cold starts", cold)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	cache := realDir(t)
	env := func(name, requirements string, age time.Duration, interpreter bool) {
		dir := filepath.Join(cache, name)
		write(t, filepath.Join(dir, "lib.py"), strings.Repeat("x", 1000))
		if interpreter {
			write(t, python.PythonIn(dir), "")
		}
		mark := filepath.Join(dir, "fettle-ready.json")
		write(t, mark, `{"requirements":`+requirements+`,"python":"3.11.7"}`)
		then := time.Now().Add(-age)
		if err := os.Chtimes(mark, then, then); err != nil {
			t.Fatal(err)
		}
	}
	const old = 48 * time.Hour
	env("venv-used", `["a==1","b==2"]`, old, true)
	env("venv-young", `["c==1"]`, time.Minute, true)
	env("venv-old", `["c==2"]`, old, true)
	env("venv-no-python", `["a==1","b==2"]`, old, false)
	write(t, filepath.Join(cache, ".removing-venv-x", "file"), "1234")
	gone, there := filepath.Join(cache, "gone"), realDir(t)
	for name, root := range map[string]string{"bytecode-gone": gone, "bytecode-there": there} {
		write(t, filepath.Join(cache, name, "fettle-bytecode.json"), `{"root":"`+filepath.ToSlash(root)+`","files":{}}`)
	}
	write(t, filepath.Join(cache, "interpreter-x.json"), "{}")
	o := python.PruneOptions{Used: [][]string{{"z"}, {"b==2", "a==1"}}, Idle: time.Hour}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := python.Prune(done, cache, o); !errors.Is(err, context.Canceled) || len(p.Removed) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
	p, err := python.Prune(t.Context(), cache, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Removed) != 2 || p.Removed[1].Requirements[0] != "c==2" || p.Removed[0].Bytes < 1000 || p.Bytes < 2000 || p.Kept < 2000 || p.Removed[0].Python != "3.11.7" {
		t.Errorf("%+v", p)
	}
	var left []string
	list, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		left = append(left, e.Name())
	}
	if got, want := strings.Join(left, " "), "bytecode-there interpreter-x.json venv-used venv-young"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p, err := python.Prune(t.Context(), filepath.Join(cache, "none"), o); err != nil || p.Bytes != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
