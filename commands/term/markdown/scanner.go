package markdown

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// verdict is what scanner says of a held piece.
type verdict int

const (
	more     verdict = iota // the text that follows decides
	closed                  // nothing is open after the piece
	overflow                // something has been open for too long
)

// delim is a run of *, _ or ~~ that may open a span.
type delim struct {
	char              byte
	left, length      int // characters that aren't used up; all of them
	canOpen, canClose bool
}

// bracket is a [ or ![ that may begin a link.
type bracket struct {
	delims int // how many delims were there before
	image  bool
	dead   bool // a link inside it has ended; no link holds another
}

// scanner follows a held piece, byte by byte, to where every span that it
// begins has ended. It pairs markers as CommonMark does, so that what goldmark
// makes of the piece is what it would make of the whole paragraph.
//
// What it decides depends on positions alone and never on where the text at
// hand ends, save that it asks for more.
type scanner struct {
	before   rune // the character in front of the piece
	p        int
	codeRun  int // length of the backtick run that is open
	delims   []delim
	done     int // delims that were tried as closers
	brackets []bracket
	hit      bool // there is something for goldmark to find
	tried    int  // how much text there was when a match was unsure
}

// step goes on through p, which is the same piece as at the last step with
// more text after it, or the paragraph's end (final).
func (s *scanner) step(p []byte, final bool) (int, verdict) {
	for {
		switch {
		case s.p > 0 && s.codeRun == 0 && len(s.delims) == 0 && !s.mayLink():
			return s.p, closed
		case s.p >= maxSpan:
			if len(p) < s.p+utf8.UTFMax && len(p) < maxLook && !final {
				return 0, more
			}
			return 0, overflow
		case s.p >= len(p):
			if final {
				return 0, overflow
			}
			return 0, more
		}
		if !s.one(p, final) {
			if len(p) >= maxLook || final {
				return 0, overflow
			}
			return 0, more
		}
	}
}

// one takes the next thing; false means that p ends too early to tell.
func (s *scanner) one(p []byte, final bool) bool {
	if s.codeRun > 0 {
		return s.inCode(p, final)
	}
	switch c := p[s.p]; c {
	case '\\':
		return s.escape(p, final)
	case '`':
		n, ok := run(p, s.p, final)
		if ok {
			s.p += n
			s.codeRun, s.hit = n, true
		}
		return ok
	case '*', '_', '~':
		return s.delimiter(p, final)
	case '!':
		if s.p+1 >= len(p) && !final {
			return false
		}
		if s.p++; s.p < len(p) && p[s.p] == '[' {
			s.open(true)
		}
		return true
	case '[':
		s.open(false)
		return true
	case ']':
		return s.shut(p, final)
	case '<':
		return s.angle(p, final)
	case '&':
		return s.ampersand(p, final)
	}
	s.p++
	for s.p < len(p) && s.p < maxSpan && bytes.IndexByte(markers, p[s.p]) < 0 {
		s.p++
	}
	return true
}

var markers = []byte("\\`*_~[]!<&")

// run counts the equal characters from i on.
func run(p []byte, i int, final bool) (int, bool) {
	n := 1
	for i+n < len(p) && p[i+n] == p[i] {
		n++
	}
	return n, i+n < len(p) || final
}

// inCode looks for the run of backticks that ends a code span.
func (s *scanner) inCode(p []byte, final bool) bool {
	end := min(len(p), maxSpan) // what is beyond must not be found by who sees it
	i := bytes.IndexByte(p[s.p:end], '`')
	if i < 0 {
		s.p = end
		return true
	}
	n, ok := run(p, s.p+i, final)
	if !ok {
		s.p += i
		return false
	}
	s.p += i + n
	if n == s.codeRun {
		s.codeRun = 0
	}
	return true
}

func (s *scanner) escape(p []byte, final bool) bool {
	if s.p+1 >= len(p) {
		if final {
			s.p++
		}
		return final
	}
	switch next := p[s.p+1]; {
	case next == '\n':
		s.p, s.hit = s.p+1, true
	case util.IsPunct(next):
		s.p, s.hit = s.p+2, true
	default:
		s.p++
	}
	return true
}

func (s *scanner) ampersand(p []byte, final bool) bool {
	i := s.p + 1
	for i < len(p) && i-s.p < maxEntity && (p[i] == '#' || util.IsAlphaNumeric(p[i])) {
		i++
	}
	if i == len(p) && !final {
		return false
	}
	if i < len(p) && p[i] == ';' {
		i++
		s.hit = true
	}
	s.p = i
	return true
}

