package toolset

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/toolset/author"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// New is the command toolset.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "toolset",
		Usage: "install sets of tools, keep them in order, and make them",
		Description: `A toolset is a bundle of tools, renderers, agents and MCP servers: a ZIP, a
tar.gz, a folder or an https address, made for fettle; or an MCP bundle (.mcpb);
or a folder with a SKILL.md; or one of the gallery that is part of fettle. It can do what you approved when it was imported,
and nothing else.`,
		UsageText:   "fettle toolset gallery\nfettle toolset import csv-tools.zip --yes\nfettle toolset list\nfettle toolset show csv-tools",
		Subcommands: append(author.Commands(rt), installedToolsets(rt)...),
	}
}

// installedToolsets are the commands on toolsets that are, or will be,
// installed.
func installedToolsets(rt *workbench.Runtime) []*cli.Command {
	return []*cli.Command{
		newToolsetGallery(rt), newToolsetImport(rt), newToolsetUpdate(rt), newToolsetList(rt), newToolsetShow(rt), newToolsetExport(rt),
		toolsetSwitch.Command(rt, false), toolsetSwitch.Command(rt, true), newToolsetTrust(rt), newToolsetRm(rt),
	}
}

// oneToolset refuses other arguments of the command word than the id of one toolset.
func oneToolset(word string) cli.BeforeFunc {
	return cmdline.OneArgument("fettle toolset list", "toolset %s wants the id of one toolset", word)
}
