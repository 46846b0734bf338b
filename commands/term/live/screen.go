package live

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// frameGap is the shortest time between two frames: 30 a second look like
// motion, and more is work that nobody sees.
const frameGap = time.Second / 30

const (
	// openRows is how many rows of a line that isn't ended are shown.
	openRows = 8
	// openBytes bounds what is looked at of it.
	openBytes = 16 << 10
	// maxWaiting is what may wait for the next frame; more is drawn at once, so
	// that a writer is never far ahead of the terminal.
	maxWaiting = 256 << 10
)

// Rows are what is drawn below the transcript.
type Rows struct {
	// Lines are the rows, each without a line end and narrower than the
	// terminal; they may have colours.
	Lines []string
	// Row and Col are where the cursor is, in Lines. A negative Row is nowhere.
	Row, Col int
}

// Options say what a screen is drawn on.
type Options struct {
	// Out is the terminal; one frame is one Write.
	Out io.Writer
	// Size gives its columns and rows.
	Size func() (columns, rows int)
	// Reflows says that the terminal wraps its lines anew when its width
	// changes; see [Reflows].
	Reflows bool
}

// Screen is the transcript and the live rows below it.
type Screen struct {
	o Options

	mu     sync.Mutex
	done   []byte // whole lines that are to be printed
	open   []byte // the line that isn't ended
	live   Rows
	drawn  []string // the live rows as they are on the terminal
	row    int      // where the cursor is in them
	col    int
	width  int
	hidden bool
	closed bool
	last   time.Time
	timer  *time.Timer
	err    error
	frames int64
}

// NewScreen gives a screen that has drawn nothing. The cursor is at the begin
// of a line.
func NewScreen(o Options) *Screen { return &Screen{o: o} }

// Reflows tells by the environment whether a terminal wraps its lines anew when
// its width changes. xterm, GNU screen and the Linux console don't; all others
// in use do.
func Reflows(getenv func(string) string) bool {
	term := getenv("TERM")
	return getenv("XTERM_VERSION") == "" && term != "linux" && (getenv("TMUX") != "" || !strings.HasPrefix(term, "screen"))
}

// Write adds to the transcript; p has no escape codes but colours.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
		s.done = append(append(s.done, s.open...), p[:i+1]...)
		s.open = append(s.open[:0], p[i+1:]...)
	} else {
		s.open = append(s.open, p...)
	}
	s.soon(len(s.done) > maxWaiting)
	return len(p), s.err
}

// Show sets the live rows, and draws them at once where now is set.
func (s *Screen) Show(r Rows, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = r
	s.soon(now)
}

// EndLine ends the line that is open, if one is.
func (s *Screen) EndLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) > 0 {
		s.done = append(append(s.done, s.open...), '\n')
		s.open = s.open[:0]
		s.soon(false)
	}
}

// Resized draws everything live again, at the terminal's new width.
func (s *Screen) Resized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hidden || s.closed {
		return
	}
	width, _ := s.size()
	if s.o.Reflows && s.width > 0 && width != s.width {
		s.moveBy(width)
	}
	s.draw(true)
}

// moveBy counts the rows anew that the drawn ones take at another width.
func (s *Screen) moveBy(width int) {
	above := 0
	for _, line := range s.drawn[:min(s.row, len(s.drawn))] {
		above += max(1, (cellsOf(line)+width-1)/width)
	}
	s.row = above + s.col/width
}

// Hide takes the live rows off and leaves the terminal to somebody else, such as
// an editor, until Resume.
func (s *Screen) Hide() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeOff()
	s.hidden = true
}

// Resume draws again after Hide; the cursor is at the begin of a line.
func (s *Screen) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = false
	s.draw(true)
}

// Clear empties the terminal's window; what scrolled out of it stays.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put([]byte("\x1b[H\x1b[2J"))
	s.drawn, s.row, s.col = nil, 0, 0
	s.draw(true)
}

// Close takes the live rows off and prints what is left of the transcript.
// Nothing is drawn after it.
func (s *Screen) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.takeOff()
		s.closed = true
	}
	return s.err
}

// Frames tells how many frames were drawn.
func (s *Screen) Frames() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frames
}

