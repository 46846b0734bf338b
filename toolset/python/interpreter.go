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
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

//go:embed runner/runner.py
var runnerSource string

//go:embed runner/fettle.py
var moduleSource string

//go:embed runner/look.py
var lookSource string

// Interpreter is a Python that was found.
type Interpreter struct {
	// Path is the program itself, never a script that chooses one.
	Path string `json:"path"`
	// Version is such as "3.11.7".
	Version string `json:"version"`
	// Prefixes are the folders that it reads its library from.
	Prefixes []string `json:"prefixes"`
	// Asked is the program that was looked for, by its path.
	Asked string `json:"asked"`

	runner string   // the folder of the compiled runner
	stamps []string // of what files() gives
}

// UnavailableError says that there is no Python that tools could run on.
type UnavailableError struct {
	// Tried says of each program that was looked at what is wrong with it.
	Tried []string
}

// Error says what was looked for, and what to do.
func (e *UnavailableError) Error() string {
	if len(e.Tried) == 0 {
		return "no Python was found: install Python 3.9 or later, or name one in the configuration"
	}
	return "no Python that tools can run on was found (" + strings.Join(e.Tried, "; ") +
		"): install Python 3.9 or later, or name one in the configuration"
}

const (
	// leastMinor is that of the oldest Python 3 that tools run on.
	leastMinor = 9
	// lookTime bounds asking a program what it is: a shim takes half a second,
	// a first start from a slow disk some more.
	lookTime = 20 * time.Second
	// shimTrust is how long it is believed which interpreter a shim chooses:
	// nothing of the shim changes when its user chooses another.
	shimTrust = 10 * time.Minute
	// maxLook bounds what a program may say about itself.
	maxLook = 64 << 10
)

// names are the programs to look for; those with a number are for machines
// whose python3 is too old.
func (o Options) names() []string {
	if o.Interpreter != "" {
		return []string{o.Interpreter}
	}
	out := []string{"python3", "python"}
	for minor := 14; minor >= leastMinor; minor-- {
		out = append(out, fmt.Sprintf("python3.%d", minor))
	}
	return out
}

// Interpreter finds the Python that tools run on. The answer is kept, and
// between programs, too, as long as the files are the same; a failure isn't. It
// is an [*UnavailableError], ctx's, or trouble with the cache.
func (r *Runtime) Interpreter(ctx context.Context) (Interpreter, error) {
	r.finding.Lock()
	defer r.finding.Unlock()
	// A program that runs for days may see its Python being replaced.
	if r.found != nil && slices.Equal(r.found.stamps, stamps(r.found.files())) {
		return *r.found, nil
	}
	r.found = nil
	dir, err := r.cache()
	if err != nil {
		return Interpreter{}, err
	}
	unavailable := &UnavailableError{}
	for _, name := range r.o.names() {
		path, err := exec.LookPath(name)
		if err != nil {
			if name == r.o.Interpreter {
				unavailable.Tried = append(unavailable.Tried, oneLine(name)+" is not there")
			}
			continue
		}
		in, err := r.examine(ctx, dir, path)
		var unfit *unfitError
		switch {
		case err == nil:
			r.found = &in
			return in, nil
		case errors.As(err, &unfit):
			unavailable.Tried = append(unavailable.Tried, unfit.Error())
		default:
			return Interpreter{}, err
		}
	}
	return Interpreter{}, unavailable
}

// unfitError says why one program won't do.
type unfitError struct{ path, why string }

func (e *unfitError) Error() string { return e.path + " " + e.why }

// remembered is what the cache keeps of one program.
type remembered struct {
	Interpreter
	Stamps  []string  `json:"stamps"` // of what files() gives
	Sources string    `json:"sources"`
	Runner  string    `json:"runner"` // a folder in the cache
	Time    time.Time `json:"time"`
}

// examine asks a program what it is, or the cache.
func (r *Runtime) examine(ctx context.Context, cache, path string) (Interpreter, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Interpreter{}, fmt.Errorf("find Python: %w", err)
	}
	sum := sha256.Sum256([]byte(path))
	file := filepath.Join(cache, "interpreter-"+hex.EncodeToString(sum[:8])+".json")
	if in, ok := recall(file, cache, path); ok {
		return in, nil
	}
	into, remove, err := r.o.Temporaries.TempDir(cache, ".runner-")
	if err != nil {
		return Interpreter{}, fmt.Errorf("prepare Python: %w", err)
	}
	defer func() { _ = remove() }() // the path does not exist once it was renamed
	if err := os.Chmod(into, 0o755); err != nil {
		return Interpreter{}, fmt.Errorf("prepare Python: %w", err)
	}
	in, err := look(ctx, path, into)
	if err != nil {
		return Interpreter{}, err
	}
	m := remembered{Sources: sources(), Time: time.Now()}
	key := sha256.Sum256([]byte(m.Sources + "\x00" + in.Path + "\x00" + in.Version))
	m.Runner = "runner-" + hex.EncodeToString(key[:8])
	in.runner = filepath.Join(cache, m.Runner)
	if err := settle(into, in.runner); err != nil {
		return Interpreter{}, fmt.Errorf("prepare Python: %w", err)
	}
	in.stamps = stamps(in.files())
	m.Interpreter, m.Stamps = in, in.stamps
	if data, err := json.Marshal(m); err == nil {
		_ = atomicfile.Write(file, data, atomicfile.Cached) // the interpreter is queried again then
	}
	return in, nil
}

