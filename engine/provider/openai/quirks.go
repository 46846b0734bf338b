package openai

import (
	"errors"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// maxAdaptions is how often one request is changed and sent again; there are
// that many things that an address may refuse.
const maxAdaptions = 4

// quirks are what was learnt of one model at one address. The zero value is
// what most addresses take.
type quirks struct {
	completionTokens bool   // max_completion_tokens instead of max_tokens
	noStreamOptions  bool   // stream_options is refused
	noTemperature    bool   // temperature is refused
	schemaInWords    bool   // response_format is refused
	reasoning        string // the field that the model's reasoning came in
}

func (p *Provider) quirks(model string) quirks {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q, ok := p.learnt[model]; ok {
		return q
	}
	return quirks{completionTokens: p.base.Hostname() == "api.openai.com"}
}

func (p *Provider) learn(model string, q quirks) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learnt[model] = q
}

func (p *Provider) learnReasoning(model, field string) {
	q := p.quirks(model)
	if q.reasoning != field {
		q.reasoning = field
		p.learn(model, q)
	}
}

// learn takes a lesson from a refusal. It reports whether there was one, that
// is whether the same request may succeed in another form.
func (q *quirks) learn(err error, req *provider.Request) bool {
	var e *provider.Error
	if !errors.As(err, &e) || e.Status != 400 && e.Status != 422 && e.Status != 501 {
		return false
	}
	if e.Kind == provider.Unsupported && e.Feature == provider.FeatureSchema && !q.schemaInWords {
		q.schemaInWords = true
		return true
	}
	if e.Kind != provider.Rejected {
		return false
	}
	says := func(param string) bool { return strings.Contains(e.Message, param) }
	switch {
	case req.MaxTokens > 0 && !q.completionTokens && says("max_completion_tokens"):
		q.completionTokens = true
	case req.MaxTokens > 0 && q.completionTokens && says("max_completion_tokens"):
		q.completionTokens = false
	case !q.noStreamOptions && (says("stream_options") || says("include_usage")):
		q.noStreamOptions = true
	case req.Temperature != nil && !q.noTemperature && says("temperature"):
		q.noTemperature = true
	default:
		return false
	}
	return true
}
