package python_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/python"
)

// TestFailures holds what a tool's failures say against their record: the
// message for the model, and the traceback for people.
func TestFailures(t *testing.T) {
	t.Parallel()
	need(t, runtime.GOOS == "linux", "Linux, whose errors the record has")
	w := newWorld(t, python.Options{})
	dir, ws := toolsetDir(t, "testdata/hostile"), workspace(t)
	var out strings.Builder
	for _, function := range []string{
		"raises", "chained", "while_handled", "in_library", "unspeakable", "control_characters", "long_message", "exits", "exits_by_name",
		"os_exits", "os_exits_7", "segfault", "killed", "memory", "closes_all", "lies_in_lines", "lies_in_frames", "lies_with_length",
		"lies_and_dies", "missing", "loading", "another",
	} {
		s := spec(dir, "tools/hostile.py", function)
		if _, err := os.Stat(filepath.Join(dir, "tools", function+".py")); err == nil {
			s = spec(dir, "tools/"+function+".py", "run")
		}
		wrong := mustFail(t, w, s, call(ws, `{}`))
		text := fmt.Sprintf("== %s\n%s\n-- \n%s\n", function, wrong.Message, wrong.Traceback)
		if len(text) > 6000 && strings.Contains(text, "xxxx") {
			text = fmt.Sprintf("== %s\n%d bytes\n", function, len(wrong.Message))
		}
		if strings.Contains(text, dir) || strings.Contains(text, "<fettle") || strings.Contains(text, w.cache) {
			t.Errorf("%s shows what is not the tool's: %s", function, text)
		}
		out.WriteString(stable(text))
	}
	golden(t, "failures.golden", out.String())
}

// stable takes out of a text what differs between versions of Python.
func stable(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "Current thread 0x"):
			line = "Current thread\n"
		case strings.Contains(line, `File "json/`), strings.Contains(line, `File "ctypes/`):
			line = strings.SplitAfter(line, ".py\"")[0] + "\n"
		case strings.HasPrefix(strings.TrimSpace(line), "return _default_decoder"), strings.Contains(line, "self.raw_decode("),
			strings.Contains(line, "self.scan_once("), strings.Contains(line, "^^^"), strings.Contains(line, "return _string_at("):
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// What Python's own frames and words are differs between its versions.
func TestTracebacksThroughPythonsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	dir, ws := toolsetDir(t, "testdata/hostile"), workspace(t)
	wrong := mustFail(t, w, spec(dir, "tools/hostile.py", "group"), call(ws, `{}`))
	for _, part := range []string{`File "tools/hostile.py", line `, "in one\n    raise ValueError(\"inner\")\nValueError: inner", `File "asyncio/runners.py"`} {
		if !strings.Contains(wrong.Traceback, part) {
			t.Errorf("no %q in\n%s", part, wrong.Traceback)
		}
	}
	wrong = mustFail(t, w, spec(dir, "tools/syntax.py", "run"), call(ws, `{}`))
	if !strings.HasPrefix(wrong.Message, "SyntaxError: ") || !strings.Contains(wrong.Traceback, "File \"tools/syntax.py\", line 1\n    def run(workspace)\nSyntaxError: ") {
		t.Error(explain(wrong))
	}
}

func TestRecursionIsAnErrorWithAShortTraceback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	wrong := mustFail(t, w, spec(toolsetDir(t, "testdata/hostile"), "tools/hostile.py", "recursion"), call(workspace(t), `{}`))
	if !strings.HasPrefix(wrong.Message, "RecursionError: maximum recursion depth exceeded") || strings.Count(wrong.Traceback, "\n") > 90 ||
		!strings.Contains(wrong.Traceback, "frames left out]") {
		t.Error(explain(wrong))
	}
}

// limited is a spec with limits that a test can wait for.
func limited(dir, function string, change func(*toolset.Limits)) python.Spec {
	s := spec(dir, "tools/hostile.py", function)
	s.Policy.Limits.Time = 30 * time.Second
	change(&s.Policy.Limits)
	return s
}

