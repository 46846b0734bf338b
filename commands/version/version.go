package version

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// New makes the command version.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the version",
		UsageText: "fettle version\nfettle version -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			return Print(rt, c.String("output"))
		},
	}
}

// Print prints the version, as text or as JSON.
func Print(rt *workbench.Runtime, output string) error {
	v := rt.Build()
	if output == "json" {
		return workbench.PrintJSON(rt, v)
	}
	text := "fettle " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision + ")"
	}
	rt.Streams.Out.Printf("%s\n", text)
	return nil
}
