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
	"github.com/fettle-cli/fettle/internal/record"
)

const (
	// lackBelieved is how long a refusal of a feature is believed: long enough
	// to cost a request seldom, and short enough for a server that was updated.
	lackBelieved = 7 * 24 * time.Hour
	// maxLessons bounds the lessons that are kept of a model.
	maxLessons = 50
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

// learnt is what answers and refusals have told of a model. Its JSON is a part
// of catalog.json.
type learnt struct {
	// Tokens is what the model's tokens are to the estimate.
	Tokens budget.Ratio `json:"tokens,omitzero"`
	// Context is the context that a refusal named; 0 where none did.
	Context int `json:"context,omitempty"`
	// Lacks are features that were refused, with when.
	Lacks map[provider.Feature]time.Time `json:"lacks,omitempty"`
	// Lessons are what the provider has learnt about the shape of requests, with when; see
	// provider.Learner.
	Lessons map[string]time.Time `json:"lessons,omitempty"`
	// ThoughtEnd is the marker that ends the reasoning with which the model begins its
	// text, and ThoughtAt when an answer had it last without the marker that begins it.
	ThoughtEnd string    `json:"thought_end,omitempty"`
	ThoughtAt  time.Time `json:"thought_at,omitzero"`
	// At is when something of it changed last.
	At time.Time `json:"at"`
}

// lacks notes a refusal.
func (l *learnt) lacks(f provider.Feature, at time.Time) {
	l.Lacks = maps.Clone(l.Lacks)
	if l.Lacks == nil {
		l.Lacks = map[provider.Feature]time.Time{}
	}
	l.Lacks[f] = at
}

// learntOf is what is known of a model; a catalogue that can't be read knows
// nothing.
func (s *Store) learntOf(ref string) learnt {
	c, err := s.readCatalog()
	if err != nil {
		return learnt{}
	}
	l := c.Models[ref]
	now := s.o.Now()
	maps.DeleteFunc(l.Lacks, func(_ provider.Feature, at time.Time) bool { return outdated(now.Sub(at)) })
	if outdated(now.Sub(l.ThoughtAt)) {
		l.ThoughtEnd, l.ThoughtAt = "", time.Time{}
	}
	maps.DeleteFunc(l.Lessons, func(_ string, at time.Time) bool { return outdated(now.Sub(at)) })
	return l
}

// outdated reports whether a refusal of an age is no longer believed.
func outdated(age time.Duration) bool { return age > lackBelieved || age < -lackBelieved }

// teach adds what the provider has learnt of the model.
func (l *learnt) teach(p provider.Provider, model string, at time.Time) {
	learner, ok := provider.As[provider.Learner](p)
	if !ok {
		return
	}
	lessons := learner.Lessons(model)
	if len(lessons) > maxLessons {
		lessons = lessons[:maxLessons]
	}
	was := l.Lessons
	l.Lessons = nil
	for _, lesson := range lessons {
		if l.Lessons == nil {
			l.Lessons = map[string]time.Time{}
		}
		if l.Lessons[lesson] = at; !was[lesson].IsZero() {
			l.Lessons[lesson] = was[lesson]
		}
	}
}

// recall takes in what is known of the model. What provider or configuration
// say of it comes first.
func (c *choice) recall(l learnt) {
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
		c.learnt.teach(c.prov, c.model.Name, e.o.Now())
		return !c.hasLearnt(e.learntOf(c.ref))
	})
	if len(models) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), learntTime)
	defer cancel()
	letData, err := e.shareData(ctx, nil)
	if err != nil {
		return
	}
	defer letData()
	release, err := e.lock(ctx, "catalog", nil)
	if err != nil {
		return
	}
	defer release()
	c, err := e.readCatalog()
	if err != nil {
		return // a newer fettle's, or damage that whoever uses it tells of
	}
	c.Version = catalogVersion
	c.Models = maps.Clone(c.Models)
	if c.Models == nil {
		c.Models = map[string]learnt{}
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
		_ = replaceFile(e.catalogFile(), data)
	}
}

// hasLearnt tells whether the model's answers told more than is kept.
func (c *choice) hasLearnt(kept learnt) bool {
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
