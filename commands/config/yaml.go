package config

import (
	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/strictyaml"
)

// maxDepth bounds the nesting of a file; the settings need five levels.
const maxDepth = 32

// parseYAML returns the top mapping of a file, or nil for a file without one.
func parseYAML(data []byte, src *source) (*yaml.Node, *Problem) {
	top, p := strictyaml.Parse(data, strictyaml.Options{Subject: "a configuration", MaxDepth: maxDepth})
	switch {
	case p == nil:
		return top, nil
	case p.Line == 0:
		return nil, &Problem{File: src.path, Msg: redactWords(p.Msg)}
	case p.Kind == strictyaml.Second:
		return nil, src.problem(p.Line, p.Column, len("---"), true, p.Msg)
	}
	return nil, src.problem(p.Line, p.Column, 1, false, redactWords(p.Msg))
}

// problem is one at a place of the file, with its excerpt.
func (s *source) problem(line, column, width int, hide bool, msg string) *Problem {
	return &Problem{
		File: s.path, Line: line, Column: column, Msg: msg,
		Excerpt: s.excerpt(line, column, width, hide),
	}
}
