package script

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/strictyaml"
)

// yamlNodes reads a written script; nil if it is empty or can't be parsed.
func yamlNodes(data []byte, l limits, ps *problems) *node {
	top, p := strictyaml.Parse(data, strictyaml.Options{Subject: "a script", MaxDepth: maxDepth, MaxMarks: l.values})
	switch {
	case p != nil && p.Kind == strictyaml.TooLarge && p.Line == 0:
		ps.add(0, 0, "the file has too many values for YAML; record it as JSON lines")
		return nil
	case p != nil:
		ps.add(p.Line, p.Column, p.Msg)
		return nil
	case top == nil:
		return nil
	}
	c := converter{ps: ps, left: l.values}
	return c.convert(top, 0)
}

// converter makes nodes of YAML's.
type converter struct {
	ps   *problems
	left int  // how many more values there may be
	over bool // a limit was reached and said
}

// convert makes a node, aliases expanded; nil once a limit was reached.
func (c *converter) convert(y *yaml.Node, depth int) *node {
	c.left--
	switch {
	case c.over:
		return nil
	case c.left < 0:
		return c.limit(y, "too many values, or aliases that multiply them")
	case depth > maxDepth:
		return c.limit(y, fmt.Sprintf("more than %d levels deep, or an alias of what it stands in", maxDepth))
	}
	if y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	n := &node{line: int32(y.Line), column: int32(y.Column)}
	if y.Kind == yaml.ScalarNode {
		c.scalar(y, n)
		return n
	}
	n.kind = listNode
	tag := "!!seq"
	if y.Kind == yaml.MappingNode {
		n.kind, tag = mapNode, "!!map"
	}
	if y.ShortTag() != tag {
		c.ps.add(y.Line, y.Column, "the tag "+shown(y.ShortTag())+" can't stand here")
	}
	n.items = make([]*node, 0, len(y.Content))
	for _, item := range y.Content {
		sub := c.convert(item, depth+1)
		if sub == nil {
			return nil
		}
		n.items = append(n.items, sub)
	}
	return n
}

func (c *converter) limit(y *yaml.Node, msg string) *node {
	c.ps.add(y.Line, y.Column, msg)
	c.over = true
	return nil
}

// scalar fills in a scalar's kind and text.
func (c *converter) scalar(y *yaml.Node, n *node) {
	n.text = y.Value
	switch tag := y.ShortTag(); tag {
	case "!!str", "!!timestamp": // a date is a text like any other
		n.kind = textNode
	case "!!int", "!!float":
		n.kind = numberNode
	case "!!bool":
		n.kind, n.text = boolNode, strings.ToLower(y.Value)
	case "!!null":
		n.kind, n.text = nullNode, ""
	case "!!merge":
		n.kind = mergeNode
	default:
		n.kind = textNode
		c.ps.add(y.Line, y.Column, "the tag "+shown(tag)+" can't stand here")
	}
}
