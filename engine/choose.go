package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// choice is the model that answers the turn, and those that may take over.
type choice struct {
	ref      string
	prov     provider.Provider
	model    provider.Model
	without  map[provider.Feature]bool
	fallback []string
	// since is the step from which on this model has answered. The reasoning
	// of another one is never sent to it.
	since int
	// learnt is what is known of the model from earlier answers, and ratios its part
	// that estimates are corrected by.
	learnt store.Learnt
	ratios budget.Ratios
}

// choose resolves a Ref and learns what the model can do.
func (e *Engine) choose(ctx context.Context, ref string, fallback []string) (*choice, error) {
	if n := len(ref); n > maxModelRef {
		return nil, fault.New(fault.Usage, fmt.Sprintf("the name of the model has %d bytes; %d are allowed", n, maxModelRef))
	}
	p, name, err := e.o.Models.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	m, err := e.o.Models.Describe(ctx, p, name)
	if err != nil {
		return nil, err
	}
	without := map[provider.Feature]bool{}
	if m.Tools == provider.No {
		without[provider.FeatureTools] = true
	}
	if m.Images == provider.No {
		without[provider.FeatureImages] = true
	}
	c := &choice{ref: p.Name() + "/" + name, prov: p, model: m, fallback: fallback, without: without}
	c.recall(e.LearntOf(c.ref))
	return c, nil
}

// chooseModel sets the model that answers the turn.
func (t *turn) chooseModel(ctx context.Context, conv *store.OpenChat) error {
	if t.req.asksNobody() {
		t.model = &choice{ref: conv.Chat.Model} // no model is asked
		return nil
	}
	ref := t.req.Model
	if ref == "" {
		ref = conv.Chat.Model
		t.eng.useStored(ref, t.req.Own)
	}
	var err error
	if ref == "" {
		if ref, err = t.eng.o.Models.Default(ctx); err != nil {
			return err
		}
	}
	t.base = ref
	if !strings.Contains(ref, "/") {
		p, name, err := t.eng.o.Models.Resolve(ctx, ref)
		if err != nil {
			return err
		}
		ref = p.Name() + "/" + name
	}
	t.base = ref
	if t.agent != nil && t.agent.Model != "" {
		ref = t.agent.Model
	}
	if t.model, err = t.eng.choose(ctx, ref, t.req.Fallback); err != nil {
		return models.Explain(ref, err)
	}
	if t.agent == nil || t.agent.Model == "" {
		t.base = t.model.ref
	}
	return nil
}

// keepUnasked takes the failure to choose a model. The first question of a chat of the user's
// own is kept all the same, and its turn ends with the failure, so that the question can be
// asked again and is what the last chat is. The failure is returned for all others, and for
// a name that no model can have.
func (t *turn) keepUnasked(ctx context.Context, conv *store.OpenChat, err error) error {
	code := fault.CodeOf(err)
	switch {
	case err == nil, ctx.Err() != nil, !conv.IsNew, !t.req.Own, t.req.Ephemeral, t.req.DiscardUnanswered,
		code == fault.Usage, code == fault.Config:
		return err
	}
	t.unasked, t.model = err, &choice{ref: t.base}
	return nil
}
