package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/fettle-cli/fettle/internal/textenc"
)

// yamlNodes reads a written script; nil where it is empty or can't be parsed.
func yamlNodes(data []byte, l limits, ps *problems) *node {
	if !checkText(data, ps) {
		return nil
	}
	if marks(data) > l.values {
		ps.add(0, 0, "the file has too many values for YAML; record it as JSON lines")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		ps.add(0, 0, "the file can't be parsed: "+clean(shorten(err.Error(), maxSaid)))
		return nil
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		syntaxProblem(err, ps)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		syntaxProblem(err, ps)
		return nil
	default:
		ps.add(second.Line, second.Column, "a second document begins here; a script is one")
		return nil
	}
	c := converter{ps: ps, left: l.values}
	return c.convert(doc.Content[0], 0)
}

// marks counts the characters without which no value can begin. Too many are
// refused before YAML's parser makes some 300 bytes of each: a file of 64 MiB
// could hold thirty million. Of what people write they are one in thirty.
func marks(data []byte) int {
	n := 0
	for _, c := range data {
		switch c {
		case '\n', '\r', ',', ':', '-', '?', '[', '{':
			n++
		}
	}
	return n
}

// converter makes nodes of YAML's.
type converter struct {
	ps   *problems
	left int  // how many more values there may be
	over bool // a limit was reached and said
}

// convert makes a node, aliases expanded; nil once a limit was reached.
func (c *converter) convert(y *yaml.Node, depth int) *node {
	c.left--
	switch {
	case c.over:
		return nil
	case c.left < 0:
		return c.limit(y, "too many values, or aliases that multiply them")
	case depth > maxDepth:
		return c.limit(y, fmt.Sprintf("more than %d levels deep, or an alias of what it stands in", maxDepth))
	}
	if y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	n := &node{line: int32(y.Line), column: int32(y.Column)}
	if y.Kind == yaml.ScalarNode {
		c.scalar(y, n)
		return n
	}
	n.kind = listNode
	tag := "!!seq"
	if y.Kind == yaml.MappingNode {
		n.kind, tag = mapNode, "!!map"
	}
	if y.ShortTag() != tag {
		c.ps.add(y.Line, y.Column, "the tag "+shown(y.ShortTag())+" can't stand here")
	}
	n.items = make([]*node, 0, len(y.Content))
	for _, item := range y.Content {
		sub := c.convert(item, depth+1)
		if sub == nil {
			return nil
		}
		n.items = append(n.items, sub)
	}
	return n
}

func (c *converter) limit(y *yaml.Node, msg string) *node {
	c.ps.add(y.Line, y.Column, msg)
	c.over = true
	return nil
}

// scalar fills in a scalar's kind and text.
func (c *converter) scalar(y *yaml.Node, n *node) {
	n.text = y.Value
	switch tag := y.ShortTag(); tag {
	case "!!str", "!!timestamp": // a date is a text like any other
		n.kind = textNode
	case "!!int", "!!float":
		n.kind = numberNode
	case "!!bool":
		n.kind, n.text = boolNode, strings.ToLower(y.Value)
	case "!!null":
		n.kind, n.text = nullNode, ""
	case "!!merge":
		n.kind = mergeNode
	default:
		n.kind = textNode
		c.ps.add(y.Line, y.Column, "the tag "+shown(tag)+" can't stand here")
	}
}

// checkText finds what YAML's reader refuses without saying where.
func checkText(data []byte, ps *problems) bool {
	if e, _ := textenc.Detect(data); e != textenc.UTF8 {
		ps.add(0, 0, "the file is UTF-16; save it as UTF-8")
		return false
	}
	line, column := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			ps.add(line, column, "this byte is not UTF-8")
			return false
		case !yamlChar(r) && !(i == 0 && r == '\ufeff'):
			ps.add(line, column, fmt.Sprintf(`the character %U can't stand in YAML; write it as "\x%02X" or "\u%04X"`, r, r&0xff, r))
			return false
		}
		i += size
		column++
		if lineEnds(r, data[i:]) {
			line, column = line+1, 1
		}
	}
	return true
}

// lineEnds tells whether a line ends with r, where rest follows. YAML counts
// lines at all of these.
func lineEnds(r rune, rest []byte) bool {
	switch r {
	case '\n', '\u0085', '\u2028', '\u2029':
		return true
	case '\r':
		return !bytes.HasPrefix(rest, []byte("\n"))
	}
	return false
}

// yamlChar tells whether YAML lets a character stand unescaped.
func yamlChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r == 0x85 ||
		r >= 0x20 && r <= 0x7e || r >= 0xa0 && r <= 0xd7ff ||
		r >= 0xe000 && r <= 0xfffd && r != '\ufeff' || r >= 0x10000
}

// syntaxProblem says in our words what YAML's parser found.
func syntaxProblem(err error, ps *problems) {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		ps.add(0, 0, "the file can't be parsed: "+clean(shorten(err.Error(), maxSaid)))
		return
	}
	line, column, msg := le.Mark.Line, le.Mark.Column, le.Message
	switch {
	case strings.Contains(msg, "max depth"):
		msg = fmt.Sprintf("more than %d levels deep", maxDepth)
	case strings.HasPrefix(le.ContextMsg, "while scanning a quoted scalar") && strings.Contains(msg, "end of"):
		line, column = le.ContextMark.Line, le.ContextMark.Column
		msg = "this quote is never closed"
	case strings.HasPrefix(msg, "mapping values are not allowed"):
		msg = `": " can't stand here; put a value that holds it in quotes, and check the indentation`
	case strings.HasPrefix(msg, "found character that cannot start any token"):
		msg = "a value can't begin with this character, nor a line with a tab; put it in quotes, or indent with spaces"
	case strings.HasPrefix(msg, "did not find expected key"):
		msg = fmt.Sprintf("expected a key of the block that began in line %d; check the indentation", le.ContextMark.Line)
	case strings.HasPrefix(msg, "could not find expected ':'"):
		msg = "expected a colon and a space after the key"
	default:
		msg = "not YAML: " + clean(shorten(msg, maxSaid))
	}
	ps.add(line, column, msg)
}
