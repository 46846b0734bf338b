package openai

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// maxAdaptions is how often one request is changed and sent again; there are
// about that many things that an address may refuse.
const maxAdaptions = 8

// quirks are what was learnt of one model at one address. The zero value is
// what most addresses take.
type quirks struct {
	completionTokens bool     // max_completion_tokens instead of max_tokens
	noStreamOptions  bool     // stream_options is refused
	noTemperature    bool     // temperature is refused
	refused          []string // names of parameters that are refused
	vendor           bool     // an address of OpenAI's own, or of Azure
	noForced         bool     // tool_choice is refused
	schemaInWords    bool     // response_format is refused
	reasoning        string   // the field of reasoning whose own field is not known
	noReasoning      bool     // the fields with reasoning are refused
	needs            string   // the field with reasoning that each answer must have
	signed           bool     // the first call of an answer must have a signature
	without          []string // members of calls and messages that are refused
	alternate        bool     // neighbouring messages of one role are refused
	noSystem         bool     // the system role is refused
	mediaInTool      bool     // a user's message after that of a tool is refused
	// beside is the reasoning_effort that is taken beside tools.
	beside   effortBeside
	levels   provider.Levels // those of reasoning_effort, where a refusal named them
	noEffort bool            // reasoning_effort is refused
	nineID   bool            // ids of calls are nine letters or digits

	prefill prefill // how the address is asked to continue an answer

	// api is the API that a refusal has named, and onlyAPI reports that the address has no
	// other one for the model.
	api         string
	onlyAPI     bool
	noEncrypted bool // encrypted reasoning is neither asked for nor sent back
	noSummary   bool // summaries of the reasoning are refused
	noStore     bool // the field store is refused
	noStream    bool // a stream is refused, to organisations that are not verified
	itemIDs     bool // items must have ids
	mediaApart  bool // images within a result are refused
}

// effortBeside is how much a model may be asked to think where it has tools.
type effortBeside int

const (
	effortAsked  effortBeside = iota // as the request asks
	effortAbsent                     // it must not be asked
	effortNone                       // it must be told not to
)

// adaption is how one request differs from others of its model.
type adaption struct {
	refused       map[string]string // tools, with the reason
	schemaInWords bool
	otherTokens   bool // max_tokens was sent by its other name
	dummies       bool // the model's own signatures are refused
	noItems       bool // reasoning and opaque items of the history are refused
	unthinking    bool // the last message is continued without reasoning
	moved         bool // a refusal has moved the request to the other API
}

func (p *Provider) quirks(model string) quirks {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q, ok := p.learnt[model]; ok {
		return q
	}
	if host := p.base.Hostname(); host != "api.openai.com" {
		return quirks{
			signed:  strings.HasSuffix(host, ".googleapis.com") && signs().MatchString(model),
			itemIDs: host == "openrouter.ai", // as its documentation says
			vendor:  azure(p.base),
			prefill: prefillOf(p.base),
		}
	}
	q := quirks{completionTokens: true, vendor: true}
	if strings.HasPrefix(model, "gpt-5.6") { // which thinks unless told, and then takes no tools
		q.beside = effortNone
	}
	return q
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

// learnEffort learns which levels a model takes from the refusal of one. A refusal of a
// level that few models have, without a list of others, leaves the usual ones.
func (q *quirks) learnEffort(text string, refused provider.Effort) {
	usual := provider.LevelsOf(provider.EffortLow, provider.EffortMedium, provider.EffortHigh)
	q.levels = provider.LevelsNamed(text, refused)
	if q.levels == 0 && strings.Contains(text, string(refused)) && refused.Within(usual) != refused {
		q.levels = usual
	}
	q.noEffort = q.levels == 0
}

// signs matches the models that Google documents to require signatures: Gemini 3 and later.
var signs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bgemini-(?:[3-9]|\d\d)`) })

// lesson is what a refusal teaches.
type lesson int

const (
	nothing lesson = iota
	ofModel        // holds for all requests
	ofThis         // holds for this request
)

// learn takes a lesson from a refusal, if there is one in it: the same request
// may then succeed in another form.
func learn(err error, req *provider.Request, b *built, q *quirks, now *adaption) lesson {
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind == provider.ContextFull {
		return nothing
	}
	text := strings.ToLower(e.Message)
	shape := learnShape
	if b.api == APIResponses {
		shape = learnItems
	}
	if l := shape(e, text, b.sent, q, now); l != nothing {
		return l
	}
	if e.Status != 400 && e.Status != 422 && e.Status != 501 {
		return nothing
	}
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	if refused := wire.RefusedTool(e.Message, b.tools, b.names, now.refused); refused != nil {
		now.refused = refused
		return ofThis
	}
	switch {
	case b.sent.final && !now.unthinking && says("prefill is incompatible with enable_thinking"):
		now.unthinking = true
		return ofThis
	case b.sent.final && q.prefill == prefillFinal && says("continue_final_message", "add_generation_prompt"):
		q.prefill = prefillNone
	case !q.noStream && says("verified to stream", "streaming is not supported", "stream is not supported"):
		q.noStream = true
	case b.forced && says("tool_choice", "tool choice"): // first: it isn't tools that are refused
		q.noForced = true
	case b.api == APIChat && len(b.tools) > 0 && q.beside != effortNone && says("reasoning_effort") && says("tools"):
		q.beside = effortNone
		if b.effort != "" && !says("'none'") {
			q.beside = effortAbsent
		}
	case b.effort != "" && !q.noEffort && says("reasoning_effort", "reasoning effort", "reasoning.effort", "reasoning value"):
		q.learnEffort(text, b.effort)
	case b.sent.calls && !q.nineID && says("length of 9"):
		q.nineID = true
	case b.format && e.Kind == provider.Unsupported && e.Feature == provider.FeatureSchema:
		q.schemaInWords = true
	case b.format && e.Kind == provider.Rejected && says("response_format", "text.format"):
		now.schemaInWords = true // this schema is too much
		return ofThis
	case e.Kind != provider.Rejected:
		return nothing
	case req.MaxTokens > 0 && !now.otherTokens && says("max_completion_tokens"):
		q.completionTokens = !q.completionTokens
		now.otherTokens = true
	case !q.noStreamOptions && says("stream_options", "include_usage"):
		q.noStreamOptions = true
	case req.Temperature != nil && !q.noTemperature && says("temperature"):
		q.noTemperature = true
	default:
		refused := wire.RefusedParam(e.Message, b.given, onWire)
		if refused == "" {
			return nothing
		}
		q.refused = append(slices.Clone(q.refused), refused)
	}
	return ofModel
}
