package budget

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Ratio is what a model's tokens are to the estimate. Its JSON is for a file
// that is read without a lock, such as catalog.json.
type Ratio struct {
	// Ratio is the mean of reported over estimated; 1 where nothing is known.
	Ratio float64 `json:"ratio"`
	// Spread is how far the samples lie from it on average, as a part of 1.
	Spread float64 `json:"spread,omitempty"`
	// Samples counts the reports, up to a bound.
	Samples int `json:"samples"`
}

// Ratios are those of all models, by provider/model. The zero value knows none.
type Ratios map[string]Ratio

// How samples are weighed.
const (
	// minSample is the smallest request that tells something: what providers
	// add to each is a large part of a small one.
	minSample = 200
	// lowest and highest bound one sample. Beyond is a request that the
	// estimate knows nothing of, such as one with documents as images.
	lowest, highest = 0.25, 4.0
	// window is how many samples the mean follows; an answer in another
	// language or a new version of a model shows soon.
	window = 8
	// unknownSpread is taken for a model of which nothing is known.
	unknownSpread = 0.15
	// maxRatios bounds the table. Who is asked seldom goes first.
	maxRatios = 200
)

// Observe takes what a provider reported for a request that was estimated, and
// tells whether that changed anything. Input tokens include cached ones.
func (r *Ratios) Observe(model string, estimated int, reported int64) bool {
	if estimated < minSample || reported <= 0 {
		return false
	}
	sample := min(max(float64(reported)/float64(estimated), lowest), highest)
	old, known := (*r)[model]
	old = old.sane()
	if !known || old.Samples == 0 {
		return r.put(model, Ratio{Ratio: sample, Spread: unknownSpread / 2, Samples: 1})
	}
	n := min(old.Samples+1, window)
	weight := 1 / float64(n)
	off := math.Abs(sample-old.Ratio) / old.Ratio
	return r.put(model, Ratio{
		Ratio:   round(old.Ratio + weight*(sample-old.Ratio)),
		Spread:  round(min(old.Spread+weight*(off-old.Spread), 1)),
		Samples: n,
	})
}

// Refused takes that a provider found a request too long for limit tokens,
// though the estimate said otherwise: the ratio is at least what makes that so.
// It tells whether that changed anything.
func (r *Ratios) Refused(model string, estimated, limit int) bool {
	if estimated <= 0 || limit <= 0 {
		return false
	}
	least := min(float64(limit)/float64(estimated), highest)
	old, known := (*r)[model]
	if old = old.sane(); known && old.Ratio > least {
		return false
	}
	return r.put(model, Ratio{Ratio: round(least * 1.05), Spread: old.Spread, Samples: max(1, old.Samples)})
}

// Tokens is the estimate as the model will most likely count it.
func (r Ratios) Tokens(model string, estimated int) int {
	return scale(estimated, r.of(model).Ratio)
}

// Most is a count that the model's will hardly exceed, to decide by.
func (r Ratios) Most(model string, estimated int) int {
	of := r.of(model)
	return scale(estimated, of.Ratio*(1+2*of.Spread))
}

// Estimated is the inverse of Most: the estimate that tokens of a model leave
// room for, so that a Fit can be done in estimates.
func (r Ratios) Estimated(model string, tokens int) int {
	of := r.of(model)
	return int(float64(tokens) / (of.Ratio * (1 + 2*of.Spread)))
}

func (r Ratios) of(model string) Ratio {
	of, ok := r[model]
	if !ok {
		return Ratio{Ratio: 1, Spread: unknownSpread}
	}
	return of.sane()
}

// sane takes a ratio that a file may hold to what a ratio can be.
func (r Ratio) sane() Ratio {
	if !(r.Ratio >= lowest && r.Ratio <= highest*1.05) { // also what is no number
		r.Ratio, r.Samples = 1, 0
	}
	if !(r.Spread >= 0 && r.Spread <= 1) {
		r.Spread = unknownSpread
	}
	r.Samples = min(max(r.Samples, 0), window)
	return r
}

func (r *Ratios) put(model string, of Ratio) bool {
	if (*r)[model] == of {
		return false
	}
	if *r == nil {
		*r = Ratios{}
	}
	if _, known := (*r)[model]; !known && len(*r) >= maxRatios {
		names := slices.Sorted(maps.Keys(*r))
		delete(*r, slices.MinFunc(names, func(a, b string) int { return cmp.Compare((*r)[a].Samples, (*r)[b].Samples) }))
	}
	(*r)[model] = of
	return true
}

// round keeps the file short.
func round(f float64) float64 { return math.Round(f*1e4) / 1e4 }

func scale(n int, by float64) int { return int(math.Ceil(float64(n) * by)) }
