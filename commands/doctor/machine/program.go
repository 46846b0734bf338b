package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Programs finds and runs programs.
type Programs struct {
	// Env is the environment, as os.Environ gives it.
	Env []string
	// Look finds a program on the PATH; nil is exec.LookPath.
	Look func(name string) (string, error)
}

const (
	// maxPrinted bounds what is kept of a program's output.
	maxPrinted = 4 << 10
	// waitDelay is how long a program that was told to end may hold on.
	waitDelay = 500 * time.Millisecond
)

// find gives the first of the programs that is there.
func (p Programs) find(names ...string) (string, error) {
	look := p.Look
	if look == nil {
		look = exec.LookPath
	}
	var last error
	for _, name := range names {
		path, err := look(name)
		if err == nil {
			return path, nil
		}
		last = err
	}
	return "", last
}

// output runs a program and gives what it printed first.
func (p Programs) output(ctx context.Context, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	var out, complaint head
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = withoutSecrets(p.Env), &out, &complaint, waitDelay
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("it didn't end in time")
	}
	var start *fs.PathError
	if errors.As(err, &start) {
		err = start.Err
	}
	if said := firstLine(complaint.String()); said != "" {
		return "", fmt.Errorf("%w: %s", err, said)
	}
	return "", err
}

// head keeps the beginning of what is written.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, maxPrinted-h.Len()))])
	return len(p), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// withoutSecrets leaves out the variables whose names say that they are secret.
func withoutSecrets(env []string) []string {
	out := make([]string, 0, len(env)) // not nil, which would mean all
	for _, v := range env {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		if !strings.Contains(name, "KEY") && !strings.Contains(name, "TOKEN") && !strings.Contains(name, "SECRET") &&
			!strings.Contains(name, "PASS") && !strings.Contains(name, "CREDENTIAL") {
			out = append(out, v)
		}
	}
	return out
}

// appleStub tells whether running a program would open a window that offers to
// install it: macOS has such stubs in /usr/bin.
func appleStub(path string) bool {
	if runtime.GOOS != "darwin" || filepath.Dir(path) != "/usr/bin" {
		return false
	}
	for _, tools := range []string{"/Library/Developer/CommandLineTools", "/Applications/Xcode.app"} {
		if _, err := os.Stat(tools); err == nil {
			return false
		}
	}
	return true
}

// Git looks for git.
func (p Programs) Git(ctx context.Context) Result {
	r := Result{ID: "git", Title: "git", Status: Warning,
		Hints: []string{"install git: models that work in a repository use it, fettle itself doesn't"}}
	path, err := p.find("git")
	if err != nil || appleStub(path) {
		r.Detail = "not found"
		return r
	}
	said, err := p.output(ctx, path, "--version")
	if err != nil {
		r.Detail = path + " doesn't run: " + err.Error()
		return r
	}
	version, ok := strings.CutPrefix(firstLine(said), "git version ")
	if !ok {
		r.Detail = path + " tells no version"
		return r
	}
	return Result{ID: r.ID, Title: r.Title, Status: OK, Detail: version + " at " + path}
}
