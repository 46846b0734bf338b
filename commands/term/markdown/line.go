package markdown

import "github.com/yuin/goldmark/util"

// cursor reads the begin of a line in columns: a tab reaches to the next
// multiple of four, and part of one may belong to a container.
type cursor struct {
	p     []byte
	whole bool // the line ends where p does
	i     int
	col   int
	part  int // columns left of the tab at i
}

// indent tells how many columns of white space come next, and the place of
// what follows; ok is false where more of the line has to be seen.
func (c *cursor) indent() (cols, next int, ok bool) {
	cols, next = c.part, c.i
	if c.part > 0 {
		next++
	}
	col := c.col + cols
	for next < len(c.p) {
		switch c.p[next] {
		case ' ':
			cols, col = cols+1, col+1
		case '\t':
			n := tabStop - col%tabStop
			cols, col = cols+n, col+n
		default:
			return cols, next, true
		}
		next++
	}
	return cols, next, c.whole
}

// skip takes n columns of white space, or less where there is less.
func (c *cursor) skip(n int) {
	for n > 0 && c.i < len(c.p) {
		switch {
		case c.p[c.i] == ' ':
			c.i++
			c.col++
			n--
		case c.p[c.i] == '\t':
			if c.part == 0 {
				c.part = tabStop - c.col%tabStop
			}
			k := min(n, c.part)
			c.part -= k
			c.col += k
			n -= k
			if c.part == 0 {
				c.i++
			}
		default:
			return
		}
	}
}

// take goes over n characters that are no white space.
func (c *cursor) take(n int) {
	c.i += n
	c.col += n
}

// blank tells whether nothing is left; ok as for indent.
func (c *cursor) blank() (yes, ok bool) {
	_, next, ok := c.indent()
	return next == len(c.p), ok
}

// rest is what is left, with the columns of a tab that was begun as spaces.
func (c *cursor) rest() []byte {
	if c.part == 0 {
		return c.p[c.i:]
	}
	b := make([]byte, c.part, c.part+len(c.p)-c.i)
	for i := range b {
		b[i] = ' '
	}
	return append(b, c.p[c.i+1:]...)
}

// sign is what a line's first characters may make of it.
type sign struct {
	kind   signKind
	width  int  // characters of the marker itself
	char   byte // of a fence, bullet or underline
	number int
}

type signKind int

const (
	signNone signKind = iota
	signQuote
	signHeading
	signFence
	signRule
	signUnderline // of a heading made of the paragraph above
	signItem
	signHTML
	signTable
)

// context is what decides between readings of the same line.
type context struct {
	whole bool // the line is all there
	para  bool // a paragraph goes on with this line, if it is text
	lazy  bool // ditto, or it would although its containers don't go on
	// heldRow: the paragraph's last line looks like the head of a table.
	heldRow bool
}

// wants says how much more has to be seen to read a line.
type wants int

const (
	wantsNothing wants = iota
	wantsSome          // a few characters
	wantsLine          // all of it
)

// read tells what a line's text, without its indentation, begins.
func read(p []byte, c context) (sign, wants) {
	switch ch := p[0]; {
	case ch == '>':
		return sign{kind: signQuote, width: 1}, wantsNothing
	case ch == '#':
		return readHeading(p, c)
	case ch == '`' || ch == '~':
		return readFence(p, c)
	case ch == '<':
		return readHTML(p, c)
	case ch == '|':
		return needLine(sign{kind: signTable}, c)
	case ch == '-' || ch == '*' || ch == '_' || ch == '+' || ch == '=' || ch == ':':
		return readDashes(p, c)
	case ch >= '0' && ch <= '9':
		return readOrdered(p, c)
	}
	return sign{}, wantsNothing
}

func needLine(s sign, c context) (sign, wants) {
	if !c.whole {
		return s, wantsLine
	}
	return s, wantsNothing
}

// after tells whether white space or the line's end follows at i.
func after(p []byte, i int, c context) (yes bool, w wants) {
	if i < len(p) {
		return p[i] == ' ' || p[i] == '\t', wantsNothing
	}
	if !c.whole {
		return false, wantsSome
	}
	return true, wantsNothing
}

