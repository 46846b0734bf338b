package mistral

import (
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var (
	_ provider.Announcer = (*Provider)(nil)
	_ provider.Continuer = (*Provider)(nil)
)

// Prefills returns that models continue an answer: the API has the member prefix for that.
func (p *Provider) Prefills(string) provider.Prefill { return provider.PrefillContinued }

// takes returns the names of the parameters that chat completions take, without those that
// the model has refused.
func takes(q quirks) []string {
	return wire.Except([]string{
		provider.TopPParam, provider.SeedParam, provider.StopParam, provider.FrequencyPenaltyParam,
		provider.PresencePenaltyParam, provider.ParallelCallsParam, provider.StrictParam,
		provider.FormatNameParam, provider.FormatDescriptionParam,
	}, q.refused)
}

// fimTakes are those of completions, and talkTakes those of a conversation of agents.
func fimTakes() []string { return []string{provider.TopPParam, provider.SeedParam, provider.StopParam} }

func talkTakes() []string {
	return append(fimTakes(), provider.FrequencyPenaltyParam, provider.PresencePenaltyParam)
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
	takes, q := fimTakes(), p.quirks(req.Model)
	switch {
	case req.Completion != nil:
	case p.talks(req):
		takes = talkTakes()
	default:
		b, err := encode(wire.Bare(req), q, adaption{refused: p.refused.Of(req)})
		if err != nil {
			return nil
		}
		return wire.AboutParams(b.notes)
	}
	_, notes := wire.Keep(req, takes)
	return notes
}
