package commands

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/acp"
	"github.com/fettle-cli/fettle/commands/agents"
	"github.com/fettle-cli/fettle/commands/ask"
	"github.com/fettle-cli/fettle/commands/chat"
	"github.com/fettle-cli/fettle/commands/chats"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/completion"
	"github.com/fettle-cli/fettle/commands/demo"
	"github.com/fettle-cli/fettle/commands/docs"
	"github.com/fettle-cli/fettle/commands/doctor"
	"github.com/fettle-cli/fettle/commands/embed"
	"github.com/fettle-cli/fettle/commands/help"
	"github.com/fettle-cli/fettle/commands/keys"
	"github.com/fettle-cli/fettle/commands/man"
	"github.com/fettle-cli/fettle/commands/mcp"
	"github.com/fettle-cli/fettle/commands/models"
	"github.com/fettle-cli/fettle/commands/payloads"
	"github.com/fettle-cli/fettle/commands/prompts"
	"github.com/fettle-cli/fettle/commands/serve"
	"github.com/fettle-cli/fettle/commands/settings"
	"github.com/fettle-cli/fettle/commands/store"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/tool"
	"github.com/fettle-cli/fettle/commands/toolset"
	"github.com/fettle-cli/fettle/commands/trust"
	"github.com/fettle-cli/fettle/commands/undo"
	"github.com/fettle-cli/fettle/commands/usage"
	versioncmd "github.com/fettle-cli/fettle/commands/version"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/commands/workflows"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
)

// version is set by the linker in releases.
var version = ""

// Main runs the program and gives its exit status. args begin with the
// program's name.
func Main(ctx context.Context, args []string, streams *term.Streams) int {
	ctx, stop := withSignals(ctx)
	defer stop()
	ctx = engine.WithTraceParent(ctx, os.Getenv(workbench.TraceParentEnv))
	rt := workbench.New(streams)
	rt.Release = version
	app := newApp(rt)
	err := run(ctx, rt, app, args)
	// What a command printed is no result if it didn't arrive. Where a signal
	// has ended it, that is said instead: a closed terminal takes no output.
	signalled := err != nil && errors.Is(context.Cause(ctx), workbench.ErrSignal)
	if lost := streams.Out.Err(); lost != nil && !signalled {
		err = outputTrouble(lost)
	}
	streams.Restore()
	status := report(rt, err)
	rt.Finish()
	return status
}

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
			cancel(workbench.ErrSignal)
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
func run(ctx context.Context, rt *workbench.Runtime, app *cli.App, args []string) error {
	o := cmdline.Reorder(app, args)
	rt.JSONErrors = o.WantsJSON()
	switch {
	case o.Help && o.Command == nil:
		rt.Streams.Out.Printf("%s", help.Overview)
		return nil
	case o.Help:
		help.Print(rt, o.Command, o.Path)
		return nil
	case o.Unknown != "":
		return cmdline.UnknownFlag(app, o)
	case o.Missing != "":
		return cmdline.Usagef(o.Path+" --help", "the flag %s needs a value", o.Missing)
	}
	return app.RunContext(ctx, o.Args)
}

// within runs a command line in a program that runs already, as chat does.
func within(ctx context.Context, rt *workbench.Runtime, args []string) error {
	return run(ctx, rt, newApp(rt), args)
}

func newApp(rt *workbench.Runtime) *cli.App {
	app := &cli.App{
		Name:            "fettle",
		Usage:           "a workbench for any model",
		HideVersion:     true,
		HideHelpCommand: true,
		Writer:          rt.Streams.Out,
		ErrWriter:       rt.Streams.Err,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Usage: "print the version and end"},
		},
		HideHelp: true,
		Commands: []*cli.Command{
			// As fettle help lists them: what is used daily first.
			ask.New(rt), chat.New(rt, within), demo.New(rt), serve.New(rt), acp.New(rt), chats.New(rt), undo.New(rt), undo.NewRedo(rt), workspace.New(rt),
			tool.New(rt), toolset.New(rt), mcp.New(rt), agents.New(rt), workflows.New(rt), payloads.New(rt), docs.New(rt), embed.New(rt), models.New(rt), prompts.New(rt), usage.New(rt),
			settings.New(rt), keys.New(rt), trust.New(rt),
			doctor.New(rt), store.New(rt), completion.New(rt), completion.NewComplete(rt), newRead(rt), man.New(rt),
			versioncmd.New(rt), help.New(rt),
		},
		Action: func(c *cli.Context) error {
			switch {
			case c.Bool("version"):
				return versioncmd.Print(rt, "text")
			case c.NArg() > 0:
				return cmdline.UnknownCommand(c.App.Commands, c.Args().Slice(), "fettle")
			}
			rt.Streams.Out.Printf("%s", help.Overview)
			return nil
		},
		ExitErrHandler: func(*cli.Context, error) {}, // Main decides
		OnUsageError:   cmdline.UsageError,
		CommandNotFound: func(*cli.Context, string) {
		},
	}
	prepare(rt, app.Commands, "fettle")
	return app
}

// prepare gives every command our errors, and our help instead of cli/v2's.
func prepare(rt *workbench.Runtime, cmds []*cli.Command, path string) {
	for _, c := range cmds {
		c.HideHelp, c.HideHelpCommand = true, true
		c.OnUsageError = cmdline.UsageError
		if c.Action == nil {
			c.Action = func(ctx *cli.Context) error {
				if ctx.NArg() > 0 {
					return cmdline.UnknownCommand(c.Subcommands, ctx.Args().Slice(), path+" "+c.Name)
				}
				help.Print(rt, c, path+" "+c.Name)
				return nil
			}
		}
		prepare(rt, c.Subcommands, path+" "+c.Name)
	}
}

// report prints what went wrong and gives the exit status.
func report(rt *workbench.Runtime, err error) int {
	if err == nil {
		return 0
	}
	var said workbench.ExitError
	if errors.As(err, &said) {
		return said.Status
	}
	if errors.Is(err, workbench.ErrSignal) || errors.Is(err, context.Canceled) {
		return fault.Interrupted.Exit()
	}
	var f *fault.Fault
	if !errors.As(err, &f) {
		f = fault.Wrap(fault.Failed, "fettle", err)
		f.Msg = err.Error()
	}
	workbench.PrintFault(rt, f)
	return f.Code.Exit()
}

// outputTrouble is what a write to standard output that failed means: a reader
// that went away is no reason to say anything.
func outputTrouble(err error) error {
	if term.ClosedPipe(err) {
		return workbench.ExitError{Status: workbench.ExitClosedPipe}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err // the file's name is one that we made up
	}
	return fault.Wrap(fault.Failed, "write to standard output", err)
}
