package budget

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// What a turn does with a model whose tokens nobody knows: fit by what is
// known, ask, learn from a refusal, fit again. It ends, and soon.
func TestRoundsEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		limit := rapid.IntRange(100, 12000).Draw(t, "limit")
		truth := rapid.Float64Range(0.3, 3.5).Draw(t, "truth")
		var known Ratios
		var g Guard
		for round := 0; ; round++ {
			if round > maxRounds+1 {
				t.Fatalf("after %d rounds there is no end", round)
			}
			p := PolicyFor(limit, 0)
			p.Limit = known.Estimated("m", limit)
			plan, err := Fit(r, p)
			if errors.Is(err, ErrTooLarge) {
				return
			}
			if err := g.Round(plan.Tokens); err != nil {
				if !errors.Is(err, ErrCannotShrink) {
					t.Fatal(err)
				}
				return
			}
			if float64(plan.Tokens)*truth <= float64(limit) {
				g.Answered()
				known.Observe("m", plan.Tokens, int64(float64(plan.Tokens)*truth))
				return
			}
			if !known.Refused("m", plan.Tokens, limit) {
				t.Fatalf("a refusal of %d tokens taught nothing: %+v", plan.Tokens, known["m"])
			}
		}
	})
}

// Refusals alone lead to a request that is taken, where there is one.
func TestRefusalsLeadToAnAnswer(t *testing.T) {
	t.Parallel()
	for _, truth := range []float64{0.5, 1, 1.3, 2, 3.5} {
		r := Request{Fixed: 50}
		for range 200 {
			r.Messages = append(r.Messages, u(30), a(20), res(300), a(100))
		}
		r.Messages = append(r.Messages, u(30))
		const limit = 8000
		var known Ratios
		var g Guard
		for {
			p := PolicyFor(limit, 0)
			p.Limit = known.Estimated("m", limit)
			plan, err := Fit(r, p)
			if err == nil {
				err = g.Round(plan.Tokens)
			}
			if err != nil {
				t.Errorf("%.1f: %v at %d tokens, %+v", truth, err, plan.Tokens, known["m"])
				break
			}
			if float64(plan.Tokens)*truth <= limit {
				break
			}
			known.Refused("m", plan.Tokens, limit)
		}
	}
}
