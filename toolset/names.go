package toolset

import "github.com/fettle-cli/fettle/internal/didyoumean"

// Names maps between tool ids and the names that the model sees for the tools
// of one set. It is immutable.
type Names struct {
	set    *Set
	name   map[string]string // tool id → name
	byName map[string]string // name → tool id
}

// Names gives the names for this set: the bare id, unless two of its tools
// share it; those go by their tool ids. An id with a colon is never a bare id,
// so names are distinct.
func (s *Set) Names() *Names {
	n := &Names{set: s, name: make(map[string]string, s.Len()), byName: make(map[string]string, s.Len())}
	for e := range s.All() {
		id, name := e.Tool.ID, e.Tool.BareID()
		if len(s.byBare[name]) > 1 {
			name = id
		}
		n.name[id] = name
		n.byName[name] = id
	}
	return n
}

// Name is what the model calls the tool; empty for a tool that isn't offered.
func (n *Names) Name(id string) string { return n.name[id] }

// Lookup finds the tool that a model means: by the name it was given, else by
// tool id, which models pick up from the conversation.
func (n *Names) Lookup(name string) (Entry, bool) {
	if id, ok := n.byName[name]; ok {
		return n.set.Get(id)
	}
	return n.set.Get(name)
}

// Nearest is the offered name most like a name that isn't one, for "did you
// mean"; empty where none is like it.
func (n *Names) Nearest(name string) string {
	var names []string
	for e := range n.set.All() {
		names = append(names, n.name[e.Tool.ID])
	}
	return didyoumean.Of(name, names)
}