func readHeading(p []byte, c context) (sign, wants) {
	n := 0
	for n < len(p) && p[n] == '#' {
		n++
	}
	if n > 6 {
		return sign{}, wantsNothing
	}
	if ok, w := after(p, n, c); !ok {
		return sign{}, w
	}
	return needLine(sign{kind: signHeading, width: n}, c)
}

func readFence(p []byte, c context) (sign, wants) {
	n := 0
	for n < len(p) && p[n] == p[0] {
		n++
	}
	if n == len(p) && !c.whole {
		return sign{}, wantsSome
	}
	if n < 3 {
		return sign{}, wantsNothing
	}
	if p[0] == '`' {
		for _, ch := range p[n:] {
			if ch == '`' { // code in a line of text
				return sign{}, wantsNothing
			}
		}
	}
	return needLine(sign{kind: signFence, width: n, char: p[0]}, c)
}

// readDashes reads what is made of -, *, _, +, = and : alone or begins with
// one: rules, underlines, bullets and a table's second line.
func readDashes(p []byte, c context) (sign, wants) {
	ch := p[0]
	if c.heldRow && (ch == '-' || ch == ':') && !c.whole {
		return sign{}, wantsLine
	}
	i, n, gap := 0, 0, false // n of ch; gap: white space between two of them
	for ; i < len(p); i++ {
		switch p[i] {
		case ch:
			n++
			gap = gap || i > 0 && p[i-1] != ch
			continue
		case ' ', '\t':
			continue
		}
		break
	}
	if i == len(p) && !c.whole {
		return sign{}, wantsSome
	}
	if i == len(p) {
		switch {
		case c.para && !gap && (ch == '=' || ch == '-'):
			return sign{kind: signUnderline, char: ch}, wantsNothing
		case n >= 3 && (ch == '-' || ch == '*' || ch == '_'):
			return sign{kind: signRule, char: ch}, wantsNothing
		}
	}
	if ch != '-' && ch != '*' && ch != '+' {
		return sign{}, wantsNothing
	}
	return readItem(p, sign{kind: signItem, width: 1, char: ch}, c)
}

func readOrdered(p []byte, c context) (sign, wants) {
	s := sign{kind: signItem}
	n := 0
	for n < len(p) && p[n] >= '0' && p[n] <= '9' {
		s.number = s.number*10 + int(p[n]-'0')
		if n++; n > 9 {
			return sign{}, wantsNothing
		}
	}
	if n == len(p) {
		if !c.whole {
			return sign{}, wantsSome
		}
		return sign{}, wantsNothing
	}
	if p[n] != '.' && p[n] != ')' || c.para && s.number != 1 {
		return sign{}, wantsNothing
	}
	s.char, s.width = p[n], n+1
	return readItem(p, s, c)
}

// readItem checks what follows a bullet: white space, and text if it would
// interrupt a paragraph.
func readItem(p []byte, s sign, c context) (sign, wants) {
	if ok, w := after(p, s.width, c); !ok {
		return sign{}, w
	}
	for i := s.width; i < len(p); i++ {
		if p[i] != ' ' && p[i] != '\t' {
			return s, wantsNothing
		}
	}
	if !c.whole {
		return sign{}, wantsSome
	}
	if c.para {
		return sign{}, wantsNothing
	}
	return s, wantsNothing
}

// closesFence tells whether a line of code ends its block; more has to be seen
// where it may.
func closesFence(p []byte, char byte, width int, whole bool) (bool, wants) {
	n := 0
	for n < len(p) && p[n] == char {
		n++
	}
	for _, ch := range p[n:] {
		if ch != ' ' && ch != '\t' {
			return false, wantsNothing
		}
	}
	if !whole {
		return false, wantsSome
	}
	return n >= width, wantsNothing
}

// task reads the [ ] or [x] at the begin of an item's text.
func task(p []byte, whole bool) (box byte, w wants) {
	for i, want := range []byte("[ ] ") {
		if i == len(p) {
			if !whole {
				return 0, wantsSome
			}
			return 0, wantsNothing
		}
		ok := p[i] == want
		switch i {
		case 1:
			ok = ok || p[i]|0x20 == 'x'
		case 3:
			ok = util.IsSpace(p[i])
		}
		if !ok {
			return 0, wantsNothing
		}
	}
	return p[1] | 0x20, wantsNothing // ' ' or 'x'
}
