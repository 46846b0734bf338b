package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// needOf returns what a request needs.
func needOf(req *TurnRequest) catalog.Need {
	switch {
	case req.Agent != "" && req.Agent != catalog.NoAgent, req.workflow != nil, req.app != nil, len(req.MCP) > 0:
		return catalog.Need{All: true}
	case len(req.Tools) > 0 && strings.HasPrefix(req.Tools[0], "!"): // all but these
		return catalog.Need{All: true}
	case req.Tools == nil && len(req.Calls) == 0:
		return catalog.Need{}
	}
	n := catalog.Need{Named: true}
	for _, p := range req.Tools {
		n.Patterns = append(n.Patterns, strings.TrimPrefix(p, "!"))
	}
	for _, c := range req.Calls {
		n.Patterns = append(n.Patterns, c.Tool)
	}
	return n
}

// noteLimit adds a footnote about the tools that are left out for maxOffered.
func (t *turn) noteLimit() error {
	if len(t.leftOut) == 0 || !t.agentMode() || t.model.without[provider.FeatureTools] {
		return nil
	}
	const named = 5
	tools, names := 0, make([]string, 0, named)
	for _, l := range t.leftOut {
		if tools += l.Tools; len(names) < named {
			names = append(names, l.ID)
		}
	}
	which := strings.Join(names, ", ")
	if more := len(t.leftOut) - len(names); more > 0 {
		which += fmt.Sprintf(" and %d more", more)
	}
	offered := t.offer.Len()
	return t.emit(event.Footnote{Text: fmt.Sprintf("the model is offered %d of %d tools, since more than %d of toolsets and MCP servers are offered only where the question or the setting tools names them; left out are those of %s",
		offered, offered+tools, catalog.MaxOffered, which)})
}

// widen loads all tools and agents into the turn, if it has only read those of some
// toolsets. It reports whether that changed anything.
func (t *turn) widen(ctx context.Context) (bool, error) {
	if !t.box.Partial {
		return false, nil
	}
	box, err := t.eng.Toolbox(ctx)
	if err != nil {
		return false, err
	}
	t.box = box
	return true, nil
}
