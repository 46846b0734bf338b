package pysource

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// What Python itself bounds.
const (
	maxIndents  = 100 // levels of indentation
	maxBrackets = 200 // brackets inside each other
	maxNested   = 100 // strings inside the fields of f-strings
)

type tokenKind int

const (
	tokEnd tokenKind = iota
	tokNewline
	tokIndent
	tokDedent
	tokName
	tokNumber
	tokString
	tokOp
)

// token is one token; text is part of the source.
type token struct {
	kind tokenKind
	text string
	pos  int // in bytes
	line int
	bol  int // where its line begins, in bytes
}

// is tells whether it is the operator or the keyword.
func (t token) is(text string) bool {
	return t.text == text && (t.kind == tokOp || t.kind == tokName)
}

// level is one level of indentation, with tabs of eight and of one column: both
// have to agree, so that the width of a tab decides nothing.
type level struct{ wide, narrow int }

type bracket struct {
	open byte
	tok  token
}

// lexer cuts a source into tokens. The first error ends it.
type lexer struct {
	src      string
	pos      int
	line     int
	bol      int
	fresh    bool // at the begin of a line whose indentation wasn't looked at
	began    bool // the line has a token
	levels   []level
	dedents  int
	brackets []bracket
	err      *Error
}

func newLexer(src string) *lexer {
	return &lexer{src: strings.TrimPrefix(src, "\ufeff"), line: 1, fresh: true, levels: []level{{}}}
}

func (l *lexer) place(t token) Place {
	return Place{Line: t.line, Column: utf8.RuneCountInString(l.src[t.bol:t.pos]) + 1}
}

func (l *lexer) here(kind tokenKind) token {
	return token{kind: kind, pos: l.pos, line: l.line, bol: l.bol}
}

// fail notes the first error, and gives the token that ends everything.
func (l *lexer) fail(at token, msg string) token {
	if l.err == nil {
		l.err = &Error{Place: l.place(at), Msg: msg}
	}
	l.pos = len(l.src)
	return token{kind: tokEnd, pos: at.pos, line: at.line, bol: at.bol}
}

func (l *lexer) peek(ahead int) byte {
	if l.pos+ahead < len(l.src) {
		return l.src[l.pos+ahead]
	}
	return 0
}

// newline steps over the line break at pos.
func (l *lexer) newline() {
	if l.src[l.pos] == '\r' && l.peek(1) == '\n' {
		l.pos++
	}
	l.pos++
	l.line++
	l.bol = l.pos
}

func isBreak(c byte) bool { return c == '\n' || c == '\r' }

// next gives the next token.
func (l *lexer) next() token {
	for l.err == nil {
		if l.dedents > 0 {
			l.dedents--
			return l.here(tokDedent)
		}
		if l.fresh && len(l.brackets) == 0 {
			if t, ok := l.indentation(); ok {
				return t
			}
			continue
		}
		if t, ok := l.inLine(); ok {
			return t
		}
	}
	return l.here(tokEnd)
}

// indentation looks at the begin of a line. Lines without a token don't count.
func (l *lexer) indentation() (token, bool) {
	var at level
	for ; l.pos < len(l.src); l.pos++ {
		switch l.src[l.pos] {
		case ' ':
			at.wide, at.narrow = at.wide+1, at.narrow+1
			continue
		case '\t':
			at.wide, at.narrow = at.wide/8*8+8, at.narrow+1
			continue
		case '\f':
			at = level{}
			continue
		}
		break
	}
	switch c := l.peek(0); {
	case l.pos >= len(l.src):
		l.dedents = len(l.levels) - 1
		l.levels = l.levels[:1]
		l.fresh = false
		return token{}, false
	case c == '#':
		l.comment()
		return token{}, false
	case isBreak(c):
		l.newline()
		return token{}, false
	case c == '\\' && isBreak(l.peek(1)): // a continuation; the next line's blanks don't count
		l.pos++
		l.newline()
		for l.peek(0) == ' ' || l.peek(0) == '\t' {
			l.pos++
		}
	}
	l.fresh = false
	return l.indent(at)
}

func (l *lexer) indent(at level) (token, bool) {
	const tabs = "tabs and spaces are mixed so that the indentation depends on the width of a tab"
	top := l.levels[len(l.levels)-1]
	switch {
	case at == top:
		return token{}, false
	case at.wide == top.wide:
		return l.fail(l.here(tokEnd), tabs), true
	case at.wide > top.wide:
		if at.narrow <= top.narrow {
			return l.fail(l.here(tokEnd), tabs), true
		}
		if len(l.levels) >= maxIndents {
			return l.fail(l.here(tokEnd), "there are too many levels of indentation"), true
		}
		l.levels = append(l.levels, at)
		return l.here(tokIndent), true
	}
	for len(l.levels) > 1 && at.wide < l.levels[len(l.levels)-1].wide {
		l.levels = l.levels[:len(l.levels)-1]
		l.dedents++
	}
	switch top = l.levels[len(l.levels)-1]; {
	case at.wide != top.wide:
		return l.fail(l.here(tokEnd), "the indentation fits no line above"), true
	case at.narrow != top.narrow:
		return l.fail(l.here(tokEnd), tabs), true
	}
	return token{}, false
}

// comment steps to the end of the line.
func (l *lexer) comment() {
	if n := strings.IndexAny(l.src[l.pos:], "\r\n"); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.src)
	}
}

