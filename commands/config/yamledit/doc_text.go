package yamledit

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/strictyaml"
)

// maxDepth bounds the nesting of a text, so that a hostile one can't exhaust
// the stack. What is edited here has five levels.
const maxDepth = 64

const byteOrderMark = "\ufeff"

// ErrAbsent says that there is nothing at a path.
var ErrAbsent = errors.New("there is no such key")

// ErrNotList says that what stands at a path is no list.
var ErrNotList = errors.New("this is no list")

// FormError says that a text is written in a way that can't be changed in
// place.
type FormError struct {
	Line int // 0 where no line is to blame
	Why  string
}

// Error names the reason and the line.
func (e *FormError) Error() string {
	if e.Line == 0 {
		return e.Why
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Why)
}

func badForm(n *yaml.Node, format string, args ...any) error {
	e := &FormError{Why: fmt.Sprintf(format, args...)}
	if n != nil {
		e.Line = n.Line
	}
	return e
}

// document is a text with its nodes.
type document struct {
	text  string // without a byte order mark
	bom   bool
	lines []line
	nl    string     // the line break that the text uses
	root  *yaml.Node // nil where the text holds no node
}

// line is where a line of the text begins and ends, without and with its break.
type line struct{ start, end, next int }

func parse(text string) (*document, error) {
	d := &document{nl: "\n"}
	d.text, d.bom = strings.CutPrefix(text, byteOrderMark)
	d.split()
	root, p := strictyaml.Parse([]byte(d.text), strictyaml.Options{Subject: "a configuration", MaxDepth: maxDepth})
	switch {
	case p != nil && p.Kind == strictyaml.Second:
		return nil, badForm(nil, "the text holds more than one document")
	case p != nil:
		return nil, fmt.Errorf("parse YAML: %w", p)
	}
	d.root = root
	return d, nil
}

// split finds the lines where YAML counts them.
func (d *document) split() {
	start := 0
	add := func(end, next int) {
		d.lines = append(d.lines, line{start, end, next})
		start = next
	}
	for i, r := range d.text {
		if i < start {
			continue
		}
		switch r {
		case '\n', '\u0085', '\u2028', '\u2029':
			add(i, i+utf8.RuneLen(r))
		case '\r':
			next := i + 1
			if strings.HasPrefix(d.text[next:], "\n") {
				next++
				if len(d.lines) == 0 {
					d.nl = "\r\n"
				}
			}
			add(i, next)
		}
	}
	add(len(d.text), len(d.text))
}

// at is the offset where a node begins.
func (d *document) at(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(d.lines) {
		return len(d.text)
	}
	l := d.lines[n.Line-1]
	off := l.start
	for range n.Column - 1 {
		if off >= l.end {
			break
		}
		_, size := utf8.DecodeRuneInString(d.text[off:])
		off += size
	}
	return off
}

// lineOf is the line that an offset stands in.
func (d *document) lineOf(off int) line {
	low, high := 0, len(d.lines)-1
	for low < high {
		mid := (low + high + 1) / 2
		if d.lines[mid].start <= off {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return d.lines[low]
}

// before is what stands in front of an offset on its line.
func (d *document) before(off int) string { return d.text[d.lineOf(off).start:off] }

// splice replaces a part of the text.
type splice struct {
	from, to int
	with     string
}

// spliced applies splices that don't overlap, the first one first.
func (d *document) spliced(parts ...splice) string {
	var b strings.Builder
	if d.bom {
		b.WriteString(byteOrderMark)
	}
	last := 0
	for _, p := range parts {
		b.WriteString(d.text[last:p.from])
		b.WriteString(p.with)
		last = p.to
	}
	b.WriteString(d.text[last:])
	return b.String()
}
