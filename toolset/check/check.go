package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

const (
	// DefaultTimeout bounds a call of a tool that has no timeout of its own.
	DefaultTimeout = 60 * time.Second
	// maxJobs bounds the calls at once where nobody says how many: each may be
	// an interpreter.
	maxJobs = 4
)

// RunnerFor gives what runs a tool of a toolset whose files lie in dir. A runner
// that is an io.Closer is closed at the end.
type RunnerFor func(m *manifest.Manifest, tool manifest.Tool, dir string) (toolset.Runner, error)

// Options is how tests are run. Runner is required.
type Options struct {
	Runner RunnerFor
	// Select chooses tests by what it finds in their name or their tool's id;
	// nil takes all.
	Select *regexp.Regexp
	// Jobs is how many run at once; 0 means as many as there are processors, up
	// to four.
	Jobs int
	// Timeout takes the place of DefaultTimeout, where it isn't 0.
	Timeout time.Duration
	// TempDir is where folders are made; the system's where it is empty.
	TempDir string
	// Temporaries records these folders; nil records nothing.
	Temporaries *atomicfile.Ledger
	// Done hears of each test when it has ended, one at a time, in any order.
	Done func(Result)
}

// Status is how a test ended.
type Status string

// The statuses.
const (
	Passed Status = "passed"
	Failed Status = "failed"
	Broken Status = "broken"
)

// Result is what came of one test.
type Result struct {
	// Index is its place in the manifest, from 0.
	Index int    `json:"index"`
	Name  string `json:"name"`
	Tool  string `json:"tool"`
	// Status is passed, failed or broken.
	Status Status `json:"status"`
	// Mismatches are what came out otherwise; of a test that failed.
	Mismatches []Mismatch `json:"mismatches,omitempty"`
	// Reason is why the tool could not be called; of a broken test.
	Reason string `json:"reason,omitempty"`
	// Traceback is the tool's own, where it failed without being expected to.
	Traceback  string `json:"traceback,omitempty"`
	DurationMS int64  `json:"duration_ms"`
}

// Mismatch is one thing that was expected and came out otherwise.
type Mismatch struct {
	// What is "return", "return/stats/rows", "error", "output_schema" or
	// "file out.txt".
	What string `json:"what"`
	// Message says it in words.
	Message string `json:"message"`
	// Want and Got are what is compared, where there are two sides: JSON of what
	// is returned, the texts of files. They are cut at [MaxCompared].
	Want *string `json:"want,omitempty"`
	Got  *string `json:"got,omitempty"`
}

// NameOf is a test's name: its own, or one made of its tool and its place.
func NameOf(t manifest.Test, index int) string {
	if t.Name != "" {
		return t.Name
	}
	return fmt.Sprintf("%s, test %d", t.Tool, index+1)
}

// Selected are the places of the tests that are chosen.
func Selected(m *manifest.Manifest, by *regexp.Regexp) []int {
	out := []int{}
	for i, t := range m.Tests {
		if by == nil || by.MatchString(NameOf(t, i)) || by.MatchString(t.Tool) {
			out = append(out, i)
		}
	}
	return out
}

// Run runs the tests of an open bundle whose manifest is m. An error means that
// they could not be run at all, or that ctx ended; what has ended by then is in
// the results.
func Run(ctx context.Context, b *bundle.Bundle, m *manifest.Manifest, o Options) (results []Result, err error) {
	dir, remove, err := o.Temporaries.TempDir(o.TempDir, "fettle-test-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for tests: %w", err)
	}
	defer func() { err = errors.Join(err, remove()) }()
	files := filepath.Join(dir, "toolset")
	if err := b.Extract(ctx, files, bundle.ExtractOptions{}); err != nil {
		return nil, err
	}
	r := &run{m: m, o: o, dir: dir, files: files, runners: map[string]*runner{}}
	defer func() { err = errors.Join(err, r.close()) }()
	return r.all(ctx)
}

// run is one run of tests.
type run struct {
	m          *manifest.Manifest
	o          Options
	dir, files string

	mu      sync.Mutex
	runners map[string]*runner // by tool
}

