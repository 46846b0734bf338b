package commands

import (
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/demodata"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server"
)

// What the page of a demonstration has to try beside the scenes of fettle demo.
const (
	demoHaikuModel = "script/:haiku"
	demoHaiku      = "Write a haiku about undo, and count its words."
)

// suggestions are three things to try on an empty page. With a recorded model they
// are what it knows; with a real one what shows best what there is.
func (o serveOptions) suggestions() ([]server.Suggestion, error) {
	if !o.demo {
		return []server.Suggestion{
			{Title: "Write a file and change it", Message: "Write a one-page plan for a small project to plan.md, then make it half as long."},
			{Title: "Look through a file", Message: "Which files are here? Read the most interesting one and tell me what is odd in it."},
			{Title: "Make a table", Message: "Compare three ways to back up a laptop in a table: effort, cost, and how each one fails."},
		}, nil
	}
	orders, err := demodata.Files().ReadFile(demoFile)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "read the demo's file", err)
	}
	return []server.Suggestion{
		{Title: "Three agents settle a question", Message: demoFirst, Agent: demoAgent, Model: demoModel},
		{
			Title: "Find what is odd in a file", Message: demoFilesQuestion, Agent: engine.NoAgent, Model: demoFilesModel,
			Uploads: []server.SuggestedFile{{Name: demoFile, Text: string(orders)}},
		},
		{Title: "Write a file, approve a command", Message: demoHaiku, Agent: engine.NoAgent, Model: demoHaikuModel},
	}, nil
}

// effective is the configuration in force as the page shows it. Secrets have become
// words already.
func effective(cfg *config.Config) func() server.Effective {
	return func() server.Effective {
		out := server.Effective{Profile: cfg.Profile, Files: append([]string{}, cfg.Files...), Settings: []server.Setting{}}
		for _, e := range cfg.Entries() {
			one := server.Setting{Key: e.Key, Value: e.Value, Secret: e.Secret, Origin: []string{}}
			for _, origin := range e.Origins {
				one.Origin = append(one.Origin, origin.String())
			}
			out.Settings = append(out.Settings, one)
		}
		return out
	}
}
