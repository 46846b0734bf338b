package pysource

import "strings"

// lexString reads a string whose prefix, in small letters, has been read.
func (l *lexer) lexString(t token, prefix string) token {
	l.began = true
	start := t.pos
	if msg := l.passString(prefix, 0); msg != "" {
		return l.fail(t, msg)
	}
	t.kind, t.text = tokString, l.src[start:l.pos]
	return t
}

// quote is how a string is closed.
type quote struct {
	char   byte
	triple bool
	raw    bool
	fields bool // an f-string or a t-string
}

// passString steps over a string that begins at pos with its quotes; it says
// what is wrong with it.
func (l *lexer) passString(prefix string, depth int) string {
	if depth > maxNested {
		return "there are too many strings inside each other"
	}
	q := quote{char: l.src[l.pos], raw: strings.Contains(prefix, "r"), fields: strings.ContainsAny(prefix, "ft")}
	if l.peek(1) == q.char && l.peek(2) == q.char {
		q.triple = true
		l.pos += 3
	} else {
		l.pos++
	}
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case l.closesString(q):
			return ""
		case c == '\\':
			l.escape(q)
		case isBreak(c):
			if !q.triple {
				return "this string is not closed in its line"
			}
			l.newline()
		case q.fields && c == '{' && l.peek(1) == '{', q.fields && c == '}' && l.peek(1) == '}':
			l.pos += 2
		case q.fields && c == '}':
			return "a } in this string closes nothing; write }}"
		case q.fields && c == '{':
			if msg := l.passField(q, depth); msg != "" {
				return msg
			}
		default:
			l.pos++
		}
	}
	return "this string is never closed"
}

// closesString steps over the end of a string, if that is what is here.
func (l *lexer) closesString(q quote) bool {
	if l.src[l.pos] != q.char {
		return false
	}
	if !q.triple {
		l.pos++
		return true
	}
	if l.peek(1) == q.char && l.peek(2) == q.char {
		l.pos += 3
		return true
	}
	return false
}

// escape steps over a backslash and what it belongs to. The braces of fields
// can't be escaped by one.
func (l *lexer) escape(q quote) {
	l.pos++
	switch c := l.peek(0); {
	case l.pos >= len(l.src):
	case isBreak(c):
		l.newline()
	case q.fields && (c == '{' || c == '}'):
	case q.fields && !q.raw && c == 'N' && l.peek(1) == '{':
		l.pos += 2
		for l.pos < len(l.src) && l.src[l.pos] != '}' && l.src[l.pos] != q.char && !isBreak(l.src[l.pos]) {
			l.pos++
		}
		if l.peek(0) == '}' {
			l.pos++
		}
	default:
		l.pos++
	}
}

// passField steps over a field of an f-string: an expression, perhaps a
// conversion, perhaps a format that may have fields itself.
func (l *lexer) passField(q quote, depth int) string {
	l.pos++
	var open []byte
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == '}' && len(open) == 0:
			l.pos++
			return ""
		case c == ':' && len(open) == 0:
			l.pos++
			return l.passFormat(q, depth)
		case c == '!' && l.peek(1) == '=':
			l.pos += 2
		case c == '"' || c == '\'':
			// before 3.12 the string's own quote ended it here; what is valid there
			// has none
			if msg := l.passString(l.prefix(), depth+1); msg != "" {
				return msg
			}
		case c == '(' || c == '[' || c == '{':
			if len(open) >= maxBrackets {
				return "there are too many brackets inside each other"
			}
			open = append(open, c)
			l.pos++
		case c == ')' || c == ']' || c == '}':
			if len(open) == 0 || open[len(open)-1] != opening(c) {
				return "the brackets in a field of this string don't match"
			}
			open = open[:len(open)-1]
			l.pos++
		case c == '#':
			l.comment()
		case isBreak(c):
			l.newline()
		case c == '\\' && isBreak(l.peek(1)):
			l.pos++
			l.newline()
		default:
			l.pos++
		}
	}
	return "a field of this string is never closed"
}

// prefix are the letters right before pos that belong to the string there.
func (l *lexer) prefix() string {
	start := l.pos
	for start > 0 && (isLetter(l.src[start-1]) || isDigit(l.src[start-1]) || l.src[start-1] == '_') && l.pos-start < 3 {
		start--
	}
	if s := l.src[start:l.pos]; isPrefix(s) {
		return strings.ToLower(s)
	}
	return ""
}

// passFormat steps over a field's format, and the } behind it.
func (l *lexer) passFormat(q quote, depth int) string {
	if depth > maxNested {
		return "there are too many strings inside each other"
	}
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '}':
			l.pos++
			return ""
		case c == '{':
			if msg := l.passField(q, depth+1); msg != "" {
				return msg
			}
		case c == '\\':
			l.escape(q)
		case isBreak(c):
			if !q.triple {
				return "this string is not closed in its line"
			}
			l.newline()
		case c == q.char && (!q.triple || l.peek(1) == q.char && l.peek(2) == q.char):
			return "a field of this string is never closed"
		default:
			l.pos++
		}
	}
	return "a field of this string is never closed"
}

// plain is the text of a string without escapes and fields; ok is false where
// it isn't one.
func plain(t token) (text string, ok bool) {
	s := strings.TrimLeft(t.text, "rRuU")
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' || strings.ContainsAny(s, "\\\r\n") {
		return "", false
	}
	if len(s) >= 6 && s[1] == s[0] && s[2] == s[0] {
		return s[3 : len(s)-3], true
	}
	return s[1 : len(s)-1], true
}
