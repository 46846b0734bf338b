package python

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset"
)

// Options are what a runtime is made of.
type Options struct {
	// Launcher starts every process of a tool.
	Launcher toolset.Launcher
	// Interpreter is a program's name or path; empty looks for python3 on the
	// PATH, and then for other names.
	Interpreter string
	// CacheDir keeps what was learnt of interpreters, the compiled runner and
	// virtual environments; it is made when it is needed. Empty is a folder
	// for temporary files, which Close removes.
	CacheDir string
	// Notice takes a line for the user now and then; it may be nil, and is
	// called from several goroutines.
	Notice func(string)
	// Output takes what a call printed, where it printed something, before the
	// call returns; it may be nil.
	Output func(toolset.Call, toolset.Output)
	// Least is a containment below which no tool is run, whatever its policy
	// says. The zero value leaves that to the policy.
	Least toolset.Level
	// ServiceIdle is how long a service lives that nobody uses; zero is the
	// constant of that name.
	ServiceIdle time.Duration
	// ServiceEnded is told of each service that has ended; it may be nil, and is
	// called from several goroutines.
	ServiceEnded func(toolset.Service)
	// NoSpares is for a program that ends after one call.
	NoSpares bool
	// SpareIdle is how long a spare waits; zero is a minute.
	SpareIdle time.Duration
	// IndexEnv are variables, NAME=value, for installing packages, such as
	// PIP_INDEX_URL or HTTPS_PROXY; IndexFiles are files and folders that are
	// read for it, such as pip.conf. IndexHosts are the only hosts to reach
	// then; empty is any.
	IndexEnv, IndexFiles, IndexHosts []string
	// Temporaries records temporary folders; nil records nothing.
	Temporaries *atomicfile.Ledger
}

// MaxSpares is how many processes wait for calls at most: each holds some ten
// megabytes.
const MaxSpares = 4

// defaultIdle outlasts the time between two calls of one turn.
const defaultIdle = time.Minute

// Spec says what a tool's function is and what its process may reach.
type Spec struct {
	// ToolsetID is for messages.
	ToolsetID string
	// Dir is the absolute folder of the toolset's installed version.
	Dir string
	// Module is the module's file below Dir, such as tools/analyze.py;
	// Function is what is called.
	Module, Function string
	// Requirements are the toolset's Python packages, as in requirements.txt:
	// names, extras, versions and markers, no addresses, paths or options.
	Requirements []string
	// Streaming is what the manifest says. A generator streams in any case; a
	// notice tells once where the manifest should say so.
	Streaming bool
	// Parser says that the function is a payload's parser: it is called with one
	// text, the argument text, and gives {type, data}.
	Parser bool
	// Service says that the process lives on after the call, for the next calls
	// of the tool in the chat; ToolID and Revision are what is told of it. Keep
	// keeps the toolset's files for it until it is let go; it may be nil.
	Service          bool
	ToolID, Revision string
	Keep             func() (letGo func())
	// Policy is what the tool may reach beside its own files, the interpreter
	// and the workspace of each call.
	Policy toolset.Policy
}

// identifier is what a module's part or a function can be called.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL_][\pL\pN_]{0,199}$`) })

// check tells what is wrong with a spec, and gives the module's dotted name.
func (s Spec) check() (module string, err error) {
	if !filepath.IsAbs(s.Dir) {
		return "", fmt.Errorf("toolset %s: its folder %q is not an absolute path", s.ToolsetID, s.Dir)
	}
	rest, ok := strings.CutSuffix(filepath.ToSlash(s.Module), ".py")
	if !ok || !filepath.IsLocal(s.Module) {
		return "", fmt.Errorf("toolset %s: %q is not a Python file of its own", s.ToolsetID, s.Module)
	}
	rest = strings.TrimSuffix(rest, "/__init__")
	for part := range strings.SplitSeq(rest, "/") {
		if !identifier().MatchString(part) {
			return "", fmt.Errorf("toolset %s: %q can't be a module's name", s.ToolsetID, s.Module)
		}
	}
	if !identifier().MatchString(s.Function) {
		return "", fmt.Errorf("toolset %s: %q can't be a function's name", s.ToolsetID, s.Function)
	}
	return strings.ReplaceAll(rest, "/", "."), checkRequirements(s.Requirements)
}

