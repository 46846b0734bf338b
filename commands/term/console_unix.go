//go:build linux || darwin

package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// modeCheck is how often a waiting prompt looks whether it is still in the
// foreground with its own modes: after Ctrl-Z and fg the shell has set others.
const modeCheck = 500 * time.Millisecond

// maxTyped bounds what is read in one go; a terminal's own line is no longer.
const maxTyped = 4096

// ttyConsole is /dev/tty. It is opened blocking and apart from the standard
// streams, so that no other reader's modes are touched.
type ttyConsole struct {
	f       *os.File
	words   bool
	resumed chan os.Signal // SIGCONT, as after Ctrl-Z and fg

	mu   sync.Mutex
	old  unix.Termios
	done bool
}

// openTTY opens the terminal if this process may use it now.
func openTTY() (*os.File, error) {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, ErrNoTerminal
	}
	f := os.NewFile(uintptr(fd), "/dev/tty")
	if !foreground(fd) {
		_ = f.Close()
		return nil, ErrNoTerminal
	}
	return f, nil
}

func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

func consoleReady() bool {
	f, err := openTTY()
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}

func openConsole(words bool) (console, error) {
	f, err := openTTY()
	if err != nil {
		return nil, err
	}
	c := &ttyConsole{f: f, words: words, resumed: make(chan os.Signal, 1)}
	old, err := unix.IoctlGetTermios(c.fd(), getTermios)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("read terminal modes: %w", err)
	}
	c.old = *old
	if err := c.apply(); err != nil {
		_ = f.Close()
		return nil, err
	}
	flushInput(c.fd())
	signal.Notify(c.resumed, unix.SIGCONT)
	return c, nil
}

func (c *ttyConsole) fd() int { return int(c.f.Fd()) }

// apply sets the modes for the question. Signals stay on in both, so Ctrl-C
// and Ctrl-Z do what they always do.
func (c *ttyConsole) apply() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return nil
	}
	t := c.old
	t.Lflag |= unix.ISIG
	if c.words {
		t.Lflag |= unix.ICANON | unix.ECHO
	} else {
		t.Lflag &^= unix.ICANON | unix.ECHO
		t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	}
	t.Iflag |= unix.ICRNL
	now, err := unix.IoctlGetTermios(c.fd(), getTermios)
	if err == nil && now.Lflag == t.Lflag && now.Iflag == t.Iflag {
		return nil
	}
	if err := unix.IoctlSetTermios(c.fd(), setTermios, &t); err != nil {
		return fmt.Errorf("set terminal modes: %w", err)
	}
	return nil
}

func (c *ttyConsole) Write(p []byte) (int, error) { return c.f.Write(p) }

func (c *ttyConsole) columns() int { return terminalWidth(c.f) }

// read waits on the terminal and on a pipe that ctx's end writes to, so that
// it never sits in a read that can't be called back.
func (c *ttyConsole) read(ctx context.Context) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("wait for an answer: %w", err)
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_, _ = w.Write([]byte{0}) // one byte into an empty pipe
	})
	defer func() {
		if !stop() {
			<-ended
		}
		_, _ = r.Close(), w.Close()
	}()
	for {
		ready, err := waitReadable(c.fd(), int(r.Fd()), modeCheck)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case taken(c.resumed) && foreground(c.fd()):
			if err := c.apply(); err != nil {
				return nil, err
			}
			return nil, errResumed
		case err != nil && !errors.Is(err, unix.EINTR):
			return nil, fmt.Errorf("wait for an answer: %w", err)
		case !foreground(c.fd()):
			// The input is the shell's now. Look again, but not at once.
			if _, err := waitReadable(int(r.Fd()), int(r.Fd()), modeCheck); err != nil && !errors.Is(err, unix.EINTR) {
				return nil, fmt.Errorf("wait for the foreground: %w", err)
			}
			continue
		case ready:
			return c.take()
		}
		if err := c.apply(); err != nil {
			return nil, err
		}
	}
}

// taken tells whether a signal has come, and takes it.
func taken(signals <-chan os.Signal) bool {
	select {
	case <-signals:
		return true
	default:
		return false
	}
}

func (c *ttyConsole) take() ([]byte, error) {
	buf := make([]byte, maxTyped)
	n, err := unix.Read(c.fd(), buf)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Read(c.fd(), buf)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case n == 0:
		return nil, io.EOF
	}
	return buf[:n], nil
}

func (c *ttyConsole) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	c.done = true
	flushInput(c.fd())
	_ = unix.IoctlSetTermios(c.fd(), setTermios, &c.old) // nothing better can be done
}

func (c *ttyConsole) close() error {
	signal.Stop(c.resumed)
	return c.f.Close()
}
