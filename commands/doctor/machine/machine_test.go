package machine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func answer(id string, after time.Duration) Check {
	return Check{ID: id, Title: id, Look: func(ctx context.Context) []Result {
		select {
		case <-time.After(after):
			return []Result{{ID: id, Status: OK}}
		case <-ctx.Done():
			return []Result{{ID: id, Status: Error, Detail: "cut off"}}
		}
	}}
}

func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		checks := []Check{
			answer("slow", 3*time.Second), answer("quick", 0),
			{ID: "pair", Look: func(context.Context) []Result { return []Result{{ID: "one"}, {ID: "two"}} }},
			answer("late", time.Minute),
			{ID: "stuck", Title: "a dead drive", Limit: 4 * time.Second, Look: func(context.Context) []Result { <-stuck; return nil }},
		}
		begun := time.Now()
		var got []string
		for _, r := range Run(t.Context(), checks) {
			got = append(got, strings.TrimSpace(strings.Join([]string{r.ID, string(r.Status), r.Detail}, " ")))
		}
		want := []string{"slow ok", "quick ok", "one", "two", "late error cut off", "stuck error no answer within 4s"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if took := time.Since(begun); took != Limit {
			t.Errorf("side by side they took %s, want %s", took, Limit)
		}
		close(stuck) // so that the test ends
	})
}

