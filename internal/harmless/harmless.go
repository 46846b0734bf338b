package harmless

import (
	"strings"
	"unicode/utf8"
)

// Line makes one line of a text: its line ends, tabs and runs of spaces become a
// space each, and control and direction characters go.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unprintable(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

// Text takes control and direction characters out of a text of several lines, but
// for line ends and tabs.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unprintable(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// Cut shortens a text to so many bytes, at a character's begin, and shows that it
// did.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// unprintable characters hide something of a text, or turn its direction.
func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
