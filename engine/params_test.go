package engine

import (
	"context"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// The question's parameters have precedence over the configuration's. A level that the
// model lacks becomes the nearest one, with a footnote.
func TestModelParameters(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	cool, warm := 0.1, 0.9
	levels := provider.LevelsOf(provider.EffortLow, provider.EffortHigh)
	for name, c := range map[string]struct {
		asked, configured provider.Params
		switched          *bool // the request's Think
		levels            provider.Levels
		effort            provider.Effort
		think             *bool
		temperature       *float64
		tokens            int
		notes             int
	}{
		"nothing":                       {},
		"the configuration's":           {configured: provider.Params{Effort: provider.EffortLow, Temperature: &cool, MaxTokens: 70}, effort: provider.EffortLow, think: &yes, temperature: &cool, tokens: 70},
		"the question's":                {asked: provider.Params{Effort: provider.EffortHigh, Temperature: &warm, MaxTokens: 50}, configured: provider.Params{Effort: provider.EffortLow, Temperature: &cool, MaxTokens: 70}, effort: provider.EffortHigh, think: &yes, temperature: &warm, tokens: 50},
		"one of each":                   {asked: provider.Params{Temperature: &warm}, configured: provider.Params{Effort: provider.EffortLow}, effort: provider.EffortLow, think: &yes, temperature: &warm},
		"no reasoning":                  {asked: provider.Params{Effort: provider.EffortNone}, effort: provider.EffortNone, think: &no},
		"a switch over a configuration": {switched: &no, configured: provider.Params{Effort: provider.EffortHigh}, think: &no},
		"a level over a switch":         {switched: &no, asked: provider.Params{Effort: provider.EffortHigh}, effort: provider.EffortHigh, think: &yes},
		"a level that there isn't":      {asked: provider.Params{Effort: provider.EffortMax}, levels: levels, effort: provider.EffortHigh, think: &yes, notes: 1},
		"none where there is no none":   {asked: provider.Params{Effort: provider.EffortNone}, levels: levels, effort: provider.EffortLow, think: &yes, notes: 1},
		"a level that there is":         {asked: provider.Params{Effort: provider.EffortLow}, levels: levels, effort: provider.EffortLow, think: &yes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
				yield([]provider.Delta{says("hi"), stops("stop")}, nil)
			})
			r.model.Params, r.model.Efforts, r.model.Thinking = c.configured, c.levels, provider.Yes
			req := ask("hello")
			req.Params, req.Think = c.asked, c.switched
			notes := 0
			for _, e := range b.run(req) {
				if _, ok := e.Body.(event.Footnote); ok {
					notes++
				}
			}
			got := lastRequest(r)
			if got.Effort != c.effort || got.MaxTokens != c.tokens || !same(got.Think, c.think) || !same(got.Temperature, c.temperature) || notes != c.notes {
				t.Errorf("effort %q, think %v, temperature %v, at most %d tokens, %d notes", got.Effort, got.Think, got.Temperature, got.MaxTokens, notes)
			}
		})
	}
}

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
