package commands

import "github.com/urfave/cli/v2"

func newToolset(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:        "toolset",
		Usage:       "make toolsets and judge them",
		UsageText:   "fettle toolset init text-tools\nfettle toolset validate my-tools",
		Subcommands: toolsetAuthorCommands(rt),
	}
}
