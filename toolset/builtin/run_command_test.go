package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/toolset"
)

// shell is run_command in a real sandbox.
type shell struct {
	tool checked
	ws   *toolset.Workspace
}

func newShell(t *testing.T, o Options, files map[string]string) shell {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are sh's")
	}
	if o.Launcher == nil {
		o.Launcher = newLauncher(t)
	}
	tool := tools()["run_command"]
	tool.entry = runCommand(o)
	return shell{tool, newWorkspace(t, files)}
}

func (s shell) try(t *testing.T, args object, report func(toolset.Progress)) (toolset.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	if problems := s.tool.input.Validate(raw); len(problems) > 0 {
		t.Fatal(schema.Explain(problems))
	}
	return runChecked(t, s.tool, toolset.Call{Args: raw, Workspace: s.ws, Progress: report})
}

func (s shell) run(t *testing.T, command string) (toolset.Result, commandData) {
	t.Helper()
	res, err := s.try(t, object{"command": command}, nil)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return res, data[commandData](t, res)
}

func TestRunCommand(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Policy: anyLevel()}, map[string]string{"a.txt": "one\n"})
	for name, c := range map[string]struct {
		command, output string
		exit            int
	}{
		"output":               {"cat a.txt", "one\n", 0},
		"both streams":         {"echo out; echo err >&2; echo out", "out\nerr\nout\n", 0},
		"an exit code":         {"echo x; exit 3", "x\n", 3},
		"no such program":      {"no-such-program-at-all 2>/dev/null", "", 127},
		"nothing to read":      {"cat; echo done", "done\n", 0},
		"the workspace is cwd": {"echo new > b.txt && cat b.txt", "new\n", 0},
		"bytes":                {`printf 'a\377b\n'`, "a\uFFFDb\n", 0},
		"quotes":               {`echo "a'b" 'c"d' "$((1+2))"`, "a'b c\"d 3\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, d := s.run(t, c.command)
			if d.Output != c.output || d.ExitCode != c.exit || d.Command != c.command || d.Containment == toolset.LevelUnset {
				t.Errorf("%+v", d)
			}
			if !strings.HasPrefix(res.Text, "exit ") || !strings.Contains(res.Text, strings.TrimSpace(c.output)) {
				t.Errorf("%q", res.Text)
			}
		})
	}
}

func TestRunCommandIsContained(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Policy: toolset.Policy{Least: toolset.LevelFull, Env: []string{"GIVEN=yes"}}}, nil)
	report, err := newLauncher(t).Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need(t, report.Level == toolset.LevelFull, "containment at level full")
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("hidden words"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, d := s.run(t, "cat "+outside+" 2>/dev/null; (echo x > "+outside+") 2>/dev/null; ls -A "+filepath.Dir(outside)+" 2>/dev/null; env")
	if strings.Contains(d.Output, "hidden words") {
		t.Errorf("%s", d.Output)
	}
	var names []string
	for line := range strings.Lines(d.Output) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	for _, name := range names {
		switch name {
		case "GIVEN", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "OLDPWD", "SHLVL", "_":
		default:
			t.Errorf("a command gets %s", name)
		}
	}
	if raw, err := os.ReadFile(outside); err != nil || string(raw) != "hidden words" {
		t.Errorf("%q %v", raw, err)
	}
	if _, d = s.run(t, "command -v python3 >/dev/null || exit 9; python3 -c 'import socket; socket.create_connection((\"1.1.1.1\", 80), 2)' 2>&1"); d.ExitCode == 0 {
		t.Error("a command reached the network")
	}
	res, d := s.run(t, "(setsid sh -c 'sleep 60; echo late > late.txt' >/dev/null 2>&1 &) ; sleep 0.2; echo back")
	if d.Output != "back\n" || !strings.Contains(res.Text, "background process") {
		t.Errorf("%q", res.Text)
	}
}

