package openai

import (
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var _ provider.Announcer = (*Provider)(nil)

// takes returns the names of the parameters that an API takes, without those that the model
// has refused. OpenAI's own addresses refuse members that they do not know; of others it is
// tried.
func takes(api string, q quirks) []string {
	all := []string{
		provider.TopPParam, provider.ParallelCallsParam, provider.VerbosityParam, provider.ServiceTierParam,
		provider.UserParam, provider.SafetyIDParam, provider.CacheKeyParam,
		provider.FormatNameParam, provider.FormatDescriptionParam, provider.StrictParam,
	}
	if api == APIChat {
		all = append(all, provider.SeedParam, provider.StopParam, provider.FrequencyPenaltyParam,
			provider.PresencePenaltyParam, provider.LogitBiasParam)
		if !q.alternate { // which joins the messages of several participants
			all = append(all, provider.NameParam)
		}
		if !q.vendor {
			all = append(all, provider.TopKParam, provider.MinPParam)
		}
	}
	return wire.Except(all, q.refused)
}

// completionTakes are those of completions.
func completionTakes(q quirks) []string {
	all := []string{
		provider.TopPParam, provider.SeedParam, provider.StopParam, provider.FrequencyPenaltyParam,
		provider.PresencePenaltyParam, provider.LogitBiasParam, provider.UserParam,
	}
	if !q.vendor {
		all = append(all, provider.TopKParam, provider.MinPParam)
	}
	return wire.Except(all, q.refused)
}

// onWire is the name of a parameter in both APIs.
func onWire(param string) string {
	switch param {
	case provider.StrictParam:
		return "strict"
	case provider.NameParam:
		return "name"
	case provider.FormatNameParam, provider.FormatDescriptionParam:
		return param
	}
	return param
}

// Notes returns the footnotes about the parameters of a request; see [provider.Announcer].
func (p *Provider) Notes(req *provider.Request) []provider.Note {
	q := p.quirks(req.Model)
	if req.Completion != nil {
		_, notes := wire.Keep(req, completionTakes(q))
		return notes
	}
	b, err := encode(wire.Bare(req), p.api(req.Model, q), q, adaption{refused: p.refused.Of(req)})
	if err != nil {
		return nil
	}
	return wire.AboutParams(b.notes)
}
