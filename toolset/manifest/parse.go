package manifest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Options is what a reader of manifests knows beside the file.
type Options struct {
	// Builtins are the ids of the builtin tools, for agents and workflows that
	// name them. Without them, a name that the manifest lacks is let pass.
	Builtins []string
}

// Document is one reading of a file.
type Document struct {
	// File is the name that Parse was given.
	File string
	// Manifest is nil where a problem is an error.
	Manifest *Manifest
	// Problems is everything that is wrong, in the file's order.
	Problems []Problem

	root *yaml.Node
}

// Parse reads a manifest. file is its name in messages, such as toolset.yaml.
func Parse(file string, data []byte, o Options) *Document {
	d := &Document{File: file}
	top, p := load(data)
	if p != nil {
		p.File, p.Level, p.Message = file, LevelError, sanitize.Mask(p.Message)
		d.Problems = []Problem{*p}
		return d
	}
	d.root = top
	r := &reader{file: file, root: top, bad: make(map[*yaml.Node]bool)}
	if r.strict(top, "") && top.Kind == yaml.MappingNode {
		r.shape(top, root(), "")
		if m := r.decode(); m != nil {
			(&judge{reader: r, m: m, o: o}).all()
			d.Manifest = m
		}
	} else if top.Kind != yaml.MappingNode {
		r.report(top, "", CodeWrongType, `expected fields and values, such as manifest_version: "1"; found `+found(top))
	}
	d.Problems = r.sink.sorted(file)
	if r.sink.failed {
		d.Manifest = nil
	}
	return d
}

// Err is nil where the manifest can be used, else an [*Error] with every
// problem, errors first.
func (d *Document) Err() error {
	if d.Manifest != nil {
		return nil
	}
	var errs, warnings []Problem
	for _, p := range d.Problems {
		if p.Level == LevelError {
			errs = append(errs, p)
		} else {
			warnings = append(warnings, p)
		}
	}
	return &Error{Problems: append(errs, warnings...)}
}

// At is where the value of a JSON pointer stands, or the nearest value around
// it that is there; 0, 0 for a file that could not be read.
func (d *Document) At(pointer string) (line, column int) {
	if d.root == nil {
		return 0, 0
	}
	n := locate(d.root, pointer)
	return n.Line, n.Column
}

// Problem makes a problem at a value, for checks that need more than the file.
func (d *Document) Problem(pointer string, level Level, code, message string) Problem {
	l, c := d.At(pointer)
	return Problem{File: d.File, Line: l, Column: c, Pointer: pointer, Level: level, Code: code, Message: sanitize.Mask(message)}
}

// locate goes along a pointer as far as it leads.
func locate(n *yaml.Node, pointer string) *yaml.Node {
	for pointer != "" {
		token, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		pointer = rest
		if rest != "" {
			pointer = "/" + rest
		}
		next := child(n, unescapeToken.Replace(token))
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func child(n *yaml.Node, token string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == token {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// The escapes of JSON pointers (RFC 6901).
var (
	escapeToken   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")
)

// under is the pointer of a value's entry.
func under(pointer, token string) string {
	return pointer + "/" + escapeToken.Replace(token)
}

func item(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// reader turns the nodes of one file into a manifest.
type reader struct {
	file  string
	root  *yaml.Node
	sink  sink
	nodes int
	bad   map[*yaml.Node]bool // values, and keys, that have been complained of
}

// report adds an error at a node, which from then on counts as not there.
func (r *reader) report(n *yaml.Node, pointer, code, msg string) {
	r.bad[n] = true
	r.add(n, pointer, code, msg)
}

func (r *reader) add(n *yaml.Node, pointer, code, msg string) {
	r.sink.add(Problem{
		File: r.file, Line: n.Line, Column: n.Column, Pointer: pointer, Level: LevelError, Code: code, Message: msg,
	})
}

// decode makes the manifest of what is good in the file.
func (r *reader) decode() *Manifest {
	var buf bytes.Buffer
	r.write(&buf, r.root, root())
	m := new(Manifest)
	if err := json.Unmarshal(buf.Bytes(), m); err != nil {
		r.add(r.root, "", CodeWrongType, "it can't be decoded: "+err.Error())
		return nil
	}
	for i := range m.Payloads { // editable: false says what leaving it out says
		if s := m.Payloads[i].Style; s != nil && *s == (PayloadStyle{}) {
			m.Payloads[i].Style = nil
		}
	}
	return m
}

// write encodes a node as JSON. What is bad is left out of an object and null
// in a list; what is empty and means nothing is left out as well.
func (r *reader) write(buf *bytes.Buffer, n *yaml.Node, s *shape) {
	switch n.Kind {
	case yaml.MappingNode:
		r.writeObject(buf, n, s)
	case yaml.SequenceNode:
		buf.WriteByte('[')
		for i, e := range n.Content {
			if i > 0 {
				buf.WriteByte(',')
			}
			if r.bad[e] {
				buf.WriteString("null")
				continue
			}
			r.write(buf, e, itemShape(s))
		}
		buf.WriteByte(']')
	default:
		writeScalar(buf, n)
	}
}

func (r *reader) writeObject(buf *bytes.Buffer, n *yaml.Node, s *shape) {
	if s != nil && s.kind == variantKind {
		s = s.chosen(n)
	}
	buf.WriteByte('{')
	first := true
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		sub := fieldShapeOf(s, key.Value)
		if r.bad[key] || r.bad[value] || meansNothing(value, sub) {
			continue
		}
		if !first {
			buf.WriteByte(',')
		}
		first = false
		writeText(buf, key.Value)
		buf.WriteByte(':')
		r.write(buf, value, sub)
	}
	buf.WriteByte('}')
}

// meansNothing tells whether a list, table or object of ours is empty. Inside
// schemas and data, which are others', nothing is dropped.
func meansNothing(n *yaml.Node, s *shape) bool {
	if s == nil || len(n.Content) > 0 {
		return false
	}
	return s.kind == listKind || s.kind == tableKind || s.kind == objectKind
}

func itemShape(s *shape) *shape {
	if s != nil && s.kind == listKind {
		return s.item
	}
	return nil
}

func fieldShapeOf(s *shape, name string) *shape {
	switch {
	case s == nil:
		return nil
	case s.kind == tableKind:
		return s.item
	}
	return s.find(name)
}

// chosen is the variant that an object names.
func (s *shape) chosen(n *yaml.Node) *shape {
	if tag := child(n, s.tag); tag != nil {
		for _, v := range s.variants {
			if tag.Value == v.value {
				return v.shape
			}
		}
	}
	return nil
}

func writeScalar(buf *bytes.Buffer, n *yaml.Node) {
	switch n.ShortTag() {
	case tagNull:
		buf.WriteString("null")
	case tagBool:
		buf.WriteString(strings.ToLower(n.Value))
	case tagInt, tagFloat:
		buf.WriteString(n.Value)
	default:
		writeText(buf, n.Value)
	}
}

func writeText(buf *bytes.Buffer, s string) {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be encoded, and a buffer takes all
	buf.Truncate(buf.Len() - 1)
}
