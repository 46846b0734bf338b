package code

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/commands/term"
)

// language is what is known of one.
type language struct {
	words  string   // its key words, with spaces between
	line   []string // what a comment to the line's end begins with
	open   string   // what a comment of several lines begins with
	shut   string   // and ends with
	quotes string   // what strings of a line stand in
	long   []string // what strings of several lines stand in
	fold   bool     // key words in upper and lower case
	diff   bool     // lines are told by their first character
}

// maxLine bounds the line that is coloured; a longer one is left as it is.
const maxLine = 4096

// Colourer colours the lines of one block.
type Colourer struct {
	lang  *language
	words map[string]bool
	style term.Style
	in    string // what ends the comment or string that is open
	note  bool   // it is a comment
}

// New gives the Colourer of a language by the name that a fence has; nil for
// one that isn't known.
func New(name string, style term.Style) *Colourer {
	lang := find(strings.ToLower(name))
	if lang == nil || !style.Enabled() {
		return nil
	}
	c := &Colourer{lang: lang, style: style, words: map[string]bool{}}
	for _, w := range strings.Fields(lang.words) {
		c.words[w] = true
	}
	return c
}

// Line colours the next line.
func (c *Colourer) Line(s string) string {
	switch {
	case len(s) > maxLine:
		return s
	case c.lang.diff:
		return c.diffLine(s)
	}
	var b strings.Builder
	before := ' '
	for s != "" {
		n, look := c.piece(s, before)
		b.WriteString(look(s[:n]))
		before, _ = utf8.DecodeLastRuneInString(s[:n])
		s = s[n:]
	}
	return b.String()
}

func (c *Colourer) diffLine(s string) string {
	switch {
	case strings.HasPrefix(s, "@@"):
		return c.style.Cyan(s)
	case strings.HasPrefix(s, "+"):
		return c.style.Green(s)
	case strings.HasPrefix(s, "-"):
		return c.style.Red(s)
	}
	return s
}

func plain(s string) string { return s }

// piece is the length of what comes next, and its look.
func (c *Colourer) piece(s string, before rune) (int, func(string) string) {
	if c.in != "" {
		look := c.style.Green
		if c.note {
			look = c.style.Dim
		}
		n := len(s)
		if i := strings.Index(s, c.in); i >= 0 {
			n = i + len(c.in)
			c.in = ""
		}
		return n, look
	}
	if n, look := c.comment(s, before); n > 0 {
		return n, look
	}
	if n := c.quoted(s, before); n > 0 {
		return n, c.style.Green
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsDigit(r):
		return span(s, func(r rune) bool { return isLetter(r) || unicode.IsDigit(r) || r == '.' }), c.style.Cyan
	case isLetter(r):
		n = span(s, func(r rune) bool { return isLetter(r) || unicode.IsDigit(r) })
		word := s[:n]
		if c.lang.fold {
			word = strings.ToLower(word)
		}
		if c.words[word] {
			return n, c.style.Bold
		}
	}
	return n, plain
}

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func span(s string, in func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !in(r) }); i >= 0 {
		return i
	}
	return len(s)
}

func (c *Colourer) comment(s string, before rune) (int, func(string) string) {
	for _, mark := range c.lang.line {
		if strings.HasPrefix(s, mark) && (mark != "#" || unicode.IsSpace(before)) {
			return len(s), c.style.Dim
		}
	}
	if c.lang.open == "" || !strings.HasPrefix(s, c.lang.open) {
		return 0, nil
	}
	c.in, c.note = c.lang.shut, true
	return len(c.lang.open), c.style.Dim
}

// quoted is the length of a string that begins here; one that the line doesn't
// end is none, unless it may have several.
func (c *Colourer) quoted(s string, before rune) int {
	for _, mark := range c.lang.long {
		if strings.HasPrefix(s, mark) {
			c.in, c.note = mark, false
			return len(mark)
		}
	}
	if !strings.ContainsRune(c.lang.quotes, rune(s[0])) || s[0] == '\'' && (isLetter(before) || unicode.IsDigit(before)) {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}
