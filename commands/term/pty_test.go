//go:build linux || darwin

package term

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/needtest"
)

// ptyWait bounds how long the other end of a terminal is waited for: a second
// does on a machine that does nothing else.
const ptyWait = 20 * time.Second

// The tests here run this test binary again, as a program that has a terminal
// of its own; childRole says what that program does.
const childRole = "FETTLE_TERM_TEST_ROLE"

func TestChild(t *testing.T) {
	role := os.Getenv(childRole)
	if role == "" {
		t.Skip("the other half of the terminal tests, which start it")
	}
	s := System()
	switch role {
	case "facts":
		fmt.Printf("in=%d out=%v err=%v width=%d colour=%v can=%v same=%v\n", s.In.Kind(), s.Out.IsTerminal(), s.Err.IsTerminal(),
			s.Out.Width(), s.Out.Style().Enabled(), s.CanAsk(), s.Out.screen == s.Err.screen)
	case "ask", "words":
		childAsk(s, role == "words")
	case "status":
		s.Status().Set("thinking about it")
		s.Err.Printf("notice\n")
		s.Out.Printf("answer\n")
		s.Status().Set("tidying up")
		time.Sleep(4 * frameGap) // the frame is due after one
		s.Status().Clear()
		fmt.Println("done")
	case "restore":
		go func() {
			_, _ = s.Ask(context.Background(), consent())
		}()
		time.Sleep(time.Second) // what is being asked when the program is killed
		s.Restore()
		fmt.Printf("echo=%v\n", echoes(os.Stderr))
	}
	os.Exit(0) // without the testing package's own words
}

func childAsk(s *Streams, words bool) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	q := consent()
	q.Words = words
	key, err := s.Ask(ctx, q)
	rest, _ := io.ReadAll(s.In)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Printf("cancelled echo=%v\n", echoes(os.Stderr))
	case err != nil:
		fmt.Printf("error=%v\n", err)
	default:
		fmt.Printf("key=%c stdin=%q echo=%v\n", key, rest, echoes(os.Stderr))
	}
}

func echoes(f *os.File) bool {
	t, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil && t.Lflag&unix.ECHO != 0 && t.Lflag&unix.ICANON != 0
}

// terminal is a child on a terminal of its own, and what it showed.
type terminal struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	done  chan struct{}
}

func startChild(t *testing.T, role string, size pty.Winsize, change func(*exec.Cmd)) *terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childRole+"="+role, "TERM=xterm", "NO_COLOR=", "CLICOLOR_FORCE=", "COLORTERM=", "COLUMNS=")
	ptmx, tty, err := pty.Open()
	if err != nil {
		needtest.Lacking(t, "pseudo-terminals: "+err.Error())
	}
	if err := pty.Setsize(ptmx, &size); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if change != nil {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	c := &terminal{t: t, pty: ptmx, cmd: cmd, done: make(chan struct{})}
	go c.watch()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = ptmx.Close()
		<-c.done
	})
	return c
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
			return // EIO once the child has gone
		}
	}
}

// until waits for text on the terminal and gives all that was shown.
func (c *terminal) until(text string) string {
	c.t.Helper()
	for deadline := time.Now().Add(ptyWait); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		s := c.shown.String()
		c.mu.Unlock()
		if strings.Contains(s, text) {
			return s
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%q didn't appear; the terminal shows %q", text, s)
		}
	}
}

func (c *terminal) typed(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.pty, s); err != nil {
		c.t.Fatal(err)
	}
}

func TestSystemKnowsATerminal(t *testing.T) {
	t.Parallel()
	c := startChild(t, "facts", pty.Winsize{Cols: 97, Rows: 20}, nil)
	c.until("in=1 out=true err=true width=97 colour=true can=true same=true")
	c = startChild(t, "facts", pty.Winsize{}, nil)
	c.until("width=80")
}

