package term

import (
	"errors"
	"io"
	"os"

	"github.com/mattn/go-isatty"
	xterm "golang.org/x/term"
)

// Streams are the three standard streams of a program, or a test's.
type Streams struct {
	In  *Input
	Out *Output
	Err *Output

	set    *settings
	status *Status
	asker  *asker
}

// settings is what all streams share; it is written before the first output.
type settings struct {
	mode   ColourMode
	getenv func(string) string
}

// System gives the process's own streams. It looks at them once and changes
// nothing about them.
func System() *Streams {
	set := &settings{getenv: os.Getenv}
	s := &Streams{
		In:  &Input{r: os.Stdin, kind: kindOf(os.Stdin)},
		Out: systemOutput(os.Stdout, set),
		Err: systemOutput(os.Stderr, set),
		set: set,
	}
	if closedAtStart(os.Stdout.Fd()) {
		s.Out.w = closedStream{}
	}
	if s.Out.tty && s.Err.tty && sameTerminal(os.Stdout, os.Stderr) {
		s.Out.screen = s.Err.screen
	}
	s.status = newStatus(s.Err)
	s.asker = newAsker(openConsole, consoleReady)
	return s
}

// closedStream is a stream that was closed when the program was started.
type closedStream struct{}

// Write returns an error.
func (closedStream) Write([]byte) (int, error) { return 0, errClosedStream }

var errClosedStream = errors.New("it is closed")

func systemOutput(f *os.File, set *settings) *Output {
	o := &Output{w: f, set: set, screen: &screen{}, tty: isTerminal(f)}
	if o.tty {
		o.size = func() int { return terminalWidth(f) }
		o.prepare = func() bool { return enableEscapes(f) }
	}
	return o
}

// isTerminal also knows the terminals of Cygwin and Git for Windows, which
// look like pipes to Windows.
func isTerminal(f *os.File) bool {
	return xterm.IsTerminal(int(f.Fd())) || isatty.IsCygwinTerminal(f.Fd())
}

// terminalWidth gives 0 where the terminal doesn't know its own width.
func terminalWidth(f *os.File) int {
	w, _, err := xterm.GetSize(int(f.Fd()))
	if err != nil || w < 0 {
		return 0
	}
	return w
}

// SetColour takes the value of --color. Call it before anything is written.
func (s *Streams) SetColour(m ColourMode) { s.set.mode = m }

// Getenv reads the environment that the streams were made with.
func (s *Streams) Getenv(key string) string { return s.set.getenv(key) }

// Status is the one status line, on stderr.
func (s *Streams) Status() *Status { return s.status }

// Restore takes the status line off and puts the terminal's modes back, for a
// path that leaves the program in the middle of something. It never waits for
// an output that is blocked, and may be called again.
func (s *Streams) Restore() {
	s.asker.restore()
	s.status.abandon()
}

// InputKind is what stdin is.
type InputKind int

// A pipe also stands for sockets and devices: its end is not known before it
// comes. InputNone has nothing to read: the null device, or a closed stream.
const (
	InputNone InputKind = iota
	InputTerminal
	InputPipe
	InputFile
)

// Input is stdin.
type Input struct {
	r    io.Reader
	kind InputKind
}

// Read reads from stdin, also where that is a terminal: who must not read a
// terminal asks Kind first.
func (in *Input) Read(p []byte) (int, error) { return in.r.Read(p) }

// Kind tells what stdin is.
func (in *Input) Kind() InputKind { return in.kind }

// IsTerminal tells whether a person types here.
func (in *Input) IsTerminal() bool { return in.kind == InputTerminal }

func kindOf(f *os.File) InputKind {
	info, err := f.Stat()
	switch {
	case err != nil:
		return InputNone
	case isTerminal(f):
		return InputTerminal
	case info.Mode().IsRegular(), info.IsDir():
		return InputFile
	case info.Mode()&os.ModeCharDevice != 0 && isNull(info):
		return InputNone
	}
	return InputPipe
}
