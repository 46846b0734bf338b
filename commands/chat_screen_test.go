//go:build linux || darwin

package commands_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

var updateScreens = flag.Bool("update-screens", false, "write the golden screens of chat anew")

// screenSession is fettle on a terminal that keeps its screen, as a person sees it.
type screenSession struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu      sync.Mutex
	emu     *vt.Emulator
	raw     bytes.Buffer
	told    []string // titles and the like that were set
	replies bytes.Buffer
	done    chan struct{}
}

// chatOn starts a chat on a terminal of that size, which doesn't wrap its lines
// anew.
func (w *world) chatOn(cols, rows int, env []string, args ...string) *screenSession {
	w.T.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		needtest.Lacking(w.T, "pseudo-terminals: "+err.Error())
	}
	defer tty.Close()
	s := &screenSession{t: w.T, pty: ptmx, emu: vt.NewEmulator(cols, rows), done: make(chan struct{})}
	s.watchModes()
	s.setSize(cols, rows)
	s.cmd = w.Command(append([]string{"chat"}, args...)...)
	s.cmd.Env = append(append(w.Env[:len(w.Env):len(w.Env)], "TERM=xterm-256color", "XTERM_VERSION=1", "NO_COLOR=", "CLICOLOR_FORCE=", "COLORTERM="), env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	go s.watch()
	answers := make(chan struct{})
	go s.answers(answers)
	w.T.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = s.pty.Close()
		<-s.done
		// Not Emulator.Close, which doesn't wait for a Read.
		if w, ok := s.emu.InputPipe().(io.Closer); ok {
			_ = w.Close()
		}
		<-answers
	})
	return s
}

// watchModes notes what a program may do to a terminal besides showing text.
func (s *screenSession) watchModes() {
	note := func(what string) func(string) {
		return func(text string) { s.told = append(s.told, what+" "+text) }
	}
	s.emu.SetCallbacks(vt.Callbacks{
		Bell:  func() { s.told = append(s.told, "bell") },
		Title: note("title"), IconName: note("icon"), WorkingDirectory: note("folder"),
		AltScreen: func(bool) { s.told = append(s.told, "another screen") },
	})
}

func (s *screenSession) watch() {
	defer close(s.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		_, _ = s.emu.Write(buf[:n]) // an emulator takes everything
		s.mu.Unlock()
		if err != nil {
			return // EIO once the program has gone
		}
	}
}

// answers collects what the terminal would send back: nothing may ask it.
func (s *screenSession) answers(done chan struct{}) {
	defer close(done)
	buf := make([]byte, 1024)
	for {
		n, err := s.emu.Read(buf)
		s.mu.Lock()
		s.replies.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *screenSession) setSize(cols, rows int) {
	s.t.Helper()
	if err := pty.Setsize(s.pty, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		s.t.Fatal(err)
	}
}

// resize is a person who drags the window.
func (s *screenSession) resize(cols, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.emu.Resize(cols, rows)
	s.mu.Unlock()
	s.setSize(cols, rows)
}

// screen is what is in the window, a line a row.
func (s *screenSession) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return trimmed(s.emu.String())
}

// everything is the scrollback and the window below it.
func (s *screenSession) everything() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.emu.Scrollback().Lines() {
		b.WriteString(line.String() + "\n")
	}
	return trimmed(b.String() + s.emu.String())
}

func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (s *screenSession) bytes() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// until waits until the screen is as ok wants it.
func (s *screenSession) until(what string, ok func(screen string) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(commandtest.Wait); ; time.Sleep(5 * time.Millisecond) {
		screen := s.screen()
		if ok(screen) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waited for %s on\n%s", what, screen)
		}
	}
}

// shows waits for a text.
func (s *screenSession) shows(text string) {
	s.t.Helper()
	s.until(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// idle waits for the prompt with nothing in it, and nothing that runs.
func (s *screenSession) idle() {
	s.t.Helper()
	s.until("the prompt", func(screen string) bool {
		lines := strings.Split(screen, "\n")
		return len(lines) >= 2 && lines[len(lines)-2] == "›" && !strings.Contains(screen, "Ctrl-C stops")
	})
}

// asks waits until a question takes keys.
func (s *screenSession) asks() {
	s.t.Helper()
	s.shows("[y] once")
}

func (s *screenSession) typed(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// enters types a line and sends it.
func (s *screenSession) enters(line string) {
	s.t.Helper()
	s.typed(line)
	last := line[strings.LastIndexByte(line, '\n')+1:]
	s.until("the line that was typed", func(screen string) bool { return strings.Contains(screen, last) })
	s.typed("\r")
}

func (s *screenSession) ends(status int) {
	s.t.Helper()
	err := s.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	<-s.done
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("status %d, want %d\n%s", got, status, s.screen())
	}
}

// quiet checks that the terminal was left alone but for text.
func (s *screenSession) quiet() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.told) > 0 || s.replies.Len() > 0 || s.emu.IsAltScreen() {
		s.t.Errorf("the terminal was told %q and answered %q", s.told, s.replies.String())
	}
}

// varies are the parts of a screen that differ from run to run.
var varies = regexp.MustCompile(`\d+ (s|seconds?|minutes?) ago|just now|\d+(\.\d+)? (ms|s)\b`)

// slow is what is only said where it took long.
var slow = regexp.MustCompile(`(∴ thought: [^,·\n]*), [^·\n]* ·`)

// golden compares everything that was shown with a file.
func (s *screenSession) golden(name string) {
	s.t.Helper()
	got := varies.ReplaceAllString(slow.ReplaceAllString(s.everything(), "$1 ·"), "TIME") + "\n"
	file := filepath.Join("testdata", "screens", name+".txt")
	if *updateScreens {
		commandtest.Put(s.t, file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("%s: the screen shows\n%s\nwant\n%s\n(go test ./commands -run TestChat -update-screens writes it anew)", name, got, want)
	}
}
