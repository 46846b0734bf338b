package store

import (
	"maps"
	"time"

	"github.com/fettle-cli/fettle/engine/budget"
	"github.com/fettle-cli/fettle/engine/provider"
)

// LackBelieved is how long a refusal of a feature is believed: long enough
// to cost a request seldom, and short enough for a server that was updated.
const LackBelieved = 7 * 24 * time.Hour

// maxLessons bounds the lessons that are kept of a model.
const maxLessons = 50

// Learnt is what answers and refusals have told of a model. Its JSON is a part
// of catalog.json.
type Learnt struct {
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

// Refuse notes a refusal.
func (l *Learnt) Refuse(f provider.Feature, at time.Time) {
	l.Lacks = maps.Clone(l.Lacks)
	if l.Lacks == nil {
		l.Lacks = map[provider.Feature]time.Time{}
	}
	l.Lacks[f] = at
}

// LearntOf is what is known of a model; a catalogue that can't be read knows
// nothing.
func (s *Store) LearntOf(ref string) Learnt {
	c, err := s.ReadCatalog()
	if err != nil {
		return Learnt{}
	}
	l := c.Models[ref]
	now := s.Options.Now()
	maps.DeleteFunc(l.Lacks, func(_ provider.Feature, at time.Time) bool { return outdated(now.Sub(at)) })
	if outdated(now.Sub(l.ThoughtAt)) {
		l.ThoughtEnd, l.ThoughtAt = "", time.Time{}
	}
	maps.DeleteFunc(l.Lessons, func(_ string, at time.Time) bool { return outdated(now.Sub(at)) })
	return l
}

// outdated reports whether a refusal of an age is no longer believed.
func outdated(age time.Duration) bool { return age > LackBelieved || age < -LackBelieved }

// Teach adds what the provider has learnt of the model.
func (l *Learnt) Teach(p provider.Provider, model string, at time.Time) {
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
