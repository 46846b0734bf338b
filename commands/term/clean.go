package term

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Target is what clean text is sent to.
type Target int

// A terminal is also spared what hides text from a person; a pipe gets every
// printable character as it came, since a program may need it.
const (
	ToTerminal Target = iota
	ToPipe
)

// Cleaner writes text from a model so that it can't drive a terminal, in any
// split: a rune or a line end that is cut in two is held until it is whole.
//
// Controls but newline and tab are shown as their pictures (␛ for ESC), C1
// controls and what hides text as ‹U+202E›, invalid UTF-8 as U+FFFD, and CR LF
// is a newline. Call Flush at the end. A Cleaner belongs to one goroutine.
type Cleaner struct {
	w     io.Writer
	state cleanState
	buf   []byte
}

// NewCleaner gives a Cleaner that writes to w.
func NewCleaner(w io.Writer, to Target) *Cleaner {
	return &Cleaner{w: w, state: cleanState{to: to}}
}

// Write cleans p and writes the result in one write, or none where everything
// is held back. After an error nothing of p is to be taken as written.
func (c *Cleaner) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.state.idle() && plain(p) {
		c.state.last = joinNone
		return c.w.Write(p)
	}
	c.buf = c.state.append(c.buf[:0], p)
	if err := c.emit(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what was held back: half a rune as U+FFFD, a lone carriage
// return as its picture. The Cleaner may be used on.
func (c *Cleaner) Flush() error {
	c.buf = c.state.flush(c.buf[:0])
	return c.emit()
}

func (c *Cleaner) emit() error {
	if len(c.buf) == 0 {
		return nil
	}
	_, err := c.w.Write(c.buf)
	return err
}

// CleanText makes a text of several lines harmless for a terminal; newlines
// and tabs stay.
func CleanText(s string) string {
	if plainString(s) {
		return s
	}
	var st cleanState
	return string(st.flush(st.append(make([]byte, 0, len(s)+16), []byte(s))))
}

// Clean makes a text harmless and one line: a tool's arguments, a file name, a
// title. A line end inside it becomes " ␤ ", so that two commands never look
// like one; line ends around it are dropped, and a tab becomes a space.
func Clean(s string) string {
	if plainString(s) && !strings.ContainsAny(s, "\n\t") {
		return s
	}
	s = strings.Trim(CleanText(s), "\n")
	var b strings.Builder
	for i, line := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' }) {
		if i > 0 {
			b.WriteString(" ␤ ")
			line = strings.TrimLeft(line, " \t")
		}
		b.WriteString(strings.ReplaceAll(line, "\t", " "))
	}
	return b.String()
}

