package commands

import "github.com/urfave/cli/v2"

func newTool(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:        "tool",
		Usage:       "run tools without a model",
		UsageText:   "fettle tool call list_files",
		Subcommands: []*cli.Command{newToolCall(rt)},
	}
}
