package python

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// installTime is for the largest packages over a slow line.
	installTime = 20 * time.Minute
	// installFile and installTemp are what one wheel of the largest takes.
	installFile, installTemp = 8 << 30, 16 << 30
	// retryAfter is how long a failure is believed, so that a turn with many
	// calls doesn't wait for a missing network at each.
	retryAfter = time.Minute
	// readyName is written into an environment last.
	readyName = "fettle-ready.json"
)

// RequirementsError says that a toolset's packages couldn't be installed.
type RequirementsError struct {
	ToolsetID string
	Why       string // a clause
	Err       error
}

// Error says what is missing and when it is tried again.
func (e *RequirementsError) Error() string {
	return fmt.Sprintf("the Python packages that toolset %s requires could not be installed: %s; this is tried again a minute later, at the next call", e.ToolsetID, e.Why)
}

// Unwrap gives the cause, if there is one.
func (e *RequirementsError) Unwrap() error { return e.Err }

// failure is a past attempt.
type failure struct {
	err error
	at  time.Time
}

// Prepare makes what the calls of a spec need beforehand: the interpreter is
// found, and its requirements are installed. progress may be nil.
func (r *Runtime) Prepare(ctx context.Context, s Spec, progress func(toolset.Progress)) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.work.Done()
	if _, err := s.check(); err != nil {
		return err
	}
	in, err := r.Interpreter(ctx)
	if err != nil || len(s.Requirements) == 0 {
		return err
	}
	if progress == nil {
		progress = func(toolset.Progress) {}
	}
	r.mu.Lock()
	delete(r.failed, environmentKey(in, s.Requirements)) // whoever prepares wants it tried
	r.mu.Unlock()
	_, release, err := r.environment(ctx, in, s, progress)
	if err == nil {
		release()
	}
	return err
}

// Check tells whether a spec's calls could be started: what is wrong with it,
// with its files or with the interpreter, or that its requirements are not
// installed yet, which is a [*RequirementsError]. It starts no process of a
// tool and installs nothing.
func (r *Runtime) Check(ctx context.Context, s Spec) (Interpreter, error) {
	if _, err := s.check(); err != nil {
		return Interpreter{}, err
	}
	if _, err := os.Stat(filepath.Join(s.Dir, filepath.FromSlash(s.Module))); err != nil {
		return Interpreter{}, fmt.Errorf("toolset %s has no file %s", s.ToolsetID, filepath.ToSlash(s.Module))
	}
	in, err := r.Interpreter(ctx)
	if err != nil || len(s.Requirements) == 0 {
		return in, err
	}
	cache, err := r.cache()
	if err != nil {
		return in, err
	}
	key := environmentKey(in, s.Requirements)
	if ready(filepath.Join(cache, key)) {
		return in, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.failed[key]; ok {
		return in, f.err
	}
	return in, &RequirementsError{ToolsetID: s.ToolsetID, Why: "they were not asked for yet"}
}

// environmentKey names the environment of an interpreter and requirements,
// whatever the order of these.
func environmentKey(in Interpreter, requirements []string) string {
	lines := slices.Sorted(slices.Values(requirements))
	sum := sha256.Sum256([]byte(in.Path + "\x00" + in.Version + "\x00" + strings.Join(slices.Compact(lines), "\n")))
	return "venv-" + hex.EncodeToString(sum[:10])
}

// pythonIn is an environment's interpreter.
func pythonIn(env string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(env, "Scripts", "python.exe")
	}
	return filepath.Join(env, "bin", "python")
}

func ready(env string) bool {
	_, err := os.Stat(filepath.Join(env, readyName))
	return err == nil
}

// environment gives the folder of a spec's virtual environment, and makes it
// where it isn't there. Of several that want it, in any process, one makes it.
// It isn't removed before release is called.
func (r *Runtime) environment(ctx context.Context, in Interpreter, s Spec, report func(toolset.Progress)) (env string, release func(), err error) {
	cache, err := r.cache()
	if err != nil {
		return "", nil, err
	}
	key := environmentKey(in, s.Requirements)
	env = filepath.Join(cache, key)
	if release, ok := useEnvironment(env); ok {
		return env, release, nil
	}
	if err := r.makeEnvironment(ctx, in, s, report, env); err != nil {
		return "", nil, err
	}
	if release, ok := useEnvironment(env); ok {
		return env, release, nil
	}
	return "", nil, &RequirementsError{ToolsetID: s.ToolsetID, Why: "they were removed at once by another process"}
}

