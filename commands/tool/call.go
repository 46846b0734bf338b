package tool

import (
	"context"
	"path/filepath"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/store"
)

// toolCallOptions are the flags of `tool call`, as values.
type toolCallOptions struct {
	tool      string
	args      string   // JSON, - for standard input, or nothing
	named     []string // NAME=VALUE
	chat      store.ChatRef
	workspace string
	timeout   time.Duration
	ephemeral bool
	contained bool
	output    string
	quiet     bool
	verbose   bool
}

func newToolCall(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "call",
		Usage:     "run one tool, without a model",
		ArgsUsage: "TOOL [ARGUMENTS]",
		Description: `ARGUMENTS are a JSON object; - reads it from standard input. What the tool
answers goes to standard output: its text, or with -o json all of it. The call is
kept as a chat of its own, or in the one that -c or --chat names, with the state
of the files before and after it: fettle undo takes back what it did. It works in
a folder of that chat, or with -w in one of yours. Calling a tool yourself is its
approval; a deny rule of the configuration still holds. A tool that fails ends
with exit status 1.`,
		UsageText: `fettle tool call list_files
fettle tool call write_file '{"path": "notes.md", "content": "hello"}' -w .
fettle tool call search_files --arg query=TODO -w . -o json
echo '{"path": "notes.md"}' | fettle tool call read_file - -w . --ephemeral`,
		Flags: []cli.Flag{
			cmdline.ListFlag("arg", "a", "", "give the argument `NAME=VALUE`: a text, or JSON where the tool wants no text; may be repeated"),
			&cli.StringFlag{Name: "workspace", Aliases: []string{"w"}, Usage: "let it work in folder `DIR`"},
			&cli.BoolFlag{Name: "continue", Aliases: []string{"c"}, Usage: "call it in the last chat"},
			&cli.Int64Flag{Name: "chat", Usage: "call it in chat `N`"},
			&cli.BoolFlag{Name: "ephemeral", Usage: "keep nothing of this, so that it can't be undone"},
			&cli.BoolFlag{Name: "require-sandbox", Usage: "don't run it where it can't be contained in full"},
			&cli.DurationFlag{Name: "timeout", Usage: "stop after `TIME`, such as 90s or 5m"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "print `FORMAT` text, json (one object) or events (a line of JSON each)"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but the result and errors"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "show progress and changes also where standard error is no terminal"},
		},
		Action: workbench.Run(rt, readToolCall, runToolCall),
	}
}

func readToolCall(c *cli.Context) (toolCallOptions, error) {
	const path = "fettle tool call"
	o := toolCallOptions{
		tool: c.Args().Get(0), args: c.Args().Get(1), named: cmdline.ListOf(c, "arg"), workspace: c.String("workspace"),
		chat:      store.ChatRef{Last: c.Bool("continue"), Number: c.Int64("chat")},
		contained: c.Bool("require-sandbox"), timeout: c.Duration("timeout"), ephemeral: c.Bool("ephemeral"), output: c.String("output"),
		quiet: c.Bool("quiet"), verbose: c.Bool("verbose"),
	}
	switch {
	case c.NArg() == 0:
		return o, cmdline.Usagef("fettle tool list", "tool call wants the tool to call")
	case c.NArg() > 2:
		return o, cmdline.Usagef(path+` TOOL '{"path": "a.txt"}'`, "tool call takes a tool and its arguments as one JSON object; quote it")
	case o.args != "" && len(o.named) > 0:
		return o, cmdline.Usagef(path+" --help", "the arguments are given as JSON and by --arg; give them one way")
	case o.chat.Last && c.IsSet("chat"):
		return o, cmdline.Usagef(path+" --help", "-c and --chat both say which chat to call it in; give one")
	case c.IsSet("chat") && o.chat.Number <= 0:
		return o, cmdline.Usagef("fettle chats list", "--chat wants the number of a chat, such as 12")
	case c.IsSet("timeout") && o.timeout <= 0:
		return o, cmdline.Usagef(path+" --timeout 90s …", "--timeout wants a time above 0")
	case c.IsSet("workspace") && o.workspace == "":
		return o, cmdline.Usagef(path+" --help", "--workspace is empty")
	case o.output != "text" && o.output != "json" && o.output != "events":
		return o, cmdline.Usagef(path+" -o json …", "--output has no format %s: there are text, json and events", strconv.Quote(o.output))
	}
	if o.workspace == "" {
		return o, nil
	}
	var err error
	if o.workspace, err = filepath.Abs(o.workspace); err != nil {
		return o, fault.Wrap(fault.Usage, "-w", err)
	}
	return o, nil
}

func runToolCall(ctx context.Context, rt *workbench.Runtime, o toolCallOptions) error {
	rt.Quiet, rt.Verbose = o.quiet, o.verbose
	rt.OneCall = true
	flags := map[string]config.Flag{}
	if o.contained {
		flags["require_sandbox"] = config.Flag{Name: "--require-sandbox", Values: []string{"on"}}
	}
	cfg, err := rt.Config(flags)
	if err != nil {
		return err
	}
	if err := workbench.SearchReady(cfg, []string{o.tool}); err != nil {
		return err
	}
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	tools, _, err := eng.AllTools(ctx)
	if err != nil {
		return err
	}
	args, err := o.arguments(ctx, rt, tools)
	if err != nil {
		return err
	}
	v := newToolView(rt, o)
	id, err := eng.Start(ctx, engine.TurnRequest{
		Chat: o.chat, Title: o.tool, Workspace: o.workspace, Ephemeral: o.ephemeral, Timeout: o.timeout,
		Calls:  []engine.DirectCall{{Tool: o.tool, Args: args}},
		Policy: permission.Policy{AllowAll: true}, CanAnswer: rt.Streams.CanAsk(),
		OnWait: func(what string) { rt.Notice("waiting: " + what) },
	})
	if err != nil {
		return err
	}
	return follow.Turn(ctx, rt, eng, id, v)
}
