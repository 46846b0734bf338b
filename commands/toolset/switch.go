package toolset

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/gallery"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// toolsetSwitch switches toolsets.
var toolsetSwitch = workbench.Switching{
	Group: "toolset", Thing: "toolset", Arg: "TOOLSET", Example: "csv-tools",
	On: "offer a toolset's tools again", Off: "offer a toolset's tools no more, and keep it",
	One: oneToolset,
	Set: func(ctx context.Context, eng *engine.Engine, id string, on bool) (bool, error) {
		return eng.SwitchToolset(ctx, id, on)
	},
}

// toolsetRemovedJSON is what `toolset rm --output json` prints.
type toolsetRemovedJSON struct {
	SchemaVersion int      `json:"schema_version"`
	ID            string   `json:"id"`
	Version       string   `json:"version"`
	SourceRef     string   `json:"source_ref"`
	Tools         int      `json:"tools"`
	Servers       []string `json:"mcp_servers"` // that went with it
	Shared        []string `json:"shared_mcp_servers"`
	InUse         bool     `json:"in_use"`
}

func newToolsetRm(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "uninstall a toolset",
		ArgsUsage: "TOOLSET",
		Description: `Removes its tools, files and approvals, the renderers that you set for it, and
the MCP servers that no other toolset brought. Chats keep what its tools did, and
a call that runs just now goes on with its files. Importing it again brings it
back; fettle toolset export keeps a copy first.`,
		UsageText: "fettle toolset rm csv-tools --yes",
		Flags:     []cli.Flag{cmdline.YesFlag(), cmdline.OutputFlag()},
		Before:    oneToolset("rm"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runToolsetRm(c.Context, rt, eng, rmToolset{c.Args().First(), c.Bool("yes"), c.String("output")})
		}),
	}
}

type rmToolset struct {
	id     string
	yes    bool
	output string
}

func runToolsetRm(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o rmToolset) error {
	info, err := eng.InstalledToolset(ctx, o.id)
	if err != nil {
		return err
	}
	back := bringsBack(info.Toolset)
	if !o.yes {
		question := "uninstall " + setWords(&info.Toolset) + " with " + term.Count(len(info.Tools), "tool", "tools") + "?"
		if back == "" {
			question = info.Toolset.SourceRef + ", where it came from, is gone; " + question
		}
		if ok, err := rt.Sure(ctx, question, "fettle toolset rm "+cmdline.ShellWord(o.id)+" --yes"); !ok {
			return err
		}
	}
	done, err := eng.RemoveToolset(ctx, o.id)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, toolsetRemovedJSON{
			workbench.OutputVersion, o.id, done.Toolset.Version, done.Toolset.SourceRef, done.Tools, workbench.OrEmpty(done.Servers), workbench.OrEmpty(done.Shared), done.InUse,
		})
	}
	line := "uninstalled " + setWords(&done.Toolset)
	if len(done.Servers) > 0 {
		line += fmt.Sprintf(", and the MCP %s %s", plural(len(done.Servers), "server", "servers"), strings.Join(done.Servers, ", "))
	}
	rt.Notice(line)
	if len(done.Shared) > 0 {
		rt.Notice("other toolsets brought " + strings.Join(done.Shared, ", ") + " too, which " + plural(len(done.Shared), "stays", "stay"))
	}
	if done.InUse {
		rt.Notice("a call still uses its files; they are removed later")
	}
	if back != "" {
		rt.Hint(back + "   brings it back")
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// bringsBack is the command that installs a toolset again; empty where its
// source is gone.
func bringsBack(t registry.Toolset) string {
	if t.SourceType == bundle.FromArchive || t.SourceType == bundle.FromFolder {
		if _, err := os.Stat(t.SourceRef); err != nil {
			return ""
		}
	}
	return importAgain(t)
}

// importAgain is that command, whether its source is there or not.
func importAgain(t registry.Toolset) string {
	if _, ok := gallery.ID(t.SourceRef); !ok && t.SourceType == bundle.FromProgram {
		return t.SourceRef
	}
	return "fettle toolset import " + cmdline.ShellWord(t.SourceRef)
}
