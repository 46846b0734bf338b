//go:build linux || darwin

package commandtest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// Terminal is fettle on a terminal of its own, and what it showed.
type Terminal struct {
	T   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	done  chan struct{}
}

// OnTerminal starts fettle on a terminal of 80 columns, and watches what it
// shows. env is added to the world's.
func (w *World) OnTerminal(env []string, args ...string) *Terminal {
	w.T.Helper()
	c := w.StartOnTerminal(env, args...)
	go c.watch()
	w.T.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		_ = c.pty.Close()
		<-c.done
	})
	return c
}

// StartOnTerminal is onTerminal with nobody who watches.
func (w *World) StartOnTerminal(env []string, args ...string) *Terminal {
	w.T.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		needtest.Lacking(w.T, "pseudo-terminals: "+err.Error())
	}
	defer tty.Close()
	if err := pty.Setsize(ptmx, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		w.T.Fatal(err)
	}
	cmd := w.Command(args...)
	cmd.Env = append(append(w.Env[:len(w.Env):len(w.Env)], "TERM=xterm", "NO_COLOR=", "CLICOLOR_FORCE=", "COLORTERM=", "PAGER="), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	return &Terminal{T: w.T, pty: ptmx, cmd: cmd, done: make(chan struct{})}
}

func (c *Terminal) watch() {
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

// Raw is every byte that was sent to the terminal.
func (c *Terminal) Raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.String()
}

// Until waits for text on the screen.
func (c *Terminal) Until(text string) {
	c.T.Helper()
	for deadline := time.Now().Add(Wait); ; time.Sleep(2 * time.Millisecond) {
		screen := c.Screen()
		if strings.Contains(screen, text) {
			return
		}
		if time.Now().After(deadline) {
			c.T.Fatalf("%q didn't appear on\n%s", text, screen)
		}
	}
}

// Type sends keys.
func (c *Terminal) Type(keys string) {
	c.T.Helper()
	if _, err := io.WriteString(c.pty, keys); err != nil {
		c.T.Fatal(err)
	}
}

// Resize makes the terminal as wide as columns.
func (c *Terminal) Resize(columns uint16) {
	c.T.Helper()
	if err := pty.Setsize(c.pty, &pty.Winsize{Cols: columns, Rows: 24}); err != nil {
		c.T.Fatal(err)
	}
}

// HangUp closes a terminal that nobody watches, once it has shown the text.
func (c *Terminal) HangUp(text string) {
	c.T.Helper()
	for buf := make([]byte, 4096); !strings.Contains(c.Screen(), text); {
		n, err := c.pty.Read(buf)
		if err != nil {
			c.T.Fatal(err)
		}
		c.shown.Write(buf[:n])
	}
	if err := c.pty.Close(); err != nil {
		c.T.Fatal(err)
	}
	close(c.done)
}

// Ends waits for the program, which has to end with the status, and gives the
// Screen.
func (c *Terminal) Ends(status int) string {
	c.T.Helper()
	err := c.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		c.T.Fatal(err)
	}
	<-c.done
	screen := c.Screen()
	if got := c.cmd.ProcessState.ExitCode(); got != status {
		c.T.Errorf("status %d, want %d\n%s", got, status, screen)
	}
	return screen
}

// Screen is what a person sees: the lines after carriage returns and erasing,
// without looks.
func (c *Terminal) Screen() string {
	var lines []string
	line, col := []rune{}, 0
	for raw := []rune(Looks().ReplaceAllString(c.Raw(), "")); len(raw) > 0; raw = raw[1:] {
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

// Looks are the escape codes of colours and the like.
func Looks() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") }
