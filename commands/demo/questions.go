package demo

import (
	"github.com/fettle-cli/fettle/commands/demodata"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
)

// What a page has to try beside the scenes of fettle demo.
const (
	haikuModel = "script/:haiku"
	haiku      = "Write a haiku about undo, and count its words."
)

// Question is something that a recording can answer.
type Question struct {
	Title, Text  string
	Agent, Model string
	Uploads      []engine.Upload
}

// Questions are those that a page offers for a try.
func Questions() ([]Question, error) {
	orders, err := demodata.Files().ReadFile(ordersFile)
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "read the demo's file", err)
	}
	return []Question{
		{Title: "Three agents settle a question", Text: firstQuestion, Agent: Agent, Model: Model},
		{
			Title: "Find what is odd in a file", Text: filesQuestion, Agent: catalog.NoAgent, Model: filesModel,
			Uploads: []engine.Upload{{Name: ordersFile, Data: orders}},
		},
		{Title: "Write a file, approve a command", Text: haiku, Agent: catalog.NoAgent, Model: haikuModel},
	}, nil
}
