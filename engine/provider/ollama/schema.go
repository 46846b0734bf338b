package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// node is a JSON value with the order of its members kept: models see a
// schema's properties in the order in which they were written.
type node struct {
	members []member
	items   []*node
	raw     json.RawMessage // of anything that is no object and no list
	kind    byte            // '{', '[' or 0
}

type member struct {
	key   string
	value *node
}

// parameters makes a tool's input schema one that Ollama takes. It decodes
// schemas into types that know no $ref, want one or several names as type, and
// refuse the whole request where something else stands, so references are
// written out, oneOf becomes anyOf, const becomes enum, and what it would
// stumble over is left out.
func parameters(schema json.RawMessage) (json.RawMessage, error) {
	if s := bytes.TrimSpace(schema); len(s) == 0 || string(s) == "null" {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	root, err := parse(schema)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, errNotObject
	}
	f := fitter{root: root}
	out, err := f.fit(root, nil, 0)
	if err != nil {
		return nil, err
	}
	out.set("type", &node{raw: json.RawMessage(`"object"`)})
	if p := out.get("properties"); p == nil {
		out.set("properties", &node{kind: '{'})
	}
	out.remove("$defs")
	out.remove("definitions")
	out.remove("items")
	return out.append(nil), nil
}

// fitter rewrites one schema.
type fitter struct {
	root  *node
	nodes int
}

// fit rewrites one schema below the root. refs are the references that led
// here, so that one that leads back is noticed.
func (f *fitter) fit(s *node, refs []string, depth int) (*node, error) {
	if f.nodes++; f.nodes > maxNodes {
		return nil, errTooLarge
	}
	if depth > maxNesting {
		return nil, fmt.Errorf("it nests deeper than %d", maxNesting)
	}
	if s.kind != '{' {
		return &node{kind: '{'}, nil // true, or nothing that is a schema
	}
	if ref := s.text("$ref"); ref != "" {
		return f.follow(s, ref, refs, depth)
	}
	out := &node{kind: '{'}
	for _, m := range s.members {
		v, err := f.keyword(m.key, m.value, refs, depth)
		if err != nil {
			return nil, err
		}
		switch {
		case v == nil:
		case m.key == "oneOf" && s.get("anyOf") == nil:
			out.set("anyOf", v)
		case m.key == "const" && s.get("enum") == nil:
			out.set("enum", v)
		case m.key == "allOf" && len(v.items) == 1: // how generators hang a description on a reference
			for _, inner := range v.items[0].members {
				if s.get(inner.key) == nil {
					out.set(inner.key, inner.value)
				}
			}
		default:
			out.set(m.key, v)
		}
	}
	return out, nil
}

// follow puts what a reference refers to in its place. What stands beside the
// reference wins. A schema that contains itself ends in one that allows all.
func (f *fitter) follow(s *node, ref string, refs []string, depth int) (*node, error) {
	target := f.root.at(ref)
	if target == nil {
		return nil, fmt.Errorf("it refers to %s, which isn't in it", shortRef(ref))
	}
	out := &node{kind: '{'}
	recursive := false
	for _, r := range refs {
		recursive = recursive || r == ref
	}
	if !recursive && target != f.root {
		fitted, err := f.fit(target, append(refs[:len(refs):len(refs)], ref), depth+1)
		if err != nil {
			return nil, err
		}
		out.members = append(out.members, fitted.members...)
	}
	for _, m := range s.members {
		if m.key == "$ref" {
			continue
		}
		v, err := f.keyword(m.key, m.value, refs, depth)
		if err != nil {
			return nil, err
		}
		if v != nil {
			out.set(m.key, v)
		}
	}
	return out, nil
}

// keyword rewrites the value of one keyword; nil leaves it out.
func (f *fitter) keyword(key string, v *node, refs []string, depth int) (*node, error) {
	switch key {
	case "properties":
		if v.kind != '{' {
			return nil, nil
		}
		out := &node{kind: '{'}
		for _, m := range v.members {
			p, err := f.fit(m.value, refs, depth+1)
			if err != nil {
				return nil, err
			}
			out.set(m.key, p)
		}
		return out, nil
	case "items", "additionalProperties":
		if v.kind != '{' {
			return v, nil
		}
		return f.fit(v, refs, depth+1)
	case "anyOf", "oneOf", "allOf":
		if v.kind != '[' {
			return nil, nil
		}
		out := &node{kind: '['}
		for _, item := range v.items {
			p, err := f.fit(item, refs, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, p)
		}
		return out, nil
	case "const":
		return &node{kind: '[', items: []*node{v}}, nil
	case "type", "required":
		return v.strings(key == "type"), nil
	case "description":
		if !v.isString() {
			return nil, nil
		}
	case "enum":
		if v.kind != '[' {
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

// at finds what a local reference points to.
func (n *node) at(ref string) *node {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if path == "" {
		return n
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if n == nil || n.kind != '{' {
			return nil
		}
		n = n.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return n
}

func (n *node) get(key string) *node {
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// set adds a member, or changes the one that there is.
func (n *node) set(key string, v *node) {
	for i := range n.members {
		if n.members[i].key == key {
			n.members[i].value = v
			return
		}
	}
	n.members = append(n.members, member{key, v})
}

func (n *node) remove(key string) {
	for i := range n.members {
		if n.members[i].key == key {
			n.members = append(n.members[:i], n.members[i+1:]...)
			return
		}
	}
}

func (n *node) isString() bool { return n.kind == 0 && len(n.raw) > 0 && n.raw[0] == '"' }

// text gives a member that is a string.
func (n *node) text(key string) string {
	v := n.get(key)
	var s string
	if v == nil || !v.isString() || json.Unmarshal(v.raw, &s) != nil {
		return ""
	}
	return s
}

// strings keeps the strings of a list; with single, one string may stand for a
// list of it. nil is none.
func (n *node) strings(single bool) *node {
	if single && n.isString() {
		return n
	}
	out := &node{kind: '['}
	for _, item := range n.items {
		if item.isString() {
			out.items = append(out.items, item)
		}
	}
	if len(out.items) == 0 {
		return nil
	}
	return out
}

// parse reads a JSON value.
func parse(raw json.RawMessage) (*node, error) {
	if !json.Valid(raw) {
		return nil, errors.New("it is no JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return parseNext(dec, 0)
}

func parseNext(dec *json.Decoder, depth int) (*node, error) {
	if depth > 2*maxNesting {
		return nil, fmt.Errorf("it nests deeper than %d", maxNesting)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		raw, err := json.Marshal(tok)
		return &node{raw: raw}, err
	}
	n := &node{kind: byte(delim)}
	for dec.More() {
		key := ""
		if delim == '{' {
			tok, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key, _ = tok.(string)
		}
		v, err := parseNext(dec, depth+1)
		if err != nil {
			return nil, err
		}
		if delim == '{' {
			n.set(key, v)
		} else {
			n.items = append(n.items, v)
		}
	}
	_, err = dec.Token() // the closing one
	return n, err
}

// append writes a JSON value.
func (n *node) append(dst []byte) []byte {
	switch n.kind {
	case '{':
		dst = append(dst, '{')
		for i, m := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			key, _ := json.Marshal(m.key) // a string always encodes
			dst = append(append(dst, key...), ':')
			dst = m.value.append(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.raw...)
}
