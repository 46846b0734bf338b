package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxNodeDepth bounds how deep a value may nest, and maxNodes how many
	// values it may hold: schemas come from strangers, and are walked whole.
	maxNodeDepth = 64
	maxNodes     = 20_000
)

// Node is a JSON value with the order of its members kept: models see a
// schema's properties in the order in which they were written.
type Node struct {
	Kind    byte     // '{', '[', or 0 for anything else
	Members []Member // of an object
	Items   []*Node  // of a list
	Raw     []byte   // of anything else
}

// Member is a member of an object.
type Member struct {
	Key   string
	Value *Node
}

// ParseNode reads a JSON value. Of members with one name the last one counts,
// in the place of the first.
func ParseNode(raw []byte) (*Node, error) {
	if !json.Valid(raw) {
		return nil, errors.New("it is no JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	p := nodeParser{dec: dec}
	return p.next(0)
}

type nodeParser struct {
	dec   *json.Decoder
	nodes int
}

func (p *nodeParser) next(depth int) (*Node, error) {
	switch p.nodes++; {
	case depth > maxNodeDepth:
		return nil, fmt.Errorf("it nests deeper than %d", maxNodeDepth)
	case p.nodes > maxNodes:
		return nil, fmt.Errorf("it holds more than %d values", maxNodes)
	}
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return p.object(depth)
	case json.Delim('['):
		return p.list(depth)
	}
	return scalar(tok)
}

// scalar keeps text as it reads, without the escapes for HTML that
// json.Marshal would add.
func scalar(tok any) (*Node, error) {
	raw, err := Marshal(tok)
	return &Node{Raw: bytes.TrimSpace(raw)}, err
}

func (p *nodeParser) object(depth int) (*Node, error) {
	n := &Node{Kind: '{'}
	at := map[string]int{}
	for p.dec.More() {
		tok, err := p.dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := tok.(string) // of a valid object nothing else can stand here
		v, err := p.next(depth + 1)
		if err != nil {
			return nil, err
		}
		if i, ok := at[key]; ok {
			n.Members[i].Value = v
			continue
		}
		at[key] = len(n.Members)
		n.Members = append(n.Members, Member{key, v})
	}
	_, err := p.dec.Token() // the closing brace
	return n, err
}

func (p *nodeParser) list(depth int) (*Node, error) {
	n := &Node{Kind: '['}
	for p.dec.More() {
		v, err := p.next(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
	}
	_, err := p.dec.Token() // the closing bracket
	return n, err
}

// StringNode is a text as a Node.
func StringNode(s string) *Node {
	n, _ := scalar(s) // a string always encodes
	return n
}

// BoolNode is true or false as a Node.
func BoolNode(b bool) *Node {
	if b {
		return &Node{Raw: []byte("true")}
	}
	return &Node{Raw: []byte("false")}
}

// Get gives a member, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Set adds a member, or changes the one that there is.
func (n *Node) Set(key string, v *Node) {
	for i := range n.Members {
		if n.Members[i].Key == key {
			n.Members[i].Value = v
			return
		}
	}
	n.Members = append(n.Members, Member{key, v})
}

// Remove takes a member away.
func (n *Node) Remove(key string) {
	n.Members = slices.DeleteFunc(n.Members, func(m Member) bool { return m.Key == key })
}

// IsText tells whether n is a text.
func (n *Node) IsText() bool { return n != nil && n.Kind == 0 && len(n.Raw) > 0 && n.Raw[0] == '"' }

// Text gives the text that n is; "" where it is none.
func (n *Node) Text() string {
	var s string
	if !n.IsText() || json.Unmarshal(n.Raw, &s) != nil {
		return ""
	}
	return s
}

// Is tells whether n is true, false, null or a number, written so.
func (n *Node) Is(raw string) bool { return n != nil && n.Kind == 0 && string(n.Raw) == raw }

// At finds what a reference within the document points to, such as
// "#/$defs/point"; nil is nothing.
func (n *Node) At(ref string) *Node {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil
	}
	if path == "" {
		return n
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for step := range strings.SplitSeq(path[1:], "/") {
		if n == nil || n.Kind != '{' {
			return nil
		}
		n = n.Get(unescape.Replace(step))
	}
	return n
}

// Clone copies n down to its leaves, whose bytes are never written to.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	out := &Node{Kind: n.Kind, Raw: n.Raw}
	for _, m := range n.Members {
		out.Members = append(out.Members, Member{m.Key, m.Value.Clone()})
	}
	for _, item := range n.Items {
		out.Items = append(out.Items, item.Clone())
	}
	return out
}

// Append writes n as compact JSON.
func (n *Node) Append(dst []byte) []byte {
	switch n.Kind {
	case '{':
		dst = append(dst, '{')
		for i, m := range n.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(StringNode(m.Key).Append(dst), ':')
			dst = m.Value.Append(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.Append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.Raw...)
}
