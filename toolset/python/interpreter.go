package python

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// probeTime bounds asking an interpreter what it is. A shim of pyenv takes
	// half a second, on a busy machine a few.
	probeTime = 20 * time.Second
	// knownTime is how long what was learnt of an interpreter is believed: a
	// shim may mean another one tomorrow.
	knownTime = 24 * time.Hour
	// leastMinor is the oldest Python that tools run with, 3.9.
	leastMinor = 9
)

//go:embed runner.py
var runnerSource []byte

// Interpreter is a Python.
type Interpreter struct {
	// Path is the program itself, behind links and shims.
	Path string `json:"path"`
	// Version is such as 3.11.2.
	Version string `json:"version"`
	// Tag names the format of its compiled files, such as cpython-311.
	Tag string `json:"tag"`
	// Readable are the folders that it needs beside the system's own.
	Readable []string `json:"readable"`
	// Pip tells whether it can install packages.
	Pip bool `json:"pip"`
}

// known is what is kept of an interpreter between runs.
type known struct {
	Asked       string      `json:"asked"` // the program that was found by name
	AskedAt     time.Time   `json:"asked_at"`
	Modified    time.Time   `json:"modified"` // of Interpreter.Path
	Size        int64       `json:"size"`
	Interpreter Interpreter `json:"interpreter"`
}

// home finds the interpreter and keeps the runner, once for each run of fettle.
type home struct {
	o Options

	mu   sync.Mutex
	py   *Interpreter
	comp *compiled
}

// compiled is the runner as a file.
type compiled struct{ dir, path string }

// interpreter finds the Python to use. A failure is tried again at the next
// call: somebody may have installed one.
func (h *home) interpreter(ctx context.Context) (Interpreter, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.py != nil {
		return *h.py, nil
	}
	asked, err := h.look()
	if err != nil {
		return Interpreter{}, err
	}
	if k, ok := h.remembered(asked); ok {
		h.py = &k.Interpreter
		return *h.py, nil
	}
	py, err := probe(ctx, asked)
	if err != nil {
		return Interpreter{}, err
	}
	h.remember(asked, py)
	h.py = &py
	return py, nil
}

// look finds a program by name.
func (h *home) look() (string, error) {
	names := []string{"python3", "python"}
	if h.o.Interpreter != "" {
		names = []string{h.o.Interpreter}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.Abs(path); err == nil {
			return path, nil
		}
	}
	if h.o.Interpreter != "" {
		return "", &toolset.ToolError{Message: "there is no Python at " + h.o.Interpreter + ", where the setting python looks for it"}
	}
	return "", &toolset.ToolError{Message: "this tool needs Python 3.9 or newer, and there is no python3 on the PATH; install it, or set python to its path"}
}

// remembered is what an earlier run has learnt, if it still holds.
func (h *home) remembered(asked string) (known, bool) {
	var k known
	raw, err := os.ReadFile(h.knownFile())
	if err != nil || json.Unmarshal(raw, &k) != nil || k.Asked != asked {
		return known{}, false
	}
	info, err := os.Stat(k.Interpreter.Path)
	age := time.Since(k.AskedAt)
	return k, err == nil && info.ModTime().Equal(k.Modified) && info.Size() == k.Size && age >= 0 && age < knownTime
}

// remember keeps what was learnt. Where that fails it is learnt again.
func (h *home) remember(asked string, py Interpreter) {
	info, err := os.Stat(py.Path)
	if err != nil {
		return
	}
	raw, err := json.Marshal(known{Asked: asked, AskedAt: time.Now(), Modified: info.ModTime(), Size: info.Size(), Interpreter: py})
	if err == nil {
		_ = writeWhole(h.knownFile(), raw)
	}
}

func (h *home) knownFile() string { return filepath.Join(h.o.CacheDir, "interpreter.json") }

// writeWhole replaces a file by one with the contents.
func writeWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// probeScript asks an interpreter what it is. Its folders are those of the
// installation itself, not of a virtual environment that it may belong to.
const probeScript = `import sys, json, os, importlib.util
paths = {os.path.realpath(p) for p in (sys.base_prefix, sys.base_exec_prefix)}
paths |= {os.path.realpath(os.path.dirname(p)) for p in (os.__file__, sys._base_executable if getattr(sys, "_base_executable", None) else sys.executable)}
print(json.dumps({"path": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
 "version": "%d.%d.%d" % sys.version_info[:3], "tag": sys.implementation.cache_tag or "", "readable": sorted(paths),
 "pip": importlib.util.find_spec("pip") is not None}))`

// probe asks an interpreter what it is.
func probe(ctx context.Context, path string) (Interpreter, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-I", "-c", probeScript)
	cmd.WaitDelay = time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var py Interpreter
	if err == nil {
		err = json.Unmarshal(out, &py)
	}
	if err != nil {
		return py, &toolset.ToolError{
			Message: fmt.Sprintf("%s is no Python that works: %s", path, firstLine(errs.String()+"\n"+err.Error())), Err: err,
		}
	}
	var major, minor int
	if _, err := fmt.Sscanf(py.Version, "%d.%d", &major, &minor); err != nil || major != 3 || minor < leastMinor {
		return py, &toolset.ToolError{Message: fmt.Sprintf("%s is Python %s, and tools need 3.%d or newer", path, py.Version, leastMinor)}
	}
	py.Readable = outside(py.Readable)
	return py, nil
}

// outside drops folders that a sandbox has anyway, and what can't be granted.
func outside(dirs []string) []string {
	out := []string{}
	for _, dir := range dirs {
		system := dir == "/usr" || strings.HasPrefix(dir, "/usr/") && !strings.HasPrefix(dir, "/usr/local/")
		if !system && filepath.IsAbs(dir) && filepath.Dir(dir) != dir {
			out = append(out, dir)
		}
	}
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return tail(line)
}

// runner gives the compiled runner, and makes it where it isn't there.
func (h *home) runner(ctx context.Context, py Interpreter) (compiled, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.comp != nil {
		return *h.comp, nil
	}
	sum := sha256.Sum256(append([]byte(py.Version+"\n"+py.Tag+"\n"), runnerSource...))
	c := compiled{dir: filepath.Join(h.o.CacheDir, "runner-"+hex.EncodeToString(sum[:8]))}
	source := filepath.Join(c.dir, "runner.py")
	c.path = source + "c"
	if _, err := os.Stat(c.path); errors.Is(err, fs.ErrNotExist) {
		if err := writeWhole(source, runnerSource); err != nil {
			return c, fmt.Errorf("keep the runner of Python tools: %w", err)
		}
		if err := compile(ctx, py, source, c.path); err != nil {
			return c, err
		}
	} else if err != nil {
		return c, fmt.Errorf("look at the runner of Python tools: %w", err)
	}
	h.comp = &c
	return c, nil
}

// compileScript compiles a file, under a name that no file of a tool has.
const compileScript = `import sys, os, py_compile
new = "%s.%d" % (sys.argv[2], os.getpid())
py_compile.compile(sys.argv[1], cfile=new, dfile="<fettle>", doraise=True, optimize=2, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
os.replace(new, sys.argv[2])`

func compile(ctx context.Context, py Interpreter, source, target string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, py.Path, "-I", "-S", "-c", compileScript, source, target)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the runner of Python tools: %w: %s", err, firstLine(string(out)))
	}
	return nil
}
