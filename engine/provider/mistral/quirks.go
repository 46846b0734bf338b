package mistral

import (
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// newID makes an id for a call that came without one, as the API would.
func newID() string { return rand.Text()[:idLength] }

// idLength is how long the API wants ids.
const idLength = 9

// learn takes a lesson from a refusal: the same request may then succeed in another form.
func learn(err error, req *provider.Request, b *chatcompletions.Built, q *chatcompletions.Quirks, now *chatcompletions.Adaption) chatcompletions.Lesson {
	var e *provider.Error
	if !errors.As(err, &e) || e.Status != 400 && e.Status != 422 {
		return chatcompletions.Nothing
	}
	lacks := func(f provider.Feature) bool { return e.Kind == provider.Unsupported && e.Feature == f }
	if refused := wire.RefusedTool(e.Message, b.Tools, b.Names, now.Refused); refused != nil {
		now.Refused = refused
		return chatcompletions.OfThis
	}
	if name := wire.RefusedField(e, b.Sent.Fields, q.Without); name != "" {
		q.Without = append(slices.Clone(q.Without), name)
		return chatcompletions.OfModel
	}
	text := strings.ToLower(e.Message)
	says := wire.Mentions(text)
	switch {
	case b.Forced && says("tool_choice"): // before it is taken for tools that are refused
		q.NoForced = true
	case e.Kind != provider.Rejected && !lacks(provider.FeatureSchema) && !lacks(provider.FeatureThinking):
		return chatcompletions.Nothing
	case b.Format && (lacks(provider.FeatureSchema) || says("response_format", "json_schema", "response schema", "structured output", "grammar")):
		now.Schema = b.Schema + 1
		if !lacks(provider.FeatureSchema) && !says("extra inputs", "input should be", "not enabled", "not support") {
			return chatcompletions.OfThis // this schema alone
		}
		q.Schema = now.Schema
	case b.Effort != "" && says("reasoning_effort", "reasoning effort"):
		q.NoEffort = true
	case b.Sent.Reasoning && says("chunk", "thinking", "content"):
		now.NoItems = true
		return chatcompletions.OfThis
	case b.Effort != "" && lacks(provider.FeatureThinking):
		q.NoEffort = true
	case req.Temperature != nil && !q.NoTemperature && says("temperature"):
		q.NoTemperature = true
	default:
		refused := wire.RefusedParam(e.Message, b.Given, onWire)
		if refused == "" {
			return chatcompletions.Nothing
		}
		q.Refused = append(slices.Clone(q.Refused), refused)
	}
	return chatcompletions.OfModel
}

var _ provider.Learner = (*Provider)(nil)

// Lessons returns which members of calls a model's server has refused.
func (p *Provider) Lessons(model string) []string {
	return wire.WithoutLessons(p.Quirks(model).Without)
}

// Recall takes the lessons that another process has learnt of a model.
func (p *Provider) Recall(model string, lessons []string) {
	if len(lessons) == 0 {
		return
	}
	q := p.Quirks(model)
	q.Without = wire.WithoutRecalled(q.Without, lessons)
	p.Learn(model, q)
}
