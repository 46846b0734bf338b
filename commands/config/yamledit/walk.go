package yamledit

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// place is an entry of a mapping: the key at Content[i], its value behind it.
type place struct {
	in   *yaml.Node
	i    int
	flow bool // the mapping stands in brackets, or something around it does
}

func (p place) key() *yaml.Node   { return p.in.Content[p.i] }
func (p place) value() *yaml.Node { return p.in.Content[p.i+1] }

// found is how far a path leads.
type found struct {
	chain []place    // the entries on the way
	rest  []string   // the names that aren't there
	node  *yaml.Node // where the way ends: a value, or nil for an empty text
	flow  bool       // node stands in brackets
}

func (f found) last() place { return f.chain[len(f.chain)-1] }

// walk follows a path as far as it is there.
func (d *document) walk(path []string) (found, error) {
	f := found{node: d.root}
	for k, name := range path {
		if f.node == nil || empty(f.node) {
			f.rest = path[k:]
			return f, nil
		}
		label := cmp.Or(strings.Join(path[:k], "."), "the text")
		switch {
		case f.node.Kind == yaml.AliasNode, f.node.Anchor != "":
			return f, badForm(f.node, "%s is shared through an anchor", label)
		case f.node.Kind != yaml.MappingNode || f.node.Style&yaml.TaggedStyle != 0:
			return f, badForm(f.node, "%s holds no keys", label)
		}
		f.flow = f.flow || f.node.Style&yaml.FlowStyle != 0
		i, err := indexOf(f.node, name)
		if err != nil {
			return f, err
		}
		if i < 0 {
			f.rest = path[k:]
			return f, nil
		}
		f.chain = append(f.chain, place{f.node, i, f.flow})
		f.node = f.node.Content[i+1]
	}
	return f, nil
}

// indexOf is where a mapping has a name, -1 for nowhere.
func indexOf(m *yaml.Node, name string) (int, error) {
	at := -1
	for i := 0; i+1 < len(m.Content); i += 2 {
		key := m.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.Value != name {
			continue
		}
		if at >= 0 {
			return -1, badForm(m.Content[i], "%s stands here a second time", name)
		}
		at = i
	}
	return at, nil
}

// empty tells whether a value was left out.
func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == tagNull }

// tree is what a text means, for comparing.
type tree struct {
	kind  yaml.Kind
	tag   string
	value string
	names []string // of a mapping, with their values in kids
	kids  []*tree
}

// maxTree bounds how many nodes a text may mean: aliases can multiply them.
const maxTree = 1 << 20

func treeOf(n *yaml.Node, budget *int) *tree {
	if *budget--; *budget < 0 || n == nil {
		return &tree{kind: yaml.ScalarNode, tag: tagNull}
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	t := &tree{kind: n.Kind, tag: n.ShortTag(), value: n.Value}
	if n.Kind == yaml.ScalarNode && t.tag == tagNull {
		t.value = ""
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			name := treeOf(child, budget)
			t.names = append(t.names, name.tag+" "+name.value)
			continue
		}
		t.kids = append(t.kids, treeOf(child, budget))
	}
	return t
}

// pruned is a tree without the entries that hold nothing.
func (t *tree) pruned() *tree {
	out := &tree{kind: t.kind, tag: t.tag, value: t.value}
	for i, kid := range t.kids {
		kid = kid.pruned()
		if t.kind == yaml.MappingNode {
			if kid.tag == tagNull || kid.kind == yaml.MappingNode && len(kid.kids) == 0 {
				continue
			}
			out.names = append(out.names, t.names[i])
		}
		out.kids = append(out.kids, kid)
	}
	return out
}

func (t *tree) equal(o *tree) bool {
	if t.kind != o.kind || t.tag != o.tag || t.value != o.value || !slices.Equal(t.names, o.names) {
		return false
	}
	return slices.EqualFunc(t.kids, o.kids, (*tree).equal)
}

// change is what an edit does to the meaning of a text: it gives the new value
// of the entry at a path from the old one; nil is none.
type change func(old *tree) *tree

// with applies a change at a path. A mapping on the way is made where there is
// none.
func (t *tree) with(path []string, c change) *tree {
	if len(path) == 0 {
		return c(t)
	}
	out := &tree{kind: yaml.MappingNode, tag: "!!map"}
	if t != nil && t.kind == yaml.MappingNode {
		out.names, out.kids = slices.Clone(t.names), slices.Clone(t.kids)
	}
	at := slices.IndexFunc(out.names, func(n string) bool { _, name, _ := strings.Cut(n, " "); return name == path[0] })
	var old *tree
	if at >= 0 {
		old = out.kids[at]
	}
	kid := old.with(path[1:], c)
	switch {
	case at >= 0 && kid != nil:
		out.kids[at] = kid
	case at >= 0:
		out.names, out.kids = slices.Delete(out.names, at, at+1), slices.Delete(out.kids, at, at+1)
	case kid != nil:
		out.names = append(out.names, tagText+" "+path[0])
		out.kids = append(out.kids, kid)
	}
	return out
}

// tree is what a value means.
func (v Value) tree() *tree {
	switch {
	case v.many:
		t := &tree{kind: yaml.SequenceNode, tag: "!!seq"}
		for _, e := range v.list {
			t.kids = append(t.kids, Text(e).tree())
		}
		return t
	case v.word:
		if n, ok := parsed(v.text); ok {
			budget := 1
			return treeOf(n, &budget)
		}
	}
	return &tree{kind: yaml.ScalarNode, tag: tagText, value: v.text}
}

// checked gives an edited text if it means what was wanted.
func (d *document) checked(text string, path []string, c change) (string, error) {
	again, err := parse(text)
	if err != nil {
		return "", badForm(nil, "%s can't be changed in place", strings.Join(path, "."))
	}
	budget, spent := maxTree, maxTree
	want := treeOf(d.root, &budget).with(path, c).pruned()
	got := treeOf(again.root, &spent).pruned()
	if got.tag == tagNull {
		got = &tree{kind: yaml.MappingNode, tag: "!!map"}
	}
	if budget < 0 || spent < 0 || !got.equal(want) {
		return "", badForm(nil, "%s can't be changed in place", strings.Join(path, "."))
	}
	return text, nil
}
