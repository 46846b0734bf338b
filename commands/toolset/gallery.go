package toolset

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/catalog"
)

// galleryJSON is what `toolset gallery --output json` prints.
type galleryJSON struct {
	SchemaVersion int                  `json:"schema_version"`
	Toolsets      []catalog.GallerySet `json:"toolsets"`
}

func newToolsetGallery(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "gallery",
		Usage: "list the toolsets that are part of fettle",
		Description: `They are installed without a network: fettle toolset import gallery:reviews shows
what one contains and asks, as for any other toolset. In a pipe each is a line of
name, state, numbers of tools and agents, what it reaches and description, with
tabs between.`,
		UsageText: "fettle toolset gallery\nfettle toolset import gallery:reviews",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action:    rt.Listing(runToolsetGallery),
	}
}

func runToolsetGallery(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, output string) error {
	sets, err := eng.Gallery(ctx)
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, galleryJSON{workbench.OutputVersion, sets})
	}
	style := rt.Streams.Out.Style()
	table := term.NewTable(rt.Streams.Out, term.Column{Title: "toolset"}, term.Column{Title: "state", Style: style.Dim},
		term.Column{Title: "tools", Right: true}, term.Column{Title: "agents", Right: true},
		term.Column{Title: "reaches", Cut: true}, term.Column{Title: "what it does", Cut: true, Prose: true})
	var missing string
	for _, s := range sets {
		state := "installed"
		if !s.Installed {
			state = "-"
			missing = s.Ref
		}
		reaches := strings.Join(s.Reaches, ", ")
		if reaches == "" {
			reaches = "the workspace"
		}
		table.Row(s.Ref, state, fmt.Sprint(len(s.Tools)), fmt.Sprint(len(s.Agents)), reaches, s.Description)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if missing != "" {
		rt.Hint("fettle toolset import " + missing + "   shows one and asks before it is installed")
	}
	return nil
}
