package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Main runs the program and gives its exit status. args begin with the
// program's name.
func Main(ctx context.Context, args []string, streams *term.Streams) int {
	ctx, stop := withSignals(ctx)
	defer stop()
	rt := newRuntime(streams)
	app := newApp(rt)
	err := run(ctx, app, args)
	streams.Restore()
	status := report(rt, err)
	rt.finish()
	return status
}

// errSignal is the cause of a context that a signal ended.
var errSignal = errors.New("interrupted by a signal")

// withSignals ends the context at the first SIGINT, SIGTERM or SIGHUP. A
// second one acts as it does by default, so that nothing can hold a person up.
// SIGPIPE is turned into a write error: the writer knows what to do.
func withSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ignorePipe()
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(errSignal)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// run hands the arguments to cli/v2, flags first: it stops at the first
// argument that is none and would take a flag behind it for text.
func run(ctx context.Context, app *cli.App, args []string) error {
	ordered, err := reorder(app, args)
	if err != nil {
		return err
	}
	return app.RunContext(ctx, ordered)
}

func newApp(rt *runtime) *cli.App {
	app := &cli.App{
		Name:            "fettle",
		Usage:           "a workbench for any model",
		HideVersion:     true,
		HideHelpCommand: true,
		Writer:          rt.streams.Out,
		ErrWriter:       rt.streams.Err,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Usage: "print the version and end"},
			&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show this"},
		},
		HideHelp: true,
		Commands: []*cli.Command{
			newAsk(rt), newDemo(rt), newChats(rt), newVersion(rt), newHelp(rt),
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Bool("version"):
				return runVersion(rt, versionOptions{})
			case c.NArg() > 0:
				return unknownCommand(c.App.Commands, c.Args().First(), "fettle")
			}
			rt.streams.Out.Printf("%s", overview)
			return nil
		},
		ExitErrHandler: func(*cli.Context, error) {}, // Main decides
		OnUsageError:   usageError,
		CommandNotFound: func(*cli.Context, string) {
		},
	}
	prepare(app.Commands)
	return app
}

// prepare gives every command our help and our errors.
func prepare(cmds []*cli.Command) {
	for _, c := range cmds {
		c.HideHelpCommand = true
		c.OnUsageError = usageError
		c.CustomHelpTemplate = commandHelp
		if len(c.Subcommands) > 0 {
			c.CustomHelpTemplate = groupHelp
			if c.Action == nil {
				c.Action = groupAction
			}
		}
		prepare(c.Subcommands)
	}
}

// groupAction answers a command that has only subcommands.
func groupAction(c *cli.Context) error {
	if c.NArg() > 0 {
		return unknownCommand(c.Command.Subcommands, c.Args().First(), c.Command.HelpName)
	}
	return cli.ShowSubcommandHelp(c)
}

// report prints what went wrong and gives the exit status.
func report(rt *runtime, err error) int {
	if err == nil {
		return 0
	}
	var said exitError
	if errors.As(err, &said) {
		return said.status
	}
	if errors.Is(err, errSignal) || errors.Is(err, context.Canceled) {
		return fault.Interrupted.Exit()
	}
	var f *fault.Fault
	if !errors.As(err, &f) {
		f = fault.Wrap(fault.Failed, "fettle", err)
		f.Msg = err.Error()
	}
	printFault(rt, f)
	return f.Code.Exit()
}

// exitError ends the program with a status when all there is to say has been
// said.
type exitError struct{ status int }

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", e.status) }

// exitClosedPipe is what a shell reports of a program whose reader went away.
const exitClosedPipe = 128 + 13
