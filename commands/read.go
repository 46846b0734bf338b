package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset/builtin/readable"
)

func newRead(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:   workbench.ReadCommand,
		Usage:  "make text of a page on standard input",
		Hidden: true,
		Action: func(*cli.Context) error {
			if err := readable.Serve(rt.Streams.In, rt.Streams.Out); err != nil {
				return fault.Wrap(fault.Failed, "read a page", err)
			}
			return nil
		},
	}
}
