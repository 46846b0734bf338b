//go:build linux || darwin

package live

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"

	"github.com/fettle-cli/fettle/commands/term"
)

// escapeWait is how long a lone Escape is waited on: more of a sequence comes
// at once, over a slow line too in one packet.
const escapeWait = 50 * time.Millisecond

// readWait is how long one wait for a key lasts: select knows no forever.
const readWait = time.Hour

// TTY is the person's terminal, which gives keys one by one.
type TTY struct {
	in, out *os.File
	wake    [2]*os.File // ends a read
	resized chan os.Signal
	resumed chan os.Signal
	keys    chan []Key
	done    chan struct{}

	mu    sync.Mutex
	old   *xterm.State
	raw   bool
	shut  bool
	pause sync.Mutex // held while somebody else reads
}

// bracketed asks for pastes between marks.
const (
	bracketedOn  = "\x1b[?2004h"
	bracketedOff = "\x1b[?2004l"
)

// OpenTTY takes over the terminal of both files.
func OpenTTY(in, out *os.File) (*TTY, error) {
	t := &TTY{in: in, out: out, keys: make(chan []Key), done: make(chan struct{}),
		resized: make(chan os.Signal, 1), resumed: make(chan os.Signal, 1)}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open the terminal: %w", err)
	}
	t.wake = [2]*os.File{r, w}
	if err := t.setRaw(); err != nil {
		return nil, errors.Join(err, r.Close(), w.Close())
	}
	signal.Notify(t.resized, unix.SIGWINCH)
	signal.Notify(t.resumed, unix.SIGCONT)
	go t.read()
	return t, nil
}

func (t *TTY) setRaw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.raw || t.shut {
		return nil
	}
	old, err := xterm.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("set terminal modes: %w", err)
	}
	t.old, t.raw = old, true
	_, err = t.out.WriteString(bracketedOn)
	return err
}

// cook puts the modes back.
func (t *TTY) cook() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.raw {
		return nil
	}
	t.raw = false
	_, _ = t.out.WriteString(bracketedOff) // a terminal that is gone needs none
	return xterm.Restore(int(t.in.Fd()), t.old)
}

// Keys gives what is pressed; it is closed when the terminal is gone.
func (t *TTY) Keys() <-chan []Key { return t.keys }

// Resized tells that the size may have changed.
func (t *TTY) Resized() <-chan os.Signal { return t.resized }

// Size gives columns and rows; 0 where they are unknown.
func (t *TTY) Size() (int, int) {
	w, h, err := xterm.GetSize(int(t.out.Fd()))
	if err != nil {
		return 0, 0
	}
	return w, h
}

// Lend runs do with the terminal as it was before, for another program that
// reads it.
func (t *TTY) Lend(do func() error) error {
	t.pause.Lock()
	defer t.pause.Unlock()
	if err := t.cook(); err != nil {
		return fmt.Errorf("lend the terminal: %w", err)
	}
	return errors.Join(do(), t.setRaw())
}

// Stop ends the program's turn in the shell, as Ctrl-Z does, until it is
// brought back. It waits at most a moment where nobody can stop it.
func (t *TTY) Stop() error {
	return t.Lend(func() error {
		select {
		case <-t.resumed: // an old one
		default:
		}
		if err := unix.Kill(0, unix.SIGTSTP); err != nil {
			return err
		}
		const unstoppable = 500 * time.Millisecond // an orphaned group ignores SIGTSTP
		select {
		case <-t.resumed:
		case <-time.After(unstoppable):
		}
		return nil
	})
}

// Close puts the modes back and ends the reader.
func (t *TTY) Close() error {
	err := t.cook()
	t.mu.Lock()
	first := !t.shut
	t.shut = true
	t.mu.Unlock()
	if !first {
		return err
	}
	signal.Stop(t.resized)
	signal.Stop(t.resumed)
	close(t.done)
	_ = t.wake[1].Close() // the reader sees its end
	for range t.keys {    // until it has closed
	}
	return errors.Join(err, t.wake[0].Close())
}

func (t *TTY) read() {
	defer close(t.keys)
	var p Parser
	for {
		in, err := t.readSome(p.Waits())
		if err != nil {
			return
		}
		keys := p.Feed(in)
		if len(in) == 0 {
			keys = p.Flush()
		}
		if len(keys) == 0 {
			continue
		}
		select {
		case t.keys <- keys:
		case <-t.done:
			return
		}
	}
}

// readSome waits for input, or a little while where a sequence was begun.
func (t *TTY) readSome(begun bool) ([]byte, error) {
	for {
		wait := readWait
		if begun {
			wait = escapeWait
		}
		ready, err := term.WaitReadable(int(t.in.Fd()), int(t.wake[0].Fd()), wait)
		select {
		case <-t.done:
			return nil, io.EOF
		default:
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case !ready && begun:
			return nil, nil
		case !ready:
			continue
		}
		if in, mine, err := t.take(); mine || err != nil {
			return in, err
		}
	}
}

// take reads, unless the terminal was lent while its reader waited.
func (t *TTY) take() (in []byte, mine bool, err error) {
	t.pause.Lock()
	defer t.pause.Unlock()
	if ready, err := term.WaitReadable(int(t.in.Fd()), int(t.wake[0].Fd()), 0); !ready && err == nil {
		return nil, false, nil
	}
	buf := make([]byte, 64<<10)
	n, err := unix.Read(int(t.in.Fd()), buf)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case n == 0:
		return nil, false, io.EOF
	}
	return buf[:n], true, nil
}

// Here tells whether this system has a TTY.
const Here = true
