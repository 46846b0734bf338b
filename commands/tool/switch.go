package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// toolSwitch switches tools.
var toolSwitch = workbench.Switching{
	Group: "tool", Thing: "tool", Arg: "TOOL", Example: "write_file",
	On: "offer a tool to models again", Off: "offer a tool to models no more",
	One: func(word string) cli.BeforeFunc {
		return cmdline.OneArgument("fettle tool list", "tool %s wants the id of one tool", word)
	},
	Set: func(ctx context.Context, eng *engine.Engine, id string, on bool) (bool, error) {
		return eng.SwitchTool(ctx, id, on)
	},
}

// rendererJSON is what `tool renderer` prints with --output json.
type rendererJSON struct {
	SchemaVersion int               `json:"schema_version"`
	ToolID        string            `json:"tool_id"`
	Priority      int               `json:"priority"`
	Renderer      *toolset.Renderer `json:"renderer"` // null where it was removed
}

// yourPriority is that of a renderer of the user's which names none: above the
// toolset's own, with room on both sides.
const yourPriority = 10

func newToolRenderer(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "renderer",
		Usage: "choose how a tool's calls are shown",
		Description: `Of several renderers for a tool the one with the highest priority counts; a
toolset's own has 0.`,
		UsageText:   "fettle tool renderer set write_file document --show-file '$args.path'\nfettle tool renderer rm write_file",
		Subcommands: []*cli.Command{newToolRendererSet(rt), newToolRendererRm(rt)},
	}
}

func priorityFlag() cli.Flag {
	return &cli.IntFlag{Name: "priority", Value: yourPriority, Usage: "the renderer of priority `N`; the highest counts"}
}

func newToolRendererSet(rt *workbench.Runtime) *cli.Command {
	const path = "fettle tool renderer set"
	return &cli.Command{
		Name:      "set",
		Usage:     "show a tool's calls in another way",
		ArgsUsage: "TOOL TYPE",
		Description: `TYPE is code, document, html, table or frame. Values may hold $args.NAME, $return.PATH,
$chat_id, $workspace and $toolset. code and document want a file or a content,
html an artifact of the toolset, frame a url.`,
		UsageText: "fettle tool renderer set write_file document --show-file '$args.path'\n" +
			"fettle tool renderer set read_file code --content '$return.content'",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "show-file", Usage: "show the workspace's file that `EXPR` names"},
			&cli.StringFlag{Name: "content", Usage: "show the text of `EXPR`"},
			&cli.StringFlag{Name: "language", Usage: "the text is in `LANGUAGE`, such as python, or auto"},
			&cli.BoolFlag{Name: "editable", Usage: "it can be edited where it is shown"},
			&cli.StringFlag{Name: "artifact", Usage: "show the page `PATH` of the toolset"},
			&cli.StringFlag{Name: "data", Usage: "give the page `EXPR`, or JSON that holds some"},
			&cli.StringFlag{Name: "url", Usage: "show the address `EXPR` in a frame"},
			priorityFlag(), cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 2 {
				return cmdline.Usagef(path+" write_file document --show-file '$args.path'", "tool renderer set wants a tool and a type")
			}
			r, err := readRenderer(c)
			if err != nil {
				return err
			}
			eng, err := rt.StoreEngine()
			if err != nil {
				return err
			}
			return runRendererSet(c.Context, rt, eng, rendererJSON{workbench.OutputVersion, c.Args().First(), c.Int("priority"), &r}, c.String("output"))
		},
	}
}

// readRenderer makes the renderer of the flags, and holds it to the rules of a
// manifest.
func readRenderer(c *cli.Context) (toolset.Renderer, error) {
	r := toolset.Renderer{
		Type: c.Args().Get(1), File: c.String("show-file"), Content: c.String("content"), Language: c.String("language"),
		Editable: c.Bool("editable"), Artifact: c.String("artifact"), URL: c.String("url"),
	}
	if data := c.String("data"); data != "" {
		r.Data = json.RawMessage(data)
		if !json.Valid(r.Data) {
			r.Data, _ = json.Marshal(data) // a text can't fail
		}
	}
	text, err := manifest.Marshal(&manifest.Manifest{
		ManifestVersion: manifest.Version, ID: "renderer", Name: "renderer", Version: "1.0.0", Description: "renderer",
		Tools: []manifest.Tool{{ID: "tool", Description: "tool", Entrypoint: "tools.tool:run", InputSchema: json.RawMessage(`{"type":"object"}`), Renderer: &r}},
	})
	if err != nil {
		return r, cmdline.Usagef("fettle tool renderer set --help", "%s", err)
	}
	for _, p := range manifest.Parse("renderer", text, manifest.Options{}).Problems {
		if p.Level == manifest.LevelError {
			return r, cmdline.Usagef("fettle tool renderer set --help", "a renderer %s can't be so: %s", strconv.Quote(r.Type), p.Message)
		}
	}
	return r, nil
}

func runRendererSet(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o rendererJSON, output string) error {
	if err := eng.SetToolRenderer(ctx, o.ToolID, *o.Renderer, o.Priority); err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, o)
	}
	rt.Notice(fmt.Sprintf("calls of %s are shown as %s, priority %d", o.ToolID, o.Renderer.Type, o.Priority))
	back := "fettle tool renderer rm " + cmdline.ShellWord(o.ToolID)
	if o.Priority != yourPriority {
		back += fmt.Sprintf(" --priority %d", o.Priority)
	}
	rt.Hint(back + "   takes that back")
	return nil
}

func newToolRendererRm(rt *workbench.Runtime) *cli.Command {
	const path = "fettle tool renderer rm"
	return &cli.Command{
		Name:      "rm",
		Usage:     "show a tool's calls as before",
		ArgsUsage: "TOOL",
		UsageText: "fettle tool renderer set write_file code --show-file '$args.path'\nfettle tool renderer rm write_file",
		Flags:     []cli.Flag{priorityFlag(), cmdline.OutputFlag()},
		Before:    cmdline.OneArgument(path+" write_file", "tool renderer rm wants one tool"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			id := c.Args().First()
			if err := eng.RemoveToolRenderer(c.Context, id, c.Int("priority")); err != nil {
				return err
			}
			if c.String("output") == "json" {
				return workbench.PrintJSON(rt, rendererJSON{workbench.OutputVersion, id, c.Int("priority"), nil})
			}
			rt.Notice("removed the renderer of " + id + " that you set")
			return nil
		}),
	}
}
