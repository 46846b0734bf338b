package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// jsonlNodes reads a recorded script, one node a line that isn't blank. Lines
// end at a line feed and nowhere else: a text may hold U+2028.
func jsonlNodes(data []byte, l limits, ps *problems) []*node {
	var nodes []*node
	left := l.values
	for number := int32(1); len(data) > 0 && left >= 0 && !ps.full(); number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r := jsonReader{line: line, number: number, column: 1, left: left, ps: ps}
		if n := r.read(); n != nil {
			nodes = append(nodes, n)
		}
		left = r.left
	}
	return nodes
}

// jsonReader makes nodes of one line. The line is checked as a whole first, so
// what walks over it afterwards meets valid JSON alone.
type jsonReader struct {
	line []byte
	pos  int
	// column is the one of offset. It is counted on from there for each node,
	// since a line may be many megabytes long.
	number, column int32
	offset         int
	left           int // how many more values there may be
	// spare are nodes that were made together: a long recording has half a
	// million.
	spare []node
	ps    *problems
}

// read gives the line's value; nil where it has a problem, which is reported.
func (r *jsonReader) read() *node {
	if !utf8.Valid(r.line) {
		r.problem(invalidAt(r.line), "this byte is not UTF-8")
		return nil
	}
	if !json.Valid(r.line) {
		r.syntax()
		return nil
	}
	return r.value()
}

// syntax reports why the line is not valid.
func (r *jsonReader) syntax() {
	var raw json.RawMessage
	var e *json.SyntaxError
	if err := json.Unmarshal(r.line, &raw); !errors.As(err, &e) {
		r.problem(0, "not JSON")
		return
	}
	at, msg := max(0, min(int(e.Offset), len(r.line))-1), e.Error()
	switch {
	case strings.HasPrefix(msg, "unexpected end"):
		r.problem(len(r.line), "the line is cut off; remove it")
	case strings.HasSuffix(msg, "after top-level value"):
		r.problem(at, "the line goes on behind its value; a response is one line")
	case strings.Contains(msg, "max depth"):
		r.problem(at, "more than 10000 levels deep")
	default:
		r.problem(at, "not JSON: "+clean(msg))
	}
}

// value reads one value; nil once there are too many.
func (r *jsonReader) value() *node {
	r.skip(" \t\r\n")
	start := r.pos
	r.place(start)
	n := r.node()
	if r.left--; r.left < 0 {
		r.problem(start, "the file has too many values")
		return nil
	}
	switch c := r.line[start]; c {
	case '{', '[':
		n.kind = listNode
		if c == '{' {
			n.kind = mapNode
		}
		if !r.items(n) {
			return nil
		}
	case '"':
		n.kind, n.text = textNode, r.text()
	case 't', 'f':
		n.kind, n.text = boolNode, r.word()
	case 'n':
		r.word()
	default:
		n.kind, n.text = numberNode, r.word()
	}
	n.raw = r.line[start:r.pos]
	return n
}

func (r *jsonReader) node() *node {
	const together = 64 // a line of a few deltas
	if len(r.spare) == 0 {
		r.spare = make([]node, together)
	}
	n := &r.spare[0]
	r.spare = r.spare[1:]
	n.line, n.column = r.number, r.column
	return n
}

// items reads what is inside a list or an object, keys and values in turn, up
// to and with the bracket that closes it.
func (r *jsonReader) items(n *node) bool {
	r.pos++
	for {
		r.skip(" \t\r\n,:")
		if c := r.line[r.pos]; c == '}' || c == ']' {
			r.pos++
			return true
		}
		item := r.value()
		if item == nil {
			return false
		}
		if n.items == nil {
			n.items = make([]*node, 0, 4) // most are a delta with its wait
		}
		n.items = append(n.items, item)
	}
}

// text reads a string.
func (r *jsonReader) text() string {
	start, escapes := r.pos, false
	for r.pos++; r.line[r.pos] != '"'; r.pos++ {
		if r.line[r.pos] == '\\' {
			escapes = true
			r.pos++
		}
	}
	r.pos++
	raw := r.line[start:r.pos]
	if !escapes {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it is a valid string
	return s
}

// word reads a number, true, false or null.
func (r *jsonReader) word() string {
	start := r.pos
	for r.pos < len(r.line) && strings.IndexByte(" \t\r\n,:]}", r.line[r.pos]) < 0 {
		r.pos++
	}
	return string(r.line[start:r.pos])
}

func (r *jsonReader) skip(chars string) {
	for r.pos < len(r.line) && strings.IndexByte(chars, r.line[r.pos]) >= 0 {
		r.pos++
	}
}

// place counts the column of an offset, which is not before the one counted
// last.
func (r *jsonReader) place(offset int) {
	r.column += int32(utf8.RuneCount(r.line[r.offset:offset]))
	r.offset = offset
}

func (r *jsonReader) problem(offset int, msg string) {
	r.place(offset)
	r.ps.add(int(r.number), int(r.column), msg)
}

// invalidAt is the offset of the first byte that isn't UTF-8.
func invalidAt(line []byte) int {
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(line)
}
