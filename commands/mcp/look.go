package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/toolset"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// testJSON is what `mcp test --output json` prints.
type testJSON struct {
	SchemaVersion int               `json:"schema_version"`
	Server        serverJSON        `json:"server"`
	Report        *mcp.Report       `json:"report"`
	Changes       []registry.Change `json:"changes"`
	Approved      bool              `json:"approved"`
}

// testOptions are what mcp test was given.
type testOptions struct {
	id, output string
	yes        bool
}

func newTest(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "connect to a server, list what it has, and approve what changed",
		ArgsUsage: "SERVER",
		Description: `Starts the server, or reaches it, and shows its tools, resources and prompts.
Where its tools are not those that were approved, the difference is shown and you
are asked; until you have approved it, what changed is held back. --yes approves
in scripts. It exits with 8 where an approval is missing.`,
		UsageText: "fettle mcp test notes\nfettle mcp test notes --yes -o json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "approve its tools as they are now, without asking"}, cmdline.OutputFlag(),
		},
		Before: oneServer("test"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runTest(c.Context, rt, eng, testOptions{c.Args().First(), c.String("output"), c.Bool("yes")})
		}),
	}
}

// lookAt looks at a server, and shows that it takes a while.
func lookAt(ctx context.Context, rt *workbench.Runtime, eng servers, id string, approved bool) (*catalog.Looked, error) {
	status := rt.Streams.Status()
	status.Set("connecting to the MCP server " + id)
	defer status.Clear()
	return eng.LookAtMCPServer(ctx, id, approved)
}

func runTest(ctx context.Context, rt *workbench.Runtime, eng servers, o testOptions) error {
	looked, err := lookAt(ctx, rt, eng, o.id, o.yes)
	if err != nil {
		return err
	}
	approved := !looked.Waiting
	if o.output == "text" {
		printReport(rt, o.id, looked.Report)
	}
	if looked.Waiting {
		whole := true
		if o.output == "text" {
			rt.Notice("its tools are not those that were approved:")
			whole = toolChanges(show.Labelled{Out: rt.Streams.Err}, looked.Changes)
		}
		ask := toolset.Detailed{Question: "Approve these tools?", Cut: !whole, Details: func() { changeDetails(rt, looked.Changes) }}
		if approved, err = approveTools(ctx, rt, o, ask); err != nil {
			return err
		}
		if approved {
			if err := eng.ApproveMCPServer(ctx, o.id, looked.Report.Tools); err != nil {
				return err
			}
		}
	}
	if o.output == "json" {
		s, err := eng.MCPServer(ctx, o.id)
		if err != nil {
			return err
		}
		if err := workbench.PrintJSON(rt, testJSON{workbench.OutputVersion, toServerJSON(s), looked.Report, workbench.OrEmpty(looked.Changes), approved}); err != nil {
			return err
		}
	}
	if !approved {
		return fault.New(fault.Approval, "the tools of "+o.id+" that changed are held back", fault.Run("fettle mcp test "+cmdline.ShellWord(o.id)+" --yes   approves them"))
	}
	return nil
}

// approveTools asks whether the tools are approved as they are now.
func approveTools(ctx context.Context, rt *workbench.Runtime, o testOptions, ask toolset.Detailed) (bool, error) {
	if !rt.Streams.CanAsk() || o.output == "json" {
		return false, nil
	}
	return toolset.AskDetailed(ctx, rt, ask)
}

// changeDetails prints all of what changed of a server's tools.
func changeDetails(rt *workbench.Runtime, changes []registry.Change) {
	var b strings.Builder
	width := rt.PromptWidth()
	for _, c := range changes {
		show.Whole(&b, "", c.Change+" "+show.KindWords(c.Kind)+" "+c.Name, width)
		for _, f := range c.Fields {
			show.Whole(&b, "  ", f.Field+", as it was:", width)
			show.Whole(&b, "    ", f.Old, width)
			show.Whole(&b, "  ", f.Field+", as it is:", width)
			show.Whole(&b, "    ", f.New, width)
		}
	}
	rt.Streams.Err.WriteString(b.String())
}

// printReport shows what a server has.
func printReport(rt *workbench.Runtime, id string, r *mcp.Report) {
	style := rt.Streams.Out.Style()
	name := id
	if r.Name != "" {
		name += "  " + style.Dim(strings.TrimSpace(show.OneLine(r.Name)+" "+show.OneLine(r.Version))+", MCP "+show.OneLine(r.Protocol))
	}
	rt.Streams.Out.Printf("%s\n", style.Bold(name))
	v := show.Labelled{Out: rt.Streams.Out}
	for _, t := range r.Tools {
		about, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		v.Line("tool", t.ID, about)
	}
	for _, res := range r.Resources {
		v.Line("resource", show.OneLine(res.URI), show.OneLine(res.Name))
	}
	for _, p := range r.Prompts {
		v.Line("prompt", show.OneLine(p.Name), show.OneLine(p.Description))
	}
	for _, n := range r.Notes {
		v.Line("note", n, "")
	}
	if len(r.Tools)+len(r.Resources)+len(r.Prompts) == 0 {
		rt.Notice(fmt.Sprintf("the MCP server %s has nothing to offer", id))
	}
}
