package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a document may be. Depth bounds recursion here and in the library. An
// exponent past that of a float64 is refused because exact arithmetic on
// 1e999999999 would need its gigabyte of digits; so is a digit string of that
// length. The number of values bounds memory: a two-byte value takes about
// fifty bytes when decoded.
const (
	maxDepth        = 128
	maxExponent     = 400
	maxNumberLength = 800
	maxValues       = 1 << 20
)

// DecodeError says where a document is no JSON, or breaks the strict rules.
type DecodeError struct {
	// Line and Column count from 1, Column in characters; zero where the
	// place is a Pointer instead.
	Line, Column int
	Pointer      string
	Message      string
}

// Error names the place and what is wrong there.
func (e *DecodeError) Error() string {
	switch {
	case e.Line > 0:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	case e.Pointer != "":
		return shownPointer(e.Pointer) + ": " + e.Message
	}
	return e.Message
}

// Decode reads one JSON document strictly. Numbers are [json.Number], objects
// map[string]any, arrays []any. Errors are [*DecodeError].
func Decode(raw []byte) (any, error) { return decode(raw, maxValues) }

func decode(raw []byte, values int) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, &DecodeError{Message: "there is no JSON, only nothing"}
	}
	if !utf8.Valid(raw) {
		return nil, at(raw, firstInvalid(raw), "not valid UTF-8")
	}
	if !json.Valid(raw) {
		var whole json.RawMessage
		err := json.Unmarshal(raw, &whole)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, at(raw, int(syntax.Offset)-1, "not valid JSON: "+trimError(syntax.Error()))
		}
		return nil, &DecodeError{Message: "not valid JSON: " + trimError(err.Error())}
	}
	d := decoder{raw: raw, max: values}
	return d.value(nil)
}

func trimError(s string) string { return strings.TrimPrefix(s, "json: ") }

func firstInvalid(raw []byte) int {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(raw)
}

func at(raw []byte, offset int, msg string) *DecodeError {
	offset = min(max(offset, 0), len(raw))
	before := raw[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &DecodeError{Line: line, Column: column, Message: msg}
}

// decoder builds the value of a document that is known to be valid JSON.
// encoding/json keeps the last of duplicate keys in silence; its tokens would
// tell, at a tenth of the speed.
type decoder struct {
	raw    []byte
	pos    int
	values int
	max    int
}

func (d *decoder) value(path []string) (any, error) {
	if d.values++; d.values > d.max {
		return nil, &DecodeError{Message: fmt.Sprintf("it has more than %d values", d.max)}
	}
	switch c := d.peek(); c {
	case '{', '[':
		if len(path) >= maxDepth {
			return nil, &DecodeError{Pointer: pointer(path), Message: fmt.Sprintf("nested more than %d deep", maxDepth)}
		}
		d.pos++
		if c == '{' {
			return d.object(path)
		}
		return d.array(path)
	case '"':
		return d.text()
	case 't':
		d.pos += len("true")
		return true, nil
	case 'f':
		d.pos += len("false")
		return false, nil
	case 'n':
		d.pos += len("null")
		return nil, nil
	}
	n := d.number()
	if err := checkNumber(n); err != nil {
		return nil, &DecodeError{Pointer: pointer(path), Message: err.Error()}
	}
	return json.Number(n), nil
}

// object reads what follows a {.
func (d *decoder) object(path []string) (any, error) {
	obj := map[string]any{}
	for d.more('}') {
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		if _, twice := obj[key]; twice {
			return nil, &DecodeError{Pointer: pointer(append(path, key)), Message: "the key stands twice in its object"}
		}
		d.peek()
		d.pos++ // the colon
		if obj[key], err = d.value(append(path, key)); err != nil {
			return nil, err
		}
	}
	return obj, nil
}

// array reads what follows a [.
func (d *decoder) array(path []string) (any, error) {
	arr := []any{}
	for d.more(']') {
		v, err := d.value(append(path, strconv.Itoa(len(arr))))
		if err != nil {
			return nil, err
		}
		arr = append(arr, v)
	}
	return arr, nil
}

// peek skips white space and gives the byte that follows.
func (d *decoder) peek() byte {
	for d.raw[d.pos] == ' ' || d.raw[d.pos] == '\n' || d.raw[d.pos] == '\r' || d.raw[d.pos] == '\t' {
		d.pos++
	}
	return d.raw[d.pos]
}

// more skips a comma, and tells whether something stands before the end.
func (d *decoder) more(end byte) bool {
	c := d.peek()
	if c == ',' {
		d.pos++
		c = d.peek()
	}
	if c == end {
		d.pos++
		return false
	}
	return true
}

func (d *decoder) text() (string, error) {
	start := d.pos + 1
	escaped := false
	d.pos = start
	for end := start - 1; ; {
		if end < d.pos { // looked for once a quote, so that escapes cost no more
			end = d.pos + bytes.IndexByte(d.raw[d.pos:], '"')
		}
		slash := bytes.IndexByte(d.raw[d.pos:end], '\\')
		if slash < 0 {
			d.pos = end + 1
			break
		}
		escaped = true
		d.pos += slash + 2 // past what is escaped
	}
	if !escaped {
		return string(d.raw[start : d.pos-1]), nil
	}
	var s string
	if err := json.Unmarshal(d.raw[start-1:d.pos], &s); err != nil {
		return "", at(d.raw, start, "not valid JSON: "+trimError(err.Error()))
	}
	return s, nil
}

func (d *decoder) number() string {
	start := d.pos
	for d.pos < len(d.raw) && strings.IndexByte("+-.eE0123456789", d.raw[d.pos]) >= 0 {
		d.pos++
	}
	return string(d.raw[start:d.pos])
}

func checkNumber(n string) error {
	if len(n) > maxNumberLength {
		return fmt.Errorf("a number of %d characters; %d are allowed", len(n), maxNumberLength)
	}
	i := strings.IndexAny(n, "eE")
	if i < 0 {
		return nil
	}
	if e, err := strconv.Atoi(n[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
		return fmt.Errorf("the number %s is out of range: its exponent may be %d at most", clip(n, 40), maxExponent)
	}
	return nil
}