// Runtime runs Python tools.
type Runtime struct {
	o Options

	finding sync.Mutex // one look for the interpreter at a time
	found   *Interpreter

	life context.Context // ends with Close
	end  context.CancelFunc

	mu       sync.Mutex
	closed   bool
	spares   map[string]*spare    // by key
	warm     map[string]loaded    // what a toolset's calls imported, by its folder
	busy     int                  // calls that are running
	told     map[string]bool      // notices that were given once
	failed   map[string]failure   // environments that couldn't be made, by key
	code     map[string]*bytecode // by a toolset folder
	temp     string               // the cache, if none was given
	dropTemp func() error         // removes it
	work     sync.WaitGroup       // calls, spares, services and what starts them

	services services
	starting sync.Mutex // one service is started at a time
}

// New makes a runtime. Nothing is looked for or started before it is asked.
func New(o Options) *Runtime {
	if o.SpareIdle == 0 {
		o.SpareIdle = defaultIdle
	}
	if o.ServiceIdle == 0 {
		o.ServiceIdle = ServiceIdle
	}
	r := &Runtime{o: o, spares: map[string]*spare{}, warm: map[string]loaded{}, code: map[string]*bytecode{}, told: map[string]bool{}, failed: map[string]failure{}}
	r.services.live = map[string]*service{}
	r.life, r.end = context.WithCancel(context.Background())
	return r
}

// ErrClosed says that a runtime was closed.
var ErrClosed = errors.New("the runtime of Python tools is closed")

// enter counts a piece of work that Close waits for.
func (r *Runtime) enter() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.work.Add(1)
	return nil
}

// Close ends the spares and the services, lets no new call begin, and waits for those that are
// running, but not longer than ctx.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end()
	done := make(chan struct{})
	go func() { // outlives Close only where a call outlives ctx
		defer close(done)
		r.work.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
		return fmt.Errorf("close the runtime of Python tools: %w", context.Cause(ctx))
	}
	r.mu.Lock()
	drop := r.dropTemp
	r.mu.Unlock()
	if drop != nil {
		return drop()
	}
	return nil
}

// cache is the cache's folder, which is there when it returns.
func (r *Runtime) cache() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dir := r.o.CacheDir
	if dir == "" && r.temp == "" {
		temp, remove, err := r.o.Temporaries.TempDir("", "fettle-python-")
		if err != nil {
			return "", fmt.Errorf("make a cache for Python: %w", err)
		}
		r.temp, r.dropTemp = temp, remove
	}
	if dir == "" {
		dir = r.temp
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache for Python: %w", err)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("make the cache for Python: %w", err)
	}
	return abs, nil
}

func (r *Runtime) notice(format string, args ...any) {
	if r.o.Notice != nil {
		r.o.Notice(oneLine(fmt.Sprintf(format, args...)))
	}
}

// noticeOnce gives a notice for a key that none was given for.
func (r *Runtime) noticeOnce(key, format string, args ...any) {
	r.mu.Lock()
	told := r.told[key]
	r.told[key] = true
	r.mu.Unlock()
	if !told {
		r.notice(format, args...)
	}
}

// least is the containment that a spec's processes need: running without any
// takes its policy's explicit word, and ours.
func (r *Runtime) least(s Spec) toolset.Level {
	least := s.Policy.Least
	if least == toolset.LevelUnset {
		least = toolset.LevelReduced
	}
	return max(least, r.o.Least)
}

// Runner gives the runner of a tool. Nothing is checked before it runs.
func (r *Runtime) Runner(s Spec) toolset.Runner { return &tool{r: r, spec: s} }
