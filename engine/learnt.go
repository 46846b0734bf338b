package engine

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/record"
)

const (
	// maxLearnt bounds the models that something is kept of; who was asked
	// longest ago goes first.
	maxLearnt = 200
	// driftKept is how far a ratio has to move for it to be written again: a
	// write is a sync, and a few percent decide nothing.
	driftKept = 0.05
	// learntTime bounds the wait for the catalogue's lock: what is learnt can be
	// learnt again.
	learntTime = time.Second
)

// recall takes in what is known of the model. What provider or configuration
// say of it comes first.
func (c *choice) recall(l store.Learnt) {
	c.learnt, c.ratios = l, budget.Ratios{}
	if l.Tokens.Samples > 0 {
		c.ratios[c.ref] = l.Tokens
	}
	if l.Context >= leastContext && l.Context <= mostContext && c.model.ContextLength == 0 {
		c.model.ContextLength = l.Context
	}
	for f := range l.Lacks {
		known := map[provider.Feature]provider.Known{
			provider.FeatureTools: c.model.Tools, provider.FeatureImages: c.model.Images,
			provider.FeatureThinking: c.model.Thinking, provider.FeatureSchema: c.model.Schema,
		}
		if known[f] == provider.Unknown {
			c.without[f] = true
		}
	}
	if learner, ok := provider.As[provider.Learner](c.prov); ok {
		learner.Recall(c.model.Name, slices.Sorted(maps.Keys(l.Lessons)))
	}
}

// keepLearnt writes what the models of a turn have told, where it changes
// anything. It may fail: it would be learnt again.
func (e *Engine) keepLearnt(models []*choice) {
	models = slices.DeleteFunc(models, func(c *choice) bool {
		if c == nil || c.ratios == nil {
			return true
		}
		c.learnt.Teach(c.prov, c.model.Name, e.o.Now())
		return !c.hasLearnt(e.LearntOf(c.ref))
	})
	if len(models) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), learntTime)
	defer cancel()
	letData, err := e.ShareData(ctx, nil)
	if err != nil {
		return
	}
	defer letData()
	release, err := e.Lock(ctx, "catalog", nil)
	if err != nil {
		return
	}
	defer release()
	c, err := e.ReadCatalog()
	if err != nil {
		return // a newer fettle's, or damage that whoever uses it tells of
	}
	c.Version = store.CatalogVersion
	c.Models = maps.Clone(c.Models)
	if c.Models == nil {
		c.Models = map[string]store.Learnt{}
	}
	for _, m := range models {
		l := m.learnt
		l.Tokens, l.At = m.ratios[m.ref], e.o.Now()
		c.Models[m.ref] = l
	}
	for len(c.Models) > maxLearnt {
		oldest := slices.MinFunc(slices.Sorted(maps.Keys(c.Models)), func(a, b string) int {
			return cmp.Or(c.Models[a].At.Compare(c.Models[b].At), cmp.Compare(a, b))
		})
		delete(c.Models, oldest)
	}
	if data, err := record.Marshal(c); err == nil {
		_ = store.ReplaceFile(e.CatalogFile(), data)
	}
}

// hasLearnt tells whether the model's answers told more than is kept.
func (c *choice) hasLearnt(kept store.Learnt) bool {
	now, was := c.ratios[c.ref], kept.Tokens
	switch {
	case c.learnt.Context != kept.Context, c.learnt.ThoughtEnd != kept.ThoughtEnd, !maps.EqualFunc(c.learnt.Lacks, kept.Lacks, time.Time.Equal),
		!maps.EqualFunc(c.learnt.Lessons, kept.Lessons, time.Time.Equal):
		return true
	case now.Samples == 0:
		return false
	}
	return was.Samples == 0 || math.Abs(now.Ratio-was.Ratio) > driftKept*was.Ratio || math.Abs(now.Spread-was.Spread) > driftKept
}

// answerText returns the answer in a text that was held back, without the reasoning that a
// server left in it.
func (t *turn) answerText(text string) string {
	_, answer, end := provider.CutThought(text)
	if end != "" {
		t.model.learnt.ThoughtEnd, t.model.learnt.ThoughtAt = end, t.eng.o.Now()
	}
	return answer
}

// findThoughts learns whether the texts that the turn has shown begin with reasoning.
func (t *turn) findThoughts() {
	if t.model == nil || t.model.learnt.ThoughtEnd != "" {
		return
	}
	for _, parts := range byStep(t.red.Message().Parts) {
		var text strings.Builder
		for _, p := range parts {
			if p.Kind == provider.TextPart && p.Step >= t.model.since {
				text.WriteString(p.Text)
			}
		}
		t.answerText(text.String())
	}
}

// wants tells whether the turn would have asked the model for a feature, so that
// a person misses it: tools that nobody named are missed only where a refusal is
// all that is known of the model, or where an agent has them.
func (t *turn) wants(f provider.Feature) bool {
	switch f {
	case provider.FeatureImages:
		return slices.ContainsFunc(t.req.Parts, provider.Part.HasImage) ||
			slices.ContainsFunc(t.path, func(m chat.Message) bool { return slices.ContainsFunc(m.Parts, provider.Part.HasImage) })
	case provider.FeatureTools:
		_, refused := t.model.learnt.Lacks[f]
		return t.req.Workspace != "" || len(t.req.Tools) > 0 || refused && t.offer.Len() > 0 ||
			t.agent != nil && len(t.agent.Tools)+len(t.agent.Handoffs) > 0
	case provider.FeatureThinking:
		return t.req.Think != nil && *t.req.Think
	case provider.FeatureSchema:
		return t.req.Schema != nil
	}
	return false
}
