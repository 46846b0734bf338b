package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one line of a text: line ends, tabs and runs of spaces become one space each,
// and characters that hide or reorder text are removed.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || separator(r):
			return ' '
		case hides(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

// Text removes characters that hide or reorder text from a text of several lines. Line ends
// and tabs remain; the line separators of Unicode become line ends.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case separator(r):
			return '\n'
		case hides(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// Removes reports whether [Text] removes or replaces a character.
func Removes(r rune) bool { return r != '\n' && r != '\t' && (separator(r) || hides(r)) }

// Mask replaces each character that can't be printed by U+FFFD, so that columns remain the
// same: for messages that quote a line of a file. Tabs become spaces.
func Mask(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '\ufffd'
		}
		return r
	}, s)
}

// Brief returns a name or a value for a message: masked, and cut after limit characters.
func Brief(s string, limit int) string {
	if most := limit * utf8.UTFMax; len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	if rs := []rune(s); len(rs) > limit {
		s = string(rs[:limit]) + "…"
	}
	return Mask(s)
}

// Quote returns a value in quotes for a message, as [Brief] returns it.
func Quote(s string, limit int) string { return `"` + Brief(s, limit) + `"` }

// Cut shortens a text to a number of bytes, at the beginning of a character, and marks the
// cut.
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

// hides reports whether a character hides a part of a text or changes its direction:
// control and format characters, among them the marks of bidirectional text (UAX #9),
// characters without width and the tag characters. The two joiners are part of many scripts
// and emoji, and the signs that stand before numbers are visible; these remain.
func hides(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != zeroWidthNonJoiner && r != zeroWidthJoiner &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// separator reports whether a character ends a line (U+2028) or a paragraph (U+2029).
func separator(r rune) bool { return r == 0x2028 || r == 0x2029 }

// Shorten shortens a line to a number of characters, the mark of the cut among them.
func Shorten(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return strings.TrimSpace(string(runes[:most-1])) + "…"
}

// Clip shortens a text to a number of bytes, at the beginning of a character, and says in a
// line after it how many bytes were removed.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s\n[%d more bytes were cut]", s[:n], len(s)-n)
}
