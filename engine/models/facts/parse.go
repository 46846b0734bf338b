package facts

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// maxModels and maxName bound what is taken of one provider's models.
	maxModels = 2000
	maxName   = 256
	// maxEfforts and maxEffort bound the reasoning levels of a model.
	maxEfforts, maxEffort = 16, 32
	// maxTokens bounds a number of tokens.
	maxTokens = 1 << 31
	// maxDollars bounds the price of a million tokens.
	maxDollars = 1_000_000
)

// publishedModel is one model in the data that models.dev publishes as api.json.
type publishedModel struct {
	Family      string `json:"family"`
	Released    string `json:"release_date"`
	Reasoning   *bool  `json:"reasoning"`
	Tools       *bool  `json:"tool_call"`
	Schemas     *bool  `json:"structured_output"`
	Temperature *bool  `json:"temperature"`
	Limit       struct {
		Context float64 `json:"context"`
		Output  float64 `json:"output"`
	} `json:"limit"`
	Modalities struct {
		Input  []string `json:"input"`
		Output []string `json:"output"`
	} `json:"modalities"`
	Options []struct {
		Type   string   `json:"type"`
		Values []string `json:"values"`
	} `json:"reasoning_options"`
	Cost *publishedCost `json:"cost"`
}

type publishedCost struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
	Tiers      []struct {
		Tier struct {
			Size float64 `json:"size"`
		} `json:"tier"`
		Input     float64  `json:"input"`
		Output    float64  `json:"output"`
		CacheRead *float64 `json:"cache_read"`

		CacheWrite *float64 `json:"cache_write"`
	} `json:"tiers"`
}

// Parse reads the data that models.dev publishes: a JSON object of its providers. Only
// the providers of [Providers] are taken. A model whose entry has another form is left
// out; data without any known model is an error. The caller fills in Source and Date.
func Parse(data []byte) (*Table, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read the list of models: %w", err)
	}
	t := &Table{Providers: map[string][]Model{}}
	for _, name := range Providers() {
		var p struct {
			Models map[string]json.RawMessage `json:"models"`
		}
		if raw, ok := all[name]; !ok || json.Unmarshal(raw, &p) != nil {
			continue
		}
		if models := modelsOf(p.Models); len(models) > 0 {
			t.Providers[name] = models
		}
	}
	if len(t.Providers) == 0 {
		return nil, fmt.Errorf("the list of models has none of the providers %s", strings.Join(Providers(), ", "))
	}
	return t, nil
}

// modelsOf returns the models of one provider by name.
func modelsOf(entries map[string]json.RawMessage) []Model {
	var out []Model
	for name, raw := range entries {
		var p publishedModel
		if json.Unmarshal(raw, &p) == nil && plain(name, maxName) {
			out = append(out, p.model(name))
		}
	}
	slices.SortFunc(out, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	return out[:min(len(out), maxModels)]
}

// plain reports whether a text is printable ASCII without spaces, of at most this length.
func plain(s string, longest int) bool {
	return s != "" && len(s) <= longest && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (p *publishedModel) model(name string) Model {
	m := Model{Name: name, Context: tokens(p.Limit.Context), Output: tokens(p.Limit.Output), Price: p.Cost.price()}
	if plain(p.Family, maxName) {
		m.Family = p.Family
	}
	if plain(p.Released, len("2006-01-02")) {
		m.Released = p.Released
	}
	m.say(tools, p.Tools)
	m.say(thinking, p.Reasoning)
	m.say(schemas, p.Schemas)
	m.say(temperature, p.Temperature)
	if len(p.Modalities.Input) > 0 {
		takes := slices.Contains(p.Modalities.Input, "image")
		m.say(images, &takes)
	}
	if len(p.Modalities.Output) > 0 {
		answers := slices.Contains(p.Modalities.Output, "text") && !strings.Contains(p.Family, "embed")
		m.say(chats, &answers)
	}
	for _, o := range p.Options {
		if o.Type == "effort" && len(o.Values) <= maxEfforts && !slices.ContainsFunc(o.Values, func(v string) bool { return !plain(v, maxEffort) }) {
			m.Efforts = o.Values
		}
	}
	return m
}

// say stores whether the model has an ability.
func (m *Model) say(letter string, has *bool) {
	switch {
	case has == nil:
	case *has:
		m.Can += letter
	default:
		m.Cannot += letter
	}
}

func tokens(n float64) int {
	if n > 0 && n < maxTokens {
		return int(n)
	}
	return 0
}

// price is nil where the data has no usable price of input and output.
func (c *publishedCost) price() *Price {
	if c == nil {
		return nil
	}
	in, inOK := millionths(c.Input)
	out, outOK := millionths(c.Output)
	if !inOK || !outOK {
		return nil
	}
	p := &Price{Input: in, Output: out, Cached: optional(c.CacheRead), CacheWrite: optional(c.CacheWrite)}
	for _, t := range c.Tiers {
		n := tokens(t.Tier.Size)
		in, inOK := millionths(t.Input)
		out, outOK := millionths(t.Output)
		if n > 0 && inOK && outOK && (p.Above == nil || n < p.Above.Over) {
			p.Above = &Tier{Over: n, Input: in, Output: out, Cached: optional(t.CacheRead), CacheWrite: optional(t.CacheWrite)}
		}
	}
	return p
}

func millionths(dollars float64) (int64, bool) {
	if !(dollars >= 0 && dollars <= maxDollars) {
		return 0, false
	}
	return int64(math.Round(dollars * 1_000_000)), true
}

func optional(dollars *float64) *int64 {
	if dollars == nil {
		return nil
	}
	n, ok := millionths(*dollars)
	if !ok {
		return nil
	}
	return &n
}