// useEnvironment keeps an environment that is ready from being removed.
func useEnvironment(env string) (release func(), ok bool) {
	if !ready(env) {
		return nil, false
	}
	release, ok, err := lockfile.TryShared(env + ".lock")
	if err != nil || !ok {
		return nil, false
	}
	if !ready(env) {
		release()
		return nil, false
	}
	noteUse(env)
	return release, true
}

// makeEnvironment makes an environment, unless another process just did.
func (r *Runtime) makeEnvironment(ctx context.Context, in Interpreter, s Spec, report func(toolset.Progress), env string) error {
	key := filepath.Base(env)
	r.mu.Lock()
	past, ok := r.failed[key]
	r.mu.Unlock()
	if ok && time.Since(past.at) < retryAfter {
		return past.err
	}
	release, err := lockfile.Acquire(ctx, env+".lock", func(owner string) {
		report(toolset.Progress{Stage: "requirements", Message: "waiting for " + cmp.Or(owner, "another process") + ", which installs the same packages"})
	})
	if err != nil {
		return fmt.Errorf("install the requirements of toolset %s: %w", s.ToolsetID, err)
	}
	defer release()
	if ready(env) {
		return nil
	}
	err = r.install(ctx, in, s, env, report)
	if err == nil {
		return nil
	}
	os.RemoveAll(env) // what is left is not ready, and is removed at the next attempt
	if ctx.Err() != nil {
		return fmt.Errorf("install the requirements of toolset %s: %w", s.ToolsetID, context.Cause(ctx))
	}
	wrong := &RequirementsError{ToolsetID: s.ToolsetID, Why: oneLine(err.Error()), Err: err}
	r.mu.Lock()
	r.failed[key] = failure{wrong, time.Now()}
	r.mu.Unlock()
	return wrong
}

// install makes an environment. An interrupted one has no mark that it is
// ready, and is begun again.
func (r *Runtime) install(ctx context.Context, in Interpreter, s Spec, env string, report func(toolset.Progress)) error {
	if err := os.RemoveAll(env); err != nil {
		return fmt.Errorf("remove a half-made environment: %w", err)
	}
	if err := os.Mkdir(env, 0o755); err != nil {
		return fmt.Errorf("make an environment: %w", err)
	}
	lines := slices.Sorted(slices.Values(s.Requirements))
	list := filepath.Join(env, "requirements.txt")
	if err := os.WriteFile(list, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return fmt.Errorf("make an environment: %w", err)
	}
	job := &installer{r: r, in: in, env: env, least: r.least(s), report: report}
	report(toolset.Progress{Stage: "requirements", Message: "making an environment for " + strings.Join(lines, ", ")})
	if err := job.run(ctx, false, in.Path, "-I", "-m", "venv", "--without-pip", env); err != nil {
		return err
	}
	pip := []string{
		"install", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--no-cache-dir",
		"--retries", "2", "--timeout", "20", "--progress-bar", "off", "-r", list,
	}
	if _, hashed := splitHashes(lines[0]); hashed { // checkRequirements wants all or none
		pip = append(pip, "--require-hashes")
	}
	err := job.run(ctx, true, slices.Concat([]string{in.Path, "-I", "-m", "pip", "--python", pythonIn(env)}, pip)...)
	if err != nil && strings.Contains(err.Error(), "No module named pip") {
		// This Python has no pip of its own; most can put one into the environment.
		if job.run(ctx, false, pythonIn(env), "-I", "-m", "ensurepip") != nil {
			return fmt.Errorf("%s has neither pip nor ensurepip: install pip for it (on Debian and Ubuntu: apt install python3-venv)", in.Path)
		}
		err = job.run(ctx, true, slices.Concat([]string{pythonIn(env), "-I", "-m", "pip"}, pip)...)
	}
	if err != nil {
		return err
	}
	mark, err := json.Marshal(environmentMark{lines, in.Version, time.Now().UTC().Format(time.RFC3339)})
	if err == nil {
		err = atomicfile.Write(filepath.Join(env, readyName), mark, atomicfile.Cached)
	}
	if err != nil {
		return fmt.Errorf("finish an environment: %w", err)
	}
	return nil
}

