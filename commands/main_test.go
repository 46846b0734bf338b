package commands_test

import (
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

	"github.com/fettle-cli/fettle/commands/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

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
	env.Setenv("GALLERY", filepath.Join(filepath.Dir(filepath.Dir(examples)), "toolset", "gallery"))
	for k, v := range map[string]string{
		"HOME": home, "USERPROFILE": home, "FETTLE_DATA": filepath.Join(env.WorkDir, "data"),
		"FETTLE_CONFIG": filepath.Join(env.WorkDir, "config"), "OLLAMA_HOST": "127.0.0.1:1",
		"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "", "NO_COLOR": "", "TERM": "dumb",
		"XDG_RUNTIME_DIR": filepath.Join(env.WorkDir, "run"), "GORACE": commandtest.RaceOptions(),
	} {
		env.Setenv(k, v)
	}
	plain, err := commandtest.PlainPath()
	if err != nil {
		return err
	}
	if plain != "" {
		env.Setenv("PATH", plain+string(os.PathListSeparator)+env.Getenv("PATH"))
	}
	// MCP servers of example toolsets would be fetched at their import.
	bin := filepath.Join(env.WorkDir, "no-packages")
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	return errors.Join(os.MkdirAll(home, 0o700), os.MkdirAll(bin, 0o755), commandtest.WriteProgram(filepath.Join(bin, "npx"), "#!/bin/sh\nexit 1\n"))
}

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
type world struct{ *commandtest.World }

func newWorld(t *testing.T, script string) *world { return &world{commandtest.New(t, script)} }
