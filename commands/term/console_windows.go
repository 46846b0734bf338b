package term

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/windows"
)

// maxTyped bounds a typed answer; a console's own line is no longer.
const maxTyped = 4096

// winConsole is CONIN$ and CONOUT$. Keys are read as events, since a line read
// of a console can't be called back; the little editing that words need is
// done here.
type winConsole struct {
	in, out *os.File
	words   bool
	stop    windows.Handle // an event that ctx's end sets

	mu   sync.Mutex
	old  uint32
	done bool
}

// inputRecord is INPUT_RECORD with KEY_EVENT_RECORD as its event.
type inputRecord struct {
	kind    uint16
	_       uint16
	down    int32
	repeat  uint16
	keyCode uint16
	scan    uint16
	char    uint16
	control uint32
}

const keyEvent = 1

var readConsoleInput = sync.OnceValue(func() *windows.LazyProc {
	return windows.NewLazySystemDLL("kernel32.dll").NewProc("ReadConsoleInputW")
})

// consoleReady is false under mintty, whose console nobody sees.
func consoleReady() bool {
	in, err := openInput()
	if err != nil {
		return false
	}
	_ = in.Close()
	return true
}

func openInput() (*os.File, error) {
	if isatty.IsCygwinTerminal(os.Stdin.Fd()) || isatty.IsCygwinTerminal(os.Stderr.Fd()) {
		return nil, ErrNoTerminal
	}
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, ErrNoTerminal
	}
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(in.Fd()), &mode); err != nil {
		_ = in.Close()
		return nil, ErrNoTerminal
	}
	return in, nil
}

func openConsole(words bool) (_ console, err error) {
	c := &winConsole{words: words}
	if c.in, err = openInput(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.close()
		}
	}()
	if c.out, err = os.OpenFile("CONOUT$", os.O_RDWR, 0); err != nil {
		return nil, ErrNoTerminal
	}
	if c.stop, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, fmt.Errorf("make an event: %w", err)
	}
	if err = windows.GetConsoleMode(c.handle(), &c.old); err != nil {
		return nil, fmt.Errorf("read console modes: %w", err)
	}
	// Without line input and echo; Ctrl-C stays a signal.
	mode := c.old&^(windows.ENABLE_LINE_INPUT|windows.ENABLE_ECHO_INPUT|windows.ENABLE_VIRTUAL_TERMINAL_INPUT) |
		windows.ENABLE_PROCESSED_INPUT
	if err = windows.SetConsoleMode(c.handle(), mode); err != nil {
		return nil, fmt.Errorf("set console modes: %w", err)
	}
	_ = windows.FlushConsoleInputBuffer(c.handle())
	return c, nil
}

func (c *winConsole) handle() windows.Handle { return windows.Handle(c.in.Fd()) }

func (c *winConsole) Write(p []byte) (int, error) { return c.out.Write(p) }

func (c *winConsole) columns() int { return terminalWidth(c.out) }

func (c *winConsole) read(ctx context.Context) ([]byte, error) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = windows.SetEvent(c.stop)
	})
	defer func() {
		if !stop() {
			<-ended // the event must not be closed under it
		}
	}()
	var typed []byte
	for {
		if len(typed) > 0 && (!c.words && !c.pending() || c.words && typed[len(typed)-1] == '\n') {
			return typed, nil
		}
		if err := c.wait(ctx); err != nil {
			return nil, err
		}
		var err error
		if typed, err = c.key(typed); err != nil {
			return nil, err
		}
	}
}

// wait returns when there is an event to read.
func (c *winConsole) wait(ctx context.Context) error {
	got, err := windows.WaitForMultipleObjects([]windows.Handle{c.stop, c.handle()}, false, windows.INFINITE)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("wait for an answer: %w", err)
	case got == windows.WAIT_OBJECT_0:
		return context.Canceled
	}
	return nil
}

func (c *winConsole) pending() bool {
	var n uint32
	return windows.GetNumberOfConsoleInputEvents(c.handle(), &n) == nil && n > 0
}

// key reads one event and adds the character it stands for, if any.
func (c *winConsole) key(typed []byte) ([]byte, error) {
	var rec inputRecord
	var n uint32
	ok, _, err := readConsoleInput().Call(uintptr(c.handle()), uintptr(unsafe.Pointer(&rec)), 1, uintptr(unsafe.Pointer(&n)))
	if ok == 0 {
		return typed, fmt.Errorf("read the answer: %w", err)
	}
	if n == 0 || rec.kind != keyEvent || rec.down == 0 || rec.char == 0 {
		return typed, nil
	}
	r := rune(rec.char)
	if utf16.IsSurrogate(r) {
		r = utf8.RuneError // no choice is outside the basic plane
	}
	if !c.words {
		if len(typed) >= maxTyped {
			return typed, nil
		}
		return utf8.AppendRune(typed, r), nil
	}
	return c.edit(typed, r)
}

// edit adds a character to a line and shows it.
func (c *winConsole) edit(typed []byte, r rune) ([]byte, error) {
	switch {
	case r == '\r' || r == '\n':
		_, err := io.WriteString(c.out, "\r\n")
		return append(typed, '\n'), err
	case r == '\b':
		if len(typed) == 0 {
			return typed, nil
		}
		_, size := utf8.DecodeLastRune(typed)
		_, err := io.WriteString(c.out, "\b \b")
		return typed[:len(typed)-size], err
	case r == 0x1a || r == endOfInput: // Ctrl-Z, Ctrl-D
		return typed, io.EOF
	case r < ' ' || len(typed) >= maxTyped:
		return typed, nil
	}
	_, err := io.WriteString(c.out, string(r))
	return utf8.AppendRune(typed, r), err
}

func (c *winConsole) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	c.done = true
	_ = windows.FlushConsoleInputBuffer(c.handle())
	_ = windows.SetConsoleMode(c.handle(), c.old) // nothing better can be done
}

func (c *winConsole) close() error {
	if c.stop != 0 {
		_ = windows.CloseHandle(c.stop)
		c.stop = 0
	}
	if c.out != nil {
		_ = c.out.Close()
	}
	return c.in.Close()
}
