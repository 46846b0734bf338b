package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/tool"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
)

// options are the flags of `workflows start` and `act`, as values.
type options struct {
	name, input string
	named       []string
	action      string
	workspace   string
	model       string
	allow       []string
	yes         bool
	contained   bool
	timeout     time.Duration
	output      string
	quiet       bool
	verbose     bool
}

// runFlags are those that start and act share.
func runFlags(rt *workbench.Runtime) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "let agents ask the model `PROVIDER/NAME`, unless they have their own"},
		rt.InProfile(""),
		cmdline.ListFlag("allow", "", "", "run calls that match `RULE` without asking; may be repeated"),
		&cli.BoolFlag{Name: "yes", Usage: "run every call without asking"},
		&cli.BoolFlag{Name: "require-sandbox", Usage: "run no tool of a toolset that can't be contained in full"},
		&cli.DurationFlag{Name: "timeout", Usage: "stop after `TIME`, such as 90s or 5m"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "print `FORMAT` text, json (the instance) or events (a line of JSON each)"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but what agents answer and errors, and ask nothing"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "show steps and calls also where standard error is no terminal"},
	}
}

func read(c *cli.Context, path string) (options, error) {
	o := options{
		model: c.String("model"), allow: cmdline.ListOf(c, "allow"), yes: c.Bool("yes"), contained: c.Bool("require-sandbox"),
		timeout: c.Duration("timeout"), output: c.String("output"), quiet: c.Bool("quiet"), verbose: c.Bool("verbose"),
	}
	switch {
	case c.IsSet("model") && o.model == "":
		return o, cmdline.Usagef(path+" --help", "--model is empty")
	case c.IsSet("timeout") && o.timeout <= 0:
		return o, cmdline.Usagef(path+" --timeout 90s …", "--timeout wants a time above 0")
	case o.output != "text" && o.output != "json" && o.output != "events":
		return o, cmdline.Usagef(path+" -o json …", "--output has no format %s: there are text, json and events", strconv.Quote(o.output))
	}
	return o, nil
}

func newStart(rt *workbench.Runtime) *cli.Command {
	const path = "fettle workflows start"
	return &cli.Command{
		Name:      "start",
		Usage:     "start a workflow",
		ArgsUsage: "WORKFLOW [INPUT]",
		Description: `INPUT is a JSON object; - reads it from standard input. What its agents answer goes
to standard output. It runs until its end or a checkpoint; fettle workflows show
last says what the steps gave.`,
		UsageText: `cat input.json | fettle workflows start vendor_finder -
fettle workflows start vendor_finder -a category=movers -a location=Portland
fettle workflows show last -o json`,
		Flags: append([]cli.Flag{
			cmdline.ListFlag("arg", "a", "", "give the input `NAME=VALUE`: a text, or JSON where the workflow wants no text; may be repeated"),
			&cli.StringFlag{Name: "workspace", Aliases: []string{"w"}, Usage: "let its tools work in folder `DIR` instead of one of its own; changes ask first"},
		}, runFlags(rt)...),
		Action: func(c *cli.Context) error {
			o, err := read(c, path)
			if err != nil {
				return err
			}
			o.name, o.input, o.named = c.Args().Get(0), c.Args().Get(1), cmdline.ListOf(c, "arg")
			switch {
			case c.NArg() == 0:
				return cmdline.Usagef("fettle workflows list", "workflows start wants the workflow to start")
			case c.NArg() > 2:
				return cmdline.Usagef(path+` WORKFLOW '{"name": "value"}'`, "workflows start takes a workflow and its input as one JSON object; quote it")
			case o.input != "" && len(o.named) > 0:
				return cmdline.Usagef(path+" --help", "the input is given as JSON and by --arg; give it one way")
			case c.IsSet("workspace") && c.String("workspace") == "":
				return cmdline.Usagef(path+" --help", "--workspace is empty")
			}
			if dir := c.String("workspace"); dir != "" {
				if o.workspace, err = filepath.Abs(dir); err != nil {
					return fault.Wrap(fault.Usage, "-w", err)
				}
			}
			return run(c.Context, rt, o)
		},
	}
}

func newAct(rt *workbench.Runtime) *cli.Command {
	const path = "fettle workflows act"
	return &cli.Command{
		Name:      "act",
		Usage:     "let a workflow go on that waits, failed or was interrupted",
		ArgsUsage: "INSTANCE ACTION",
		Description: `ACTION is continue after a checkpoint, and retry to do the step again that failed
or was interrupted. INSTANCE is an id, the number of its chat, or last.`,
		UsageText: `fettle workflows start vendor_finder -a category=movers -a location=Portland
fettle workflows act last continue`,
		Flags: runFlags(rt),
		Action: func(c *cli.Context) error {
			o, err := read(c, path)
			if err != nil {
				return err
			}
			o.name, o.action = c.Args().Get(0), c.Args().Get(1)
			if c.NArg() != 2 || o.action != store.ActContinue && o.action != store.ActRetry {
				return cmdline.Usagef(path+" last continue", "workflows act wants an instance, and continue or retry")
			}
			return run(c.Context, rt, o)
		},
	}
}