// runner is what runs one tool, made when it is first needed.
type runner struct {
	once sync.Once
	r    toolset.Runner
	err  error
}

func (r *run) close() error {
	var errs []error
	for _, one := range r.runners {
		if c, ok := one.r.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// all runs the chosen tests, some side by side, and waits for each.
func (r *run) all(ctx context.Context) ([]Result, error) {
	chosen := Selected(r.m, r.o.Select)
	jobs := r.o.Jobs
	if jobs <= 0 {
		jobs = min(runtime.NumCPU(), maxJobs)
	}
	results := make([]*Result, len(chosen))
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(jobs, len(chosen)) {
		wait.Go(func() {
			for i := range next {
				res := r.one(ctx, chosen[i])
				if ctx.Err() != nil { // it was stopped, which is no result
					continue
				}
				results[i] = &res
				r.told(res)
			}
		})
	}
	for i := range chosen {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	out := []Result{}
	for _, res := range results {
		if res != nil {
			out = append(out, *res)
		}
	}
	return out, ctx.Err()
}

func (r *run) told(res Result) {
	if r.o.Done != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.o.Done(res)
	}
}

// runner gives what runs a tool.
func (r *run) runner(t manifest.Tool) (toolset.Runner, error) {
	r.mu.Lock()
	one, ok := r.runners[t.ID]
	if !ok {
		one = new(runner)
		r.runners[t.ID] = one
	}
	r.mu.Unlock()
	one.once.Do(func() { one.r, one.err = r.o.Runner(r.m, t, r.files) })
	return one.r, one.err
}

// one runs one test.
func (r *run) one(ctx context.Context, index int) Result {
	t := r.m.Tests[index]
	res := Result{Index: index, Name: NameOf(t, index), Tool: t.Tool, Status: Passed}
	begun := time.Now()
	if err := r.call(ctx, t, &res); err != nil {
		res.Status, res.Reason = Broken, err.Error()
	} else if len(res.Mismatches) > 0 {
		res.Status = Failed
	}
	res.DurationMS = time.Since(begun).Milliseconds()
	return res
}

// call makes the workspace, calls the tool and compares. An error means that
// there is nothing to compare.
func (r *run) call(ctx context.Context, t manifest.Test, res *Result) error {
	tool, ok := findTool(r.m, t.Tool)
	if !ok {
		return fmt.Errorf("there is no tool %s", t.Tool)
	}
	runner, err := r.runner(tool)
	if err != nil {
		return err
	}
	ws, err := toolset.OpenManaged(filepath.Join(r.dir, fmt.Sprintf("workspace-%d", res.Index+1)))
	if err != nil {
		return err
	}
	defer ws.Close()
	if err := writeFiles(ws.Root, t.Files); err != nil {
		return err
	}
	args := t.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	limit := r.limit(tool)
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	got, err := runner.Run(timed, toolset.Call{ID: fmt.Sprintf("test-%d", res.Index+1), ChatID: "test", Args: args, Workspace: ws})
	c := comparer{t: t, res: res}
	failed := (*toolset.ToolError)(nil)
	switch {
	case err == nil:
		c.returned(got, tool.OutputSchema)
	case errors.As(err, &failed):
		c.failed(failed)
	case timed.Err() != nil && ctx.Err() == nil:
		c.failed(&toolset.ToolError{Message: fmt.Sprintf("it took longer than %s", limit)})
	default:
		return err
	}
	c.workspace(ws.Root)
	return nil
}

func findTool(m *manifest.Manifest, id string) (manifest.Tool, bool) {
	for _, t := range m.Tools {
		if t.ID == id {
			return t, true
		}
	}
	return manifest.Tool{}, false
}

func (r *run) limit(t manifest.Tool) time.Duration {
	switch {
	case t.Timeout > 0:
		return time.Duration(t.Timeout)
	case r.o.Timeout > 0:
		return r.o.Timeout
	}
	return DefaultTimeout
}

// outputProblems are where data doesn't fit a schema.
func outputProblems(raw, data json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return []string{"output_schema can't be used: " + err.Error()}
	}
	var out []string
	for _, p := range s.Validate(data) {
		out = append(out, p.String())
	}
	return out
}
