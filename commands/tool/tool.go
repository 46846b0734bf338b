package tool

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/workbench"
)

// New is the command tool.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "tool",
		Usage:     "see tools, switch them, and run them without a model",
		UsageText: "fettle tool list\nfettle tool call list_files",
		Subcommands: []*cli.Command{
			newToolCall(rt),
			newToolList(rt), newToolShow(rt), toolSwitch.Command(rt, false), toolSwitch.Command(rt, true), newToolRenderer(rt),
			newToolServices(rt), newToolStop(rt),
		},
	}
}