// delimiter takes a run and decides by what stands beside it whether it opens
// or closes.
func (s *scanner) delimiter(p []byte, final bool) bool {
	n, ok := run(p, s.p, final)
	if !ok {
		return false
	}
	c := p[s.p]
	before, after := s.before, rune(0)
	if s.p > 0 {
		before, _ = utf8.DecodeLastRune(p[:s.p])
	}
	if s.p+n < len(p) {
		after, _ = utf8.DecodeRune(p[s.p+n:])
	}
	s.p += n
	if c == '~' && n != 2 {
		return true
	}
	b, a := kindOf(before), kindOf(after)
	left := a != 0 && (a != '.' || b != 'a')
	right := b != 0 && (b != '.' || a != 'a')
	d := delim{char: c, left: n, length: n, canOpen: left, canClose: right}
	if c == '_' {
		d.canOpen = left && (!right || b == '.')
		d.canClose = right && (!left || a == '.')
	}
	if d.canOpen || d.canClose {
		s.delims = append(s.delims, d)
		s.pair()
	}
	return true
}

// pair matches closers with openers, unless a link may still take some of
// them inside it.
func (s *scanner) pair() {
	if s.mayLink() {
		return
	}
	for i := s.done; i < len(s.delims); {
		d := &s.delims[i]
		for d.canClose && d.left > 0 {
			j := s.opener(i)
			if j < 0 {
				break
			}
			o := &s.delims[j]
			use := 1
			if o.left >= 2 && d.left >= 2 {
				use = 2
			}
			o.left -= use
			left := d.left - use
			s.hit = true
			keep := j + 1
			if o.left == 0 {
				keep = j
			}
			s.delims = append(s.delims[:keep], s.delims[i:]...)
			i = keep
			d = &s.delims[i]
			d.left = left
		}
		if d.left == 0 || !d.canOpen {
			s.delims = append(s.delims[:i], s.delims[i+1:]...)
			continue
		}
		i++
	}
	s.done = len(s.delims)
}

// opener finds what the closer at i ends, or -1.
func (s *scanner) opener(i int) int {
	d := s.delims[i]
	for j := i - 1; j >= 0; j-- {
		o := s.delims[j]
		if o.char != d.char || !o.canOpen {
			continue
		}
		if (o.canClose || d.canOpen) && (o.length+d.length)%3 == 0 && d.length%3 != 0 {
			continue
		}
		return j
	}
	return -1
}

func (s *scanner) open(image bool) {
	s.brackets = append(s.brackets, bracket{delims: len(s.delims), image: image})
	s.p++
}

// mayLink tells whether a bracket is open that may become a link.
func (s *scanner) mayLink() bool {
	for _, b := range s.brackets {
		if !b.dead {
			return true
		}
	}
	return false
}

// shut takes a ], which makes a link if an address follows.
func (s *scanner) shut(p []byte, final bool) bool {
	if s.p+1 >= len(p) && !final {
		return false
	}
	last := len(s.brackets) - 1
	if last < 0 {
		s.p++
		return true
	}
	b := s.brackets[last]
	n, m := 0, no
	if !b.dead && s.p+1 < len(p) && p[s.p+1] == '(' {
		if s.tooSoon(p, ')', final) {
			return false
		}
		if n, m = linkTail(p[s.p+1:]); m == unsure && !final {
			return false
		}
		s.tried = 0
	}
	s.brackets = s.brackets[:last]
	s.p++
	if m == yes {
		s.p += n
		s.hit = true
		s.delims = s.delims[:b.delims] // those inside belong to the link
		for i := range s.brackets {
			if !b.image && !s.brackets[i].image {
				s.brackets[i].dead = true
			}
		}
	}
	s.pair()
	return true
}

func (s *scanner) angle(p []byte, final bool) bool {
	if s.tooSoon(p, '>', final) {
		return false
	}
	n, m := angled(p[s.p:])
	if m == unsure && !final {
		return false
	}
	s.tried = 0
	if m == yes {
		s.p += n
		s.hit = true
	} else {
		s.p++
	}
	return true
}

// tooSoon tells whether matching again can't pay off yet: nothing came that
// may end the match, and little at all. Without it a link that never ends
// would be matched from its begin with every delta.
func (s *scanner) tooSoon(p []byte, end byte, final bool) bool {
	if s.tried > 0 && !final && len(p) < maxLook && len(p) < s.tried+s.tried/4+8 &&
		bytes.IndexByte(p[s.tried:], end) < 0 {
		return true
	}
	s.tried = len(p)
	return false
}
