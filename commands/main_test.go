package commands_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fettle-cli/fettle/commands"
	"github.com/fettle-cli/fettle/commands/term"
)

// runEnv makes the test binary fettle itself, for tests that need several
// processes or a real pipe.
const runEnv = "FETTLE_TEST_RUN"

// screenWait bounds how long something is waited for of a program, such as on a terminal: a second
// does on a machine that does nothing else.
const screenWait = 30 * time.Second

func fettle() { os.Exit(commands.Main(context.Background(), os.Args, term.System())) }

func TestMain(m *testing.M) {
	if os.Getenv(runEnv) != "" {
		fettle()
	}
	testscript.Main(isolated{m}, map[string]func(){"fettle": fettle})
}

// isolated runs the tests with a data directory and a configuration of their
// own: what runs in this process must not look at those of whoever runs them.
type isolated struct{ *testing.M }

func (i isolated) Run() int {
	dir, err := os.MkdirTemp("", "fettle-commands-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for name, sub := range map[string]string{"FETTLE_DATA": "data", "FETTLE_CONFIG": "config", "XDG_RUNTIME_DIR": "run"} {
		if err := os.Setenv(name, filepath.Join(dir, sub)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return i.M.Run()
}

// TestScripts runs every script below testdata/script: each is one command, or
// one thing that people do, from their side.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "testdata", "script"),
		RequireExplicitExec: true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": exitStatus,
			"serve":  serve,
			"clear":  clearStreams,
		},
	})
}

// setUp gives a script a machine of its own: no configuration, no keys, and no
// Ollama.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	examples, err := filepath.Abs(filepath.Join("..", "testdata", "toolsets"))
	if err != nil {
		return err
	}
	env.Setenv("TOOLSETS", examples)
	for k, v := range map[string]string{
		"HOME": home, "USERPROFILE": home, "FETTLE_DATA": filepath.Join(env.WorkDir, "data"),
		"FETTLE_CONFIG": filepath.Join(env.WorkDir, "config"), "OLLAMA_HOST": "127.0.0.1:1",
		"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "NO_COLOR": "", "TERM": "dumb",
		"XDG_RUNTIME_DIR": filepath.Join(env.WorkDir, "run"), "GORACE": raceOptions(),
	} {
		env.Setenv(k, v)
	}
	// MCP servers of example toolsets would be fetched at their import.
	bin := filepath.Join(env.WorkDir, "no-packages")
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	return errors.Join(os.MkdirAll(home, 0o700), os.MkdirAll(bin, 0o755), writeProgram(filepath.Join(bin, "npx"), "#!/bin/sh\nexit 1\n"))
}

// raceOptions spare each process the second that the race detector waits at
// its end, for goroutines that a program which has ended doesn't care about.
func raceOptions() string { return strings.TrimSpace(os.Getenv("GORACE") + " atexit_sleep_ms=0") }

// exitStatus runs a command that has to end with a status:
// `status 2 fettle ask`. Standard input may be named by `<file` at the end.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); err != nil {
		if !asExit(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

// clearStreams forgets the output of earlier commands.
func clearStreams(*testscript.TestScript, bool, []string) {}

// serve answers every request of an OpenAI-compatible client with a status and
// a file: `serve BASE_URL_VARIABLE 200 answer.sse`.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: serve VARIABLE STATUS FILE")
	}
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	body := ts.ReadFile(args[2])
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(body, "data:") {
				w.Header().Set("Content-Type", "text/event-stream")
			} else {
				w.Header().Set("Content-Type", "application/json")
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}),
	}
	go server.Serve(l)
	ts.Defer(func() { server.Close() })
	ts.Setenv(args[0], "http://"+l.Addr().String()+"/v1")
}

// world is a data directory with a scripted model, for tests in Go.
type world struct {
	t   *testing.T
	dir string
	env []string
}

func newWorld(t *testing.T, script string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(w.dir, "m.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	w.env = append(os.Environ(), runEnv+"=1", "HOME="+t.TempDir(), "FETTLE_DATA="+filepath.Join(w.dir, "data"),
		"FETTLE_CONFIG="+filepath.Join(w.dir, "config"), "OLLAMA_HOST=127.0.0.1:1", "OPENAI_API_KEY=",
		"OPENAI_BASE_URL=", "ANTHROPIC_API_KEY=", "MISTRAL_API_KEY=", "OLLAMA_API_KEY=", "FETTLE_PROFILE=", "FETTLE_KEYRING=off", "FETTLE_MODEL=script/m.yaml", "TERM=dumb", "GORACE="+raceOptions())
	return w
}

// command is fettle as a process of its own.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), os.Args[0], args...)
	cmd.Env, cmd.Dir = w.env, w.dir
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run gives what a command printed; it has to end with the status.
func (w *world) run(status int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	cmd := w.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != status {
		w.t.Errorf("fettle %s: status %d (%v), want %d\n%s", strings.Join(args, " "), got, err, status, errs.String())
	}
	return out.String(), errs.String()
}

// put writes a file, and the folders that it is in.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
