package openai

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// quirksOf returns the quirks of a model at an address of which chatcompletions.Nothing was learnt.
func quirksOf(base *url.URL, model string) chatcompletions.Quirks {
	if host := base.Hostname(); host != "api.openai.com" {
		return chatcompletions.Quirks{
			Signed:  strings.HasSuffix(host, ".googleapis.com") && signs().MatchString(model),
			ItemIDs: host == "openrouter.ai", // as its documentation says
			Vendor:  azure(base),
			Prefill: prefillOf(base),
		}
	}
	q := chatcompletions.Quirks{CompletionTokens: true, Vendor: true}
	if strings.HasPrefix(model, "gpt-5.6") { // which thinks unless told, and then takes no tools
		q.Beside = chatcompletions.EffortNone
	}
	return q
}

// learnEffort learns which levels a model takes from the refusal of one. A refusal of a
// level that few models have, without a list of others, leaves the usual ones.
func learnEffort(q *chatcompletions.Quirks, text string, refused provider.Effort) {
	usual := provider.LevelsOf(provider.EffortLow, provider.EffortMedium, provider.EffortHigh)
	q.Levels = provider.LevelsNamed(text, refused)
	if q.Levels == 0 && strings.Contains(text, string(refused)) && refused.Within(usual) != refused {
		q.Levels = usual
	}
	q.NoEffort = q.Levels == 0
}

// signs matches the models that Google documents to require signatures: Gemini 3 and later.
var signs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bgemini-(?:[3-9]|\d\d)`) })

// learn takes a lesson from a refusal, if there is one in it: the same request
// may then succeed in another form.
func learn(err error, req *provider.Request, b *chatcompletions.Built, q *chatcompletions.Quirks, now *chatcompletions.Adaption) chatcompletions.Lesson {
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind == provider.ContextFull {
		return chatcompletions.Nothing
	}
	text := strings.ToLower(e.Message)
	shape := learnShape
	if b.Form != nil {
		shape = learnItems
	}
	if l := shape(e, text, b.Sent, q, now); l != chatcompletions.Nothing {
		return l
	}
	if e.Status != 400 && e.Status != 422 && e.Status != 501 {
		return chatcompletions.Nothing
	}
	says := wire.Mentions(text)
	if refused := wire.RefusedTool(e.Message, b.Tools, b.Names, now.Refused); refused != nil {
		now.Refused = refused
		return chatcompletions.OfThis
	}
	switch {
	case b.Sent.Final && !now.Unthinking && says("prefill is incompatible with enable_thinking"):
		now.Unthinking = true
		return chatcompletions.OfThis
	case b.Sent.Final && q.Prefill == chatcompletions.PrefillFinal && says("continue_final_message", "add_generation_prompt"):
		q.Prefill = chatcompletions.PrefillNone
	case !q.NoStream && says("verified to stream", "streaming is not supported", "stream is not supported"):
		q.NoStream = true
	case b.Forced && says("tool_choice", "tool choice"): // first: it isn't tools that are refused
		q.NoForced = true
	case b.Form == nil && len(b.Tools) > 0 && q.Beside != chatcompletions.EffortNone && says("reasoning_effort") && says("tools"):
		q.Beside = chatcompletions.EffortNone
		if b.Effort != "" && !says("'none'") {
			q.Beside = chatcompletions.EffortAbsent
		}
	case b.Effort != "" && !q.NoEffort && says("reasoning_effort", "reasoning effort", "reasoning.effort", "reasoning value"):
		learnEffort(q, text, b.Effort)
	case b.Sent.Calls && !q.NineID && says("length of 9"):
		q.NineID = true
	case b.Format && e.Kind == provider.Unsupported && e.Feature == provider.FeatureSchema:
		q.Schema = chatcompletions.SchemaWords
	case b.Format && e.Kind == provider.Rejected && says("response_format", "text.format"):
		now.Schema = chatcompletions.SchemaWords // this schema is too much
		return chatcompletions.OfThis
	case e.Kind != provider.Rejected:
		return chatcompletions.Nothing
	case req.MaxTokens > 0 && !now.OtherTokens && says("max_completion_tokens"):
		q.CompletionTokens = !q.CompletionTokens
		now.OtherTokens = true
	case !q.NoStreamOptions && says("stream_options", "include_usage"):
		q.NoStreamOptions = true
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
