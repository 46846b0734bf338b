//go:build linux || darwin

package commands_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// sitting is fettle on a terminal of its own, with a person at it.
type sitting struct {
	t    *testing.T
	pty  *os.File
	cmd  *exec.Cmd
	done chan struct{}

	mu    sync.Mutex
	shown bytes.Buffer
}

// sit starts fettle on a terminal; change may alter how.
func (w *world) sit(change func(*exec.Cmd), args ...string) *sitting {
	w.T.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		needtest.Lacking(w.T, "pseudo-terminals: "+err.Error())
	}
	cmd := w.Command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if change != nil {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	tty.Close()
	s := &sitting{t: w.T, pty: ptmx, cmd: cmd, done: make(chan struct{})}
	go s.watch()
	w.T.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = ptmx.Close()
		<-s.done
	})
	return s
}

func (s *sitting) watch() {
	defer close(s.done)
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.shown.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return // EIO once the program has gone
		}
	}
}

func (s *sitting) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.shown.String(), "\r\n", "\n")
}

// until waits for a text on the terminal.
func (s *sitting) until(text string) string {
	s.t.Helper()
	const patience = 30 * time.Second // a second does where nothing else runs
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if shown := s.text(); strings.Contains(shown, text) {
			return shown
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q didn't appear; the terminal shows %q", text, s.text())
		}
	}
}

func (s *sitting) typed(text string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the program, which has to end with the status, and gives all
// that was shown.
func (s *sitting) end(status int) string {
	s.t.Helper()
	_ = s.cmd.Wait() // the state says more
	<-s.done
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("status %d, want %d; the terminal shows %q", got, status, s.text())
	}
	return s.text()
}

func TestTrustIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{text: x}]")
	commandtest.Put(t, filepath.Join(w.Dir, ".fettle", "config.yaml"), "allow: [read_file]\n")
	s := w.sit(nil, "trust")
	s.until("Trust this file as it is?")
	s.typed("\r") // a stray Enter trusts nothing
	s.until("not trusted: the file holds data alone, as before")
	s.end(0)
	if out, _ := w.Run(0, "config", "list"); strings.Contains(out, "allow") {
		t.Errorf("a stray Enter trusted the file:\n%s", out)
	}
	s = w.sit(nil, "trust")
	s.until("Trust this file as it is?")
	s.typed("y")
	shown := s.end(0)
	if !strings.Contains(shown, "   1 | allow: [read_file]") {
		t.Errorf("the terminal shows %q", shown)
	}
	if out, _ := w.Run(0, "config", "get", "allow"); out != "read_file\n" {
		t.Errorf("allow is %q", out)
	}
}

// A key's command is shown as it is, and allowed once.
func TestAKeysCommandIsShownAndAllowedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{text: x}]")
	w.Run(0, "config", "set", "providers.mine.base_url", "http://127.0.0.1:1/v1")
	w.Run(0, "config", "set", "providers.mine.key", "!printf %s a-key")
	s := w.sit(nil, "trust", "--key", "mine")
	s.until("[N]o")
	s.typed("n")
	shown := s.end(8)
	if !strings.Contains(shown, "The key of mine comes from a command:\n\n    printf %s a-key\n\n") ||
		!strings.Contains(shown, "the command for the key of mine was not allowed") {
		t.Errorf("the terminal shows %q", shown)
	}
	// In a pipe it is still asked for on the terminal.
	s = w.sit(func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("piped") }, "trust", "--key", "mine")
	s.until("[N]o")
	s.typed("y")
	s.until("trusted the command for the key of mine")
	s.end(0)
	if _, errs := w.Run(0, "trust", "--key", "mine"); !strings.Contains(errs, "is trusted already") {
		t.Errorf("asked again: %s", errs)
	}
	w.Run(0, "config", "set", "providers.mine.key", "!printf %s b-key")
	w.Run(8, "trust", "--key", "mine") // another command
}

// In the middle of a question the command is shown and asked about once; then
// it is remembered. With -q nobody is asked.
func TestAskAsksOnceAboutAKeysCommand(t *testing.T) {
	t.Parallel()
	a, w := listen(t, nil), newWorld(t, "responses: [{text: x}]")
	w.Configure("providers: {lab: {base_url: \"" + a.URL + "\", key: \"!printf " + commandKey + "\"}}\n")
	s := w.sit(nil, "ask", "-q", "--no-stdin", "-m", "lab/m", "hi")
	if shown := s.end(8); strings.Contains(shown, "[N]o") {
		t.Errorf("-q asks: %q", shown)
	}
	s = w.sit(nil, "ask", "--no-stdin", "-m", "lab/m", "hi")
	s.until("The key of lab comes from a command:\n\n    printf " + commandKey + "\n\n")
	s.until("[N]o")
	if a.headers() != nil {
		t.Error("the address was asked before the command was allowed")
	}
	s.typed("y")
	s.until("fine")
	s.end(0)
	if h := a.headers(); keyIn(h) != commandKey {
		t.Errorf("sends %q", keyIn(h))
	}
	if h, stderr := w.ask(a, 0); keyIn(h) != commandKey || stderr != "" {
		t.Errorf("asked again: %q, %s", keyIn(h), stderr)
	}
}

func TestAKeyIsTypedUnseen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{text: x}]")
	s := w.sit(nil, "keys", "set", "openai")
	s.until("key of openai (it doesn't show): ")
	s.typed("sk-EXAMPLEnotrealEXAMPLEnotreal-tail\r")
	shown := s.end(0)
	if strings.Contains(shown, "EXAMPLE") || !strings.Contains(shown, "the key of openai is kept in ") {
		t.Errorf("the terminal shows %q", shown)
	}
	if out, _ := w.Run(0, "keys", "list"); !strings.HasPrefix(out, "openai\t") || !strings.Contains(out, "\ttail\t") {
		t.Errorf("the list is %q", out)
	}
	s = w.sit(nil, "keys", "set", "openai")
	s.until("key of openai (it doesn't show): ")
	s.typed("\r")
	s.end(1)
	if out, _ := w.Run(0, "keys", "list"); !strings.Contains(out, "\ttail\t") {
		t.Errorf("nothing was typed, and the list is %q", out)
	}
}

func TestEditingGoesOnUntilItIsRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "responses: [{text: x}]")
	config := filepath.Join(w.Dir, "config", "config.yaml")
	commandtest.Put(t, config, "retries: 1\n")
	// The first time it writes what is wrong, the second time what is right.
	w.Env = append(w.Env, `VISUAL=f() { if grep -q many "$1"; then echo "retries: 2" >"$1"; else echo "retries: many" >"$1"; fi; }; f`)
	s := w.sit(nil, "config", "edit")
	s.until(`retries: expected a whole number from 0 to 20, found "many"`)
	s.until("This can't be loaded.")
	s.typed("e")
	s.until("changed " + config)
	s.end(0)
	if out, _ := w.Run(0, "config", "get", "retries"); out != "2\n" {
		t.Errorf("retries is %q", out)
	}
	s = w.sit(nil, "config", "edit")
	s.until("This can't be loaded.")
	s.typed("d")
	s.until("is as it was")
	s.end(0)
	if data, err := os.ReadFile(config); string(data) != "retries: 2\n" || err != nil {
		t.Errorf("the file is %q, %v", data, err)
	}
}