func TestWorst(t *testing.T) {
	t.Parallel()
	for want, statuses := range map[Status][]Status{
		OK: {OK, OK}, Warning: {OK, Warning, OK}, Error: {Error, Warning},
	} {
		var results []Result
		for _, s := range statuses {
			results = append(results, Result{Status: s})
		}
		if got := Worst(results); got != want {
			t.Errorf("the worst of %v is %s", statuses, got)
		}
	}
	if Worst(nil) != OK {
		t.Error("nothing is not ok")
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		have   Terminal
		status Status
		detail string
	}{
		{"a pipe", Terminal{Locale: "C"}, OK, "no terminal"},
		{"a good one", Terminal{IsTerminal: true, Width: 120, Colours: "256 colours", Term: "xterm-256color", Locale: "de_DE.UTF-8"}, OK, "120 columns, 256 colours, UTF-8"},
		{"another spelling", Terminal{IsTerminal: true, Width: 80, Term: "xterm", Locale: "en_US.utf8"}, OK, "80 columns, no colour, UTF-8"},
		{"an old locale", Terminal{IsTerminal: true, Width: 80, Term: "xterm", Locale: "C"}, Warning, "the locale is C, not UTF-8"},
		{"no locale", Terminal{IsTerminal: true, Width: 80, Term: "xterm"}, Warning, "the locale is not set"},
		{"a dumb one", Terminal{IsTerminal: true, Width: 80, Term: "dumb", Locale: "C.UTF-8"}, Warning, "TERM is dumb"},
		{"a narrow one", Terminal{IsTerminal: true, Width: 30, Term: "xterm", Locale: "C.UTF-8"}, Warning, "30 columns"},
		{"windows", Terminal{IsTerminal: true, Width: 80, Colours: "true colour", Windows: true}, OK, "80 columns, true colour, UTF-8"},
	} {
		if r := c.have.Check(); r.Status != c.status || !strings.Contains(r.Detail, c.detail) || (r.Hints == nil) != (r.Status == OK) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name           string
		built, written time.Time
		status         Status
	}{
		{"nothing to hold it against", time.Time{}, time.Time{}, OK},
		{"after both", now.Add(-time.Hour), now.Add(-time.Minute), OK},
		{"made on a machine ahead", now.Add(time.Hour), time.Time{}, OK},
		{"set to last year", now.Add(300 * 24 * time.Hour), now.Add(time.Hour), Error},
		{"corrected a little", time.Time{}, now.Add(time.Minute), OK},
		{"set back", time.Time{}, now.Add(time.Hour), Warning},
	} {
		if r := (Clock{Now: now, Built: c.built, Written: c.written}).Check(); r.Status != c.status || !strings.HasPrefix(r.Detail, "2026-05-01 12:00") {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// put makes a program out of a shell script.
func put(t *testing.T, dir, name, script string) {
	t.Helper()
	// A child that another test forks meanwhile would hold the file open for
	// writing, and a program that is written to can't be run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// in finds programs in one folder alone.
func in(dir string) Programs {
	return Programs{Env: os.Environ(), Look: func(name string) (string, error) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
		}
		return path, nil
	}}
}

func TestProgramsThatAreOdd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	told := func(version, path string) string {
		return fmt.Sprintf(`echo '{"version":%s,"path":"%s"}'`, version, path)
	}
	for _, c := range []struct {
		name, program, script string
		status                Status
		detail                string
	}{
		{"none", "other", "", Warning, "not found"},
		{"a good one", "python3", told("[3,12,1]", "DIR/python3"), OK, "3.12.1 at DIR/python3"},
		{"under its other name", "python", told("[3,10,0]", "DIR/python"), OK, "3.10.0 at DIR/python"},
		{"behind a shim", "python3", told("[3,12,1]", "/opt/python/3.12.1/bin/python3"), OK, "3.12.1 at /opt/python/3.12.1/bin/python3, by way of DIR/python3"},
		{"too old", "python3", told("[3,8,2]", "DIR/python3"), Warning, "3.8.2 at DIR/python3"},
		{"a shim without a version", "python3", "echo pyenv: no version set >&2; exit 127", Warning, "DIR/python3 doesn't run: exit status 127: pyenv: no version set"},
		{"one that says nothing", "python3", "echo hello", Warning, "DIR/python3 doesn't run: it says nothing of itself"},
		{"one that never ends", "python3", "exec sleep 60", Warning, "DIR/python3 doesn't run: it didn't end in time"},
		{"one that talks without end", "python3", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", Warning, "DIR/python3 doesn't run: it didn't end in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, c.program, strings.ReplaceAll(c.script, "DIR", dir))
			limit := 20 * time.Second
			if strings.Contains(c.detail, "in time") {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			r := in(dir).Python(ctx)
			if got := strings.ReplaceAll(r.Detail, dir, "DIR"); r.Status != c.status || got != c.detail || (r.Hints == nil) != (r.Status == OK) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	for script, want := range map[string]string{
		"echo git version 2.39.5": "ok 2.39.5 at DIR/git", "echo what": "warning DIR/git tells no version", "exit 3": "warning DIR/git doesn't run: exit status 3",
	} {
		dir := t.TempDir()
		put(t, dir, "git", script)
		r := in(dir).Git(t.Context())
		if got := string(r.Status) + " " + strings.ReplaceAll(r.Detail, dir, "DIR"); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
	if r := in(t.TempDir()).Git(t.Context()); r.Status != Warning || r.Detail != "not found" {
		t.Errorf("no git: %+v", r)
	}
}

func TestProgramsGetNoSecrets(t *testing.T) {
	t.Parallel()
	got := withoutSecrets([]string{"PATH=/bin", "OPENAI_API_KEY=sk-1", "my_token=x", "DB_PASSWORD=y", "HOME=/root", "AWS_SECRET=z"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/root"}, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if got := withoutSecrets([]string{"KEY=x"}); got == nil {
		t.Error("nil would hand on all of them")
	}
}

// The folder that fettle is started in may be anyone's.
func TestPythonReadsNothingOfTheCurrentFolder(t *testing.T) {
	path := needtest.Program(t, "python3")
	dir := t.TempDir()
	t.Chdir(dir)
	trap := filepath.Join(dir, "ran")
	for _, name := range []string{"json.py", "sys.py", "encodings.py"} {
		if err := os.WriteFile(name, []byte("open('"+trap+"', 'w')\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := Programs{Env: append(os.Environ(), "PYTHONPATH="+dir)}.Python(t.Context())
	if !strings.Contains(r.Detail, " at ") {
		t.Errorf("%s: %+v", path, r)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a file of the current folder was run")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
