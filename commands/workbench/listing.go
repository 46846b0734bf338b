package workbench

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/engine"
)

// WithStore returns the action of a command that works with the engine of the store, which
// it opens.
func (rt *Runtime) WithStore(run func(c *cli.Context, eng *engine.Engine) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		eng, err := rt.StoreEngine()
		if err != nil {
			return err
		}
		return run(c, eng)
	}
}

// Listing returns the action of a command that lists what the engine has, in the form that
// the flag output asks for.
func (rt *Runtime) Listing(list func(ctx context.Context, rt *Runtime, eng *engine.Engine, output string) error) cli.ActionFunc {
	return rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
		return list(c.Context, rt, eng, c.String("output"))
	})
}
