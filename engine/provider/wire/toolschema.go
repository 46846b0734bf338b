package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// MaxRefs is how deep alternatives may lie in each other, and references
	// lead to references, in a schema that is rewritten.
	MaxRefs = 8
	// maxBranches is how many schemas may be folded into one: definitions that
	// refer to each other can stand for more than there is time to look at.
	maxBranches = 256
	// maxProperties is how many properties a folded object may have.
	maxProperties = 2000
	// maxShown is how much of the alternatives is put into a tool's
	// description; more would cost more than it tells.
	maxShown = 1000
)

// What a schema can't be rewritten for.
var (
	ErrNotObject  = errors.New("it is no JSON object")
	ErrTooDeep    = errors.New("its references or alternatives lie too deep in each other")
	errOtherInput = errors.New("it asks for something that is no object")
	errTooMany    = errors.New("it has too many alternatives")
)

// InputSchema makes a tool's schema a plain object of named properties, without
// references or alternatives at its top, which is all that OpenAI, Anthropic
// and others take. What it no longer says, added says in words, for the tool's
// description.
func InputSchema(raw json.RawMessage) (schema *Node, added string, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" || string(raw) == "true" {
		raw = []byte(`{"type":"object","properties":{}}`)
	}
	root, err := ParseNode(raw)
	if err != nil {
		return nil, "", err
	}
	if root.Kind != '{' {
		return nil, "", ErrNotObject
	}
	f := folder{root: root}
	out, err := f.object(root, 0)
	if err != nil {
		return nil, "", err
	}
	out.Remove("$schema")
	if out.Get("properties") == nil {
		out.Set("properties", &Node{Kind: '{'})
	}
	return out, f.added(), nil
}

