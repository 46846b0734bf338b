package catalog

import (
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// MaxOffered bounds how many tools of toolsets and MCP servers a model is offered if
// the request doesn't choose any: models choose worse the more tools they have, and
// providers accept about as many. Toolsets are offered whole. One that has more tools
// itself is offered and does not count: the user who installed it expects to use it.
const MaxOffered = 100

// Need is which of the installed toolsets a turn has to read.
type Need struct {
	// All is for turns whose tools aren't known beforehand, such as those of agents.
	All bool
	// Patterns choose tools. If there are none, and Named is false, the turn needs as
	// many as MaxOffered allows.
	Patterns []string
	Named    bool
}

// names reports whether a pattern chooses one of the tools, by its id or bare id.
func (n Need) names(ids []string) bool {
	return slices.ContainsFunc(n.Patterns, func(p string) bool {
		return slices.ContainsFunc(ids, func(id string) bool {
			ok, err := toolset.Match(p, id)
			return err == nil && ok || chat.BareID(id) == p
		})
	})
}

// wanted returns which parts of the mirror are needed, and a list which is filled,
// while they are read, with what is left out for MaxOffered.
func (n Need) wanted() (registry.Wanted, *[]LeftOut) {
	left, taken := new([]LeftOut), 0
	if n.All {
		return registry.Wanted{}, left
	}
	fits := func(l LeftOut, usable bool) bool {
		switch {
		case !usable || l.Tools == 0:
			return false
		case l.Tools > MaxOffered:
			return true
		case taken+l.Tools > MaxOffered:
			*left = append(*left, l)
			return false
		}
		taken += l.Tools
		return true
	}
	return registry.Wanted{
		Toolset: func(t *registry.IndexedToolset) bool {
			if n.Named {
				ids := make([]string, len(t.Tools))
				for i, bare := range t.Tools {
					ids[i] = t.ID + ":" + bare
				}
				return t.Shows || n.names(ids)
			}
			return fits(LeftOut{ID: t.ID, Tools: t.Offered}, t.Usable()) || t.Shows
		},
		Server: func(s *registry.IndexedServer) bool {
			if n.Named {
				return n.names(s.Tools)
			}
			return fits(LeftOut{s.ID, len(s.Tools), true}, s.Usable)
		},
	}, left
}

// LeftOut is a toolset or MCP server whose tools are not offered.
type LeftOut struct {
	ID     string
	Tools  int  // how many it has
	Server bool // it is an MCP server
}

// WithinLimit returns the entries that a model is offered if the request chooses none:
// those that are always offered, and whole toolsets in their order as long as they fit
// in MaxOffered, see there. It also returns what is left out.
func WithinLimit(entries []toolset.Entry, always func(toolset.Tool) bool) (kept []toolset.Entry, left []LeftOut) {
	sizes, room, out := map[string]int{}, MaxOffered, map[string]bool{}
	for _, e := range entries {
		sizes[e.Tool.ToolsetID]++
	}
	for _, e := range entries {
		id := e.Tool.ToolsetID
		n, pending := sizes[id]
		switch {
		case always(e.Tool):
		case pending && n > MaxOffered:
			delete(sizes, id)
		case pending && n > room:
			out[id] = true
			left = append(left, LeftOut{ID: id, Tools: n})
			delete(sizes, id)
		case pending:
			room -= n
			delete(sizes, id)
		}
		if !out[id] {
			kept = append(kept, e)
		}
	}
	return kept, left
}
