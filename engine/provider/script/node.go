package script

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"
)

type nodeKind uint8

const (
	nullNode nodeKind = iota
	textNode
	numberNode
	boolNode
	listNode
	mapNode
	mergeNode // YAML's <<, which is refused wherever it stands
)

// node is one value of a script, whichever form it was written in. Both forms
// are read into nodes, so that one decoder is strict about both.
type node struct {
	kind         nodeKind
	line, column int32
	// text is a scalar's value: a text itself, a number or a truth value as
	// it was written.
	text string
	// items are the elements of a list, or the keys and values of a map in
	// turn, as they were written.
	items []*node
	// raw is the value's own JSON, where it was written as JSON.
	raw []byte
}

// describe names what a node is, for messages.
func (n *node) describe() string {
	switch n.kind {
	case textNode, mergeNode:
		return shown(n.text)
	case numberNode, boolNode:
		return clean(shorten(n.text, maxShown))
	case listNode:
		return "a list"
	case mapNode:
		return "keys and values"
	}
	return "nothing"
}

// jsonNumber is what JSON takes for a number.
var jsonNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
})

// json gives a node as compact JSON, with the keys in the order in which they
// were written. Problems are reported to d, which also bounds the size.
func (d *decoder) json(n *node) json.RawMessage {
	if n.raw != nil {
		d.spend(n, len(n.raw))
		var buf bytes.Buffer
		if d.spent() || json.Compact(&buf, n.raw) != nil {
			return nil
		}
		return buf.Bytes()
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	d.render(n, &buf, enc)
	return buf.Bytes()
}

// render appends a node to buf, into which enc encodes.
func (d *decoder) render(n *node, buf *bytes.Buffer, enc *json.Encoder) {
	if d.spend(n, len(n.text)+1); d.spent() {
		return
	}
	switch n.kind {
	case nullNode:
		buf.WriteString("null")
	case mergeNode:
		d.badKey(n)
	case boolNode:
		buf.WriteString(n.text)
	case numberNode:
		if !jsonNumber().MatchString(n.text) {
			d.at(n, "JSON has no number %s; write it in decimal, or in quotes", n.describe())
		}
		buf.WriteString(n.text)
	case textNode:
		d.renderText(n.text, buf, enc)
	case listNode:
		buf.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				buf.WriteByte(',')
			}
			d.render(item, buf, enc)
		}
		buf.WriteByte(']')
	case mapNode:
		d.renderMap(n, buf, enc)
	}
}

func (d *decoder) renderMap(n *node, buf *bytes.Buffer, enc *json.Encoder) {
	buf.WriteByte('{')
	seen := make(map[string]bool, len(n.items)/2)
	for i := 0; i+1 < len(n.items); i += 2 {
		key := n.items[i]
		if key.kind != textNode && key.kind != numberNode && key.kind != boolNode {
			d.badKey(key)
			continue
		}
		if seen[key.text] {
			d.at(key, "%s is set twice", shown(key.text))
		}
		seen[key.text] = true
		if i > 0 {
			buf.WriteByte(',')
		}
		d.renderText(key.text, buf, enc)
		buf.WriteByte(':')
		d.render(n.items[i+1], buf, enc)
	}
	buf.WriteByte('}')
}

func (d *decoder) renderText(s string, buf *bytes.Buffer, enc *json.Encoder) {
	_ = enc.Encode(s) // a string into a buffer can't fail
	buf.Truncate(buf.Len() - 1)
}

// spend counts bytes of JSON that the file makes us hold. An alias can repeat
// a long text for a few bytes, so the file's own size doesn't bound it.
func (d *decoder) spend(n *node, bytes int) {
	had := d.spent()
	d.bytes += bytes
	if !had && d.spent() {
		d.at(n, "the values of this file take more than %s", size(d.limits.bytes))
	}
}

func (d *decoder) spent() bool { return d.bytes > d.limits.bytes }
