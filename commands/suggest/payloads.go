package suggest

import (
	"context"
	"strconv"

	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/engine/store"
)

// pages are those of the toolsets that can be used.
func (c *completer) pages() List {
	var out List
	sets := c.mirror().Toolsets
	for i := range sets {
		set := &sets[i]
		if !set.Usable() {
			continue
		}
		for _, p := range set.Pages {
			out.add(p.ID, p.Name)
		}
	}
	return out
}

// payloadTypes are those of toolsets, and those that are always known.
func (c *completer) payloadTypes() List {
	var out List
	seen := map[string]bool{}
	add := func(kind, about string) {
		if !seen[kind] {
			seen[kind] = true
			out.add(kind, about)
		}
	}
	for _, set := range c.mirror().Toolsets {
		for _, p := range set.Payloads {
			label := set.Name
			if p.Payload.Style != nil && p.Payload.Style.Label != "" {
				label = p.Payload.Style.Label
			}
			add(p.Payload.Type, label)
		}
	}
	for _, p := range payloads.Builtin() {
		label := ""
		if p.Style != nil {
			label = p.Style.Label
		}
		add(p.Type, label)
	}
	return out
}

// payloads are those of the last chat.
func (c *completer) payloads() List {
	return c.fromStore(func(ctx context.Context, eng *store.Store) (List, error) {
		var out List
		all, err := eng.GlancePayloads(ctx)
		for _, p := range all {
			out.add(strconv.Itoa(p.Number), show.CardName(p.Payload))
		}
		return out, err
	})
}
