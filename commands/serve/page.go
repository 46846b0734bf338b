package serve

import (
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/demo"
	"github.com/fettle-cli/fettle/server"
)

// suggestions are three things to try on an empty page. With a recorded model they
// are what it knows; with a real one what shows best what there is.
func (o options) suggestions() ([]server.Suggestion, error) {
	if !o.demo {
		return []server.Suggestion{
			{Title: "Write a file and change it", Message: "Write a one-page plan for a small project to plan.md, then make it half as long."},
			{Title: "Look through a file", Message: "Which files are here? Read the most interesting one and tell me what is odd in it."},
			{Title: "Make a table", Message: "Compare three ways to back up a laptop in a table: effort, cost, and how each one fails."},
		}, nil
	}
	questions, err := demo.Questions()
	if err != nil {
		return nil, err
	}
	var out []server.Suggestion
	for _, q := range questions {
		one := server.Suggestion{Title: q.Title, Message: q.Text, Agent: q.Agent, Model: q.Model}
		for _, up := range q.Uploads {
			one.Uploads = append(one.Uploads, server.SuggestedFile{Name: up.Name, Text: string(up.Data)})
		}
		out = append(out, one)
	}
	return out, nil
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