// JoinText joins two texts by an empty line; either may be empty.
func JoinText(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

// folder makes plain objects of schemas.
type folder struct {
	root     *Node
	branches int      // how many schemas were folded
	shown    []string // the alternatives that were folded, in words
}

func (f *folder) added() string {
	text := strings.Join(f.shown, "\n")
	if len(text) > maxShown {
		return ""
	}
	return text
}

// object gives a schema without references or alternatives at its top.
func (f *folder) object(n *Node, depth int) (*Node, error) {
	if depth > MaxRefs {
		return nil, ErrTooDeep
	}
	if f.branches++; f.branches > maxBranches {
		return nil, errTooMany
	}
	out, err := f.follow(n, depth)
	if err != nil {
		return nil, err
	}
	if !isObject(out) {
		return nil, errOtherInput
	}
	out.Set("type", StringNode("object"))
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list := out.Get(key)
		if list == nil {
			continue
		}
		out.Remove(key)
		out.Remove("unevaluatedProperties")
		if err := f.fold(out, key, list.Items, depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// follow replaces a reference by what it points to. What stands beside it is
// kept where the target says nothing of it.
func (f *folder) follow(n *Node, depth int) (*Node, error) {
	ref := n.Get("$ref").Text()
	if ref == "" {
		return n.Clone(), nil
	}
	target := f.root.At(ref)
	if target == nil || target.Kind != '{' {
		return nil, fmt.Errorf("it refers to %s, which isn't in it", Clean(ref))
	}
	if depth > MaxRefs {
		return nil, ErrTooDeep
	}
	out, err := f.follow(target, depth+1)
	if err != nil {
		return nil, err
	}
	for _, m := range n.Members {
		if m.Key != "$ref" && out.Get(m.Key) == nil {
			out.Set(m.Key, m.Value.Clone())
		}
	}
	return out, nil
}

// isObject tells whether a schema allows objects.
func isObject(n *Node) bool {
	t := n.Get("type")
	if t == nil {
		return n.Get("enum") == nil && n.Get("const") == nil
	}
	return t.Text() == "object" || slices.ContainsFunc(t.Items, func(i *Node) bool { return i.Text() == "object" })
}

// fold puts the branches of alternatives, or of allOf, into one object: with
// the properties of all of them, of which those are required that each branch
// requires.
func (f *folder) fold(out *Node, key string, branches []*Node, depth int) error {
	props, required := out.Get("properties").Clone(), Texts(out.Get("required"))
	if props == nil || props.Kind != '{' {
		props = &Node{Kind: '{'}
	}
	var needed []string // by each branch, or by one where all must hold
	objects := 0
	own := len(props.Members)
	for _, b := range branches {
		if b.Kind != '{' {
			continue // true, false, or nothing that is a schema
		}
		branch, err := f.object(b, depth+1)
		if errors.Is(err, errOtherInput) && key != "allOf" {
			continue // a form of input that is never offered
		}
		if err != nil {
			return err
		}
		if p := branch.Get("properties"); p != nil {
			if len(props.Members)+len(p.Members) > maxProperties {
				return errTooMany
			}
			mergeProperties(props, p.Members, own)
		}
		needs := Texts(branch.Get("required"))
		switch objects++; {
		case key == "allOf":
			needed = append(needed, needs...)
		case objects == 1:
			needed = needs
		default:
			needed = slices.DeleteFunc(needed, func(s string) bool { return !slices.Contains(needs, s) })
		}
	}
	if objects == 0 && key != "allOf" {
		return errOtherInput
	}
	if len(props.Members) > 0 {
		out.Set("properties", props)
	}
	SetRequired(out, append(required, needed...))
	f.show(key, branches)
	return nil
}

// show puts alternatives into words, which one object can't say.
func (f *folder) show(key string, branches []*Node) {
	words := map[string]string{"anyOf": "At least one", "oneOf": "Exactly one"}[key]
	if words == "" {
		return
	}
	list := &Node{Kind: '[', Items: branches}
	f.shown = append(f.shown, words+" of these schemas must match the whole input: "+string(list.Append(nil)))
}

// mergeProperties adds the properties of a branch. The first own ones are of
// the object itself, which hold in each branch; others may be either. One that
// only some branches describe is offered as they do: that is what a model needs
// to know of it.
func mergeProperties(props *Node, add []Member, own int) {
	for _, m := range add {
		have := props.Get(m.Key)
		at := slices.IndexFunc(props.Members, func(h Member) bool { return h.Key == m.Key })
		switch {
		case have == nil:
			props.Set(m.Key, m.Value)
		case at < own && !saysNothing(have), equal(have, m.Value):
		case at < own:
			props.Set(m.Key, m.Value)
		case isUnion(have):
			if !slices.ContainsFunc(have.Get("anyOf").Items, func(i *Node) bool { return equal(i, m.Value) }) {
				have.Get("anyOf").Items = append(have.Get("anyOf").Items, m.Value)
			}
		default:
			union := &Node{Kind: '{'}
			union.Set("anyOf", &Node{Kind: '[', Items: []*Node{have, m.Value}})
			props.Set(m.Key, union)
		}
	}
}

// isUnion tells whether a schema is nothing but alternatives.
func isUnion(n *Node) bool { return len(n.Members) == 1 && n.Get("anyOf") != nil }

func saysNothing(n *Node) bool { return len(n.Members) == 0 }

func equal(a, b *Node) bool { return bytes.Equal(a.Append(nil), b.Append(nil)) }

// Texts gives the texts of a list.
func Texts(n *Node) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, item := range n.Items {
		if s := item.Text(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// SetRequired lists required properties, each once.
func SetRequired(n *Node, names []string) {
	list, seen := &Node{Kind: '['}, map[string]bool{}
	for _, name := range names {
		if !seen[name] {
			list.Items = append(list.Items, StringNode(name))
		}
		seen[name] = true
	}
	if len(list.Items) > 0 {
		n.Set("required", list)
	}
}

// Subschemas gives the schemas right below a schema.
func Subschemas(n *Node) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, m := range n.Members {
			var below []*Node
			switch m.Key {
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
				for _, p := range m.Value.Members {
					below = append(below, p.Value)
				}
			case "anyOf", "oneOf", "allOf", "prefixItems":
				below = m.Value.Items
			case "items": // a list of them in older drafts
				below = append(m.Value.Items[:len(m.Value.Items):len(m.Value.Items)], m.Value)
			case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties",
				"additionalItems", "unevaluatedItems", "unevaluatedProperties":
				below = []*Node{m.Value}
			}
			for _, s := range below {
				if s.Kind == '{' && !yield(s) {
					return
				}
			}
		}
	}
}
