package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// maxOffered bounds how many tools of toolsets and MCP servers a model is offered if
// the request doesn't choose any: models choose worse the more tools they have, and
// providers accept about as many. Toolsets are offered whole. One that has more tools
// itself is offered and does not count: the user who installed it expects to use it.
const maxOffered = 100

// toolNeed is which of the installed toolsets a turn has to read.
type toolNeed struct {
	// all is for turns whose tools aren't known beforehand, such as those of agents.
	all bool
	// patterns choose tools. If there are none, and named is false, the turn needs as
	// many as maxOffered allows.
	patterns []string
	named    bool
}

// needOf returns what a request needs.
func needOf(req *TurnRequest) toolNeed {
	switch {
	case req.Agent != "" && req.Agent != NoAgent, req.workflow != nil, req.app != nil, len(req.MCP) > 0:
		return toolNeed{all: true}
	case len(req.Tools) > 0 && strings.HasPrefix(req.Tools[0], "!"): // all but these
		return toolNeed{all: true}
	case req.Tools == nil && len(req.Calls) == 0:
		return toolNeed{}
	}
	n := toolNeed{named: true}
	for _, p := range req.Tools {
		n.patterns = append(n.patterns, strings.TrimPrefix(p, "!"))
	}
	for _, c := range req.Calls {
		n.patterns = append(n.patterns, c.Tool)
	}
	return n
}

// names reports whether a pattern chooses one of the tools, by its id or bare id.
func (n toolNeed) names(ids []string) bool {
	return slices.ContainsFunc(n.patterns, func(p string) bool {
		return slices.ContainsFunc(ids, func(id string) bool {
			ok, err := toolset.Match(p, id)
			return err == nil && ok || chat.BareID(id) == p
		})
	})
}

// wanted returns which parts of the mirror are needed, and a list which is filled,
// while they are read, with what is left out for maxOffered.
func (n toolNeed) wanted() (registry.Wanted, *[]leftOut) {
	left, taken := new([]leftOut), 0
	if n.all {
		return registry.Wanted{}, left
	}
	fits := func(l leftOut, usable bool) bool {
		switch {
		case !usable || l.tools == 0:
			return false
		case l.tools > maxOffered:
			return true
		case taken+l.tools > maxOffered:
			*left = append(*left, l)
			return false
		}
		taken += l.tools
		return true
	}
	return registry.Wanted{
		Toolset: func(t *registry.IndexedToolset) bool {
			if n.named {
				ids := make([]string, len(t.Tools))
				for i, bare := range t.Tools {
					ids[i] = t.ID + ":" + bare
				}
				return t.Shows || n.names(ids)
			}
			return fits(leftOut{id: t.ID, tools: t.Offered}, t.Usable()) || t.Shows
		},
		Server: func(s *registry.IndexedServer) bool {
			if n.named {
				return n.names(s.Tools)
			}
			return fits(leftOut{s.ID, len(s.Tools), true}, s.Usable)
		},
	}, left
}

// leftOut is a toolset or MCP server whose tools are not offered.
type leftOut struct {
	id     string
	tools  int
	server bool
}

// withinLimit returns the entries that a model is offered if the request chooses none:
// those that are always offered, and whole toolsets in their order as long as they fit
// in maxOffered, see there. It also returns what is left out.
func withinLimit(entries []toolset.Entry, always func(toolset.Tool) bool) (kept []toolset.Entry, left []leftOut) {
	sizes, room, out := map[string]int{}, maxOffered, map[string]bool{}
	for _, e := range entries {
		sizes[e.Tool.ToolsetID]++
	}
	for _, e := range entries {
		id := e.Tool.ToolsetID
		n, pending := sizes[id]
		switch {
		case always(e.Tool):
		case pending && n > maxOffered:
			delete(sizes, id)
		case pending && n > room:
			out[id] = true
			left = append(left, leftOut{id: id, tools: n})
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

// noteLimit adds a footnote about the tools that are left out for maxOffered.
func (t *turn) noteLimit() error {
	if len(t.leftOut) == 0 || !t.agentMode() || t.model.without[provider.FeatureTools] {
		return nil
	}
	const named = 5
	tools, names := 0, make([]string, 0, named)
	for _, l := range t.leftOut {
		if tools += l.tools; len(names) < named {
			names = append(names, l.id)
		}
	}
	which := strings.Join(names, ", ")
	if more := len(t.leftOut) - len(names); more > 0 {
		which += fmt.Sprintf(" and %d more", more)
	}
	offered := t.offer.Len()
	return t.emit(event.Footnote{Text: fmt.Sprintf("the model is offered %d of %d tools, since more than %d of toolsets and MCP servers are offered only where the question or the setting tools names them; left out are those of %s",
		offered, offered+tools, maxOffered, which)})
}

// widen loads all tools and agents into the turn, if it has only read those of some
// toolsets. It reports whether that changed anything.
func (t *turn) widen(ctx context.Context) (bool, error) {
	if !t.box.partial {
		return false, nil
	}
	box, err := t.eng.toolbox(ctx)
	if err != nil {
		return false, err
	}
	t.box = box
	return true, nil
}
