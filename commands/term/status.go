package term

import (
	"strings"
	"time"
)

// frameGap is the shortest time between two frames of the status line: faster
// than four a second nobody reads.
const frameGap = 250 * time.Millisecond

// Status is one dim line on stderr that says what is going on, such as "qwen3
// is thinking". It is shown on a terminal only, below everything, while no
// line is unfinished; output makes it give way. Written to stderr, it comes
// back at once; written to stdout, with the next Set.
//
// It may be used from several goroutines. Clear it when its matter is over.
type Status struct {
	out  *Output
	host func(text string) // draws the line instead; see [Host]

	// All under out.screen.mu.
	text  string
	shown bool
	cells int // how wide it was drawn
	mute  int // questions that are being asked
	drawn time.Time
	timer *time.Timer // draws the frame that came too soon
	turn  int         // tells a timer that was stopped too late
}

func newStatus(out *Output) *Status {
	s := &Status{out: out}
	if out.tty {
		out.screen.line = s
	}
	return s
}

// Set shows text, cut to the width; an empty text is Clear.
func (s *Status) Set(text string) {
	if s.host != nil {
		s.host(Clean(text))
		return
	}
	if !s.out.tty || !s.out.movable() {
		return
	}
	s.out.screen.mu.Lock()
	defer s.out.screen.mu.Unlock()
	if text = Clean(text); text == "" {
		s.clear()
		return
	}
	if s.text == text && s.shown {
		return
	}
	s.text = text
	wait := frameGap - time.Since(s.drawn)
	if wait <= 0 {
		s.stop()
		s.draw()
		return
	}
	if s.timer == nil {
		turn := s.turn
		s.timer = time.AfterFunc(wait, func() { s.late(turn) })
	}
}

// Shows tells whether there is a status line at all: stderr is a terminal
// that can take a line back.
func (s *Status) Shows() bool { return s.out.movable() }

// Clear takes the line off.
func (s *Status) Clear() {
	if s.host != nil {
		s.host("")
		return
	}
	s.out.screen.mu.Lock()
	defer s.out.screen.mu.Unlock()
	s.clear()
}

func (s *Status) clear() {
	s.text = ""
	s.stop()
	if s.hide() {
		_, err := s.out.w.Write([]byte(s.erase()))
		_ = s.out.keep(err)
	}
}

// erase takes the line off: by an escape code, or with blanks where colours,
// and so escape codes, aren't wanted.
func (s *Status) erase() string {
	if s.out.Depth() != NoColour {
		return eraseLine
	}
	if s.cells == 0 {
		return "\r"
	}
	return "\r" + strings.Repeat(" ", s.cells) + "\r"
}

// abandon is Clear for a program that is being killed: no waiting for the lock.
func (s *Status) abandon() {
	if s.host != nil {
		return
	}
	if s.out.screen.mu.TryLock() {
		defer s.out.screen.mu.Unlock()
		s.clear()
	}
}

// stop ends the timer; one that runs already finds that its turn is over.
func (s *Status) stop() {
	s.turn++
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

func (s *Status) late(turn int) {
	s.out.screen.mu.Lock()
	defer s.out.screen.mu.Unlock()
	if s.turn == turn {
		s.timer = nil
		s.draw()
	}
}

// draw writes a frame if there is one to show now.
func (s *Status) draw() {
	if f := s.frame(); f != "" {
		_, err := s.out.w.Write([]byte(f))
		_ = s.out.keep(err)
	}
}

// frame gives the bytes that show the line, and counts it as shown. The last
// column stays free, since some terminals wrap as soon as it is filled.
func (s *Status) frame() string {
	if s.text == "" || s.mute > 0 || s.out.screen.owner != nil {
		return ""
	}
	s.shown = true
	s.drawn = time.Now()
	erase, text := s.erase(), CutEnd(s.text, s.out.Width()-1)
	s.cells = Cells(text)
	return erase + s.out.Style().Dim(text)
}

// hide counts the line as gone and tells whether it has to be erased. It may
// be called where there is no status line at all.
func (s *Status) hide() bool {
	if s == nil || !s.shown {
		return false
	}
	s.shown = false
	return true
}
