package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// jsonlNodes reads a recorded script, one node a line that isn't blank. Lines
// end at a line feed and nowhere else: a text may hold U+2028.
func jsonlNodes(data []byte, l limits, ps *problems) []*node {
	var nodes []*node
	left := l.values
	for number := int32(1); len(data) > 0 && !ps.full(); number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r := jsonReader{line: line, number: number, column: 1, left: &left, ps: ps}
		if n := r.read(); n != nil {
			nodes = append(nodes, n)
		}
		if left <= 0 {
			break
		}
	}
	return nodes
}

// jsonReader makes nodes of one line. The column of a place is counted on from
// the one before, since a line may be many megabytes long.
type jsonReader struct {
	dec    *json.Decoder
	line   []byte
	number int32
	offset int // where column was counted to
	column int32
	left   *int // how many more values the file may have
	ps     *problems
}

// read gives the line's value; nil where it has a problem, which is reported.
func (r *jsonReader) read() *node {
	if !utf8.Valid(r.line) {
		r.place(invalidAt(r.line))
		r.problem("this byte is not UTF-8")
		return nil
	}
	r.dec = json.NewDecoder(bytes.NewReader(r.line))
	r.dec.UseNumber()
	n, err := r.value(0)
	if err == nil {
		at := r.next()
		if _, end := r.dec.Token(); errors.Is(end, io.EOF) {
			return n
		}
		r.place(at)
		r.problem("the line goes on behind its object; a response is one line")
		return nil
	}
	if !errors.Is(err, errTold) {
		r.syntax(err)
	}
	return nil
}

// errTold ends the reading of a line whose problem is reported already.
var errTold = errors.New("told")

// syntax reports what encoding/json found.
func (r *jsonReader) syntax(err error) {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.place(len(r.line))
		r.problem("the line is cut off; remove it")
	case errors.As(err, &syntax):
		r.place(max(0, int(syntax.Offset)-1))
		r.problem("not JSON: " + clean(syntax.Error()))
	default:
		r.place(r.next())
		r.problem("not JSON: " + clean(err.Error()))
	}
}

// value reads one value.
func (r *jsonReader) value(depth int) (*node, error) {
	start := r.next()
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	r.place(start)
	n := &node{line: r.number, column: r.column}
	if *r.left--; *r.left <= 0 {
		r.problem("the file has too many values")
		return nil, errTold
	}
	switch tok := tok.(type) {
	case json.Delim:
		n.kind = listNode
		if tok == '{' {
			n.kind = mapNode
		}
		if err := r.items(n, depth+1); err != nil {
			return nil, err
		}
	case string:
		n.kind, n.text = textNode, tok
	case json.Number:
		n.kind, n.text = numberNode, tok.String()
	case bool:
		n.kind, n.text = boolNode, fmt.Sprint(tok)
	}
	n.raw = r.line[start:r.dec.InputOffset()]
	return n, nil
}

// items reads what is inside a list or an object, keys and values in turn, and
// the bracket that closes it.
func (r *jsonReader) items(n *node, depth int) error {
	if depth > maxJSONDepth {
		r.problem(fmt.Sprintf("more than %d levels deep", maxJSONDepth))
		return errTold
	}
	for r.dec.More() {
		item, err := r.value(depth)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := r.dec.Token()
	return err
}

// next is where the next token begins.
func (r *jsonReader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.line) && bytes.IndexByte([]byte(" \t\r\n,:"), r.line[at]) >= 0 {
		at++
	}
	return at
}

// place moves to an offset, which is never before the one moved to last except
// for a problem, after which nothing more is read.
func (r *jsonReader) place(offset int) {
	if offset < r.offset {
		r.offset, r.column = 0, 1
	}
	r.column += int32(utf8.RuneCount(r.line[r.offset:offset]))
	r.offset = offset
}

func (r *jsonReader) problem(msg string) {
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
