package mistral

import (
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// maxAdaptions is how often one request is changed and sent again: there are
// five things that a model may refuse, and a few tools.
const maxAdaptions = 8

// schemaForm is how a model is told the schema of its answer.
type schemaForm int

const (
	schemaStrict schemaForm = iota // enforced
	schemaLoose                    // told by response_format
	schemaWords                    // told in the system prompt
)

// quirks are what was learnt of one model at one address. The zero value is
// what most take.
type quirks struct {
	schema        schemaForm
	noEffort      bool
	noTemperature bool
	noForced      bool     // tool_choice is refused
	without       []string // members of calls that are refused
	refused       []string // names of parameters that are refused
}

// adaption is how one request differs from others of its model.
type adaption struct {
	schema     schemaForm        // at least; this schema was refused in a lesser one
	noThoughts bool              // thinking in the history is left out
	refused    map[string]string // tools, with the reason
}

// learn takes a lesson from a refusal. It reports whether there was one, that
// is whether the same request may succeed in another form.
func learn(err error, b *built, q *quirks, now *adaption) bool {
	var e *provider.Error
	if !errors.As(err, &e) || e.Status != 400 && e.Status != 422 {
		return false
	}
	lacks := func(f provider.Feature) bool { return e.Kind == provider.Unsupported && e.Feature == f }
	if refused := wire.RefusedTool(e.Message, b.tools, b.names, now.refused); refused != nil {
		now.refused = refused
		return true
	}
	if name := wire.RefusedField(e, b.fields, q.without); name != "" {
		q.without = append(slices.Clone(q.without), name)
		return true
	}
	text := strings.ToLower(e.Message)
	if b.forced && strings.Contains(text, "tool_choice") { // before it is taken for tools that are refused
		q.noForced = true
		return true
	}
	if e.Kind != provider.Rejected && !lacks(provider.FeatureSchema) && !lacks(provider.FeatureThinking) {
		return false
	}
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case b.schema && (lacks(provider.FeatureSchema) || says("response_format", "json_schema", "response schema", "structured output", "grammar")):
		now.schema = b.form + 1
		if lacks(provider.FeatureSchema) || says("extra inputs", "input should be", "not enabled", "not support") { // not this schema alone
			q.schema = b.form + 1
		}
	case b.effort && says("reasoning_effort", "reasoning effort"):
		q.noEffort = true
	case b.thoughts && says("chunk", "thinking", "content"):
		now.noThoughts = true
	case b.effort && lacks(provider.FeatureThinking):
		q.noEffort = true
	case b.temperature && says("temperature"):
		q.noTemperature = true
	default:
		refused := wire.RefusedParam(e.Message, b.given, onWire)
		if refused == "" {
			return false
		}
		q.refused = append(slices.Clone(q.refused), refused)
	}
	return true
}

var _ provider.Learner = (*Provider)(nil)

// Lessons returns which members of calls a model's server has refused.
func (p *Provider) Lessons(model string) []string {
	return wire.WithoutLessons(p.quirks(model).without)
}

// Recall takes the lessons that another process has learnt of a model.
func (p *Provider) Recall(model string, lessons []string) {
	if len(lessons) == 0 {
		return
	}
	q := p.quirks(model)
	q.without = wire.WithoutRecalled(q.without, lessons)
	p.learn(model, q)
}
