package provider

import (
	"fmt"
	"slices"
	"strings"
)

// Effort is how much a model is asked to reason before it answers. The zero value leaves
// it to the model.
type Effort string

// The levels, weakest first. Models take different subsets of them.
const (
	EffortNone    Effort = "none"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Efforts returns all levels, weakest first.
func Efforts() []Effort {
	return []Effort{EffortNone, EffortMinimal, EffortLow, EffortMedium, EffortHigh, EffortXHigh, EffortMax}
}

// ParseEffort reads the name of a level.
func ParseEffort(s string) (Effort, error) {
	if e := Effort(s); slices.Contains(Efforts(), e) {
		return e, nil
	}
	names := make([]string, 0, len(Efforts()))
	for _, e := range Efforts() {
		names = append(names, string(e))
	}
	return "", fmt.Errorf("an effort is one of %s", strings.Join(names, ", "))
}

// Levels is a set of levels; zero is unknown.
type Levels uint8

// LevelsOf is the set of these levels. Those that fettle has no name for are left out.
func LevelsOf(levels ...Effort) Levels {
	var l Levels
	for i, e := range Efforts() {
		if slices.Contains(levels, e) {
			l |= 1 << i
		}
	}
	return l
}

// Thinks reports whether the level asks for any reasoning.
func (e Effort) Thinks() bool { return e != "" && e != EffortNone }

// Within returns the level of a model's own that is nearest to e, the weaker one of two.
// Without levels, and for the zero value, it is e itself. A level that asks for reasoning
// never becomes none, unless the model has nothing else.
func (e Effort) Within(levels Levels) Effort {
	all := Efforts()
	at := slices.Index(all, e)
	if at < 0 || levels == 0 {
		return e
	}
	best, far := e, -1
	for i, l := range all {
		if levels&(1<<i) == 0 {
			continue
		}
		d := 2 * max(i-at, at-i)
		if i > at {
			d++ // of two that are equally near, the weaker one costs less
		}
		if l == EffortNone && e.Thinks() {
			d += 2 * len(all)
		}
		if far < 0 || d < far {
			best, far = l, d
		}
	}
	return best
}

// Params are what a request asks of a model beside the question. Zero fields leave it to
// the model.
type Params struct {
	Effort      Effort
	Temperature *float64
	// MaxTokens bounds the response, reasoning included.
	MaxTokens int
}

// Over returns p with the gaps filled from under.
func (p Params) Over(under Params) Params {
	if p.Effort == "" {
		p.Effort = under.Effort
	}
	if p.Temperature == nil {
		p.Temperature = under.Temperature
	}
	if p.MaxTokens == 0 {
		p.MaxTokens = under.MaxTokens
	}
	return p
}
