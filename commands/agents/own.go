package agents

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
)

// The commands here are about the agents that the user made by accepting a proposal.

func newSet(rt *workbench.Runtime) *cli.Command {
	const path = "fettle agents set"
	return &cli.Command{
		Name:      "set",
		Usage:     "change a field of an agent that you made",
		ArgsUsage: "AGENT FIELD [VALUE]…",
		Description: `FIELD is name, purpose, prompt, model, tools, handoffs or history. tools and
handoffs take several values, or none. Agents that you made are those that you
accepted in a chat; those of the configuration are changed by fettle config set.`,
		UsageText: "fettle agents set planner prompt \"You plan trips.\"\nfettle agents set planner tools read_file web_search",
		Action: func(c *cli.Context) error {
			if c.NArg() < 2 {
				return cmdline.Usagef(path+" AGENT FIELD VALUE", "agents set wants an agent and one of its fields")
			}
			fields, err := fieldsOf(c.Args().Get(1), c.Args().Slice()[2:])
			if err != nil {
				return err
			}
			eng, err := rt.StoreEngine()
			if err != nil {
				return err
			}
			return withList(eng.SetAgent(c.Context, c.Args().First(), fields))
		},
	}
}

// fieldsOf returns one field with its value.
func fieldsOf(name string, values []string) (f catalog.AgentFields, err error) {
	text, list := f.Text(name), f.List(name)
	switch {
	case list != nil:
		*list = &values
	case text == nil:
		return f, cmdline.Usagef("fettle agents set AGENT prompt TEXT", "an agent has no field %s; it has %s", name, strings.Join(catalog.AgentFieldNames(), ", "))
	case len(values) != 1:
		return f, cmdline.Usagef("fettle agents set AGENT "+name+" TEXT", "%s is one text", name)
	default:
		*text = &values[0]
	}
	return f, nil
}

func newRm(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove an agent that you made",
		ArgsUsage: "AGENT",
		Description: `Chats keep what it said. One that continues with it has to be asked with another
agent, or with --agent none.`,
		UsageText: "fettle agents rm reviewer --yes",
		Flags:     []cli.Flag{cmdline.YesFlag()},
		Before:    cmdline.OneArgument("fettle agents list", "agents rm wants the id of one agent"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runRm(c.Context, rt, eng, c.Args().First(), c.Bool("yes"))
		}),
	}
}

func runRm(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id string, yes bool) error {
	if !yes {
		if ok, err := rt.Sure(ctx, "remove the agent "+id+"?", "fettle agents rm "+cmdline.ShellWord(id)+" --yes"); !ok {
			return err
		}
	}
	return withList(eng.RemoveAgent(ctx, id))
}

// withList adds to the error of an agent that is not found where the agents are listed.
func withList(err error) error {
	var f *fault.Fault
	if fault.CodeOf(err) != fault.NotFound || !errors.As(err, &f) {
		return err
	}
	out := *f
	out.Hints = append(slices.Clone(f.Hints), "fettle agents list")
	return &out
}

func newExport(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "print an agent as a configuration has it",
		ArgsUsage: "AGENT",
		Description: `The text can be a part of a configuration file, here or elsewhere. Agents of
toolsets are exported with their toolset.`,
		UsageText: "fettle agents export planner",
		Before:    cmdline.OneArgument("fettle agents list", "agents export wants the id of one agent"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runExport(c.Context, rt, eng, c.Args().First())
		}),
	}
}

func runExport(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id string) error {
	all, err := eng.AllAgents(ctx)
	if err != nil {
		return err
	}
	a, err := all.Find(id)
	if err != nil {
		return err
	}
	if a.ToolsetID != "" {
		return fault.New(fault.Usage, "the agent "+a.ID+" is a part of its toolset", "fettle toolset export "+cmdline.ShellWord(a.ToolsetID)+" FILE")
	}
	text, err := catalog.AgentConfiguration(a)
	if err != nil {
		return err
	}
	rt.Streams.Out.WriteString(text)
	return nil
}
