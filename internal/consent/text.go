package consent

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// fewBlanks is how many spaces within a line are written as they are: enough to
	// align comments, too few to push text out of sight.
	fewBlanks = 8
	// fewIndent is the same for the beginning of a line, where code is indented.
	fewIndent = 40
	// fewLines is how many blank lines in a row are written as they are.
	fewLines = 2
)

// Text returns s with everything visible. Lines stay lines, and tabs become spaces.
func Text(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	blank := 0 // lines that were not written yet
	flush := func() {
		switch {
		case blank > fewLines:
			b.WriteString("[" + strconv.Itoa(blank) + " blank lines]\n")
		default:
			b.WriteString(strings.Repeat("\n", blank))
		}
		blank = 0
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		last := i == len(lines)-1
		if !last && isBlank(line) {
			blank++
			continue
		}
		if last && line == "" && blank > 0 {
			flush()
			break
		}
		flush()
		writeLine(&b, line)
		if !last {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Line returns s as one line with everything visible. A line end becomes " ␤ ", so
// that two commands never look like one.
func Line(s string) string {
	s = strings.Trim(Text(s), "\n")
	if !strings.Contains(s, "\n") {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" ␤ ")
		}
		b.WriteString(strings.TrimLeft(line, " "))
	}
	return b.String()
}

// plain reports whether s is visible as it is.
func plain(s string) bool {
	run := 0
	for i := range len(s) {
		c := s[i]
		if c < 0x20 || c >= 0x7f {
			return false
		}
		if c != ' ' {
			run = 0
		} else if run++; run > fewBlanks {
			return false
		}
	}
	return run == 0
}

// isBlank reports whether a line shows nothing.
func isBlank(line string) bool {
	return strings.IndexFunc(line, func(r rune) bool { return !Blank(r) }) < 0
}

// writeLine writes one line, without its end.
func writeLine(b *strings.Builder, line string) {
	before := rune(0) // the last rune that was written as it is
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		if !Blank(r) || shapes(r, before) {
			writeRune(b, r)
			before = r
			i += size
			continue
		}
		end := i
		for end < len(line) {
			r, size := utf8.DecodeRuneInString(line[end:])
			if !Blank(r) {
				break
			}
			end += size
		}
		writeRun(b, line[i:end], place{start: i == 0, end: end == len(line)})
		i, before = end, 0
	}
}

// place is where a run of blanks is.
type place struct {
	start, end bool // the run begins or ends its line
}

// writeRun writes a run of blanks: as it is where it is short and ordinary, else as
// its length.
func writeRun(b *strings.Builder, run string, at place) {
	n, width, ordinary := 0, 0, true
	for _, r := range run {
		n++
		switch r {
		case ' ':
			width++
		case '\t':
			width += 4
		default:
			ordinary = false
		}
	}
	most := fewBlanks
	if at.start {
		most = fewIndent
	}
	first, _ := utf8.DecodeRuneInString(run)
	switch {
	case ordinary && width <= most && !(at.end && n > 1):
		b.WriteString(strings.Repeat(" ", width))
	case n == 1 && !ordinary:
		writeCode(b, first)
	case n == 1:
		b.WriteString("[1 blank]")
	default:
		b.WriteString("[" + strconv.Itoa(n) + " blanks]")
	}
}

// shapes reports whether an invisible rune changes the shape of the one in front of it,
// as emoji and many scripts need: one selector, one joiner, or both in this order.
func shapes(r, before rune) bool {
	selector := r == 0xfe0e || r == 0xfe0f
	if !selector && r != 0x200c && r != 0x200d || before < 0x80 {
		return false
	}
	return !Blank(before) || !selector && (before == 0xfe0e || before == 0xfe0f)
}

// Blank reports whether a rune shows nothing, or only space.
func Blank(r rune) bool {
	switch {
	case r == ' ' || r == '\t':
		return true
	case r < 0xa0:
		return false
	case r == 0xa0, r == 0xad, r == 0x034f, // no-break space, soft hyphen, grapheme joiner
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, // Hangul fillers
		r == 0x17b4, r == 0x17b5, // Khmer vowels without a shape
		r >= 0x180b && r <= 0x180f,            // Mongolian selectors and separator
		r >= 0x2000 && r <= 0x200f,            // spaces, zero-width characters and marks
		r == 0x202f, r == 0x205f, r == 0x3000, // narrow, mathematical and ideographic space
		r == 0x1680,                  // Ogham space
		r >= 0x2060 && r <= 0x2065,   // word joiner and invisible operators
		r == 0x2800,                  // Braille blank
		r >= 0xfe00 && r <= 0xfe0f,   // variation selectors
		r == 0xfeff,                  // byte order mark
		r >= 0x1bca0 && r <= 0x1bca3, // shorthand format controls
		r >= 0x1d173 && r <= 0x1d17a, // musical format controls
		r >= 0xe0000 && r <= 0xe0fff: // tags and more selectors
		return true
	}
	return false
}

// writeRune writes a rune that is not blank.
func writeRune(b *strings.Builder, r rune) {
	switch {
	case r < 0x20:
		b.WriteRune(0x2400 + r)
	case r == 0x7f:
		b.WriteRune(0x2421)
	case r == utf8.RuneError:
		b.WriteRune(r)
	case r >= 0x80 && !unicode.IsGraphic(r) && !Blank(r):
		writeCode(b, r)
	default:
		b.WriteRune(r)
	}
}

// writeCode writes a rune by its number, as ‹U+202E›.
func writeCode(b *strings.Builder, r rune) {
	code := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	b.WriteString("‹U+" + strings.Repeat("0", max(4-len(code), 0)) + code + "›")
}
