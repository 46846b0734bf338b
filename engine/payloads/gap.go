package payloads

import (
	"strings"
	"unicode/utf8"
)

// gap is the white space around a payload that was taken out. It is given as
// text once something follows.
type gap struct {
	open  bool
	any   bool   // there was some
	lines int    // line breaks, of the side that has the most
	run   int    // line breaks behind the last payload
	tail  string // what follows the last of these: an indentation
	fence byte   // the rest of a closing fence that is longer than it had to be
}

// widen begins a gap, or goes on with one, at a payload that had the white
// space before it.
func (g *gap) widen(before string) {
	g.open = true
	g.any = g.any || before != ""
	g.lines = max(g.lines, strings.Count(before, "\n"))
	g.run, g.tail, g.fence = 0, "", 0
}

// absorb takes the white space that s begins with, and gives the rest.
func (g *gap) absorb(s string) string {
	if g.fence != 0 {
		s = s[runOf(s, g.fence):]
		if s == "" {
			return ""
		}
		g.fence = 0
	}
	i, indent := 0, 0
	for ; i < len(s) && isSpace(s[i]); i++ {
		g.any = true
		if s[i] == '\n' {
			g.run++
			g.tail, indent = "", i+1
		}
	}
	g.lines = max(g.lines, g.run)
	if add := i - indent; add > 0 && g.run > 0 && len(g.tail) < maxSpace {
		g.tail += s[indent : indent+min(add, maxSpace-len(g.tail))]
	}
	return s[i:]
}

// fill is what stands in the gap's place before a text that begins with c.
func (g *gap) fill(c byte) string {
	switch {
	case g.lines > 1:
		return "\n\n" + g.tail
	case g.lines == 1:
		return "\n" + g.tail
	case g.any && strings.IndexByte(".,;:!?)", c) < 0:
		return " "
	}
	return ""
}

// spaceBefore counts the white space that s ends with, as far as it may belong
// to a payload that follows.
func spaceBefore(s string) int {
	n := 0
	for n < len(s) && n < maxSpace && isSpace(s[len(s)-1-n]) {
		n++
	}
	return n
}

// undecided counts what s ends with that has to wait for more: white space, or
// a part of a character.
func undecided(s string) int {
	if n := spaceBefore(s); n > 0 {
		return n
	}
	return partialRune(s)
}

// partialRune counts the bytes at the end of s that begin a character and
// don't finish it.
func partialRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
