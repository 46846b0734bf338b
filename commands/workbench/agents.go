package workbench

import (
	"maps"
	"slices"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// configuredAgents are the agents that the configuration describes.
func configuredAgents(cfg *config.Config) (*catalog.Agents, error) {
	var all []store.Agent
	for _, id := range slices.Sorted(maps.Keys(cfg.Agents)) {
		a := cfg.Agents[id]
		made := store.Agent{
			ID: a.ID, Name: a.Name, Purpose: a.Purpose, Prompt: a.Prompt, Model: a.Model, Tools: a.Tools,
			Handoffs: a.Handoffs, History: a.History, Source: a.Place.String(),
		}
		if a.Answers != provider.Unknown {
			answers := a.Answers == provider.Yes
			made.Answers = &answers
		}
		all = append(all, made)
	}
	agents, err := catalog.UncheckedAgents(all...)
	if err != nil {
		return nil, fault.Wrap(fault.Config, "read the agents", err, "fettle config edit")
	}
	return agents, nil
}
