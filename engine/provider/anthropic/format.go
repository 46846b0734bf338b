package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// outputSchema makes a schema one that output_config.format takes. It may allow
// more than before, since the engine checks the answer, but never less than
// what makes sense: where the API can't say it, the error says so.
func outputSchema(raw json.RawMessage) (json.RawMessage, error) {
	root, err := wire.ParseNode(raw)
	if err != nil {
		return nil, err
	}
	if root.Kind != '{' {
		return nil, wire.ErrNotObject
	}
	s := shaper{root: root}
	out, err := s.shape(root)
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs := root.Get(key)
		if defs == nil {
			continue
		}
		shaped := &wire.Node{Kind: '{'}
		for _, m := range defs.Members {
			if !s.used["#/"+key+"/"+m.Key] {
				continue // it may be one that can't be said, and need not be
			}
			d, err := s.shape(m.Value)
			if err != nil {
				return nil, err
			}
			shaped.Set(m.Key, d)
		}
		if len(shaped.Members) > 0 {
			out.Set(key, shaped)
		}
	}
	return out.Append(nil), nil
}

// shaper writes a schema in the part of JSON Schema that is left.
type shaper struct {
	root *wire.Node
	used map[string]bool // the references that were met
}

var errRecursive = errors.New("it contains itself")

// shape writes one schema and all in it.
func (s *shaper) shape(n *wire.Node) (*wire.Node, error) {
	if n.Kind != '{' {
		return nil, errors.New("it allows anything somewhere")
	}
	n = single(n)
	if ref := n.Get("$ref").Text(); ref != "" {
		if err := s.reach(ref); err != nil {
			return nil, err
		}
		out := &wire.Node{Kind: '{'} // nothing may stand beside it
		out.Set("$ref", wire.StringNode(ref))
		return out, nil
	}
	out := &wire.Node{Kind: '{'}
	var extras []string
	for _, m := range n.Members {
		v, said, err := s.keyword(n, m)
		if err != nil {
			return nil, err
		}
		if v != nil {
			key := m.Key
			if key == "oneOf" {
				key = "anyOf"
			}
			out.Set(key, v)
		}
		if said != "" {
			extras = append(extras, said)
		}
	}
	if err := closed(n, out); err != nil {
		return nil, err
	}
	if len(extras) > 0 {
		out.Set("description", wire.StringNode(wire.JoinText(out.Get("description").Text(), "{"+strings.Join(extras, ", ")+"}")))
	}
	return out, nil
}

// single gives the only schema of an allOf with nothing else of weight beside
// it: how generators hang a description on a reference.
func single(n *wire.Node) *wire.Node {
	all := n.Get("allOf")
	if all == nil || len(all.Items) != 1 || all.Items[0].Kind != '{' {
		return n
	}
	for _, m := range n.Members {
		switch m.Key {
		case "allOf", "description", "title", "default":
		default:
			return n
		}
	}
	return all.Items[0]
}

// reach notes a reference, and that it doesn't lead back to itself.
func (s *shaper) reach(ref string) error {
	target := s.root.At(ref)
	if target == nil || !strings.HasPrefix(ref, "#/$defs/") && !strings.HasPrefix(ref, "#/definitions/") {
		return fmt.Errorf("it refers to %s", wire.Clean(ref))
	}
	if s.used[ref] {
		return nil
	}
	if s.used == nil {
		s.used = map[string]bool{}
	}
	s.used[ref] = true
	return s.walk(target, []string{ref})
}

// walk follows all references from n. path are those that led to it.
func (s *shaper) walk(n *wire.Node, path []string) error {
	if len(path) > wire.MaxRefs {
		return wire.ErrTooDeep
	}
	if ref := n.Get("$ref").Text(); ref != "" {
		if slices.Contains(path, ref) {
			return errRecursive
		}
		if s.used[ref] {
			return nil // followed before
		}
		target := s.root.At(ref)
		if target == nil {
			return fmt.Errorf("it refers to %s", wire.Clean(ref))
		}
		s.used[ref] = true
		if err := s.walk(target, append(path[:len(path):len(path)], ref)); err != nil {
			return err
		}
	}
	for below := range wire.Subschemas(n) {
		if err := s.walk(below, path); err != nil {
			return err
		}
	}
	return nil
}

// keyword gives what becomes of one keyword: a value, words for the
// description, or neither.
func (s *shaper) keyword(n *wire.Node, m wire.Member) (v *wire.Node, said string, err error) {
	switch m.Key {
	case "type", "title", "description", "required", "default":
		return m.Value, "", nil
	case "enum":
		if slices.ContainsFunc(m.Value.Items, func(i *wire.Node) bool { return i.Kind != 0 }) {
			return nil, "", errors.New("it lists values that are objects or lists")
		}
		return m.Value, "", nil
	case "const":
		if m.Value.Kind != 0 {
			return nil, "", errors.New("it fixes a value that is an object or a list")
		}
		return m.Value, "", nil
	case "properties":
		v, err := s.members(m.Value)
		return v, "", err
	case "items":
		if m.Value.Kind == '[' {
			return nil, "", errors.New("it describes the items of a list one by one")
		}
		v, err := s.shape(m.Value)
		return v, "", err
	case "anyOf", "oneOf", "allOf":
		if m.Key == "oneOf" && n.Get("anyOf") != nil {
			return nil, "", errors.New("it has both anyOf and oneOf")
		}
		v, err := s.list(m)
		return v, "", err
	case "prefixItems", "patternProperties":
		return nil, "", fmt.Errorf("it uses %s", m.Key)
	case "format":
		return checked(m, isFormat(m.Value.Text()))
	case "pattern":
		return checked(m, isPlainPattern(m.Value.Text()))
	case "minItems":
		return checked(m, m.Value.Is("0") || m.Value.Is("1"))
	case "$schema", "$id", "$comment", "$defs", "definitions", "additionalProperties", "examples", "deprecated", "readOnly", "writeOnly":
		return nil, "", nil
	}
	return checked(m, false)
}