// plain tells whether p is printable ASCII, newlines and tabs, which is what
// most of an answer is.
func plain(p []byte) bool {
	for _, c := range p {
		if c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

func plainString(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// joining is what the rune before was, as far as invisible runes depend on it.
type joining int

const (
	joinNone     joining = iota
	joinJoiner           // ZWJ or ZWNJ
	joinSelector         // a variation selector
	joinSEAsian          // a script that breaks words with U+200B
)

// cleanState is where a text stands between two chunks.
type cleanState struct {
	to   Target
	held [utf8.UTFMax]byte // the begin of a rune
	n    int
	cr   bool // a carriage return whose successor isn't known
	last joining
}

func (s *cleanState) idle() bool { return s.n == 0 && !s.cr }

// append cleans p onto dst.
func (s *cleanState) append(dst, p []byte) []byte {
	for s.n > 0 && len(p) > 0 {
		s.held[s.n] = p[0]
		s.n++
		p = p[1:]
		dst = s.drain(dst)
	}
	for len(p) > 0 {
		if !utf8.FullRune(p) {
			s.n = copy(s.held[:], p)
			return dst
		}
		r, size := utf8.DecodeRune(p)
		dst = s.rune(dst, r, size)
		p = p[size:]
	}
	return dst
}

// drain takes out of held every rune that is decided by now.
func (s *cleanState) drain(dst []byte) []byte {
	for s.n > 0 && utf8.FullRune(s.held[:s.n]) {
		r, size := utf8.DecodeRune(s.held[:s.n])
		dst = s.rune(dst, r, size)
		s.n = copy(s.held[:], s.held[size:s.n])
	}
	return dst
}

func (s *cleanState) flush(dst []byte) []byte {
	for range s.n {
		dst = s.rune(dst, utf8.RuneError, 1)
	}
	s.n = 0
	if s.cr {
		s.cr = false
		dst = appendControl(dst, '\r')
	}
	return dst
}

// rune cleans one rune of size bytes; size 1 with RuneError is a byte that is
// no UTF-8, which an 8-bit terminal might take for a C1 control.
func (s *cleanState) rune(dst []byte, r rune, size int) []byte {
	if s.cr {
		s.cr = false
		if r != '\n' {
			dst = appendControl(dst, '\r')
		}
	}
	last := s.last
	s.last = joinNone
	switch {
	case r == '\r':
		s.cr = true
		return dst
	case r == '\n' || r == '\t' || r >= 0x20 && r < 0x7f:
		return append(dst, byte(r))
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return appendControl(dst, r)
	case r == utf8.RuneError && size == 1:
		return utf8.AppendRune(dst, utf8.RuneError)
	case s.to == ToPipe:
		return utf8.AppendRune(dst, r)
	}
	s.last = joins(r)
	if hides(r, last) {
		s.last = joinNone
		return appendCode(dst, r)
	}
	return utf8.AppendRune(dst, r)
}

// joins sorts a rune for the successor's sake.
func joins(r rune) joining {
	switch {
	case r == 0x200c || r == 0x200d:
		return joinJoiner
	case selector(r):
		return joinSelector
	case r == 0x200b || r < 0x0e00 || r > 0x1aff && r < 0xa9e0 || r > 0xaadf:
		return joinNone
	case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
		unicode.Tibetan, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet):
		return joinSEAsian
	}
	return joinNone
}

func selector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef ||
		r >= 0x180b && r <= 0x180d || r == 0x180f
}

// hides tells whether a rune reorders, hides or breaks the text around it, or
// carries text that can't be seen. What scripts and emoji need stays: one
// joiner, one variation selector, and U+200B in scripts that have no spaces; a
// run of them is how hidden messages are written.
func hides(r rune, last joining) bool {
	switch {
	case r < 0x061c:
		return false
	case r == 0x200b:
		return last != joinSEAsian
	case r == 0x200c || r == 0x200d:
		return last == joinJoiner
	case selector(r):
		return last == joinSelector || last == joinJoiner
	case r == 0x061c, r == 0x180e, r == 0xfeff, // Arabic letter mark, Mongolian separator, BOM
		r >= 0x200e && r <= 0x200f, // direction marks
		r >= 0x2028 && r <= 0x202e, // line and paragraph separator, bidi embedding and override
		r >= 0x2060 && r <= 0x206f, // invisible operators, bidi isolates
		r >= 0xfff9 && r <= 0xfffb, // interlinear annotations
		r >= 0x1d173 && r <= 0x1d17a,
		r >= 0xe0000 && r <= 0xe0fff: // tags; selectors are decided above
		return true
	}
	return false
}

// appendControl shows a control character: C0 and DEL have pictures, C1 hasn't.
func appendControl(dst []byte, r rune) []byte {
	switch {
	case r < 0x20:
		return utf8.AppendRune(dst, 0x2400+r)
	case r == 0x7f:
		return utf8.AppendRune(dst, 0x2421)
	}
	return appendCode(dst, r)
}

// appendCode shows a rune by its number, as ‹U+202E›.
func appendCode(dst []byte, r rune) []byte {
	const hex = "0123456789ABCDEF"
	dst = append(dst, "‹U+"...)
	shift := 12
	for r>>(shift+4) != 0 {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, hex[r>>shift&0xf])
	}
	return append(dst, "›"...)
}
