package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object appends one JSON object. Its methods are called in the order of the
// fields; a text delta is written without reflection, since a long answer is a
// hundred thousand of them.
type object struct {
	b   []byte
	any bool
}

// open begins an object at the end of b.
func open(b []byte) *object { return &object{b: append(b, '{')} }

func (o *object) key(k string) {
	if o.any {
		o.b = append(o.b, ',')
	}
	o.any = true
	o.b = append(o.b, '"')
	o.b = append(o.b, k...) // keys are ours and need no escapes
	o.b = append(o.b, '"', ':')
}

// str adds a string.
func (o *object) str(k, v string) *object {
	o.key(k)
	o.b = appendString(o.b, v)
	return o
}

// opt adds a string that isn't empty.
func (o *object) opt(k, v string) *object {
	if v == "" {
		return o
	}
	return o.str(k, v)
}

func (o *object) int(k string, v int64) *object {
	o.key(k)
	o.b = strconv.AppendInt(o.b, v, 10)
	return o
}

func (o *object) bool(k string, v bool) *object {
	o.key(k)
	o.b = strconv.AppendBool(o.b, v)
	return o
}

// raw adds JSON. It comes from models, tools and files: it is made one line,
// and what is no JSON at all becomes null.
func (o *object) raw(k string, v json.RawMessage) *object {
	o.key(k)
	o.b = appendRaw(o.b, v)
	return o
}

// lit adds JSON that is ours, as it is.
func (o *object) lit(k, v string) *object {
	o.key(k)
	o.b = append(o.b, v...)
	return o
}

// obj adds an object that fill writes.
func (o *object) obj(k string, fill func(*object)) *object {
	o.key(k)
	inner := open(o.b)
	fill(inner)
	o.b = append(inner.b, '}')
	return o
}

// val adds any value of ours.
func (o *object) val(k string, v any) *object {
	o.key(k)
	o.b = appendValue(o.b, v)
	return o
}

// list adds a list of n values, of which each appends one.
func (o *object) list(k string, n int, each func(dst []byte, i int) []byte) *object {
	o.key(k)
	o.b = append(o.b, '[')
	for i := range n {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = each(o.b, i)
	}
	o.b = append(o.b, ']')
	return o
}

func (o *object) close() []byte { return append(o.b, '}') }

func appendRaw(dst []byte, v json.RawMessage) []byte {
	var buf bytes.Buffer
	if len(v) == 0 || json.Compact(&buf, v) != nil {
		return append(dst, "null"...)
	}
	return append(dst, buf.Bytes()...)
}

// appendValue encodes a value of this package's own types, which can't fail but
// for raw JSON that is none.
func appendValue(dst []byte, v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return append(dst, "null"...)
	}
	return append(dst, bytes.TrimRight(buf.Bytes(), "\n")...)
}

// appendString appends s as a JSON string. What is no UTF-8 becomes U+FFFD, and
// U+2028 and U+2029 are escaped, since some readers split lines on them.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i, r := range s { // an invalid byte is read as U+FFFD
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			size = 1
		} else if r >= 0x20 && r != '"' && r != '\\' && r != '\u2028' && r != '\u2029' {
			continue
		}
		dst, start = append(dst, s[start:i]...), i+size
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20 || r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
		default:
			dst = append(dst, "\uFFFD"...)
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

const (
	dataField = "data: "
	frameEnd  = "\n\n"
	// ping is a comment without a blank line after it: some clients decode an
	// empty event from one.
	ping = ": ping\n"
	done = "data: [DONE]\n\n"
)

// data begins an object that is the data of one SSE event.
func data(dst []byte) *object { return open(append(dst, dataField...)) }

// named begins an object that is the data of an SSE event with a name.
func named(dst []byte, name string) *object {
	dst = append(append(append(dst, "event: "...), name...), '\n')
	return data(dst)
}

// frame ends an SSE event.
func (o *object) frame() []byte { return append(o.close(), frameEnd...) }

// line ends a line of NDJSON.
func (o *object) line() []byte { return append(o.close(), '\n') }

// compact gives JSON on one line as a string; {} for what is none.
func compact(v json.RawMessage) string {
	var buf bytes.Buffer
	if len(v) == 0 || json.Compact(&buf, v) != nil {
		return "{}"
	}
	return buf.String()
}