func TestSystemKnowsPipesAndNobody(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childRole+"=facts", "TERM=xterm", "CLICOLOR_FORCE=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal at all
	out, err := cmd.Output()
	if want := "in=0 out=false err=false width=0 colour=false can=false same=false\n"; string(out) != want || err != nil {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
	cmd = exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childRole+"=ask")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := cmd.Output(); string(out) != "error=ask \"Allow this?\": no terminal to ask on\n" || err != nil {
		t.Errorf("asking nobody gives %q, %v", out, err)
	}
}

func TestAskOnATerminalWhileStdinIsAPipe(t *testing.T) {
	t.Parallel()
	c := startChild(t, "ask", pty.Winsize{Cols: 80}, func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("piped text") })
	c.until("[d]etails of each  ")
	c.typed("\r")
	c.until("answer y, n or d")
	c.typed("y")
	shown := c.until("key=y")
	if !strings.Contains(c.until("echo="), `stdin="piped text" echo=true`) {
		t.Errorf("the terminal shows %q", shown)
	}
	if n := strings.Count(shown, "Allow this?"); n != 2 {
		t.Errorf("asked %d times: %q", n, shown)
	}
}

// After Ctrl-Z and fg the shell's words are on the screen: the question is put
// anew, and that is none of the three times.
func TestAResumedQuestionIsPutAnew(t *testing.T) {
	t.Parallel()
	c := startChild(t, "ask", pty.Winsize{Cols: 80}, func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("") })
	const times = maxTries + 1
	question := NewStyle(Colours16).Bold("Allow this?") + strings.TrimPrefix(consentLine, "Allow this?")
	for n := 1; n <= times; n++ {
		c.until(strings.Repeat(question, n))
		if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	c.until(strings.Repeat(question, times+1))
	c.typed("y")
	c.until("key=y")
}

func TestAskInWords(t *testing.T) {
	t.Parallel()
	c := startChild(t, "words", pty.Winsize{Cols: 80}, func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("") })
	c.until("[d]etails of each  ")
	c.typed("nn\x7fo\r") // the terminal's own editing works
	c.until("key=n")
}

func TestWhatWasTypedBeforeIsNoAnswer(t *testing.T) {
	t.Parallel()
	c := startChild(t, "ask", pty.Winsize{Cols: 80}, func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("") })
	c.typed("y\r") // long before the child is up
	c.until("[d]etails of each  ")
	c.typed("n")
	c.until("key=n")
}

func TestCancelledAskLeavesTheTerminalInOrder(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"ask", "words"} {
		c := startChild(t, role, pty.Winsize{Cols: 80}, func(cmd *exec.Cmd) { cmd.Stdin = strings.NewReader("") })
		c.until("[d]etails of each  ")
		c.typed("\x03") // the terminal makes SIGINT of it
		shown := c.until("cancelled echo=")
		if !strings.Contains(c.until("echo=true"), "\ncancelled") {
			t.Errorf("%s: the next line doesn't begin a line: %q", role, shown)
		}
	}
}

func TestRestoreInTheMiddleOfAQuestion(t *testing.T) {
	t.Parallel()
	c := startChild(t, "restore", pty.Winsize{Cols: 80}, nil)
	c.until("[d]etails of each  ")
	c.until("echo=true")
}

func TestNobodyIsAskedFromTheBackground(t *testing.T) {
	t.Parallel()
	c := startChild(t, "facts", pty.Winsize{Cols: 80}, func(cmd *exec.Cmd) {
		// A shell with job control starts the program in the background, where
		// writing is allowed.
		line := `set -m; "$0" -test.run='^TestChild$' & wait`
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line, os.Args[0]}
	})
	c.until("can=false")
}

func TestStatusOnATerminal(t *testing.T) {
	t.Parallel()
	c := startChild(t, "status", pty.Winsize{Cols: 12}, nil)
	shown := c.until("done")
	want := frame("thinking a…") + eraseLine + "notice\r\n" + frame("thinking a…") + eraseLine + "answer\r\n" +
		frame("tidying up") + eraseLine + "done"
	if !strings.Contains(shown, want) {
		t.Errorf("the terminal shows\n%q, want\n%q", shown, want)
	}
}
