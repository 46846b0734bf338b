package payloads

import "strings"

// scanner reads one JSON object or array byte by byte, to find its end, or the
// first byte that can't be JSON. Digits and the hex of \u are left to whoever
// decodes the whole.
type scanner struct {
	stack []byte // the open brackets
	max   int    // how deep they may be
	state scanState
	key   bool   // the string is a key
	word  string // what must still come of true, false or null
}

type scanState byte

const (
	wantValue      scanState = iota
	wantFirstValue           // or the array's end
	wantKey
	wantFirstKey // or the object's end
	wantColon
	wantNext // a comma or the end
	inString
	inEscape
	inNumber
	inWord
)

type scanResult byte

const (
	scanMore scanResult = iota
	scanDone
	scanBroken
	scanDeep
)

// feed reads on, and tells how many bytes of s belong to the value. With
// scanBroken, s[n] is the byte that doesn't.
func (sc *scanner) feed(s string) (n int, r scanResult) {
	for i := 0; i < len(s); {
		switch sc.state {
		case inString:
			i = sc.text(s, i)
			if i < len(s) && s[i] < ' ' {
				return i, scanBroken
			}
			continue
		case inNumber:
			if strings.IndexByte("0123456789.eE+-", s[i]) >= 0 {
				i++
				continue
			}
			sc.state = wantNext
		}
		switch sc.step(s[i]) {
		case scanBroken:
			return i, scanBroken
		case scanDeep:
			return i, scanDeep
		case scanDone:
			return i + 1, scanDone
		}
		i++
	}
	return len(s), scanMore
}

// text reads within a string, and past its end.
func (sc *scanner) text(s string, i int) int {
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			sc.state = wantNext
			if sc.key {
				sc.state = wantColon
			}
			return i + 1
		case c == '\\':
			sc.state = inEscape
			return i + 1
		case c < ' ':
			return i
		}
	}
	return i
}

// step takes one byte that is in no string and no number.
func (sc *scanner) step(c byte) scanResult {
	switch sc.state {
	case inEscape:
		if strings.IndexByte(`"\/bfnrtu`, c) < 0 {
			return scanBroken
		}
		sc.state = inString
		return scanMore
	case inWord:
		if c != sc.word[0] {
			return scanBroken
		}
		if sc.word = sc.word[1:]; sc.word == "" {
			sc.state = wantNext
		}
		return scanMore
	}
	if isSpace(c) {
		return scanMore
	}
	switch sc.state {
	case wantColon:
		if c != ':' {
			return scanBroken
		}
		sc.state = wantValue
		return scanMore
	case wantNext:
		return sc.next(c)
	case wantFirstKey, wantKey:
		if c == '}' && sc.state == wantFirstKey {
			return sc.close()
		}
		if c != '"' {
			return scanBroken
		}
		sc.state, sc.key = inString, true
		return scanMore
	case wantFirstValue:
		if c == ']' {
			return sc.close()
		}
	}
	return sc.value(c)
}

// next takes what follows a member or an element.
func (sc *scanner) next(c byte) scanResult {
	open := sc.stack[len(sc.stack)-1]
	switch {
	case c == ',' && open == '{':
		sc.state = wantKey
	case c == ',':
		sc.state = wantValue
	case c == open+2: // in ASCII, both closing brackets are two behind their opening ones
		return sc.close()
	default:
		return scanBroken
	}
	return scanMore
}

func (sc *scanner) value(c byte) scanResult {
	switch {
	case c == '{' || c == '[':
		if len(sc.stack) == sc.max {
			return scanDeep
		}
		sc.stack = append(sc.stack, c)
		sc.state = wantFirstKey
		if c == '[' {
			sc.state = wantFirstValue
		}
	case c == '"':
		sc.state, sc.key = inString, false
	case c == '-' || c >= '0' && c <= '9':
		sc.state = inNumber
	case c == 't':
		sc.state, sc.word = inWord, "rue"
	case c == 'f':
		sc.state, sc.word = inWord, "alse"
	case c == 'n':
		sc.state, sc.word = inWord, "ull"
	default:
		return scanBroken
	}
	return scanMore
}

func (sc *scanner) close() scanResult {
	sc.stack = sc.stack[:len(sc.stack)-1]
	if len(sc.stack) == 0 {
		return scanDone
	}
	sc.state = wantNext
	return scanMore
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
