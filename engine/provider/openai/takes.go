package openai

import (
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// responsesTakes returns the names of the parameters that the Responses API takes, without
// those that the model has refused.
func responsesTakes(q chatcompletions.Quirks) []string {
	return wire.Except([]string{
		provider.TopPParam, provider.ParallelCallsParam, provider.VerbosityParam, provider.ServiceTierParam,
		provider.UserParam, provider.SafetyIDParam, provider.CacheKeyParam,
		provider.FormatNameParam, provider.FormatDescriptionParam, provider.StrictParam,
	}, q.Refused)
}

// chatTakes are those of chat completions. OpenAI's own addresses refuse members that they do
// not know; of others it is tried.
func chatTakes(q chatcompletions.Quirks) []string {
	all := append(responsesTakes(q), provider.SeedParam, provider.StopParam, provider.FrequencyPenaltyParam,
		provider.PresencePenaltyParam, provider.LogitBiasParam)
	if !q.Alternate { // which joins the messages of several participants
		all = append(all, provider.NameParam)
	}
	if !q.Vendor {
		all = append(all, provider.TopKParam, provider.MinPParam)
	}
	return wire.Except(all, q.Refused)
}

// completionTakes are those of completions.
func completionTakes(q chatcompletions.Quirks) []string {
	all := []string{
		provider.TopPParam, provider.SeedParam, provider.StopParam, provider.FrequencyPenaltyParam,
		provider.PresencePenaltyParam, provider.LogitBiasParam, provider.UserParam,
	}
	if !q.Vendor {
		all = append(all, provider.TopKParam, provider.MinPParam)
	}
	return wire.Except(all, q.Refused)
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