func TestRunCommandLeavesGitAlone(t *testing.T) {
	t.Parallel()
	l := newLauncher(t)
	report, err := l.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	need(t, report.Level == toolset.LevelFull, "containment at level full")
	for name, c := range map[string]struct {
		write, bound bool
		want         string
	}{
		"bound":                      {false, true, "ref\nkept\n"},
		"bound, writing was allowed": {true, true, "ref\nwritten\n"},
		"the chat's own folder":      {false, false, "ref\nwritten\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, Options{Launcher: l, Commands: Commands{WriteGit: c.write}}, map[string]string{".git/HEAD": "ref\n"})
			s.ws.Bound = c.bound
			_, d := s.run(t, "cat .git/HEAD; if (echo x > .git/hook) 2>/dev/null; then echo written; else echo kept; fi")
			if d.Output != c.want {
				t.Errorf("%q", d.Output)
			}
		})
	}
}

func TestRunCommandThatIsEnded(t *testing.T) {
	t.Parallel()
	limited := anyLevel()
	limited.Limits = toolset.Limits{Memory: 200 << 20, Grown: 8 << 20}
	l := newLauncher(t)
	for name, c := range map[string]struct {
		args object
		want []string
	}{
		"time":            {object{"command": "echo begun; sleep 60", "timeout": 1}, []string{"the command was ended: it took longer than 1s", "timeout gives it more", "begun"}},
		"time, silent":    {object{"command": "sleep 60", "timeout": 1}, []string{"it had written nothing"}},
		"signals ignored": {object{"command": "trap '' INT TERM; while :; do sleep 1; done", "timeout": 1}, []string{"it took longer than 1s"}},
		"the disk":        {object{"command": "dd if=/dev/zero of=big bs=1M count=64 2>/dev/null; sleep 20"}, []string{"the command was ended: the workspace grew by"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, Options{Policy: limited, Launcher: l}, nil)
			_, err := s.try(t, c.args, nil)
			if err == nil {
				t.Fatal("it ended by itself")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

func TestRunCommandStopsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Policy: anyLevel()}, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	_, err := s.tool.entry.Runner.Run(ctx, toolset.Call{
		Workspace: s.ws, Args: json.RawMessage(`{"command":"echo ready; sleep 60"}`),
		Progress: func(toolset.Progress) { cancel(why) },
	})
	if !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestRunCommandReportsWhatComes(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Policy: anyLevel()}, nil)
	var mu sync.Mutex
	var lines []string
	var all strings.Builder
	_, err := s.try(t, object{"command": "for i in 1 2 3; do echo line $i; sleep 0.3; done; printf '10%%\\r100%%\\n'"}, func(p toolset.Progress) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, p.Message)
		var d struct{ Output string }
		if err := json.Unmarshal(p.Data, &d); err != nil || p.Stage != "output" {
			t.Errorf("%+v %v", p, err)
		}
		all.WriteString(d.Output)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 3 || lines[0] != "line 1" || lines[len(lines)-1] != "100%" || all.String() != "line 1\nline 2\nline 3\n100%\n" {
		t.Errorf("%q %q", lines, all.String())
	}
}

func TestRunCommandWithALongOutput(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Policy: anyLevel()}, nil)
	res, d := s.run(t, "i=0; while [ $i -lt 20000 ]; do echo \"number $i\"; i=$((i+1)); done")
	if len(res.Text) > shownOutput+200 || !strings.Contains(res.Text, "number 0\n") || !strings.Contains(res.Text, "number 19999") ||
		!strings.Contains(res.Text, "left out of the middle") || !strings.Contains(d.Output, "number 10000\n") {
		t.Errorf("%d bytes: %.100q … %.300q", len(res.Text), res.Text, res.Text[len(res.Text)/2-150:])
	}
	res, d = s.run(t, "head -c 5000000 /dev/zero | tr '\\0' x")
	if d.OutputBytes != 5_000_000 || len(d.Output) > 2<<20 || len(res.Text) > shownOutput+200 {
		t.Errorf("%d of %d bytes, %d shown", len(d.Output), d.OutputBytes, len(res.Text))
	}
}

