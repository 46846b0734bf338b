package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Template recognises chunks that differ from one seen before only in their
// text. A long answer is a hundred thousand chunks that are the same but for a
// word; comparing one with the last costs a small part of decoding it, and
// since all but the text must be equal byte for byte, the result is the same.
//
// Strings and numbers under keys that mean nothing here, such as a time stamp, may differ
// as well. The zero value matches nothing.
type Template struct {
	literals [][]byte // what lies before, between and after the values that may differ
	numbers  []bool   // which of these values are numbers
	text     int      // which of the values is the text
}

// Learn remembers a chunk that was decoded the long way. key is the JSON key
// of its text, and others are keys whose strings or numbers may differ. A chunk in which
// key occurs not exactly once, or with another text, is not learnt.
func (t *Template) Learn(chunk []byte, key, text string, others ...string) {
	*t = Template{}
	type span struct { // a string's inside, or a number
		from, to int
		number   bool
	}
	find := func(key string) (s span, times int) {
		quoted := append(append([]byte{'"'}, key...), '"')
		for at := 0; ; {
			i := bytes.Index(chunk[at:], quoted)
			if i < 0 {
				return s, times
			}
			at += i + len(quoted)
			rest := bytes.TrimLeft(chunk[at:], " \t")
			if len(rest) == 0 || rest[0] != ':' {
				continue
			}
			times++
			rest = bytes.TrimLeft(rest[1:], " \t")
			from := len(chunk) - len(rest)
			if n := digits(rest); n > 0 {
				s = span{from, from + n, true}
			} else if len(rest) > 0 && rest[0] == '"' {
				if n := stringEnd(rest[1:]); n >= 0 {
					s = span{from + 1, from + 1 + n, false}
				}
			}
		}
	}
	main, times := find(key)
	if times != 1 || main.to == 0 || main.number {
		return
	}
	if got, ok := unquote(chunk[main.from:main.to]); !ok || got != text {
		return
	}
	spans := []span{main}
	for _, key := range others {
		if s, times := find(key); times == 1 && s.to > 0 {
			spans = append(spans, s)
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	at := 0
	for i, s := range spans {
		if s.from < at {
			*t = Template{} // one string seems to lie in another
			return
		}
		if s == main {
			t.text = i
		}
		t.literals = append(t.literals, bytes.Clone(chunk[at:s.from]))
		t.numbers = append(t.numbers, s.number)
		at = s.to
	}
	t.literals = append(t.literals, bytes.Clone(chunk[at:]))
}

// Match gives the text of a chunk that is like the one learnt.
func (t *Template) Match(chunk []byte) (text string, ok bool) {
	if len(t.literals) == 0 {
		return "", false
	}
	rest, ok := bytes.CutPrefix(chunk, t.literals[0])
	if !ok {
		return "", false
	}
	for i, lit := range t.literals[1:] {
		end := digits(rest)
		if !t.numbers[i] {
			end = stringEnd(rest)
		} else if end == 0 {
			return "", false
		}
		if end < 0 || !bytes.HasPrefix(rest[end:], lit) {
			return "", false
		}
		if i == t.text {
			if text, ok = unquote(rest[:end]); !ok {
				return "", false
			}
		} else if !plainString(rest[:end]) {
			return "", false
		}
		rest = rest[end+len(lit):]
	}
	if len(rest) > 0 {
		return "", false
	}
	return text, true
}

// digits returns how many digits s begins with.
func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// stringEnd finds the closing quote of a JSON string whose inside s begins
// with; -1 is none.
func stringEnd(s []byte) int {
	for i := 0; i < len(s); {
		n := bytes.IndexByte(s[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for end-slashes > i && s[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end
		}
		i = end + 1
	}
	return -1
}

// plainString tells whether the inside of a JSON string needs no decoding.
func plainString(s []byte) bool {
	ascii := true
	for _, c := range s {
		if c < 0x20 || c == '\\' || c == '"' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(s)
}

// unquote decodes the inside of a JSON string.
func unquote(s []byte) (string, bool) {
	if plainString(s) {
		return string(s), true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < 0x20 || c == '"' {
			return "", false
		}
		if c != '\\' {
			out = append(out, c)
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		switch s[i] {
		case '"', '\\', '/':
			out = append(out, s[i])
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		default: // \u, \b, \f and what is wrong
			var v string
			err := json.Unmarshal(append(append([]byte{'"'}, s...), '"'), &v)
			return v, err == nil
		}
	}
	return string(out), utf8.Valid(out)
}