// recall reads what the cache knows, if that still holds.
func recall(file, cache, path string) (Interpreter, bool) {
	data, err := os.ReadFile(file)
	var m remembered
	if err != nil || json.Unmarshal(data, &m) != nil || m.Sources != sources() || m.Asked != path || !filepath.IsLocal(m.Runner) {
		return Interpreter{}, false
	}
	m.runner = filepath.Join(cache, m.Runner)
	m.stamps = stamps(m.files())
	if !slices.Equal(m.stamps, m.Stamps) {
		return Interpreter{}, false
	}
	if age := time.Since(m.Time); m.stamps[0] != m.stamps[1] && (age < 0 || age > shimTrust) {
		return Interpreter{}, false
	}
	return m.Interpreter, true
}

// files are the program that was asked, the one that it is, and what was
// compiled for it: what is known holds as long as they are the same.
func (in Interpreter) files() []string {
	return append([]string{in.Asked, in.Path}, compiled(in.runner)...)
}

// compiled are the files that look.py makes in a folder.
func compiled(dir string) []string {
	return []string{filepath.Join(dir, "runner.pyc"), filepath.Join(dir, "fettle.pyc")}
}

// stamps tell whether files are what they were. Those of two names of one file
// are equal.
func stamps(paths []string) []string {
	var out []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			out = append(out, "missing")
			continue
		}
		out = append(out, fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano()))
	}
	return out
}

// sources is the digest of what is compiled.
func sources() string {
	sum := sha256.Sum256([]byte(runnerSource + "\x00" + moduleSource + "\x00" + lookSource))
	return hex.EncodeToString(sum[:])
}

// look asks a program what it is, and has it compile the runner. It is the
// user's own program with the user's own environment, since a shim goes by
// that, and runs nothing but our text: no tool's, and nothing of the folder that
// we are in.
func look(ctx context.Context, path, into string) (Interpreter, error) {
	job, err := json.Marshal(map[string]any{"into": into, "sources": map[string]string{"runner": runnerSource, "fettle": moduleSource}})
	if err != nil {
		return Interpreter{}, fmt.Errorf("ask %s what it is: %w", path, err)
	}
	within, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var out, errs limited
	cmd := exec.CommandContext(within, path, "-I", "-S", "-B", "-X", "utf8", "-c", lookSource)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.WaitDelay = bytes.NewReader(job), &out, &errs, into, time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return Interpreter{}, fmt.Errorf("ask %s what it is: %w", path, context.Cause(ctx))
	}
	if err != nil {
		why := "doesn't answer: " + err.Error()
		if said := lastLine(errs.String()); said != "" {
			why += ": " + said
		}
		return Interpreter{}, &unfitError{path, why}
	}
	var found struct {
		Version, Implementation, Executable string
		Major, Minor                        int
		Prefixes                            []string
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil || !filepath.IsAbs(found.Executable) {
		return Interpreter{}, &unfitError{path, "answers, but not as Python does"}
	}
	if found.Major != 3 || found.Minor < leastMinor {
		return Interpreter{}, &unfitError{path, "is Python " + oneLine(found.Version)}
	}
	return Interpreter{Path: found.Executable, Version: found.Version, Prefixes: grantable(found.Prefixes), Asked: path}, nil
}

// grantable leaves out what a policy can't grant, or has anyway.
func grantable(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || filepath.Dir(dir) == dir || runtime.GOOS != "windows" && (dir == "/usr" || strings.HasPrefix(dir, "/usr/")) {
			continue
		}
		out = append(out, filepath.Clean(dir))
	}
	return out
}

// settle gives the folder of what was compiled its name, unless somebody else
// was faster; what is damaged there is replaced.
func settle(from, to string) error {
	if err := atomicfile.Rename(from, to); err == nil || same(compiled(from), compiled(to)) {
		return nil
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return atomicfile.Rename(from, to)
}

// same compares files, which are small, by what is in them.
func same(a, b []string) bool {
	for i := range a {
		x, errX := os.ReadFile(a[i])
		y, errY := os.ReadFile(b[i])
		if errX != nil || errY != nil || !bytes.Equal(x, y) {
			return false
		}
	}
	return true
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

// Write takes everything and keeps the first part.
func (l *limited) Write(p []byte) (int, error) {
	if room := maxLook - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
