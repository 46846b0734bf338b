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
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
)

// Main runs the program and gives its exit status. args begin with the
// program's name.
func Main(ctx context.Context, args []string, streams *term.Streams) int {
	ctx, stop := withSignals(ctx)
	defer stop()
	ctx = engine.WithTraceParent(ctx, os.Getenv(traceParentEnv))
	rt := newRuntime(streams)
	app := newApp(rt)
	err := run(ctx, rt, app, args)
	// What a command printed is no result if it didn't arrive. Where a signal
	// has ended it, that is said instead: a closed terminal takes no output.
	signalled := err != nil && errors.Is(context.Cause(ctx), errSignal)
	if lost := streams.Out.Err(); lost != nil && !signalled {
		err = outputTrouble(lost)
	}
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
func run(ctx context.Context, rt *runtime, app *cli.App, args []string) error {
	o := reorder(app, args)
	rt.jsonErrors = o.wantsJSON()
	switch {
	case o.help && o.command == nil:
		rt.streams.Out.Printf("%s", overview)
		return nil
	case o.help:
		printHelp(rt, o.command, o.path)
		return nil
	case o.unknown != "":
		return unknownFlag(app, o)
	case o.missing != "":
		return usagef(o.path+" --help", "the flag %s needs a value", o.missing)
	}
	return app.RunContext(ctx, o.args)
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
		},
		HideHelp: true,
		Commands: []*cli.Command{
			// As fettle help lists them: what is used daily first.
			newAsk(rt), newChat(rt), newDemo(rt), newServe(rt), newACP(rt), newChats(rt), newUndo(rt), newRedo(rt), newWorkspace(rt),
			newTool(rt), newToolset(rt), newMCP(rt), newAgents(rt), newWorkflows(rt), newPayloads(rt), newDocs(rt), newModels(rt), newPrompts(rt), newUsage(rt),
			newConfig(rt), newKeys(rt), newTrust(rt),
			newDoctor(rt), newStore(rt), newCompletion(rt), newComplete(rt), newRead(rt), newMan(rt),
			newVersion(rt), newHelp(rt),
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Bool("version"):
				return runVersion(rt, versionOptions{})
			case c.NArg() > 0:
				return unknownCommand(c.App.Commands, c.Args().Slice(), "fettle")
			}
			rt.streams.Out.Printf("%s", overview)
			return nil
		},
		ExitErrHandler: func(*cli.Context, error) {}, // Main decides
		OnUsageError:   usageError,
		CommandNotFound: func(*cli.Context, string) {
		},
	}
	prepare(rt, app.Commands, "fettle")
	return app
}

// prepare gives every command our errors, and our help instead of cli/v2's.
func prepare(rt *runtime, cmds []*cli.Command, path string) {
	for _, c := range cmds {
		c.HideHelp, c.HideHelpCommand = true, true
		c.OnUsageError = usageError
		if c.Action == nil {
			c.Action = func(ctx *cli.Context) error {
				if ctx.NArg() > 0 {
					return unknownCommand(c.Subcommands, ctx.Args().Slice(), path+" "+c.Name)
				}
				printHelp(rt, c, path+" "+c.Name)
				return nil
			}
		}
		prepare(rt, c.Subcommands, path+" "+c.Name)
	}
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
