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

// Run returns the action of a command: read makes its options of flags and arguments, and
// run carries it out.
func Run[O any](rt *Runtime, read func(*cli.Context) (O, error), run func(context.Context, *Runtime, O) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		o, err := read(c)
		if err != nil {
			return err
		}
		return run(c.Context, rt, o)
	}
}

// RunOnStore is [Run] for a command that works with the engine of the store, which is opened
// when the options have been read.
func RunOnStore[O any](rt *Runtime, read func(*cli.Context) (O, error), run func(context.Context, *Runtime, *engine.Engine, O) error) cli.ActionFunc {
	return Run(rt, read, func(ctx context.Context, rt *Runtime, o O) error {
		eng, err := rt.StoreEngine()
		if err != nil {
			return err
		}
		return run(ctx, rt, eng, o)
	})
}
