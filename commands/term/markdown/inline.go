package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

const (
	// maxSpan is how long text is held for a marker that may close, in bytes:
	// at a model's speed that is some seconds. Emphasis over more than this
	// is rare, and shown as it is written.
	maxSpan = 1024
	// maxLook is how far beyond that a link's address or a tag may end.
	maxLook = 2560
)

// inline takes the text of one paragraph as it comes. Plain text goes on at
// once; from a marker on it is held until scanner says that every span is
// closed, and then rendered.
type inline struct {
	out   sink
	spans *spans
	look  attr

	buf  []byte // not yet decided
	held bool   // buf begins with a marker
	scan scanner
	prev rune // the last character that was decided; 0 at a line's begin
}

// feed takes text without line ends.
func (in *inline) feed(p []byte) {
	if len(in.buf) == 0 && !in.held {
		i := marker(p)
		in.plain(p[:i])
		p = p[i:]
	}
	if len(p) == 0 {
		return
	}
	in.buf = append(in.buf, p...)
	in.run(false)
}

// newline takes a line end inside the paragraph.
func (in *inline) newline() {
	if !in.held {
		in.out.newline()
		in.prev = 0
		return
	}
	in.buf = append(in.buf, '\n')
	in.run(false)
}

// end takes the paragraph's end.
func (in *inline) end() {
	in.run(true)
	in.prev = 0
}

// run decides what can be decided.
func (in *inline) run(final bool) {
	pos := 0
	for pos < len(in.buf) {
		if !in.held {
			pos += in.upToMarker(in.buf[pos:])
			if pos == len(in.buf) {
				break
			}
			in.held = true
			in.scan = scanner{before: in.prev, delims: in.scan.delims[:0], brackets: in.scan.brackets[:0]}
		}
		window := in.buf[pos:min(pos+maxLook, len(in.buf))]
		n, v := in.scan.step(window, final && pos+len(window) == len(in.buf))
		switch v {
		case more:
			if pos > 0 {
				in.buf = append(in.buf[:0], in.buf[pos:]...)
			}
			return
		case overflow:
			if n = len(window); n > maxSpan || !final {
				n = cut(window)
			}
			in.show(window[:n], window[n:], true)
		case closed:
			in.show(window[:n], window[n:], in.scan.hit)
		}
		in.held = false
		pos += n
	}
	in.buf = in.buf[:0]
}

// upToMarker shows the plain text and line ends in front of the next marker.
func (in *inline) upToMarker(p []byte) int {
	for i := 0; i < len(p); {
		if p[i] == '\n' {
			in.out.newline()
			in.prev = 0
			i++
			continue
		}
		n := marker(p[i:])
		if n == 0 {
			return i
		}
		if nl := bytes.IndexByte(p[i:i+n], '\n'); nl >= 0 {
			n = nl
		}
		in.plain(p[i : i+n])
		i += n
	}
	return len(p)
}

func (in *inline) plain(p []byte) {
	if len(p) == 0 {
		return
	}
	in.out.text(p, in.look)
	in.prev, _ = utf8.DecodeLastRune(p)
}

// show renders a piece in front of rest; hit tells whether goldmark has
// anything to find in it.
func (in *inline) show(p, rest []byte, hit bool) {
	if !hit {
		in.literal(p)
		return
	}
	if string(p) == "\\" && len(rest) > 0 && rest[0] == '\n' {
		return // a hard line break: the line end itself comes next
	}
	var after rune
	if c := p[len(p)-1]; len(rest) > 0 && (c == '*' || c == '_' || c == '~') {
		after, _ = utf8.DecodeRune(rest)
	}
	in.spans.render(p, kindOf(in.prev), kindOf(after), in.look, in.out)
	in.prev, _ = utf8.DecodeLastRune(p)
	if in.prev == '\n' {
		in.prev = 0
	}
}

// literal shows a piece whose markers mean nothing.
func (in *inline) literal(p []byte) {
	for len(p) > 0 {
		n := bytes.IndexByte(p, '\n')
		if n == 0 {
			in.out.newline()
			in.prev = 0
			p = p[1:]
			continue
		}
		if n < 0 {
			n = len(p)
		}
		in.plain(p[:n])
		p = p[n:]
	}
}

// kindOf gives a character that stands for r beside a marker.
func kindOf(r rune) byte {
	switch {
	case r == 0 || util.IsSpaceRune(r):
		return 0
	case util.IsPunctRune(r):
		return '.'
	}
	return 'a'
}

// cut finds where a piece that is held too long is cut: at its last space if
// that isn't too early, else between two characters.
func cut(p []byte) int {
	p = p[:min(len(p), maxSpan)]
	if i := bytes.LastIndexAny(p, " \n"); i > len(p)/2 {
		return i
	}
	for i := len(p); i > len(p)-utf8.UTFMax && i > 1; i-- {
		if r, size := utf8.DecodeLastRune(p[:i]); r != utf8.RuneError || size != 1 {
			return i
		}
	}
	return len(p)
}

// marker gives the place of the first character that may mean something, and
// the length of p where there is none.
func marker(p []byte) int {
	for i, c := range p {
		switch c {
		case '\\', '`', '*', '_', '~', '[', '!', '<', '&':
			return i
		}
	}
	return len(p)
}
