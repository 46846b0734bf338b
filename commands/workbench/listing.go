package workbench

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/engine"
)

// Listing is the action of a command, of that path, which lists what the engine knows
// of and takes nothing but [cmdline.OutputFlag], whose value list gets.
func (rt *Runtime) Listing(path string, list func(ctx context.Context, rt *Runtime, eng *engine.Engine, output string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := cmdline.OnlyOutput(c, path); err != nil {
			return err
		}
		eng, err := rt.StoreEngine()
		if err != nil {
			return err
		}
		return list(c.Context, rt, eng, c.String("output"))
	}
}
