package term

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	// widestBar is that of the bar itself, where there is room.
	widestBar = 30
	// leastBar is the narrowest bar that tells more than its number.
	leastBar = 8
	// rateSpan is how far back the rate looks: long enough that a number can
	// be read, short enough that it follows the line.
	rateSpan = 10 * time.Second
	// rateAfter is how long a rate isn't told yet, since it would jump.
	rateAfter = time.Second
)

// Progress is a bar for work that a person waits for: what it is, how far it
// is, how fast, and how long still. It is the status line, so it is shown on a
// terminal only, gives way to what is printed, and is gone when Done or Clear
// is called. It belongs to one goroutine.
type Progress struct {
	s    *Streams
	what string
	part string // of it, where it has several
	now  func() time.Time

	marks []mark // the last rateSpan, oldest first
}

// mark is how far it was at one moment.
type mark struct {
	at   time.Time
	done int64
}

// Progress begins a bar for what is going on, such as "qwen3".
func (s *Streams) Progress(what string) *Progress {
	return &Progress{s: s, what: Clean(what), now: time.Now}
}

// Stage shows what is being done where no amount is known.
func (p *Progress) Stage(text string) {
	p.marks = nil
	p.s.Status().Set(p.what + "  " + Clean(text))
}

// Part names the part of the work that Bytes tells of from now on; empty is all of
// it. Each goes from nothing to its end.
func (p *Progress) Part(name string) {
	if name = Clean(name); name != p.part {
		p.part, p.marks = name, nil
	}
}

// Bytes shows how much of total has come. Done may begin above 0, where
// something goes on, and may fall.
func (p *Progress) Bytes(done, total int64) {
	if total <= 0 || !p.s.Err.IsTerminal() {
		return
	}
	done = min(max(done, 0), total)
	p.mark(done)
	p.s.Status().Set(p.line(done, total, p.s.Err.Width()-1))
}

// Clear takes the bar off.
func (p *Progress) Clear() { p.s.Status().Clear() }

// Done takes the bar off and leaves a line on stderr, which is also what is
// written where there is no terminal.
func (p *Progress) Done(line string) {
	p.Clear()
	p.s.Err.Printf("%s\n", Clean(line))
}

// mark notes how far it is, and forgets what is too old to tell the rate.
func (p *Progress) mark(done int64) {
	now := p.now()
	if n := len(p.marks); n > 0 && done < p.marks[n-1].done {
		p.marks = nil // it was set back, so what came before tells nothing
	}
	if n := len(p.marks); n > 1 && p.marks[n-1].at.Sub(p.marks[n-2].at) < frameGap {
		p.marks = p.marks[:n-1] // too near to the one before to be worth keeping
	}
	p.marks = append(p.marks, mark{now, done})
	old := 0
	for old+1 < len(p.marks) && now.Sub(p.marks[old+1].at) >= rateSpan {
		old++
	}
	p.marks = p.marks[old:]
}

// rate is in bytes a second; 0 where it isn't known.
func (p *Progress) rate() float64 {
	if len(p.marks) == 0 {
		return 0
	}
	first, last := p.marks[0], p.marks[len(p.marks)-1]
	took := last.at.Sub(first.at)
	if took < rateAfter {
		return 0
	}
	return float64(last.done-first.done) / took.Seconds()
}

// line is the bar: "qwen3   23% ██████░░░░░░  1.2 of 5.2 GB  12 MB/s  5 min
// left". What has no room on the right is left out, the bar before the numbers.
func (p *Progress) line(done, total int64, width int) string {
	what := p.what
	if p.part != "" && Cells(what)+Cells(p.part)+len("   100%  ")+Cells(amount(done, total)) <= width {
		what += "  " + p.part
	}
	parts := []string{amount(done, total)}
	if rate := p.rate(); rate >= 1 {
		parts = append(parts, Size(int64(rate))+"/s")
		left := float64(total-done) / rate
		if left = min(left, math.MaxInt32); done < total {
			parts = append(parts, Duration(time.Duration(math.Ceil(left))*time.Second)+" left")
		}
	}
	text := strings.Join(parts, "  ")
	for len(parts) > 1 && Cells(what)+len(" 100%  ")+Cells(text) > width {
		parts = parts[:len(parts)-1]
		text = strings.Join(parts, "  ")
	}
	room := width - Cells(what) - Cells(text) - len(" 100%   ")
	return what + bar(done, total, min(room, widestBar)) + "  " + text
}

// bar draws the percentage and the bar, or the percentage alone where the bar
// would be too narrow. It is made anew each time: one of this library's is over
// once it was full, and here the total grows with each layer that is found.
func bar(done, total int64, width int) string {
	if width < leastBar {
		return fmt.Sprintf("%4d%%", int(float64(done)/float64(total)*100))
	}
	b := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetWidth(width),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: "░"}),
	)
	_ = b.RenderBlank() // it writes to nowhere
	_ = b.Set64(done)   // done is within total
	return strings.TrimRight(strings.TrimPrefix(b.String(), "\r"), " ")
}

// amount is "1.2 of 5.2 GB", with one unit where both have the same.
func amount(done, total int64) string {
	d, t := Size(done), Size(total)
	if number, unit, ok := strings.Cut(d, " "); ok && strings.HasSuffix(t, " "+unit) {
		d = number
	}
	return d + " of " + t
}