// run starts a workflow or goes on with one, and shows what it does.
func run(ctx context.Context, rt *workbench.Runtime, o options) error {
	rt.Quiet, rt.Verbose = o.quiet, o.verbose
	cfg, err := rt.Config(o.flags())
	if err != nil {
		return err
	}
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	id, turn, err := o.begin(ctx, rt, cfg, eng)
	if err != nil {
		return err
	}
	var v follow.View = follow.New(rt, follow.Options{Quiet: o.quiet, Verbose: o.verbose, Output: o.output}, rt.Prices(cfg))
	if o.output == "json" {
		v = silentView{}
	}
	err = follow.Turn(ctx, rt, eng, turn, v)
	// The turn has ended, also where a signal has ended it: what it came to is
	// known, and worth a moment.
	i, showErr := eng.WorkflowInstance(context.WithoutCancel(ctx), id)
	switch {
	case showErr != nil:
		return errors.Join(err, showErr)
	case o.output == "json":
		return errors.Join(err, workbench.PrintJSON(rt, oneJSON{SchemaVersion: workbench.OutputVersion, Instance: &i}))
	case o.output == "text":
		sayInstance(rt, i)
	}
	return err
}

func (o options) flags() map[string]config.Flag {
	out := map[string]config.Flag{}
	if o.model != "" {
		out["model"] = config.Flag{Name: "--model", Values: []string{o.model}}
	}
	if len(o.allow) > 0 {
		out["allow"] = config.Flag{Name: "--allow", Values: o.allow}
	}
	if o.contained {
		out["require_sandbox"] = config.Flag{Name: "--require-sandbox", Values: []string{"on"}}
	}
	return out
}

func (o options) begin(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, eng *engine.Engine) (string, store.TurnID, error) {
	rt.NameModels(o.model)
	asks := !o.yes && !o.quiet && rt.Streams.CanAsk()
	req := engine.TurnRequest{
		Model: o.model, Fallback: cfg.Fallback, Workspace: o.workspace, Timeout: o.timeout, MaxSteps: cfg.Limits.MaxSteps,
		Policy: permission.Policy{AllowAll: o.yes}, CanConfirm: asks, CanAnswer: asks, CanReview: asks,
		OnWait: func(what string) { rt.Notice("waiting: " + what) },
	}
	if o.action != "" {
		i, err := eng.WorkflowInstance(ctx, o.name)
		if err != nil {
			return "", "", err
		}
		turn, err := eng.ActWorkflow(ctx, i.ID, o.action, req)
		return i.ID, turn, err
	}
	if req.Model == "" {
		req.Model = cfg.Model
	}
	input, err := o.readInput(ctx, rt, eng)
	if err != nil {
		return "", "", err
	}
	return eng.StartWorkflow(ctx, o.name, input, req)
}

// readInput is what the workflow is started with, as JSON.
func (o options) readInput(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine) (json.RawMessage, error) {
	switch {
	case len(o.named) > 0:
		w, err := eng.FindWorkflow(ctx, o.name)
		if err != nil {
			return nil, err
		}
		return tool.NamedArguments(o.named, w.InputSchema)
	case o.input == "-":
		data, err := tool.ReadInput(ctx, rt)
		if err != nil {
			return nil, err
		}
		return bytes.TrimSpace(data), nil
	}
	return json.RawMessage(o.input), nil
}

// sayInstance says how far a workflow came, and what can be done next.
func sayInstance(rt *workbench.Runtime, i store.WorkflowInstance) {
	text := fmt.Sprintf("%s: %s, %s · chat %d", i.Workflow.ID, i.State, stepsSaid(i), i.Chat)
	if i.State == store.WorkflowWaiting {
		text = fmt.Sprintf("%s waits behind %s, %s · chat %d", i.Workflow.ID, waitsBehind(i), stepsSaid(i), i.Chat)
		rt.Notice(text)
		rt.Hint("fettle workflows show " + i.ID + "   shows what the steps gave")
		nextStep(rt, i)
		return
	}
	rt.Notice(text)
	nextStep(rt, i)
}

// silentView shows nothing: what came of the turn is printed afterwards.
type silentView struct{}

func (silentView) Status(string)    {}
func (silentView) Clear()           {}
func (silentView) Began(chat.Chat)  {}
func (silentView) Show(event.Event) {}
func (silentView) End() error       { return nil }

func newCancel(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "cancel",
		Usage:     "end a workflow that was started, for good",
		ArgsUsage: "INSTANCE",
		Description: `What its steps have done stays; fettle undo takes back changes of files in its chat.
One that another process runs is stopped there, by Ctrl-C.`,
		UsageText: `fettle workflows start vendor_finder -a category=movers -a location=Portland
fettle workflows cancel last`,
		Flags:  []cli.Flag{cmdline.OutputFlag()},
		Before: cmdline.OneArgument("fettle workflows list --instances", "workflows cancel wants one instance"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runCancel(c.Context, rt, eng, c.Args().First(), c.String("output"))
		}),
	}
}

func runCancel(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, id, output string) error {
	i, err := eng.CancelWorkflow(ctx, id)
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, oneJSON{SchemaVersion: workbench.OutputVersion, Instance: &i})
	}
	rt.Notice(fmt.Sprintf("%s is %s, %s · chat %d", i.Workflow.ID, i.State, stepsSaid(i), i.Chat))
	return nil
}

// resultText is a step's result for a person: its text, else JSON.
func resultText(result json.RawMessage) string {
	var fields map[string]json.RawMessage
	var text string
	if json.Unmarshal(result, &fields) == nil && len(fields) == 1 && json.Unmarshal(fields["text"], &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, result, "", "  ") != nil {
		return term.Clean(string(result))
	}
	return "```json\n" + b.String() + "\n```"
}
