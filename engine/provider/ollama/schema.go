package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	// maxNesting bounds how deep a tool's schema may nest.
	maxNesting = 32
	// maxNodes bounds a schema after its references were written out: a few
	// short definitions that refer to each other can stand for millions.
	maxNodes = 4000
)

var (
	errNotObject = errors.New("it is no JSON object")
	errTooLarge  = errors.New("it is too large once its references are written out")
)

// parameters makes a tool's input schema one that Ollama takes. It decodes
// schemas into types that know no $ref, want one or several names as type, and
// refuse the whole request where something else stands, so references are
// written out, oneOf becomes anyOf, const becomes enum, and what it would
// stumble over is left out.
func parameters(schema json.RawMessage) (json.RawMessage, error) {
	if s := bytes.TrimSpace(schema); len(s) == 0 || string(s) == "null" {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	root, err := wire.ParseNode(schema)
	if err != nil {
		return nil, err
	}
	if root.Kind != '{' {
		return nil, errNotObject
	}
	f := fitter{root: root}
	out, err := f.fit(root, nil, 0)
	if err != nil {
		return nil, err
	}
	out.Set("type", wire.StringNode("object"))
	if p := out.Get("properties"); p == nil {
		out.Set("properties", &wire.Node{Kind: '{'})
	}
	out.Remove("$defs")
	out.Remove("definitions")
	out.Remove("items")
	return out.Append(nil), nil
}

// fitter rewrites one schema.
type fitter struct {
	root  *wire.Node
	nodes int
}

// fit rewrites one schema below the root. refs are the references that led
// here, so that one that leads back is noticed.
func (f *fitter) fit(s *wire.Node, refs []string, depth int) (*wire.Node, error) {
	if f.nodes++; f.nodes > maxNodes {
		return nil, errTooLarge
	}
	if depth > maxNesting {
		return nil, fmt.Errorf("it nests deeper than %d", maxNesting)
	}
	if s.Kind != '{' {
		return &wire.Node{Kind: '{'}, nil // true, or nothing that is a schema
	}
	if ref := s.Get("$ref").Text(); ref != "" {
		return f.follow(s, ref, refs, depth)
	}
	out := &wire.Node{Kind: '{'}
	for _, m := range s.Members {
		v, err := f.keyword(m.Key, m.Value, refs, depth)
		if err != nil {
			return nil, err
		}
		switch {
		case v == nil:
		case m.Key == "oneOf" && s.Get("anyOf") == nil:
			out.Set("anyOf", v)
		case m.Key == "const" && s.Get("enum") == nil:
			out.Set("enum", v)
		case m.Key == "allOf" && len(v.Items) == 1: // how generators hang a description on a reference
			for _, inner := range v.Items[0].Members {
				if s.Get(inner.Key) == nil {
					out.Set(inner.Key, inner.Value)
				}
			}
		default:
			out.Set(m.Key, v)
		}
	}
	return out, nil
}

// follow puts what a reference refers to in its place. What stands beside the
// reference wins. A schema that contains itself ends in one that allows all.
func (f *fitter) follow(s *wire.Node, ref string, refs []string, depth int) (*wire.Node, error) {
	target := f.root.At(ref)
	if target == nil {
		return nil, fmt.Errorf("it refers to %s, which isn't in it", shortRef(ref))
	}
	out := &wire.Node{Kind: '{'}
	recursive := false
	for _, r := range refs {
		recursive = recursive || r == ref
	}
	if !recursive && target != f.root {
		fitted, err := f.fit(target, append(refs[:len(refs):len(refs)], ref), depth+1)
		if err != nil {
			return nil, err
		}
		out.Members = append(out.Members, fitted.Members...)
	}
	for _, m := range s.Members {
		if m.Key == "$ref" {
			continue
		}
		v, err := f.keyword(m.Key, m.Value, refs, depth)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out.Set(m.Key, v)
		}
	}
	return out, nil
}

// keyword rewrites the value of one keyword; nil leaves it out.
func (f *fitter) keyword(key string, v *wire.Node, refs []string, depth int) (*wire.Node, error) {
	switch key {
	case "properties":
		if v.Kind != '{' {
			return nil, nil
		}
		out := &wire.Node{Kind: '{'}
		for _, m := range v.Members {
			p, err := f.fit(m.Value, refs, depth+1)
			if err != nil {
				return nil, err
			}
			out.Set(m.Key, p)
		}
		return out, nil
	case "items", "additionalProperties":
		if v.Kind != '{' {
			return v, nil
		}
		return f.fit(v, refs, depth+1)
	case "anyOf", "oneOf", "allOf":
		if v.Kind != '[' {
			return nil, nil
		}
		out := &wire.Node{Kind: '['}
		for _, item := range v.Items {
			p, err := f.fit(item, refs, depth+1)
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, p)
		}
		return out, nil
	case "const":
		return &wire.Node{Kind: '[', Items: []*wire.Node{v}}, nil
	case "type", "required":
		return names(v, key == "type"), nil
	case "description":
		if !v.IsText() {
			return nil, nil
		}
	case "enum":
		if v.Kind != '[' {
			return nil, nil
		}
	case "$schema", "$id", "$comment", "$defs", "definitions":
		return nil, nil
	default:
		for _, known := range []string{"type", "properties", "required", "items", "anyOf", "enum", "description", "$defs"} {
			if strings.EqualFold(key, known) {
				return nil, nil // Go's decoder would take it for the keyword
			}
		}
	}
	return v, nil
}

func shortRef(ref string) string {
	const shown = 60
	if len(ref) > shown {
		ref = ref[:shown] + "…"
	}
	return ref
}

// names keeps the texts of a list; with single, one text may stand for a list
// of it. nil is none.
func names(n *wire.Node, single bool) *wire.Node {
	if single && n.IsText() {
		return n
	}
	out := &wire.Node{Kind: '['}
	for _, item := range n.Items {
		if item.IsText() {
			out.Items = append(out.Items, item)
		}
	}
	if len(out.Items) == 0 {
		return nil
	}
	return out
}
