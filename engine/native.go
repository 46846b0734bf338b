package engine

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

// nativeStep is what a provider that keeps agents itself needs for the next
// request; nil where it can't keep them: without agents, or where one of them
// asks another provider.
func (t *turn) nativeStep() *provider.Native {
	if t.agent == nil || t.model.without[provider.FeatureTools] {
		return nil
	}
	if t.native == nil {
		agents, ok := t.cast()
		if !ok {
			return nil
		}
		t.native = &provider.Native{Provider: t.model.prov.Name(), Agents: agents, System: t.accept.Chat.System}
	}
	if t.native.Provider != t.model.prov.Name() {
		return nil // a fallback took over
	}
	t.native.Agent, t.native.Results = t.agent.ID, nil
	for _, p := range t.red.Message().Parts {
		if p.Result != nil {
			r := *p.Result
			r.Text, r.Media = assembly{native: t.native}.resultContent(r)
			t.native.Results = append(t.native.Results, r)
		}
	}
	return t.native
}

// cast are the agents that the turn may come to, the entry agent first. ok is
// false where they don't ask one provider.
func (t *turn) cast() (all []provider.NativeAgent, ok bool) {
	name := t.model.prov.Name() + "/"
	seen, next := map[string]bool{t.entry.ID: true}, []*store.Agent{t.entry}
	for len(next) > 0 {
		a := next[0]
		next = next[1:]
		ref := a.Model
		if ref == "" {
			ref = t.base
		}
		model, same := strings.CutPrefix(ref, name)
		if !same {
			return nil, false
		}
		offer := t.withClients(a.ToolsIn(t.allTools))
		names := offer.Names()
		made := provider.NativeAgent{
			ID: a.ID, Name: a.Name, Purpose: a.Purpose, Prompt: a.Prompt, Model: model,
			Tools: specsOf(offer, names), Handoffs: map[string]string{},
		}
		handoffs := t.handoffsOf(a, names)
		for _, tool := range sortedNames(handoffs) {
			to := handoffs[tool]
			made.Handoffs[tool] = to.ID
			if !seen[to.ID] {
				seen[to.ID] = true
				next = append(next, to)
			}
		}
		all = append(all, made)
	}
	return all, true
}

// specsOf are tools as a model is told about them.
func specsOf(offer *toolset.Set, names *toolset.Names) []provider.ToolSpec {
	specs := make([]provider.ToolSpec, 0, offer.Len())
	for entry := range offer.All() {
		specs = append(specs, provider.ToolSpec{
			Name: names.Name(entry.Tool.ID), Description: entry.Tool.Description, InputSchema: entry.Tool.InputSchema,
		})
	}
	return specs
}
