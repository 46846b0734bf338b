//go:build linux || darwin

package commands_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// terminal is fettle on a terminal of its own, and what it showed.
type terminal struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	done  chan struct{}
}

// onTerminal starts fettle on a terminal of 80 columns, and watches what it
// shows. env is added to the world's.
func (w *world) onTerminal(env []string, args ...string) *terminal {
	w.t.Helper()
	c := w.startOnTerminal(env, args...)
	go c.watch()
	w.t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		_ = c.pty.Close()
		<-c.done
	})
	return c
}

func (w *world) startOnTerminal(env []string, args ...string) *terminal {
	w.t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		needtest.Lacking(w.t, "pseudo-terminals: "+err.Error())
	}
	defer tty.Close()
	if err := pty.Setsize(ptmx, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		w.t.Fatal(err)
	}
	cmd := w.command(args...)
	cmd.Env = append(append(w.env[:len(w.env):len(w.env)], "TERM=xterm", "NO_COLOR=", "CLICOLOR_FORCE=", "COLORTERM=", "PAGER="), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return &terminal{t: w.t, pty: ptmx, cmd: cmd, done: make(chan struct{})}
}

func (c *terminal) watch() {
	defer close(c.done)
	buf := make([]byte, 4096)
	for {
		n, err := c.pty.Read(buf)
		c.mu.Lock()
		c.shown.Write(buf[:n])
		c.mu.Unlock()
		if err != nil {
			return // EIO once the program has gone
		}
	}
}

// raw is every byte that was sent to the terminal.
func (c *terminal) raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.String()
}

// until waits for text on the screen.
func (c *terminal) until(text string) {
	c.t.Helper()
	for deadline := time.Now().Add(screenWait); ; time.Sleep(2 * time.Millisecond) {
		screen := c.screen()
		if strings.Contains(screen, text) {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%q didn't appear on\n%s", text, screen)
		}
	}
}

func (c *terminal) typed(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.pty, keys); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the program, which has to end with the status, and gives the
// screen.
func (c *terminal) ends(status int) string {
	c.t.Helper()
	err := c.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	<-c.done
	screen := c.screen()
	if got := c.cmd.ProcessState.ExitCode(); got != status {
		c.t.Errorf("status %d, want %d\n%s", got, status, screen)
	}
	return screen
}

// screen is what a person sees: the lines after carriage returns and erasing,
// without looks.
func (c *terminal) screen() string {
	var lines []string
	line, col := []rune{}, 0
	for raw := []rune(looks.ReplaceAllString(c.raw(), "")); len(raw) > 0; raw = raw[1:] {
		switch r := raw[0]; {
		case r == '\n':
			lines, line, col = append(lines, string(line)), nil, 0
		case r == '\r':
			col = 0
		case r == '\x1b' && len(raw) > 2 && raw[1] == '[' && raw[2] == 'K':
			line, raw = line[:min(col, len(line))], raw[2:]
		default:
			if col == len(line) {
				line = append(line, r)
			} else {
				line[col] = r
			}
			col++
		}
	}
	lines = append(lines, string(line))
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
