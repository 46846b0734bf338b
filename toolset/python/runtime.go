package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/fettle-cli/fettle/toolset"
)

// Options make a Runtime.
type Options struct {
	// Launcher starts the processes.
	Launcher toolset.Launcher
	// Interpreter is the Python to use; empty looks for python3 and python on
	// the PATH.
	Interpreter string
	// CacheDir is an absolute folder for what can be made again: the compiled
	// runner, installed requirements, what is known of the interpreter. It is
	// made when something is first kept.
	CacheDir string
	// Spares is how many processes may wait for a call; 0 keeps none.
	Spares int
	// LookupEnv finds variables of fettle's own environment; those that tell
	// pip and uv where packages come from are handed to these alone. Nil has
	// none.
	LookupEnv func(string) (string, bool)
}

// Runtime runs Python tools. Make it with New.
type Runtime struct {
	o    Options
	home home

	mu     sync.Mutex
	spares map[string]*spare
	closed bool
	base   context.Context // of what no call waits for
	stop   context.CancelFunc
	work   sync.WaitGroup
}

// New makes a Runtime. It touches nothing and starts nothing.
func New(o Options) *Runtime {
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	rt := &Runtime{o: o, spares: map[string]*spare{}}
	rt.home.o = o
	rt.base, rt.stop = context.WithCancel(context.Background())
	return rt
}

// errClosed is what calls hear after Close.
var errClosed = errors.New("the Python runtime is closed")

// Close ends the spares and waits until they are gone. Calls that run go on
// until they end; the launcher ends them where it is closed.
func (rt *Runtime) Close() error {
	rt.mu.Lock()
	rt.closed = true
	all := rt.spares
	rt.spares = map[string]*spare{}
	rt.mu.Unlock()
	rt.stop()
	for _, s := range all {
		s.end()
	}
	rt.work.Wait()
	return nil
}

// Spec is a tool: where its code is, and what it may reach.
type Spec struct {
	// Dir is the absolute folder of the toolset's files.
	Dir string
	// Module and Function are those of the entrypoint: `tools.analyze` from the
	// toolset's root, or `analyze` from its tools folder.
	Module, Function string
	// Requirements are Python packages, such as "requests==2.32.3".
	Requirements []string
	// Policy is what the tool may reach beside its own files, the interpreter
	// and the workspace, which are added. Limits.Time bounds a call.
	Policy toolset.Policy
}

// Runner gives what runs the tool.
func (rt *Runtime) Runner(s Spec) toolset.Runner {
	return toolset.RunnerFunc(func(ctx context.Context, c toolset.Call) (toolset.Result, error) { return rt.run(ctx, s, c) })
}

// job is a call with all that it needs.
type job struct {
	spec   Spec
	call   toolset.Call
	policy toolset.Policy
	cmd    toolset.Command
	// packages is the folder of the requirements; empty without any.
	packages string
}

// prepare gathers what a process for the call needs.
func (rt *Runtime) prepare(ctx context.Context, s Spec, c toolset.Call) (*job, error) {
	py, err := rt.home.interpreter(ctx)
	if err != nil {
		return nil, err
	}
	runner, err := rt.home.runner(ctx, py)
	if err != nil {
		return nil, err
	}
	j := &job{spec: s, call: c, policy: s.Policy}
	if len(s.Requirements) > 0 {
		if j.packages, err = rt.packages(ctx, py, s.Requirements, c.Report); err != nil {
			return nil, err
		}
	}
	if c.Workspace != nil {
		j.policy.Workspace = c.Workspace.Path
	}
	readable := append([]string{s.Dir, runner.dir}, py.Readable...)
	if j.packages != "" {
		readable = append(readable, j.packages)
	}
	j.policy.Readable = append(readable, s.Policy.Readable...)
	// Isolated from the user's own Python settings, without site, in UTF-8.
	j.cmd = toolset.Command{Args: []string{py.Path, "-I", "-S", "-B", "-u", "-X", "utf8", runner.path}}
	return j, nil
}

// key names the processes that could take the call.
func (j *job) key() string {
	raw, err := json.Marshal([]any{j.spec.Dir, j.policy, j.cmd.Args})
	if err != nil { // strings and numbers alone
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Check tells whether there is a Python that tools can run with, and which.
func (rt *Runtime) Check(ctx context.Context) (Interpreter, error) { return rt.home.interpreter(ctx) }

// Prepare installs a tool's requirements ahead of its first call. progress may
// be nil.
func (rt *Runtime) Prepare(ctx context.Context, s Spec, progress func(toolset.Progress)) error {
	if len(s.Requirements) == 0 {
		return nil
	}
	py, err := rt.home.interpreter(ctx)
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(toolset.Progress) {}
	}
	_, err = rt.packages(ctx, py, s.Requirements, progress)
	return err
}

// uncontained tells the model, and so the person, what the machine lacks.
func uncontained(err error) error {
	var u *toolset.UncontainedError
	if !errors.As(err, &u) {
		return fmt.Errorf("start the tool: %w", err)
	}
	msg := u.Error()
	if u.Fix != "" {
		msg += "; " + u.Fix
	}
	return &toolset.ToolError{Message: msg, Err: err}
}