func (s *Screen) takeOff() {
	s.stop()
	if s.hidden || s.closed {
		return
	}
	if len(s.open) > 0 {
		s.done = append(append(s.done, s.open...), '\n')
		s.open = s.open[:0]
	}
	s.live = Rows{Row: -1}
	s.draw(true)
}

// soon draws now, or when the gap to the last frame is over.
func (s *Screen) soon(now bool) {
	if s.hidden || s.closed {
		return
	}
	wait := frameGap - time.Since(s.last)
	if now || wait <= 0 {
		s.stop()
		s.draw(false)
		return
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(wait, s.late)
	}
}

func (s *Screen) stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

func (s *Screen) late() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil && !s.hidden && !s.closed {
		s.timer = nil
		s.draw(false)
	}
}

func (s *Screen) size() (width, height int) {
	width, height = s.o.Size()
	return max(width, 2), max(height, 2)
}

// draw brings the terminal up to date in one write, if there is something to
// bring.
func (s *Screen) draw(all bool) {
	width, height := s.size()
	rows, row, col := s.rows(width, height)
	if !all && len(s.done) == 0 && width == s.width && row == s.row && col == s.col && slices.Equal(rows, s.drawn) {
		return
	}
	from := 0
	if !all && len(s.done) == 0 && width == s.width {
		for from < len(rows) && from < len(s.drawn) && rows[from] == s.drawn[from] {
			from++
		}
		from = min(from, max(len(rows)-1, 0), max(len(s.drawn)-1, 0))
	}
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h\x1b[?25l\r")
	move(&b, from-s.row)
	b.WriteString("\x1b[J")
	writeLines(&b, s.done)
	s.done = s.done[:0]
	for i, line := range rows[from:] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line)
	}
	if len(rows) > 0 {
		b.WriteByte('\r')
		move(&b, row-(len(rows)-1))
		if col > 0 {
			fmt.Fprintf(&b, "\x1b[%dC", col)
		}
	}
	b.WriteString("\x1b[?25h\x1b[?2026l")
	s.drawn, s.row, s.col, s.width = rows, row, col, width
	s.put(b.Bytes())
	s.frames++
	s.last = time.Now()
}

func (s *Screen) put(p []byte) {
	if _, err := s.o.Out.Write(p); err != nil && s.err == nil {
		s.err = err
	}
}

// rows are all live rows as they fit the terminal, and the cursor's place.
func (s *Screen) rows(width, height int) (rows []string, row, col int) {
	if len(s.open) > 0 {
		rows = chopOpen(s.open, width-1, min(openRows, max(height/2, 1)))
	}
	lines, at := s.live.Lines, s.live.Row
	if most := height - 1; len(lines) > most {
		cut := min(max(at-most+1, 0), len(lines)-most) // keep the cursor's row
		lines, at = lines[cut:cut+most], at-cut
	}
	if over := len(rows) + len(lines) - (height - 1); over > 0 {
		rows = rows[min(over, len(rows)):]
	}
	first := len(rows)
	for _, line := range lines {
		rows = append(rows, cutRow(line, width-1))
	}
	if s.live.Row < 0 || len(lines) == 0 {
		return rows, max(len(rows)-1, 0), 0
	}
	return rows, first + at, min(s.live.Col, width-1)
}

// writeLines writes whole lines, with what a raw terminal wants of a line end.
func writeLines(b *bytes.Buffer, lines []byte) {
	for len(lines) > 0 {
		i := bytes.IndexByte(lines, '\n')
		if i < 0 {
			b.Write(lines)
			return
		}
		b.Write(lines[:i])
		b.WriteString("\r\n")
		lines = lines[i+1:]
	}
}

// move goes n rows down, or up where n is negative.
func move(b *bytes.Buffer, n int) {
	switch {
	case n < 0:
		fmt.Fprintf(b, "\x1b[%dA", -n)
	case n > 0:
		fmt.Fprintf(b, "\x1b[%dB", n)
	}
}

// Control sends the terminal a code that draws nothing, such as one for its
// clipboard.
func (s *Screen) Control(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.put([]byte(code))
	}
}
