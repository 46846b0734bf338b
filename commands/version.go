package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// version is set by the linker in releases.
var version = ""

type versionOptions struct{ output string }

func newVersion(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the version",
		UsageText: "fettle version\nfettle version -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			return runVersion(rt, versionOptions{c.String("output")})
		},
	}
}

func runVersion(rt *workbench.Runtime, o versionOptions) error {
	v := rt.Build()
	switch o.output {
	case "json":
		return workbench.PrintJSON(rt, v)
	case "", "text":
		text := "fettle " + v.Version
		if v.Revision != "" {
			text += " (" + v.Revision + ")"
		}
		rt.Streams.Out.Printf("%s\n", text)
		return nil
	}
	return nil
}
