package agents

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// listJSON is what `agents list --output json` prints.
type listJSON struct {
	SchemaVersion int           `json:"schema_version"`
	Agents        []store.Agent `json:"agents"`
	// Unusable are agents that are described and can't be used.
	Unusable []unusableAgent `json:"unusable"`
}

// unusableAgent is an agent that can't be used, and why.
type unusableAgent struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
}

// agentJSON is what `agents show --output json` prints.
type agentJSON struct {
	SchemaVersion int `json:"schema_version"`
	store.Agent
}

// New is the command agents.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "agents",
		Usage: "see and change agents",
		Description: `Agents are prompts with tools of their own that hand a question over to each
other. fettle ask --agent ID enters by one, and a chat continues with its agent.
They come from toolsets, from the configuration (agents, see fettle help
environment), and from proposals that you accepted in a chat: set, rm and export
are for these.`,
		UsageText:   "fettle agents list",
		Subcommands: []*cli.Command{newList(rt), newShow(rt), newSet(rt), newRm(rt), newExport(rt)},
	}
}

func newList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "list",
		Usage:       "list agents",
		Description: "In a pipe each agent is a line of id, purpose, whom it hands over to and where it\nis from, with tabs between.",
		UsageText:   "fettle agents list\nfettle agents list -o json",
		Flags:       []cli.Flag{cmdline.OutputFlag()},
		Before:      cmdline.NoArguments,
		Action:      rt.Listing(runList),
	}
}

func runList(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, output string) error {
	agents, err := eng.AllAgents(ctx)
	if err != nil {
		return err
	}
	all, unusable := agents.All(), []unusableAgent{}
	for _, id := range slices.Sorted(maps.Keys(agents.Unusable())) {
		unusable = append(unusable, unusableAgent{id, agents.Unusable()[id]})
	}
	if output == "json" {
		if all == nil {
			all = []store.Agent{}
		}
		return workbench.PrintJSON(rt, listJSON{workbench.OutputVersion, all, unusable})
	}
	for _, u := range unusable {
		rt.Notice("the agent " + u.ID + " can't be used: " + u.Problem)
	}
	if len(all) == 0 {
		rt.Notice("no agents; toolsets bring them: fettle toolset import FILE")
		rt.Hint("fettle config set agents.ID.prompt TEXT   makes one")
		return nil
	}
	out := rt.Streams.Out
	columns := []term.Column{{Title: "agent"}, {Title: "purpose", Cut: true, Prose: true}, {Title: "hands over to", Style: out.Style().Dim}}
	if !out.IsTerminal() { // there its id tells, and the purpose needs the room
		columns = append(columns, term.Column{Title: "from"})
	}
	table := term.NewTable(out, columns...)
	for _, a := range all {
		row := []string{a.ID, show.OneLine(a.Purpose), strings.Join(a.Handoffs, ", "), show.OneLine(a.Source)}
		table.Row(row[:len(columns)]...)
	}
	return table.Flush()
}

func newShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show an agent with its prompt",
		ArgsUsage: "AGENT",
		UsageText: "fettle agents show interface\nfettle agents show interface -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.OneArgument("fettle agents list", "agents show wants the id of one agent"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runShow(c.Context, rt, eng, c.Args().First(), c.String("output"))
		}),
	}
}

// agentColumn is where the facts of an agent begin.
const agentColumn = 11

func runShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id, output string) error {
	agents, err := eng.AllAgents(ctx)
	if err != nil {
		return err
	}
	a, err := agents.Find(id)
	if err != nil {
		return err
	}
	if err := emptyGlobs(ctx, rt, eng, a); err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, agentJSON{workbench.OutputVersion, *a})
	}
	out := rt.Streams.Out
	out.Printf("%s\n", out.Style().Bold(a.ID))
	for _, f := range []struct{ name, value string }{
		{"name", a.Name}, {"purpose", a.Purpose}, {"model", a.Model}, {"tools", strings.Join(a.Tools, ", ")},
		{"hands to", strings.Join(a.Handoffs, ", ")}, {"history", a.History}, {"from", a.Source},
	} {
		if f.value != "" {
			for i, line := range term.Wrap(show.OneLine(f.value), max(out.Width()-agentColumn, 0)) {
				out.Printf("%-*s%s\n", agentColumn, []string{f.name, ""}[min(i, 1)], line)
			}
		}
	}
	out.WriteString("\n")
	show.ShowText(out, a.Prompt, "")
	return nil
}

// emptyGlobs says which of an agent's tools mean none that there is, as a slip
// of the pen does.
func emptyGlobs(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, a *store.Agent) error {
	tools, _, err := eng.AllTools(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for e := range tools.All() {
		ids = append(ids, e.Tool.ID)
	}
	for _, glob := range a.EmptyGlobs(tools) {
		msg := "its tools name " + glob + ", and there is none"
		if near := didyoumean.Of(glob, ids); near != "" {
			msg += "; did you mean " + near + "?"
		}
		rt.Notice(msg)
	}
	return nil
}
