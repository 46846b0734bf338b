package yamledit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Append gives text with elements at the end of the list at a path; the list is
// made where there is none. The error is [ErrNotList] where something else
// stands there.
func Append(text string, path, elems []string) (string, error) {
	d, f, err := open(text, path)
	if err != nil {
		return "", err
	}
	if len(f.rest) > 0 || empty(f.node) {
		return Set(text, path, List(elems))
	}
	n := f.node
	if n.Kind != yaml.SequenceNode {
		return "", ErrNotList
	}
	if anchored(n) {
		return "", badForm(n, "the list is shared through an anchor")
	}
	part, err := d.appendTo(n, f, elems)
	if err != nil {
		return "", err
	}
	return d.checked(d.spliced(part), path, func(old *tree) *tree {
		out := *old
		out.kids = slices.Concat(old.kids, List(elems).tree().kids)
		return &out
	})
}

func (d *document) appendTo(n *yaml.Node, f found, elems []string) (splice, error) {
	if n.Style&yaml.FlowStyle != 0 {
		at, between := d.at(n)+1, ""
		if len(n.Content) > 0 {
			item := n.Content[len(n.Content)-1]
			end, err := d.end(item, -1, d.at(item))
			if err != nil {
				return splice{}, err
			}
			at, between = end, ", "
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(List(elems).inline(true), "["), "]")
		return splice{at, at, between + inner}, nil
	}
	end, err := d.end(n, f.last().key().Column-1, d.at(n))
	if err != nil {
		return splice{}, err
	}
	l := d.lineOf(end)
	lead := d.nl + strings.Repeat(" ", n.Column-1) + "- "
	return splice{l.end, l.end, lead + joinItems(elems, lead)}, nil
}

// Drop gives text without the elements of the list at a path that are among
// elems, however often they stand there. A list that is left empty goes
// altogether. The error is [ErrAbsent] where none of them is there.
func Drop(text string, path, elems []string) (string, error) {
	_, f, err := open(text, path)
	if err != nil {
		return "", err
	}
	if len(f.rest) > 0 || empty(f.node) {
		return "", ErrAbsent
	}
	if f.node.Kind != yaml.SequenceNode {
		return "", ErrNotList
	}
	goes := func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && slices.Contains(elems, n.Value) }
	if !slices.ContainsFunc(f.node.Content, goes) {
		return "", ErrAbsent
	}
	if !slices.ContainsFunc(f.node.Content, func(n *yaml.Node) bool { return !goes(n) }) {
		return Remove(text, path)
	}
	// One at a time: each changes where the others stand.
	for {
		d, f, err := open(text, path)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(f.node.Content, goes)
		if i < 0 {
			return text, nil
		}
		if text, err = d.dropItem(f.node, i, path); err != nil {
			return "", err
		}
	}
}

func (d *document) dropItem(n *yaml.Node, i int, path []string) (string, error) {
	if anchored(n) {
		return "", badForm(n, "the list is shared through an anchor")
	}
	item := n.Content[i]
	end, err := d.end(item, n.Column-1, d.at(item))
	if err != nil {
		return "", err
	}
	var part splice
	if n.Style&yaml.FlowStyle != 0 {
		part, err = d.cutFlow(n, i, 1, end)
		if err != nil {
			return "", err
		}
	} else {
		start := d.at(item)
		if strings.TrimSpace(d.before(start)) != "-" {
			return "", badForm(item, "this element can't be taken out of its line")
		}
		part = splice{from: d.lineOf(start).start, to: d.lineOf(end).next}
	}
	return d.checked(d.spliced(part), path, func(old *tree) *tree {
		out := *old
		out.kids = slices.Delete(slices.Clone(old.kids), i, i+1)
		return &out
	})
}