// inLine reads on inside a line; ok is false where there was no token.
func (l *lexer) inLine() (token, bool) {
	if l.pos >= len(l.src) {
		return l.end(), true
	}
	t := l.here(tokOp)
	switch c := l.src[l.pos]; {
	case c == ' ' || c == '\t' || c == '\f':
		l.pos++
		return t, false
	case c == '#':
		l.comment()
		return t, false
	case isBreak(c):
		l.newline()
		l.fresh = len(l.brackets) == 0
		if l.fresh && l.began {
			l.began = false
			t.kind = tokNewline
			return t, true
		}
		return t, false
	case c == '\\':
		if !isBreak(l.peek(1)) {
			return l.fail(t, "only a line break may follow a backslash outside of strings"), true
		}
		l.pos++
		if l.newline(); l.pos >= len(l.src) {
			return l.fail(t, "the file ends behind a backslash"), true
		}
		return t, false
	case c == '"' || c == '\'':
		return l.lexString(t, ""), true
	case c >= '0' && c <= '9' || c == '.' && isDigit(l.peek(1)):
		return l.number(t), true
	case c == '_' || isLetter(c) || c >= utf8.RuneSelf:
		return l.word(t), true
	}
	return l.operator(t), true
}

// end is what comes at the file's end: its last line may lack a line break.
func (l *lexer) end() token {
	if n := len(l.brackets); n > 0 {
		b := l.brackets[n-1]
		return l.fail(b.tok, "this "+string(b.open)+" is never closed")
	}
	t := l.here(tokEnd)
	if l.began {
		l.began, l.fresh = false, true
		t.kind = tokNewline
	}
	return t
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// word reads a name, or the string that its prefix belongs to.
func (l *lexer) word(t token) token {
	l.began = true
	start := l.pos
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		if c < utf8.RuneSelf {
			if c != '_' && !isLetter(c) && !isDigit(c) {
				break
			}
			l.pos++
			continue
		}
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if !inName(r, l.pos == start) {
			if l.pos > start {
				break
			}
			return l.fail(l.here(tokEnd), "a character that has no meaning in Python")
		}
		l.pos += size
	}
	t.kind, t.text = tokName, l.src[start:l.pos]
	if c := l.peek(0); (c == '"' || c == '\'') && isPrefix(t.text) {
		return l.lexString(t, strings.ToLower(t.text))
	}
	if !isASCII(t.text) {
		t.text = norm.NFKC.String(t.text) // as Python does
	}
	return t
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// inName tells whether a character beyond ASCII may be part of a name.
func inName(r rune, first bool) bool {
	if r == utf8.RuneError {
		return false
	}
	if unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_ID_Start) {
		return true
	}
	return !first && unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

func isPrefix(s string) bool {
	if len(s) > 2 {
		return false
	}
	switch strings.ToLower(s) {
	case "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt":
		return true
	}
	return false
}

// number reads a number as Python does: `1if x` is 1 and if.
func (l *lexer) number(t token) token {
	l.began = true
	start := l.pos
	digits := func(in func(byte) bool) {
		for in(l.peek(0)) || l.peek(0) == '_' && in(l.peek(1)) {
			l.pos++
		}
	}
	if base := l.peek(1) | 0x20; l.peek(0) == '0' && (base == 'x' || base == 'o' || base == 'b') {
		l.pos += 2
		digits(func(c byte) bool { return isDigit(c) || base == 'x' && c|0x20 >= 'a' && c|0x20 <= 'f' })
	} else {
		digits(isDigit)
		if l.peek(0) == '.' {
			l.pos++
			digits(isDigit)
		}
		if l.peek(0)|0x20 == 'e' && (isDigit(l.peek(1)) || (l.peek(1) == '+' || l.peek(1) == '-') && isDigit(l.peek(2))) {
			l.pos += 2
			digits(isDigit)
		}
		if l.peek(0)|0x20 == 'j' {
			l.pos++
		}
	}
	t.kind, t.text = tokNumber, l.src[start:l.pos]
	return t
}

// operator reads an operator or a bracket.
func (l *lexer) operator(t token) token {
	l.began = true
	c, rest := l.src[l.pos], l.src[l.pos:]
	n := 1
	switch {
	case strings.HasPrefix(rest, "..."), strings.HasPrefix(rest, "**="), strings.HasPrefix(rest, "//="),
		strings.HasPrefix(rest, "<<="), strings.HasPrefix(rest, ">>="):
		n = 3
	case strings.HasPrefix(rest, "**"), strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "<<"), strings.HasPrefix(rest, ">>"),
		strings.HasPrefix(rest, "->"), len(rest) > 1 && rest[1] == '=' && strings.IndexByte("=!<>:+-*/%@&|^", c) >= 0:
		n = 2
	case c == '(' || c == '[' || c == '{':
		if len(l.brackets) >= maxBrackets {
			return l.fail(t, "there are too many brackets inside each other")
		}
		l.brackets = append(l.brackets, bracket{c, t})
	case c == ')' || c == ']' || c == '}':
		if fault := l.closes(c); fault != "" {
			return l.fail(t, fault)
		}
	case strings.IndexByte("=<>:+-*/%@&|^~,;.", c) < 0:
		return l.fail(t, "a character that has no meaning in Python")
	}
	t.text = rest[:n]
	l.pos += n
	return t
}

// closes takes off the bracket that c closes.
func (l *lexer) closes(c byte) string {
	n := len(l.brackets)
	if n == 0 {
		return "nothing is open that this " + string(c) + " could close"
	}
	if open := l.brackets[n-1].open; open != opening(c) {
		return "this " + string(c) + " can't close the " + string(open)
	}
	l.brackets = l.brackets[:n-1]
	return ""
}

func opening(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}
