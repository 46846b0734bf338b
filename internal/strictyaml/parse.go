package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Options bound a file.
type Options struct {
	// Subject is what the file is, with its article, such as "a manifest".
	Subject string
	// MaxDepth is how many levels of mappings and lists a file may have.
	MaxDepth int
	// MaxMarks is how many of the characters that begin a value a file may have, so that a
	// file of nothing but commas, each of which costs some 300 bytes as a node, is refused
	// before it is parsed. 0 means no bound.
	MaxMarks int
	// Portable refuses what readers of YAML treat differently: directives, a carriage
	// return without a line feed, and the line separators of Unicode.
	Portable bool
}

// Kind is the kind of a [Problem].
type Kind int

// The kinds of problems.
const (
	Syntax   Kind = iota // not YAML, or not UTF-8
	TooLarge             // more levels or marks than the options allow
	Alias                // an alias that has no anchor, or another error about one
	Tag                  // a tag or a directive
	Second               // a second document
)

// Problem is the first error of a file.
type Problem struct {
	Kind Kind
	// Line and Column count from 1, columns in characters; they are 0 if the problem is
	// the whole file.
	Line, Column int
	// Msg is one printable line. It may quote up to 200 bytes of the file.
	Msg string
}

// Error returns the message and its place.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.Msg
	}
	return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Msg)
}

// Parse returns the top node of a file, or nil if the file has none: it is empty, or all of
// it is comments. With a problem of the kind [Second] it also returns the first document.
func Parse(data []byte, o Options) (*yaml.Node, *Problem) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if p := checkText(data, o); p != nil {
		return nil, p
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(o.MaxDepth))))
	if err != nil {
		return nil, &Problem{Msg: "the file can't be parsed: " + quote(err.Error())}
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxProblem(err, data, o)
	case doc.Kind != yaml.DocumentNode || len(doc.Content) == 0:
		return nil, nil
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, syntaxProblem(err, data, o)
	}
	return doc.Content[0], &Problem{Kind: Second, Line: second.Line, Column: second.Column, Msg: "a second document begins here; " + o.Subject + " is one"}
}

// syntaxProblem describes an error of YAML's parser in plain words.
func syntaxProblem(err error, data []byte, o Options) *Problem {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &Problem{Msg: "the file can't be parsed: " + quote(err.Error())}
	}
	p := &Problem{Line: le.Mark.Line, Column: le.Mark.Column}
	msg := le.Message
	switch {
	case strings.Contains(msg, "max depth"):
		p.Kind, p.Msg = TooLarge, fmt.Sprintf("more than %d levels deep", o.MaxDepth)
	case strings.Contains(msg, "alias"), strings.Contains(msg, "anchor"):
		p.Kind, p.Msg = Alias, "the alias can't be read: "+quote(msg)
	case strings.Contains(msg, "tag"):
		p.Kind, p.Msg = Tag, "the tag can't be read: "+quote(msg)
	case strings.HasPrefix(le.ContextMsg, "while scanning a quoted scalar") && strings.Contains(msg, "end of"):
		p.Line, p.Column = le.ContextMark.Line, le.ContextMark.Column
		p.Msg = "this quote is never closed"
	case strings.HasPrefix(msg, "mapping values are not allowed"):
		p.Msg = `": " is not allowed here; put a value that holds it in quotes, and check the indentation`
	case strings.HasPrefix(msg, "found character that cannot start any token"):
		p.Msg = "a value can't begin with this character; put it in quotes"
		if strings.HasPrefix(strings.TrimLeft(lineOf(data, p.Line), " "), "\t") {
			p.Msg = "a tab can't indent; use spaces"
		}
	case strings.HasPrefix(msg, "did not find expected key"):
		p.Msg = fmt.Sprintf("expected a key of the block that began in line %d; check the indentation", le.ContextMark.Line)
	case strings.HasPrefix(msg, "did not find expected ',' or"):
		p.Msg = fmt.Sprintf("expected , or the bracket that closes the one of line %d", le.ContextMark.Line)
	case strings.HasPrefix(msg, "could not find expected ':'"):
		p.Line, p.Column = le.ContextMark.Line, le.ContextMark.Column
		p.Msg = "expected a colon and a space after the key"
	default:
		p.Msg = "not YAML: " + quote(msg)
	}
	if p.Line < 1 {
		p.Line, p.Column = 0, 0
	}
	return p
}

// quote bounds a message of the parser, which may quote the file.
func quote(msg string) string { return sanitize.Mask(sanitize.Cut(msg, 200)) }

func lineOf(data []byte, n int) string {
	i := 1
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if i == n {
			return string(line)
		}
		i++
	}
	return ""
}