// checked keeps a keyword, or puts it into words.
func checked(m wire.Member, keep bool) (*wire.Node, string, error) {
	if keep {
		return m.Value, "", nil
	}
	return nil, m.Key + ": " + string(m.Value.Append(nil)), nil
}

func (s *shaper) members(props *wire.Node) (*wire.Node, error) {
	out := &wire.Node{Kind: '{'}
	for _, m := range props.Members {
		p, err := s.shape(m.Value)
		if err != nil {
			return nil, err
		}
		out.Set(m.Key, p)
	}
	return out, nil
}

func (s *shaper) list(m wire.Member) (*wire.Node, error) {
	out := &wire.Node{Kind: '['}
	for _, item := range m.Value.Items {
		p, err := s.shape(item)
		if err != nil {
			return nil, err
		}
		if m.Key == "allOf" && p.Get("$ref") != nil {
			return nil, errors.New("it has a reference in allOf")
		}
		out.Items = append(out.Items, p)
	}
	return out, nil
}

// closed sees to it that a schema says what it allows: an object only the
// properties that it names, a list what its items are.
func closed(n, out *wire.Node) error {
	more := n.Get("additionalProperties")
	object, list := out.Get("properties") != nil, out.Get("items") != nil
	for _, t := range append(wire.Texts(out.Get("type")), out.Get("type").Text()) {
		object = object || t == "object"
		if t == "array" && !list {
			return errors.New("it has a list of anything")
		}
	}
	if object {
		switch {
		case more != nil && more.Kind == '{' && len(more.Members) > 0,
			out.Get("properties") == nil && !more.Is("false"):
			return errors.New("it has an object of any properties")
		}
		if out.Get("properties") == nil {
			out.Set("properties", &wire.Node{Kind: '{'})
		}
		out.Set("additionalProperties", wire.BoolNode(false))
	}
	for _, key := range []string{"type", "enum", "const", "anyOf", "allOf"} {
		if out.Get(key) != nil {
			return nil
		}
	}
	return errors.New("it allows anything somewhere")
}

func isFormat(s string) bool {
	switch s {
	case "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid":
		return true
	}
	return false
}

// isPlainPattern tells whether a pattern has none of what the API's grammars
// lack: looking around, word boundaries, and references to groups.
func isPlainPattern(p string) bool {
	for _, odd := range []string{"(?", `\b`, `\B`, `\1`, `\2`, `\3`, `\k`, `\p`, `\P`} {
		if strings.Contains(p, odd) {
			return false
		}
	}
	return true
}

// answerTool is the tool that a model is made to call with its answer.
type answerTool struct {
	name    string
	wrapped bool // the answer is in a property
	schema  json.RawMessage
}

// answerKey is the property of a wrapped answer.
const answerKey = "answer"

// newAnswerTool makes it for a schema. A schema of something else than plain
// objects is put into one.
func newAnswerTool(schema json.RawMessage, others []tool) (*answerTool, error) {
	root, err := wire.ParseNode(schema)
	if err != nil {
		return nil, err
	}
	if root.Kind != '{' {
		return nil, wire.ErrNotObject
	}
	a := &answerTool{name: answerKey}
	for slices.ContainsFunc(others, func(t tool) bool { return t.Name == a.name }) {
		a.name = answerKey + "_" + wire.Digest(a.name)[:8]
	}
	plain := root.Get("type").Text() == "object"
	for _, key := range []string{"anyOf", "oneOf", "allOf", "$ref"} {
		plain = plain && root.Get(key) == nil
	}
	if !plain {
		if root, err = wrap(root); err != nil {
			return nil, err
		}
		a.wrapped = true
	}
	a.schema, _, err = inputSchema(root.Append(nil))
	return a, err
}

// wrap puts a schema into an object. Its definitions move to the top, where
// references look for them; other references would lead astray.
func wrap(n *wire.Node) (*wire.Node, error) {
	inner, out, props := n.Clone(), &wire.Node{Kind: '{'}, &wire.Node{Kind: '{'}
	out.Set("type", wire.StringNode("object"))
	for _, key := range []string{"$defs", "definitions"} {
		if defs := inner.Get(key); defs != nil {
			out.Set(key, defs)
			inner.Remove(key)
		}
	}
	inner.Remove("$schema")
	if !onlyDefinitions(inner) || !onlyDefinitions(out) {
		return nil, errors.New("it refers to a part of itself")
	}
	props.Set(answerKey, inner)
	out.Set("properties", props)
	wire.SetRequired(out, []string{answerKey})
	return out, nil
}

// onlyDefinitions tells whether all references lead to definitions.
func onlyDefinitions(n *wire.Node) bool {
	if ref := n.Get("$ref").Text(); ref != "" && !strings.HasPrefix(ref, "#/$defs/") && !strings.HasPrefix(ref, "#/definitions/") {
		return false
	}
	for below := range wire.Subschemas(n) {
		if !onlyDefinitions(below) {
			return false
		}
	}
	return true
}

func (a *answerTool) tool() tool {
	return tool{Name: a.name, Description: "Takes the answer. Call it once, with the answer as its input.", InputSchema: a.schema}
}

// content is the answer that an input of the tool holds.
func (a *answerTool) content(input json.RawMessage) string {
	var obj map[string]json.RawMessage
	if a.wrapped && json.Unmarshal(input, &obj) == nil && len(obj[answerKey]) > 0 {
		return string(obj[answerKey])
	}
	return string(input)
}
