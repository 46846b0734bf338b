package markdown

import (
	"bytes"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
)

// mark is what stands at the left of a container's lines: a bullet on the
// first and spaces on the others, or a quote's bar on all.
type mark struct {
	first, rest string
	look        attr
	cells       int // of either
	used        bool
}

// room is how many columns text has on a line.
func (l *layout) room() int { return l.width - l.left }

// push begins a container. Where the marks would take the text's room, deeper
// ones are not shown.
func (l *layout) push(m mark) {
	if m.cells = term.Cells(m.rest); l.left+m.cells > l.width-minWidth/2 {
		m = mark{used: true}
	}
	l.marks = append(l.marks, m)
	l.left += m.cells
}

// pop ends a container; an item without text still shows its bullet.
func (l *layout) pop() {
	l.newline()
	last := len(l.marks) - 1
	if !l.marks[last].used {
		l.bare()
	}
	l.left -= l.marks[last].cells
	l.marks = l.marks[:last]
}

// begin writes the marks of a new line.
func (l *layout) begin() {
	if l.open {
		return
	}
	l.open, l.begun = true, true
	for i := range l.marks {
		l.mark(l.marks[i].next(), l.marks[i].look)
	}
	l.col = l.left
}

// next gives what stands on the next line.
func (m *mark) next() string {
	if m.used {
		return m.rest
	}
	m.used = true
	return m.first
}

func (l *layout) mark(s string, look attr) {
	if l.on && look != 0 && s != "" {
		l.out = append(append(look.appendOn(l.out), s...), reset...)
		return
	}
	l.out = append(l.out, s...)
}

// bare writes a line that has marks alone, without spaces at its end.
func (l *layout) bare() {
	l.begun = true
	end := len(l.out)
	for i := range l.marks {
		m := &l.marks[i]
		s := m.next()
		if t := strings.TrimRight(s, " "); t != "" {
			l.mark(t, m.look)
			end = len(l.out)
			s = s[len(t):]
		}
		l.out = append(l.out, s...)
	}
	l.out = append(l.out[:end], '\n')
}

// newline ends the line, if there is one.
func (l *layout) newline() {
	l.coloured()
	l.endWord()
	l.space = 0
	if l.open {
		l.breakLine()
	}
}

func (l *layout) breakLine() {
	if l.hard {
		l.widths = append(l.widths, l.col)
	}
	l.out = append(l.out, '\n')
	l.open, l.filled, l.col, l.space = false, false, 0, 0
}

// blank writes an empty line, with the bars of the quotes that it is in.
func (l *layout) blank() {
	l.newline()
	l.bare()
}

// verbatim adds to a line of code: nothing is wrapped, and spaces at its end
// are left out.
func (l *layout) verbatim(p []byte) {
	if l.colour != nil {
		if l.source = append(l.source, p...); len(l.source) > maxLine {
			l.colour = nil // no line of code is that long
			l.coloured()
		}
		return
	}
	text := bytes.TrimRight(p, " \t")
	if len(text) > 0 {
		l.begin()
		l.out = append(append(l.out, l.blanks...), text...)
		l.blanks = l.blanks[:0]
		l.filled = true
	}
	l.blanks = append(l.blanks, p[len(text):]...)
}

// coloured writes the line of code that was held to be coloured.
func (l *layout) coloured() {
	text := strings.TrimRight(string(l.source), " \t")
	if l.source = l.source[:0]; text == "" {
		return
	}
	l.begin()
	if l.colour != nil {
		text = l.colour.Line(text)
	}
	l.out = append(l.out, text...)
	l.filled = true
}

// endVerbatim ends a line of code, which may be empty.
func (l *layout) endVerbatim() {
	l.coloured()
	l.blanks = l.blanks[:0]
	if l.open {
		l.breakLine()
		return
	}
	l.bare()
}

// line writes a whole line of one look, not wrapped.
func (l *layout) line(s string, look attr) {
	l.newline()
	if s = strings.TrimRight(s, " \t"); s == "" {
		l.bare()
		return
	}
	l.begin()
	l.mark(s, look)
	l.breakLine()
}

// awaits tells whether a container was opened that has no text yet.
func (l *layout) awaits() bool {
	for _, m := range l.marks {
		if !m.used {
			return true
		}
	}
	return false
}
