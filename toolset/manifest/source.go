package manifest

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

// The bounds of a file. A node of YAML takes some three hundred bytes, so a
// quarter of a megabyte of commas would take thirty megabytes; maxMarks stops
// it before it is parsed. What people write has a mark every eight bytes in
// the densest part.
const (
	MaxSize  = 256 << 10
	maxDepth = 64
	maxMarks = 40_000
	maxNodes = 20_000
)

// trouble is a fault of the text, before there is any manifest to speak of.
type trouble struct {
	line, column int
	code, msg    string
}

// load gives the top node of a file.
func load(data []byte) (*yaml.Node, *trouble) {
	if len(data) > MaxSize {
		return nil, &trouble{code: CodeTooLarge, msg: fmt.Sprintf("it has %d bytes; a manifest has %d at most", len(data), MaxSize)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if t := checkText(data); t != nil {
		return nil, t
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		return nil, &trouble{code: CodeYAML, msg: "it can't be read: " + err.Error()}
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, empty()
	case err != nil:
		return nil, syntax(err, data)
	case doc.Kind != yaml.DocumentNode || len(doc.Content) == 0:
		return nil, empty()
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, syntax(err, data)
	}
	return nil, &trouble{second.Line, second.Column, CodeYAML, "a second document begins here; a manifest is one"}
}

func empty() *trouble {
	return &trouble{code: CodeEmptyManifest, msg: `it is empty; a manifest begins with manifest_version: "1"`}
}

// checkText finds what YAML's reader refuses without saying where, and what
// would cost too much.
func checkText(data []byte) *trouble {
	if e, _ := textenc.Detect(data); e != textenc.UTF8 {
		return &trouble{code: CodeYAML, msg: "it is UTF-16; save it as UTF-8"}
	}
	line, column, marks, head := 1, 1, 0, true
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		i += size
		switch {
		case r == '%' && column == 1 && head:
			return &trouble{line, column, CodeTag, "a directive (%) is not read here; a manifest is plain YAML 1.2"}
		case r == utf8.RuneError && size == 1:
			return &trouble{line, column, CodeYAML, "this byte is not UTF-8"}
		case r == '\n':
			line, column = line+1, 0
			marks++
		case r == '\r' && i < len(data) && data[i] != '\n':
			return &trouble{line, column, CodeYAML, "a carriage return without a line feed; end lines as Unix or Windows does"}
		case r < ' ' && r != '\t' && r != '\r' || r >= 0x7f && r <= 0x9f || r == '\u2028' || r == '\u2029': // some of them end lines for some readers
			return &trouble{line, column, CodeYAML, fmt.Sprintf("the control character %U can't stand in a file; write it as an escape in quotes", r)}
		case strings.ContainsRune(",:[]{}?-", r):
			marks++
		}
		// directives stand before everything but comments
		if column == 1 && r != '#' && r != '\r' {
			head = false
		}
		column++
	}
	if marks > maxMarks {
		return &trouble{code: CodeTooLarge, msg: fmt.Sprintf("it may hold more than %d values", maxNodes)}
	}
	return nil
}

// syntax says in our words what YAML's parser found.
func syntax(err error, data []byte) *trouble {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &trouble{code: CodeYAML, msg: "it can't be read: " + err.Error()}
	}
	t := &trouble{line: le.Mark.Line, column: le.Mark.Column, code: CodeYAML}
	msg := le.Message
	switch {
	case strings.Contains(msg, "max depth"):
		t.code, t.msg = CodeTooLarge, fmt.Sprintf("more than %d levels deep", maxDepth)
	case strings.Contains(msg, "alias"), strings.Contains(msg, "anchor"):
		t.code, t.msg = CodeAlias, "aliases (*name) are not read here; write the value out"
	case strings.Contains(msg, "tag"):
		t.code, t.msg = CodeTag, "tags (!name) are not read here"
	case strings.HasPrefix(le.ContextMsg, "while scanning a quoted scalar") && strings.Contains(msg, "end of"):
		t.line, t.column = le.ContextMark.Line, le.ContextMark.Column
		t.msg = "this quote is never closed"
	case strings.HasPrefix(msg, "mapping values are not allowed"):
		t.msg = `": " can't stand here; put a value that holds it in quotes, and check the indentation`
	case strings.HasPrefix(msg, "found character that cannot start any token"):
		t.msg = "a value can't begin with this character; put it in quotes"
		if strings.HasPrefix(strings.TrimLeft(lineOf(data, t.line), " "), "\t") {
			t.msg = "a tab can't indent; use spaces"
		}
	case strings.HasPrefix(msg, "did not find expected key"):
		t.msg = fmt.Sprintf("expected a key of the block that began in line %d; check the indentation", le.ContextMark.Line)
	case strings.HasPrefix(msg, "did not find expected ',' or"):
		t.msg = fmt.Sprintf("expected , or the bracket that closes the one of line %d", le.ContextMark.Line)
	case strings.HasPrefix(msg, "could not find expected ':'"):
		t.msg = "expected a colon and a space after the key"
	default:
		t.msg = "not YAML: " + msg[:min(len(msg), 200)]
	}
	return t
}

func lineOf(data []byte, n int) string {
	for i, l := range bytes.Split(data, []byte("\n")) {
		if i+1 == n {
			return string(l)
		}
	}
	return ""
}