// installer runs the steps of an installation.
type installer struct {
	r      *Runtime
	in     Interpreter
	env    string
	least  toolset.Level
	report func(toolset.Progress)
}

// policy lets a step write the environment alone, and gives it the network
// where it needs the index.
func (j *installer) policy(online bool) toolset.Policy {
	p := toolset.Policy{
		Readable: j.in.grants(), Writable: []string{j.env}, Lent: append(j.in.grants(), j.env), Least: j.least,
		Limits: toolset.Limits{Time: installTime, FileSize: installFile, Temp: installTemp, TempFiles: toolset.NoLimit},
	}
	if !online {
		return p
	}
	p.Readable = append(p.Readable, j.r.o.IndexFiles...)
	if p.Network = toolset.NetworkAll; len(j.r.o.IndexHosts) > 0 {
		p.Network, p.Hosts = toolset.NetworkHosts, j.r.o.IndexHosts
	}
	return p
}

// run runs one step and reports what it says. An error holds what it said of
// what is wrong.
func (j *installer) run(ctx context.Context, online bool, args ...string) error {
	c := toolset.Command{Args: args, Dir: j.env, Joined: true, Stdin: strings.NewReader("")}
	if online {
		c.Env = j.r.o.IndexEnv
	}
	proc, err := j.r.o.Launcher.Start(ctx, j.policy(online), c)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { proc.Kill() }) // nothing of it is kept
	said := j.listen(proc.Stdout())
	exit, _ := proc.Wait(context.Background()) // its own limit and ctx end it
	stop()
	proc.Stdout().Close()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case exit.Cause != toolset.Exited:
		return errors.New(exit.String())
	case exit.Code != 0:
		return errors.New(complaint(said))
	}
	return nil
}

// listen reports the lines of a step, and gives the last of them.
func (j *installer) listen(out io.Reader) []string {
	const kept, longest = 40, 64 << 10
	var lines []string
	in := bufio.NewReaderSize(out, longest)
	for {
		raw, err := in.ReadSlice('\n') // a longer line comes in parts
		if line := oneLine(string(raw)); line != "" {
			lines = append(lines, line)
			lines = lines[max(0, len(lines)-kept):]
			for _, start := range []string{"Collecting ", "Downloading ", "Installing ", "Successfully "} {
				if strings.HasPrefix(line, start) {
					j.report(toolset.Progress{Stage: "requirements", Message: line})
				}
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return lines
		}
	}
}

// complaint picks the lines that say what is wrong.
func complaint(lines []string) string {
	var errs []string
	offline := false
	for _, line := range lines {
		offline = offline || strings.Contains(line, "NewConnectionError") || strings.Contains(line, "name resolution") || strings.Contains(line, "Network is unreachable")
		if text, ok := strings.CutPrefix(line, "ERROR: "); ok {
			errs = append(errs, text)
		}
	}
	switch {
	case offline:
		return "the package index can't be reached"
	case len(errs) > 0:
		return errs[len(errs)-1]
	case len(lines) > 0:
		return lines[len(lines)-1]
	}
	return "the installer said nothing"
}

// usedEvery is how exactly it is known when an environment was last used.
const usedEvery = time.Hour

// noteUse notes that an environment is used. Where that can't be written it
// may be removed early, and is made again then.
func noteUse(env string) {
	mark := filepath.Join(env, readyName)
	if info, err := os.Stat(mark); err == nil && time.Since(info.ModTime()) > usedEvery {
		now := time.Now()
		_ = os.Chtimes(mark, now, now)
	}
}
