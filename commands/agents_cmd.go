package commands

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
)

// agentsJSON is what `agents list --output json` prints.
type agentsJSON struct {
	SchemaVersion int            `json:"schema_version"`
	Agents        []engine.Agent `json:"agents"`
}

// agentJSON is what `agents show --output json` prints.
type agentJSON struct {
	SchemaVersion int `json:"schema_version"`
	engine.Agent
}

func newAgents(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:  "agents",
		Usage: "see the agents that toolsets bring",
		Description: `Agents are prompts with tools of their own that hand a question over to each
other. fettle ask --agent ID enters by one; a chat goes on with its agent.`,
		UsageText:   "fettle agents list",
		Subcommands: []*cli.Command{newAgentsList(rt), newAgentsShow(rt)},
	}
}

func newAgentsList(rt *runtime) *cli.Command {
	const path = "fettle agents list"
	return &cli.Command{
		Name:        "list",
		Usage:       "list agents",
		Description: "In a pipe each agent is a line of id, purpose and whom it hands over to, with tabs\nbetween.",
		UsageText:   "fettle agents list\nfettle agents list -o json",
		Flags:       []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			if err := noArguments(c, path); err != nil {
				return err
			}
			if err := checkOutput(c.String("output"), path); err != nil {
				return err
			}
			return runAgentsList(c.Context, rt, c.String("output"))
		},
	}
}

func runAgentsList(ctx context.Context, rt *runtime, output string) error {
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	agents, err := eng.AllAgents(ctx)
	if err != nil {
		return err
	}
	all := agents.All()
	if output == "json" {
		if all == nil {
			all = []engine.Agent{}
		}
		return printJSON(rt, agentsJSON{outputVersion, all})
	}
	if len(all) == 0 {
		rt.notice("no agents; toolsets bring them: fettle toolset import FILE")
		return nil
	}
	out := rt.streams.Out
	table := term.NewTable(out, term.Column{Title: "agent"}, term.Column{Title: "purpose", Cut: true},
		term.Column{Title: "hands over to", Style: out.Style().Dim})
	for _, a := range all {
		table.Row(a.ID, oneLine(a.Purpose), strings.Join(a.Handoffs, ", "))
	}
	return table.Flush()
}

func newAgentsShow(rt *runtime) *cli.Command {
	const path = "fettle agents show"
	return &cli.Command{
		Name:      "show",
		Usage:     "show an agent with its prompt",
		ArgsUsage: "AGENT",
		UsageText: "fettle agents show interface",
		Flags:     []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usagef("fettle agents list", "agents show wants the id of one agent")
			}
			if err := checkOutput(c.String("output"), path); err != nil {
				return err
			}
			return runAgentsShow(c.Context, rt, c.Args().First(), c.String("output"))
		},
	}
}

func runAgentsShow(ctx context.Context, rt *runtime, id, output string) error {
	eng, err := rt.storeEngine()
	if err != nil {
		return err
	}
	agents, err := eng.AllAgents(ctx)
	if err != nil {
		return err
	}
	a, err := agents.Find(id)
	if err != nil {
		return err
	}
	if output == "json" {
		return printJSON(rt, agentJSON{outputVersion, *a})
	}
	out := rt.streams.Out
	out.Printf("%s\n", out.Style().Bold(a.ID))
	for _, f := range []struct{ name, value string }{
		{"name", a.Name}, {"purpose", a.Purpose}, {"model", a.Model}, {"tools", strings.Join(a.Tools, ", ")},
		{"hands to", strings.Join(a.Handoffs, ", ")}, {"history", a.History},
	} {
		if f.value != "" {
			out.Printf("%-10s %s\n", f.name, oneLine(f.value))
		}
	}
	out.WriteString("\n")
	showText(out, a.Prompt, "")
	return nil
}
