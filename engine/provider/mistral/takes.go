package mistral

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// takes returns the names of the parameters that chat completions take, without those that
// the model has refused.
func takes(q chatcompletions.Quirks) []string {
	return wire.Except([]string{
		provider.TopPParam, provider.SeedParam, provider.StopParam, provider.FrequencyPenaltyParam,
		provider.PresencePenaltyParam, provider.ParallelCallsParam, provider.StrictParam,
		provider.FormatNameParam, provider.FormatDescriptionParam,
	}, q.Refused)
}

// fimTakes are those of completions, and talkTakes those of a conversation of agents.
func fimTakes(chatcompletions.Quirks) []string {
	return []string{provider.TopPParam, provider.SeedParam, provider.StopParam}
}

func talkTakes() []string {
	return append(fimTakes(chatcompletions.Quirks{}), provider.FrequencyPenaltyParam, provider.PresencePenaltyParam)
}

// onWire is the name of a parameter in the API.
func onWire(param string) string {
	switch param {
	case provider.SeedParam:
		return "random_seed"
	case provider.StrictParam:
		return "strict"
	}
	return param
}

// Notes returns the footnotes about the parameters of a request; see [provider.Announcer].
func (p *Provider) Notes(req *provider.Request) []provider.Note {
	if req.Completion != nil || !p.talks(req) {
		return p.Provider.Notes(req)
	}
	_, notes := wire.Keep(req, talkTakes())
	return notes
}

// think sets the effort that a model is asked for, of which there are two: high and none.
func think(b *chatcompletions.Built, req *provider.Request, q chatcompletions.Quirks) {
	note := func(text string) { b.Notes = append(b.Notes, wire.Notef(text, provider.EffortParam)) }
	switch {
	case req.Think == nil:
	case alwaysThinks(req.Model) && !*req.Think:
		note("reasoning can't be switched off: " + req.Model + " always thinks")
	case alwaysThinks(req.Model):
		if req.Effort != "" {
			b.Notes = append(b.Notes, wire.LeftOut(req.Model, provider.EffortParam))
		}
	case q.NoEffort && *req.Think:
		note("reasoning was left out: " + req.Model + " can't be asked for it")
	case q.NoEffort:
	case *req.Think:
		b.Effort = provider.EffortHigh
		b.Notes = wire.EffortNote(b.Notes, req.Effort, b.Effort, req.Model)
	default:
		b.Effort = provider.EffortNone
	}
}

// alwaysThinks reports whether a model can't be told to think or not to.
func alwaysThinks(model string) bool { return strings.HasPrefix(strings.ToLower(model), "magistral") }