func TestRunCommandThatCantRun(t *testing.T) {
	t.Parallel()
	refuses := launcherFunc(func() (toolset.Process, error) {
		return nil, &toolset.UncontainedError{Have: toolset.LevelNone, Want: toolset.LevelReduced, Why: "no Landlock", Fix: "a newer kernel"}
	})
	s := newShell(t, Options{Launcher: refuses}, nil)
	_, err := s.try(t, object{"command": "ls"}, nil)
	if err == nil || !strings.Contains(err.Error(), "can't be contained well enough here: no Landlock; the user can mend that: a newer kernel; or the user can set run_command.sandbox to none") {
		t.Errorf("%v", err)
	}
	s = newShell(t, Options{Launcher: launcherFunc(func() (toolset.Process, error) { return nil, errors.New("find sh: not there") })}, nil)
	if _, err := s.try(t, object{"command": "ls"}, nil); err == nil || err.Error() != "it did not run: find sh: not there" {
		t.Errorf("%v", err)
	}
	for _, args := range []object{{"command": " "}, {"command": "a\x00b"}, {"command": strings.Repeat("a", maxCommand+1)}} {
		if _, err := s.try(t, args, nil); err == nil || strings.Contains(err.Error(), "sh: not there") {
			t.Errorf("%.20q: %v", args, err)
		}
	}
}

// launcherFunc is a launcher that starts nothing.
type launcherFunc func() (toolset.Process, error)

func (f launcherFunc) Start(context.Context, toolset.Policy, toolset.Command) (toolset.Process, error) {
	return f()
}

func (f launcherFunc) Run(context.Context, toolset.Policy, toolset.Command) (toolset.Ran, error) {
	_, err := f()
	return toolset.Ran{}, err
}

func TestShellFor(t *testing.T) {
	t.Parallel()
	if got := shellFor("linux", "a b"); strings.Join(got, "|") != "sh|-c|a b" {
		t.Errorf("%q", got)
	}
	if got := shellFor("windows", "dir"); got[0] != "powershell.exe" || !strings.HasPrefix(got[len(got)-1], "WwBDAG8A") {
		t.Errorf("%q", got)
	}
}

// The policy that keeps a folder from commands keeps it from the file tools.
func TestFileToolsObeyThePolicy(t *testing.T) {
	t.Parallel()
	ws := newWorkspace(t, map[string]string{"kept/a.txt": "a\n", "b.txt": "b\n"})
	entries := Entries(Options{Policy: toolset.Policy{Sealed: []string{filepath.Join(ws.Path, "kept")}}})
	try := func(id, args string) error {
		for _, e := range entries {
			if e.Tool.ID == id {
				_, err := e.Runner.Run(t.Context(), toolset.Call{Workspace: ws, Args: json.RawMessage(args)})
				return err
			}
		}
		return errors.New("no such tool")
	}
	for _, path := range []string{"kept/a.txt", "./kept/../kept/new.txt", "kept", ws.Path + "/kept/a.txt"} {
		raw, _ := json.Marshal(object{"path": path, "content": "x"})
		if err := try("write_file", string(raw)); err == nil || !strings.Contains(err.Error(), "kept as it is") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := try("read_file", `{"path":"kept/a.txt"}`); err != nil {
		t.Error(err)
	}
	if err := try("write_file", `{"path":"b.txt","content":"x"}`); err != nil {
		t.Error(err)
	}
}

func TestEnds(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{-1, 0, 1, 7, 64} {
		e := &ends{limit: limit}
		var all strings.Builder
		for i := range 50 {
			chunk := strings.Repeat(string(rune('a'+i%26)), i%5)
			e.write([]byte(chunk))
			all.WriteString(chunk)
		}
		out, text := e.output(), all.String()
		half := limit / 2
		switch {
		case limit < 0 && string(out.Head) != text:
			t.Errorf("%d: %q", limit, out.Head)
		case limit >= 0 && (string(out.Head) != text[:limit-half] || string(out.Tail) != text[len(text)-half:]):
			t.Errorf("%d: %q %q", limit, out.Head, out.Tail)
		case out.Total != int64(len(text)):
			t.Errorf("%d: %d bytes", limit, out.Total)
		}
	}
}
