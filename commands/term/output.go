package term

import (
	"fmt"
	"io"
	"strconv"
	"sync"
)

// defaultWidth is taken where a terminal doesn't know its width (some CI
// runners give 0 columns) and COLUMNS doesn't say.
const defaultWidth = 80

// eraseLine goes to the line's begin and clears it.
const eraseLine = "\r\x1b[K"

// screen is the terminal that stdout and stderr share, or one stream's own.
type screen struct {
	mu    sync.Mutex
	owner *Output // who left the cursor in mid-line; nil at a line's begin
	line  *Status // the status line, where the screen is stderr's
}

// Output is stdout or stderr.
type Output struct {
	w      io.Writer
	set    *settings
	screen *screen
	tty    bool

	size    func() int  // columns, 0 where unknown; nil where not a terminal
	prepare func() bool // makes a terminal take escape codes (Windows)
	ready   sync.Once
	escapes bool

	err error // the first error, under screen.mu
	buf []byte
}

// Write writes p in one write. On a terminal the status line gives way first,
// and a line that the other stream left unfinished is ended.
func (o *Output) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	o.screen.mu.Lock()
	defer o.screen.mu.Unlock()
	if !o.tty {
		n, err := o.w.Write(p)
		return n, o.keep(err)
	}
	return o.writeScreen(p)
}

func (o *Output) writeScreen(p []byte) (int, error) {
	sc := o.screen
	pre := ""
	switch {
	case sc.line.hide():
		pre = sc.line.erase()
	case sc.owner != nil && sc.owner != o:
		pre = "\n"
	}
	sc.owner = o
	if p[len(p)-1] == '\n' {
		sc.owner = nil
	}
	post := ""
	if sc.line != nil && sc.line.out == o {
		post = sc.line.frame() // empty unless there is something to show again
	}
	if pre == "" && post == "" {
		n, err := o.w.Write(p)
		return n, o.keep(err)
	}
	o.buf = append(append(append(o.buf[:0], pre...), p...), post...)
	n, err := o.w.Write(o.buf)
	return min(max(n-len(pre), 0), len(p)), o.keep(err)
}

// keep remembers the first error.
func (o *Output) keep(err error) error {
	if o.err == nil {
		o.err = err
	}
	return err
}

// WriteString is Write for a string.
func (o *Output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// Printf formats and writes; an error is kept for [Output.Err].
func (o *Output) Printf(format string, a ...any) {
	_, _ = fmt.Fprintf(o, format, a...) // Write keeps the error
}

// Err is the first error of any write, such as EPIPE of a closed pipe.
func (o *Output) Err() error {
	o.screen.mu.Lock()
	defer o.screen.mu.Unlock()
	return o.err
}

// IsTerminal tells whether a person looks at this stream.
func (o *Output) IsTerminal() bool { return o.tty }

// Width is the number of columns now, and 0 where the stream is no terminal
// and so has no limit.
func (o *Output) Width() int {
	if !o.tty {
		return 0
	}
	if w := o.size(); w > 0 {
		return w
	}
	if w, err := strconv.Atoi(o.set.getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return defaultWidth
}

// Depth is how many colours may be sent here; see [ColourMode].
func (o *Output) Depth() Depth {
	d := o.facts().depth()
	if d != NoColour && o.tty && !o.takesEscapes() && o.set.mode == ColourAuto {
		return NoColour
	}
	return d
}

// Style is the colours of this stream.
func (o *Output) Style() Style { return NewStyle(o.Depth()) }

// Cleaner makes model text harmless for what this stream is.
func (o *Output) Cleaner() *Cleaner {
	if o.tty {
		return NewCleaner(o, ToTerminal)
	}
	return NewCleaner(o, ToPipe)
}

func (o *Output) facts() colourFacts { return facts(o.set.mode, o.tty, o.set.getenv) }

// takesEscapes switches escape codes on at first use, where a system wants
// that, and tells whether the terminal understands them.
func (o *Output) takesEscapes() bool {
	o.ready.Do(func() { o.escapes = o.tty && (o.prepare == nil || o.prepare()) })
	return o.escapes
}

// movable tells whether a line can be taken back.
func (o *Output) movable() bool { return o.tty && !o.facts().dumb() && o.takesEscapes() }
