package config

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

// maxDepth bounds the nesting of a file; the settings need five levels.
const maxDepth = 32

// parseYAML gives the top mapping of a file, or nil for a file without one.
func parseYAML(data []byte, src *source) (*yaml.Node, *Problem) {
	if p := checkText(data, src); p != nil {
		return nil, p
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data),
		yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		return nil, &Problem{File: src.path, Msg: "the file can't be parsed: " + clean(err.Error())}
	}
	var doc, second yaml.Node
	switch err := loader.Load(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxProblem(err, src)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, nil
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, syntaxProblem(err, src)
	}
	return nil, src.problem(second.Line, second.Column, 3, true, "a second document begins here; a configuration is one")
}

// checkText finds what YAML's reader refuses without saying where.
func checkText(data []byte, src *source) *Problem {
	if e, _ := textenc.Detect(data); e != textenc.UTF8 {
		return &Problem{File: src.path, Msg: "the file is UTF-16; save it as UTF-8"}
	}
	for n, line := range src.lines {
		if !utf8.ValidString(line) {
			for i, r := range line {
				if _, size := utf8.DecodeRuneInString(line[i:]); r == utf8.RuneError && size == 1 {
					return src.problem(n+1, utf8.RuneCountInString(line[:i])+1, 1, false, "this byte is not UTF-8")
				}
			}
		}
		for i, r := range line {
			if r < ' ' && r != '\t' || r == 0x7f {
				return src.problem(n+1, utf8.RuneCountInString(line[:i])+1, 1, false,
					fmt.Sprintf("the control character %U can't stand in a file", r))
			}
		}
	}
	return nil
}

// syntaxProblem says in our words what YAML's parser found.
func syntaxProblem(err error, src *source) *Problem {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return &Problem{File: src.path, Msg: "the file can't be parsed: " + clean(err.Error())}
	}
	line, column := le.Mark.Line, le.Mark.Column
	began := le.ContextMark.Line
	msg := le.Message
	switch {
	case strings.Contains(msg, "max depth"):
		msg = fmt.Sprintf("more than %d levels deep", maxDepth)
	case strings.HasPrefix(le.ContextMsg, "while scanning a quoted scalar") && strings.Contains(msg, "end of"):
		line, column = began, le.ContextMark.Column
		msg = "this quote is never closed"
	case strings.HasPrefix(msg, "mapping values are not allowed"):
		msg = `": " can't stand here; put a value that holds it in quotes, and check the indentation`
	case strings.HasPrefix(msg, "found character that cannot start any token"):
		msg = "a value can't begin with this character; put it in quotes"
		if strings.HasPrefix(strings.TrimLeft(src.line(line), " "), "\t") {
			msg = "a tab can't indent; use spaces"
		}
	case strings.HasPrefix(msg, "did not find expected key"):
		msg = fmt.Sprintf("expected a key of the block that began in line %d; check the indentation", began)
	case strings.HasPrefix(msg, "did not find expected ',' or"):
		msg = fmt.Sprintf("expected , or the bracket that closes the one of line %d", began)
	case strings.HasPrefix(msg, "could not find expected ':'"):
		msg = "expected a colon and a space after the key"
	default:
		msg = "not YAML: " + redactWords(clean(msg[:min(len(msg), 200)]))
	}
	if line < 1 {
		return &Problem{File: src.path, Msg: msg}
	}
	return src.problem(line, column, 1, false, msg)
}

// problem is one at a place of the file, with its excerpt.
func (s *source) problem(line, column, width int, hide bool, msg string) *Problem {
	return &Problem{
		File: s.path, Line: line, Column: column, Msg: msg,
		Excerpt: s.excerpt(line, column, width, hide),
	}
}