// What uses too much ends as an error with its reason, and the next call works.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	report, err := w.launcher.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need(t, report.Level == toolset.LevelFull, "a sandbox at full: "+report.String())
	dir := toolsetDir(t, "testdata/hostile")
	short := func(l *toolset.Limits) { l.Time = 700 * time.Millisecond }
	for _, c := range []struct {
		function string
		change   func(*toolset.Limits)
		says     []string // one of them
	}{
		{"spins", short, []string{"it took longer than 700ms"}},
		{"sleeps", short, []string{"it took longer than 700ms"}},
		{"answers_late", short, []string{"it took longer than 700ms"}},
		{"ignores_signals", short, []string{"it took longer than 700ms"}},
		{"floods_for_ever", short, []string{"it took longer than 700ms"}},
		{"closes_all_and_stays", func(*toolset.Limits) {}, []string{"closed its channel"}},
		{"memory_in_parts", func(l *toolset.Limits) { l.Memory = 200 << 20 }, []string{"MemoryError", "of memory, and"}},
		{"forks", func(l *toolset.Limits) { l.Processes = 40 }, []string{"BlockingIOError", "it had"}},
		{"fork_chain", func(l *toolset.Limits) { l.Processes = 40 }, []string{"exit status 0"}},
		{"fills_disk", func(l *toolset.Limits) { l.FileSize = 8 << 20 }, []string{"OSError: [Errno 27] File too large"}},
		{"fills_disk", func(l *toolset.Limits) { l.Grown, l.FileSize = 16<<20, 64<<20 }, []string{"the workspace grew by", "OSError: [Errno 27]"}},
		{"fills_temp", func(l *toolset.Limits) { l.Temp = 4 << 20 }, []string{"OSError: [Errno 28] No space left on device"}},
	} {
		t.Run(c.function, func(t *testing.T) {
			t.Parallel()
			ws := workspace(t)
			s := limited(dir, c.function, c.change)
			wrong := mustFail(t, w, s, call(ws, `{}`))
			ok := false
			for _, says := range c.says {
				ok = ok || strings.Contains(wrong.Message, says)
			}
			if !ok {
				t.Error(explain(wrong))
			}
			s.Function = "thread"
			if res := mustRun(t, w, s, call(ws, `{}`)); string(res.Data) != `{"ok":true}` {
				t.Errorf("%s", res.Data)
			}
		})
	}
}

// A traceback shows where a tool was when its time was over.
func TestTracebackOfAHang(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	s := limited(toolsetDir(t, "testdata/hostile"), "sleeps", func(l *toolset.Limits) { l.Time = 700 * time.Millisecond })
	wrong := mustFail(t, w, s, call(workspace(t), `{}`))
	need(t, runtime.GOOS != "windows", "interrupts")
	if !strings.Contains(wrong.Traceback, "in sleeps\n    time.sleep(3600)") {
		t.Error(explain(wrong))
	}
}

// What does no harm works, whatever it does to its own process.
func TestHarmless(t *testing.T) {
	t.Parallel()
	need(t, runtime.GOOS != "windows", "fork")
	w := newWorld(t, python.Options{NoSpares: true})
	dir, ws := toolsetDir(t, "testdata/hostile"), workspace(t)
	for function, want := range map[string]string{
		"lies_by_standard_output": `{"ok":true}`, "lies_by_fork": `{"from":"the tool"}`, "floods": `{"ok":true}`, "floods_progress": `{"ok":true}`,
		"odd_progress": `{"ok":true}`, "daemon": `{"ok":true}`, "thread": `{"ok":true}`, "replaces_streams": `{"ok":true}`, "hides_result": `{"a":1}`,
	} {
		t.Run(function, func(t *testing.T) {
			updates := 0
			c := call(ws, `{}`)
			c.Progress = func(p toolset.Progress) {
				if updates++; strings.ContainsAny(p.Stage+p.Message, "\x00\x1b") || len(p.Message) > 5000 || p.Progress != nil && (*p.Progress < 0 || *p.Progress > 1) {
					t.Errorf("%.200v", p)
				}
			}
			if res := mustRun(t, w, spec(dir, "tools/hostile.py", function), c); string(res.Data) != want {
				t.Errorf("%s", res.Data)
			}
			if updates > 2000 {
				t.Errorf("%d updates", updates)
			}
		})
	}
	if out := w.output(); len(out) > 4<<20 || !strings.Contains(out, "bytes left out]") || !strings.Contains(out, "the end") {
		t.Errorf("%d bytes of output", len(out))
	}
	// It breaks its own interpreter: any end will do that is one.
	if _, err := w.Runner(spec(dir, "tools/hostile.py", "breaks_modules")).Run(t.Context(), call(ws, `{}`)); err != nil {
		var wrong *toolset.ToolError
		if !errors.As(err, &wrong) {
			t.Error(err)
		}
	}
}

func TestToolReachesNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	report, err := w.launcher.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need(t, report.Level == toolset.LevelFull, "a sandbox at full: "+report.String())
	ws := workspace(t)
	write(t, filepath.Join(filepath.Dir(ws.Path), "secret"), "x")
	res := mustRun(t, w, spec(toolsetDir(t, "testdata/hostile"), "tools/hostile.py", "looks_around"), call(ws, `{}`))
	if strings.Contains(res.Text, "secret") || strings.Contains(res.Text, "shadow") || !strings.Contains(res.Text, `"written":false`) {
		t.Error(res.Text)
	}
}

// waitFor waits for a file that a tool makes.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s was never made", path)
		}
	}
}

// Cancelling lets a tool clean up; one that won't end is ended.
func TestCancel(t *testing.T) {
	t.Parallel()
	need(t, runtime.GOOS != "windows", "interrupts")
	w := newWorld(t, python.Options{})
	dir := toolsetDir(t, "testdata/hostile")
	for _, function := range []string{"cleans_up", "ignores_signals"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			ws := workspace(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			why := errors.New("the user said so")
			ended := make(chan error, 1)
			go func() {
				_, err := w.Runner(spec(dir, "tools/hostile.py", function)).Run(ctx, call(ws, `{}`))
				ended <- err
			}()
			waitFor(t, filepath.Join(ws.Path, "begun"))
			cancel(why)
			if err := <-ended; !errors.Is(err, why) {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(filepath.Join(ws.Path, "cleaned")); (err == nil) != (function == "cleans_up") {
				t.Errorf("cleaned up: %v", err)
			}
			if res := mustRun(t, w, spec(dir, "tools/hostile.py", "thread"), call(ws, `{}`)); string(res.Data) != `{"ok":true}` {
				t.Errorf("%s", res.Data)
			}
		})
	}
}

// marked are the processes of the machine that carry a word in their
// environment.
func marked(t *testing.T, word string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, dir := range dirs {
		env, _ := os.ReadFile(dir + "/environ") // empty once it has ended
		if strings.Contains(string(env), word) {
			out = append(out, filepath.Base(dir))
		}
	}
	return out
}

// When a call has ended, so has everything that it started, at each level.
func TestNothingIsLeftAlive(t *testing.T) {
	t.Parallel()
	need(t, runtime.GOOS == "linux", "/proc")
	dir := toolsetDir(t, "testdata/hostile")
	for _, level := range []toolset.Level{toolset.LevelFull, toolset.LevelReduced, toolset.LevelNone} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, python.Options{NoSpares: true})
			for _, function := range []string{"daemon", "thread", "raises", "os_exits", "fork_chain", "ignores_signals"} {
				word := fmt.Sprintf("fettle-%d-%s-%s", os.Getpid(), level, function)
				s := limited(dir, function, func(l *toolset.Limits) { l.Processes = 40 })
				s.Policy.Env = []string{"MARK=" + word}
				s.Policy.Least, s.Policy.Most = level, level
				if function == "ignores_signals" {
					s.Policy.Limits.Time = 300 * time.Millisecond
				}
				_, err := w.Runner(s).Run(t.Context(), call(workspace(t), `{}`))
				var uncontained *toolset.UncontainedError
				need(t, !errors.As(err, &uncontained), "a sandbox at "+level.String())
				end := time.Now().Add(time.Second)
				left := marked(t, word)
				for ; len(left) > 0 && time.Now().Before(end); left = marked(t, word) {
					time.Sleep(10 * time.Millisecond)
				}
				if len(left) > 0 {
					t.Errorf("%s: still alive: %s", function, left)
				}
			}
		})
	}
}

func TestUncontainedIsRefusedUnlessItWasAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{NoSpares: true})
	s := source(t, "def run(workspace):\n    return {}\n")
	s.Policy.Least, s.Policy.Most = toolset.LevelUnset, toolset.LevelNone
	wrong := mustFail(t, w, s, call(workspace(t), `{}`))
	var uncontained *toolset.UncontainedError
	if !errors.As(wrong, &uncontained) || !strings.HasPrefix(wrong.Message, "this tool can't run: ") {
		t.Errorf("%v", wrong)
	}
}

func TestCancelledBeforeItBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, python.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Runner(spec(toolsetDir(t, "testdata/hostile"), "tools/hostile.py", "thread")).Run(ctx, call(workspace(t), `{}`))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
