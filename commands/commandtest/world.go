package commandtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fettle-cli/fettle/commands"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// Toolset returns the folder of a toolset of testdata, or else of the gallery.
func Toolset(t *testing.T, name string) string {
	t.Helper()
	return needtest.Toolset(t, name)
}

// runEnv makes the test binary fettle itself, for tests that need several
// processes or a real pipe.
const runEnv = "FETTLE_TEST_RUN"

// Wait bounds how long something is waited for of a program, such as on a terminal: a second
// does on a machine that does nothing else.
const Wait = 30 * time.Second

// fettle is the program: it ends the process.
func fettle() { os.Exit(commands.Main(context.Background(), os.Args, term.System())) }

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

// RaceOptions spare each process the second that the race detector waits at
// its end, for goroutines that a program which has ended doesn't care about.
func RaceOptions() string { return strings.TrimSpace(os.Getenv("GORACE") + " atexit_sleep_ms=0") }

// World is a data directory with a scripted model, for tests in Go.
type World struct {
	T       *testing.T
	Dir     string
	Env     []string
	Program string // fettle: the test binary, or what Plain sets
}

// New makes a world whose model plays the script.
func New(t *testing.T, script string) *World {
	t.Helper()
	w := &World{T: t, Dir: t.TempDir(), Program: os.Args[0]}
	if err := os.WriteFile(filepath.Join(w.Dir, "m.yaml"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Env = append(os.Environ(), runEnv+"=1", "HOME="+t.TempDir(), "FETTLE_DATA="+filepath.Join(w.Dir, "data"),
		"FETTLE_CONFIG="+filepath.Join(w.Dir, "config"), "OLLAMA_HOST=127.0.0.1:1", "OPENAI_API_KEY=",
		"OPENAI_BASE_URL=", "ANTHROPIC_API_KEY=", "MISTRAL_API_KEY=", "OLLAMA_API_KEY=", "FETTLE_PROFILE=", "FETTLE_KEYRING=off", "FETTLE_MODEL=script/m.yaml", "TERM=dumb", "GORACE="+RaceOptions())
	return w
}

// Copy is the same world for what may differ of it: a subtest, which has a T of its
// own, or a variable more in the environment.
func (w *World) Copy() *World {
	other := *w
	other.Env = slices.Clone(w.Env)
	return &other
}

// Command is fettle as a process of its own.
func (w *World) Command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.T.Context(), w.Program, args...)
	cmd.Env, cmd.Dir = w.Env, w.Dir
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// Run gives what a command printed; it has to end with the status.
func (w *World) Run(status int, args ...string) (stdout, stderr string) {
	w.T.Helper()
	cmd := w.Command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != status {
		w.T.Errorf("fettle %s: status %d (%v), want %d\n%s", strings.Join(args, " "), got, err, status, errs.String())
	}
	return out.String(), errs.String()
}

// Put writes a file, and the folders that it is in.
func Put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Exists tells whether there is a file or a folder.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Configure writes the configuration file.
func (w *World) Configure(text string) {
	w.T.Helper()
	dir := filepath.Join(w.Dir, "config")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		w.T.Fatal(err)
	}
}

// Main is a package's TestMain: its test binary is fettle where it is started as
// that, by a test or a script, and else runs the tests.
func Main(m *testing.M) {
	if os.Getenv(runEnv) != "" {
		fettle()
	}
	testscript.Main(isolated{m}, map[string]func(){"fettle": fettle})
}
