package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/fettle-cli/fettle/commands/term"
)

// attr is how a piece of text looks.
type attr uint8

const (
	bold attr = 1 << iota
	dim
	italic
	underline
	strike
	code
)

const reset = "\x1b[0m"

// appendOn begins the look on a terminal.
func (a attr) appendOn(dst []byte) []byte {
	dst = append(dst, "\x1b["...)
	for i, sgr := range [...]int{1, 2, 3, 4, 9, 36} { // in the order of the constants
		if a&(1<<i) != 0 {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ';')
			}
			dst = strconv.AppendInt(dst, int64(sgr), 10)
		}
	}
	return append(dst, 'm')
}

// mark is what stands at the left of a container's lines: a bullet on the
// first and spaces on the others, or a quote's bar on all.
type mark struct {
	first, rest string
	look        attr
	cells       int // of either
	used        bool
}

// maxCluster bounds one character with its combining marks, in bytes: without
// a bound a stack of marks would be held for ever.
const maxCluster = 256

// maxWord bounds a word that takes no room, in bytes.
const maxWord = 4096

// tabStop is how many spaces a tab between words becomes; inside code tabs stay.
const tabStop = 4

// layout puts words on lines. It only appends to out, and what it appends
// doesn't depend on how the text was cut into calls, as long as the pieces
// with a look of their own are whole.
type layout struct {
	width int
	on    bool // escape codes are written
	hard  bool // words wider than the line are broken (cells of a table)
	out   []byte
	marks []mark
	left  int // the first column after the marks

	begun  bool // something was ever written
	open   bool // this line has its marks
	filled bool // and text after them
	col    int
	widths []int // of finished lines, where hard

	space     int // pending before the next word
	spaceLook attr

	word      []byte // the pending word, without its first and last escape code
	wordWidth int
	wordLook  attr // at its begin
	look      attr // at its end
	wide      bool // its last character may be followed by a line break
	glue      bool // ditto, may not

	tail     []byte // a character that may still grow
	tailLook attr
	over     bool // the word is wider than a line and written as it comes

	blanks []byte // pending spaces of a code line
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

// text adds text of a paragraph. Line ends are newline's.
func (l *layout) text(p []byte, look attr) {
	for len(p) > 0 {
		i := bytes.IndexAny(p, " \t")
		switch i {
		case -1:
			l.letters(p, look)
			return
		case 0:
			l.endWord()
			if p[0] == '\t' {
				l.space += tabStop
			} else {
				l.space++
			}
			l.spaceLook = look
			p = p[1:]
		default:
			l.letters(p[:i], look)
			p = p[i:]
		}
	}
}

// letters adds to the pending word. The last character stays in tail, since a
// combining mark may follow.
func (l *layout) letters(p []byte, look attr) {
	if look != l.tailLook {
		l.settle()
		l.tailLook = look
	}
	if n := asciiPrefix(p); n > 0 && (len(l.tail) == 0 || l.tail[0] < utf8.RuneSelf && len(l.tail) == 1) && !l.hard {
		l.settle()
		if n > 1 {
			l.place(p[:n-1], n-1)
		}
		l.tail = append(l.tail, p[n-1])
		p = p[n:]
	}
	if len(p) == 0 {
		return
	}
	l.tail = append(l.tail, p...)
	rest := l.tail
	for {
		cluster, after, width, _ := uniseg.FirstGraphemeCluster(rest, -1)
		if len(cluster) > maxCluster {
			n := maxCluster
			for !utf8.RuneStart(cluster[n]) {
				n--
			}
			cluster, after = rest[:n], rest[n:]
			width = uniseg.StringWidth(string(cluster))
		} else if len(after) == 0 {
			break
		}
		l.place(cluster, width)
		rest = after
	}
	l.tail = append(l.tail[:0], rest...)
}

func asciiPrefix(p []byte) int {
	for i, c := range p {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return len(p)
}

// settle takes the tail as it is.
func (l *layout) settle() {
	if len(l.tail) == 0 {
		return
	}
	width := 1
	if l.tail[0] >= utf8.RuneSelf || len(l.tail) > 1 {
		width = uniseg.StringWidth(string(l.tail))
	}
	l.place(l.tail, width)
	l.tail = l.tail[:0]
}

// place adds whole characters, of the tail's look, to the word.
func (l *layout) place(p []byte, width int) {
	wide, open, shut := breaks(p, width)
	if !shut && !l.glue && (l.wide || wide) {
		l.flush()
		l.under()
	}
	l.wide, l.glue = wide, open
	if l.over {
		l.raw(p, l.tailLook, width)
		return
	}
	if l.hard && l.wordWidth+width > l.width && len(l.word) > 0 {
		l.flush()
		l.breakLine()
	}
	switch {
	case len(l.word) == 0:
		l.wordLook, l.look = l.tailLook, l.tailLook
	case l.look != l.tailLook && l.on:
		if l.look != 0 {
			l.word = append(l.word, reset...)
		}
		if l.tailLook != 0 {
			l.word = l.tailLook.appendOn(l.word)
		}
		l.look = l.tailLook
	}
	l.word = append(l.word, p...)
	l.wordWidth += width
	if !l.hard && (l.wordWidth > l.room() || len(l.word) > maxWord) {
		l.flush()
		l.over = true
	}
}

// endWord puts the pending word on its line.
func (l *layout) endWord() {
	l.settle()
	l.flush()
	l.wide, l.glue = false, false
	l.under()
}

// under ends a word that was too wide.
func (l *layout) under() {
	if l.over {
		l.over = false
		l.col = (l.col-1)%l.width + 1 // where the terminal's own wrapping left it
	}
}

// flush writes the pending word, on a new line where it doesn't fit.
func (l *layout) flush() {
	if len(l.word) == 0 {
		return
	}
	if l.filled && l.col+l.space+l.wordWidth > l.width {
		l.breakLine()
	}
	l.begin()
	if !l.filled {
		l.space = 0
	}
	l.spaces()
	if l.on && l.wordLook != 0 && (l.spaceLook != l.wordLook || l.space == 0) {
		l.out = l.wordLook.appendOn(l.out)
	}
	l.out = append(l.out, l.word...)
	if l.on && l.look != 0 {
		l.out = append(l.out, reset...)
	}
	l.col += l.space + l.wordWidth
	l.filled = true
	l.space, l.word, l.wordWidth = 0, l.word[:0], 0
}

// spaces writes the pending spaces; those between two words of one look have
// it too, so that an underlined phrase is one.
func (l *layout) spaces() {
	if l.space == 0 {
		return
	}
	if l.on && l.wordLook != 0 && l.spaceLook == l.wordLook {
		l.out = l.wordLook.appendOn(l.out)
	}
	for range l.space {
		l.out = append(l.out, ' ')
	}
}

// raw writes a piece of a word that is too wide for any line.
func (l *layout) raw(p []byte, look attr, width int) {
	if l.on && look != 0 {
		l.out = look.appendOn(l.out)
		l.out = append(l.out, p...)
		l.out = append(l.out, reset...)
	} else {
		l.out = append(l.out, p...)
	}
	l.col += width
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
	text := bytes.TrimRight(p, " \t")
	if len(text) > 0 {
		l.begin()
		l.out = append(append(l.out, l.blanks...), text...)
		l.blanks = l.blanks[:0]
		l.filled = true
	}
	l.blanks = append(l.blanks, p[len(text):]...)
}

// endVerbatim ends a line of code, which may be empty.
func (l *layout) endVerbatim() {
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

// breaks tells what a character says about line breaks around it: wide ones
// (ideographs, kana, emoji) allow one on either side, unless they open or shut
// something. Hangul has spaces and wants none.
func breaks(p []byte, width int) (wide, opens, shuts bool) {
	if p[0] < utf8.RuneSelf {
		switch p[0] {
		case '.', ',', '!', '?', ':', ';', ')', ']', '}', '%':
			return false, false, true
		}
		return false, false, false
	}
	r, _ := utf8.DecodeRune(p)
	switch {
	case r < 0x1100:
		return false, false, false
	case r == 0x200b:
		return true, false, true
	case r >= 0xac00 && r <= 0xd7ff || r <= 0x11ff:
		return false, false, false
	case strings.ContainsRune("（［｛〔〈《「『【〖“‘", r):
		return width == 2, true, false
	case strings.ContainsRune("）］｝〕〉》」』】〗”’、。，．！？：；・…ー〜％ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ々", r):
		return width == 2, false, true
	}
	return width == 2, false, false
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
