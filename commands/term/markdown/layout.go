package markdown

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/fettle-cli/fettle/commands/term/code"
)

// attr is how a piece of text looks.
type attr uint8

const (
	bold attr = 1 << iota
	dim
	italic
	underline
	strike
	mono
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

	colour *code.Colourer // of the block of code that is open; nil for none
	source []byte         // its line so far

	// A word goes on in the look of the one before it if both come out of one
	// piece of text: pieces that have a look are whole, so this doesn't depend
	// on chunks.
	joint     int  // where out ended with such a word
	jointLook attr // of the piece
}

// text adds text of a paragraph. Line ends are newline's.
func (l *layout) text(p []byte, look attr) {
	l.joint, l.jointLook = -1, look
	for len(p) > 0 {
		i := 0
		for i < len(p) && p[i] != ' ' && p[i] != '\t' {
			i++
		}
		if i > 0 {
			l.letters(p[:i], look)
			p = p[i:]
			continue
		}
		l.endWord()
		if p[0] == '\t' {
			l.space += tabStop
		} else {
			l.space++
		}
		l.spaceLook = look
		p = p[1:]
	}
	l.joint, l.jointLook = -1, 0
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
	l.styled()
	l.col += l.space + l.wordWidth
	l.filled = true
	l.space, l.word, l.wordWidth = 0, l.word[:0], 0
}

// styled writes the pending spaces and the word. Spaces between two words of
// one look have it too, so that an underlined phrase is one.
func (l *layout) styled() {
	inside := l.space == 0 || l.spaceLook == l.wordLook
	plain := !l.on || l.wordLook == 0
	switch {
	case plain || !inside:
	case l.joint == len(l.out) && l.jointLook == l.wordLook:
		l.out = l.out[:len(l.out)-len(reset)]
	default:
		l.out = l.wordLook.appendOn(l.out)
	}
	for range l.space {
		l.out = append(l.out, ' ')
	}
	if !plain && !inside {
		l.out = l.wordLook.appendOn(l.out)
	}
	l.out = append(l.out, l.word...)
	if l.on && l.look != 0 {
		l.out = append(l.out, reset...)
		if l.look == l.jointLook {
			l.joint = len(l.out)
		}
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
