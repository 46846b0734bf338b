package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
)

// toolGroupJSON are the tools that belong together.
type toolGroupJSON = catalog.ToolGroup

// toolsJSON is what `tool list --output json` prints.
type toolsJSON struct {
	SchemaVersion int             `json:"schema_version"`
	Groups        []toolGroupJSON `json:"groups"`
}

// toolShowJSON is what `tool show --output json` prints.
type toolShowJSON struct {
	SchemaVersion int                `json:"schema_version"`
	Group         string             `json:"group"` // builtin, or the toolset's or MCP server's id
	Tool          catalog.ListedTool `json:"tool"`
}

func newToolList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list tools: builtin ones, of toolsets, and of MCP servers",
		Description: `Each tool has how its calls are shown, whether it asks before a call, and
whether it is on. In a pipe each tool is a line of id, group, renderer, asks or
nothing, state and name, with tabs between.`,
		UsageText: "fettle tool list\nfettle tool list -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action:    rt.Listing(runToolList),
	}
}

func runToolList(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, output string) error {
	groups, err := eng.ToolGroups(ctx)
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, toolsJSON{workbench.OutputVersion, groups})
	}
	out := rt.Streams.Out
	if !out.IsTerminal() {
		table := term.NewTable(out, make([]term.Column, 6)...)
		for _, g := range groups {
			for _, t := range g.Tools {
				table.Row(t.ID, g.ID, rendererWord(t), asksWord(t), toolState(g, t), t.Name)
			}
		}
		return table.Flush()
	}
	for i, g := range groups {
		if i > 0 {
			out.Printf("\n")
		}
		if err := printGroup(out, g); err != nil {
			return err
		}
	}
	return nil
}

// printGroup shows a group below its name.
func printGroup(out *term.Output, g toolGroupJSON) error {
	style := out.Style()
	head := style.Bold(show.OneLine(g.Name))
	switch {
	case g.Kind == "toolset":
		head += style.Dim("  (" + g.ID + ")")
	case g.Kind == "mcp_server":
		head += style.Dim("  an MCP server")
	}
	switch {
	case g.Problem != "":
		head += "  " + style.Yellow(term.Clean(remedy.Reason(g.ID, g.Problem)))
	case !g.Enabled:
		head += "  " + style.Yellow("off")
	}
	out.Printf("%s\n", head)
	if len(g.Tools) == 0 {
		out.Printf("  %s\n", style.Dim("no tools known"))
		return nil
	}
	table := term.NewTable(out, term.Column{Title: "  tool"}, term.Column{Title: "shown as", Style: style.Dim},
		term.Column{Title: "", Style: style.Yellow}, term.Column{Title: "about", Cut: true, Style: style.Dim})
	for _, t := range g.Tools {
		marks := []string{asksWord(t)}
		if t.Service {
			marks = append(marks, "lives on")
		}
		if state := toolState(g, t); state != "on" {
			marks = append(marks, state)
		}
		about := show.FirstLine(t.Description)
		if t.Problem != "" {
			about = remedy.Reason(g.ID, t.Problem)
		}
		table.Row("  "+t.ID, rendererWord(t), strings.TrimSpace(strings.Join(marks, " ")), about)
	}
	return table.Flush()
}

func rendererWord(t catalog.ListedTool) string {
	if t.Renderer == nil {
		return ""
	}
	return t.Renderer.Type
}

func asksWord(t catalog.ListedTool) string {
	if t.RequiresConfirmation {
		return "asks"
	}
	return ""
}

// toolState says in a word whether a tool is offered.
func toolState(g toolGroupJSON, t catalog.ListedTool) string {
	switch {
	case t.Problem != "" || g.Problem != "":
		return "broken"
	case !t.Enabled || !g.Enabled:
		return "off"
	}
	return "on"
}

func newToolShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show a tool: what it takes, and how its calls are shown",
		ArgsUsage: "TOOL",
		UsageText: "fettle tool show write_file\nfettle tool show csv-tools:columns -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.OneArgument("fettle tool list", "tool show wants the id of one tool"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runToolShow(c.Context, rt, eng, c.Args().First(), c.String("output"))
		}),
	}
}

func runToolShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id, output string) error {
	groups, err := eng.ToolGroups(ctx)
	if err != nil {
		return err
	}
	g, t, err := catalog.FindTool(groups, id)
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, toolShowJSON{workbench.OutputVersion, g.ID, t})
	}
	out := rt.Streams.Out
	out.Printf("%s\n", out.Style().Bold(term.Clean(t.ID)))
	v := show.Labelled{Out: out}
	v.Text(t.Description)
	state := toolState(g, t)
	if why := t.Problem + g.Problem; why != "" {
		state += ": " + remedy.Reason(g.ID, why)
	}
	v.Line("state", state, "")
	v.Line("of", g.ID, g.Name)
	if t.Entrypoint != "" {
		v.Line("runs", t.Entrypoint, "")
	}
	v.Line("may", t.Reach.Text, "")
	if t.RequiresConfirmation {
		v.Line("asks", "before each call", "")
	}
	if t.Timeout > 0 {
		v.Line("at most", t.Timeout.String(), "")
	}
	for i, r := range t.Renderers {
		about := fmt.Sprintf("priority %d", r.Priority)
		if i > 0 {
			about += ", not used"
		}
		v.Line("shown as", r.Renderer+" "+string(r.Config), about)
	}
	printArguments(v, t.InputSchema)
	return out.Err()
}

// printArguments shows what a tool takes, an argument a line.
func printArguments(v show.Labelled, raw json.RawMessage) {
	var schema struct {
		Properties map[string]struct {
			Type        json.RawMessage `json:"type"`
			Description string          `json:"description"`
		} `json:"properties"`
		Required []string `json:"required"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return
	}
	label := "takes"
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		var kind string
		if json.Unmarshal(p.Type, &kind) != nil {
			kind = string(p.Type)
		}
		text := name
		if kind != "" {
			text += "  " + kind
		}
		if !slices.Contains(schema.Required, name) {
			text += ", may be left out"
		}
		v.Line(label, text, show.FirstLine(p.Description))
		label = ""
	}
}
