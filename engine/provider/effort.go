package provider

import (
	"fmt"
	"slices"
	"strconv"
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
	return "", fmt.Errorf("expected one of %s", strings.Join(names, ", "))
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

// List returns the levels of the set, weakest first.
func (l Levels) List() []Effort {
	var out []Effort
	for i, e := range Efforts() {
		if l&(1<<i) != 0 {
			out = append(out, e)
		}
	}
	return out
}

// LevelsNamed returns the levels that a server's refusal names, without the level that it
// refused. Servers list them in prose, with or without quotes.
func LevelsNamed(text string, refused Effort) Levels {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && r != '_' && r != '-'
	})
	var named []Effort
	for _, w := range words {
		if Effort(w) != refused {
			named = append(named, Effort(w))
		}
	}
	return LevelsOf(named...)
}

// EffortNote is the footnote that a model got another level than the one that was asked
// for; it is empty where both are the same.
func EffortNote(asked, got Effort, model string) string {
	if asked == got || asked == "" {
		return ""
	}
	return fmt.Sprintf("effort %s became %s, the nearest level that %s takes", asked, got, model)
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

// Params are the settings of a model for a request. A zero field leaves the setting to the
// model.
type Params struct {
	Effort      Effort
	Temperature *float64
	// MaxTokens bounds the response, reasoning included.
	MaxTokens int
}

// MaxTemperature is the highest temperature that any provider takes.
const MaxTemperature = 2

// The names of the parameters, as settings, front matter and requests spell them.
const (
	EffortParam      = "effort"
	TemperatureParam = "temperature"
	MaxTokensParam   = "max_tokens"
)

// ParamNames returns the names of all parameters.
func ParamNames() []string { return []string{EffortParam, TemperatureParam, MaxTokensParam} }

// Set sets the parameter of this name from its text. An error names what is expected.
func (p *Params) Set(name, text string) error {
	switch name {
	case EffortParam:
		e, err := ParseEffort(text)
		if err != nil {
			return err
		}
		p.Effort = e
	case TemperatureParam:
		t, err := strconv.ParseFloat(text, 64)
		if err != nil || !(t >= 0 && t <= MaxTemperature) {
			return fmt.Errorf("expected a number from 0 to %d", MaxTemperature)
		}
		p.Temperature = &t
	case MaxTokensParam:
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxTokens {
			return fmt.Errorf("expected a number of tokens from 1 to %d", maxTokens)
		}
		p.MaxTokens = n
	default:
		return fmt.Errorf("unknown parameter %q; known are %s", name, strings.Join(ParamNames(), ", "))
	}
	return nil
}

// Clear leaves the parameter of this name to the configuration and the model.
func (p *Params) Clear(name string) {
	switch name {
	case EffortParam:
		p.Effort = ""
	case TemperatureParam:
		p.Temperature = nil
	case MaxTokensParam:
		p.MaxTokens = 0
	}
}

// Text returns the value of the parameter of this name; it is empty where it isn't set.
func (p Params) Text(name string) string {
	switch {
	case name == EffortParam:
		return string(p.Effort)
	case name == TemperatureParam && p.Temperature != nil:
		return strconv.FormatFloat(*p.Temperature, 'g', -1, 64)
	case name == MaxTokensParam && p.MaxTokens > 0:
		return strconv.Itoa(p.MaxTokens)
	}
	return ""
}

// Check returns an error that names the first parameter with an invalid value, and what is
// expected.
func (p Params) Check() error {
	if p.MaxTokens < 0 {
		return fmt.Errorf("%s: expected a number of tokens from 1 to %d", MaxTokensParam, maxTokens)
	}
	for _, name := range ParamNames() {
		if text := p.Text(name); text != "" {
			if err := new(Params).Set(name, text); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// maxTokens is more than any model answers with.
const maxTokens = 100_000_000

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
