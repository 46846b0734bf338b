package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/engine/fault"
)

var update = flag.Bool("update", false, "write the golden files")

// env makes a lookup of pairs.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// write makes a file with its folders.
func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// userFile makes a user's file that holds text.
func userFile(t testing.TB, text string) string {
	t.Helper()
	return write(t, filepath.Join(t.TempDir(), "config.yaml"), text)
}

// mustLoad loads what must be right.
func mustLoad(t testing.TB, o Options) *Config {
	t.Helper()
	c, err := Load(o)
	if err != nil {
		t.Fatal(render(err))
	}
	return c
}

// mustFail loads what must be wrong.
func mustFail(t testing.TB, o Options) (*fault.Fault, []Problem) {
	t.Helper()
	c, err := Load(o)
	if err == nil {
		t.Fatalf("Load gave %+v, want an error", c)
	}
	var f *fault.Fault
	var e *Error
	if !errors.As(err, &f) || !errors.As(err, &e) {
		t.Fatalf("Load failed with %T, want a fault with an *Error", err)
	}
	return f, e.Problems
}

// render is a fault as people see it.
func render(err error) string {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString(string(f.Code) + ": " + f.Msg + "\n")
	for _, d := range f.Detail {
		b.WriteString("  " + d + "\n")
	}
	for _, h := range remedy.Lines(f) {
		b.WriteString("hint: " + h + "\n")
	}
	return b.String()
}

// decodeText reads one text as a file.
func decodeText(l *loader, path, text string, project bool) *fileParts {
	out := newFileParts()
	l.decode(&decoder{sink: &l.sink, file: out, project: project}, path, []byte(text))
	return out
}
