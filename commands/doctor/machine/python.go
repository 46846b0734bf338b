package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The oldest Python that tools may count on; those before it get no more fixes
// of security holes.
const (
	pythonMajor = 3
	pythonMinor = 10
)

// askPython makes Python tell about itself, whatever its version.
const askPython = `import json,sys
print(json.dumps({"version":list(sys.version_info[:3]),"path":sys.executable}))`

type pythonFacts struct {
	Version []int  `json:"version"`
	Path    string `json:"path"`
}

// Python looks for the Python that tools would run on: what it says of itself,
// beyond the shims of version managers.
func (p Programs) Python(ctx context.Context) Result {
	r := Result{ID: "python", Title: "Python", Status: Warning,
		Hints: []string{fmt.Sprintf("install Python %d.%d or newer: tools written in Python need it", pythonMajor, pythonMinor)}}
	names := []string{"python3", "python"}
	if runtime.GOOS == "windows" {
		names = []string{"python", "python3", "py"}
	}
	var why string
	for _, name := range names {
		path, err := p.find(name)
		if err != nil || appleStub(path) {
			continue
		}
		facts, err := p.askPython(ctx, path)
		if err != nil { // a shim without a version, or the store's stub on Windows
			if why == "" {
				why = path + " doesn't run: " + err.Error()
			}
			continue
		}
		r.Detail = describePython(facts, path)
		if facts.old() {
			return r
		}
		r.Status, r.Hints = OK, nil
		return r
	}
	r.Detail = "not found"
	if why != "" {
		r.Detail = why
	}
	return r
}

func (p Programs) askPython(ctx context.Context, path string) (pythonFacts, error) {
	var facts pythonFacts
	// -I keeps the files of the current folder out, which may be anyone's, and
	// -B leaves no bytecode.
	said, err := p.output(ctx, path, "-I", "-S", "-B", "-c", askPython)
	if err != nil {
		return facts, err
	}
	if err := json.Unmarshal([]byte(said), &facts); err != nil || len(facts.Version) < 2 {
		return facts, fmt.Errorf("it says nothing of itself")
	}
	return facts, nil
}

func (f pythonFacts) old() bool {
	return f.Version[0] < pythonMajor || f.Version[0] == pythonMajor && f.Version[1] < pythonMinor
}

func describePython(f pythonFacts, found string) string {
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(f.Version), "[]"), " ", ".")
	at := f.Path
	if at == "" {
		at = found
	}
	text += " at " + at
	if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(at)), "pyvenv.cfg")); err == nil {
		text += ", a virtual environment"
	}
	if real(at) != real(found) && filepath.Clean(at) != filepath.Clean(found) {
		text += ", by way of " + found
	}
	return text
}

// real is a path without the links in it.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}
