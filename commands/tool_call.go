package commands

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
)

// toolCallOptions are the flags of `tool call`, as values.
type toolCallOptions struct {
	tool      string
	args      string   // JSON, - for standard input, or nothing
	named     []string // NAME=VALUE
	chat      engine.ChatRef
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
		Action: func(c *cli.Context) error {
			o, err := readToolCall(c)
			if err != nil {
				return err
			}
			return runToolCall(c.Context, rt, o)
		},
	}
}

func readToolCall(c *cli.Context) (toolCallOptions, error) {
	const path = "fettle tool call"
	o := toolCallOptions{
		tool: c.Args().Get(0), args: c.Args().Get(1), named: cmdline.ListOf(c, "arg"), workspace: c.String("workspace"),
		chat:      engine.ChatRef{Last: c.Bool("continue"), Number: c.Int64("chat")},
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
		Policy: engine.Policy{AllowAll: true}, CanAnswer: rt.Streams.CanAsk(),
		OnWait: func(what string) { rt.Notice("waiting: " + what) },
	})
	if err != nil {
		return err
	}
	return follow.Turn(ctx, rt, eng, id, v)
}

// maxArguments bounds what is read of a call's arguments; a call's journal
// holds no more anyway.
const maxArguments = 16 << 20

// arguments are the call's, as JSON.
func (o toolCallOptions) arguments(ctx context.Context, rt *workbench.Runtime, tools *toolset.Set) (json.RawMessage, error) {
	switch {
	case len(o.named) > 0:
		return namedArguments(o.named, inputTypes(tools, o.tool))
	case o.args == "-":
		data, err := readAll(ctx, rt, maxArguments)
		if err != nil {
			return nil, err
		}
		return checkArguments(data, "standard input")
	}
	return checkArguments([]byte(o.args), "the arguments")
}

func checkArguments(data []byte, what string) (json.RawMessage, error) {
	text := strings.TrimSpace(string(data))
	if text == "" {
		return nil, nil
	}
	if !json.Valid([]byte(text)) || text[0] != '{' {
		return nil, cmdline.Usagef(`fettle tool call TOOL '{"path": "a.txt"}'`, "%s should be a JSON object, and is not: %s", what, show.OneLine(text))
	}
	return json.RawMessage(text), nil
}

// readAll reads standard input to its end.
func readAll(ctx context.Context, rt *workbench.Runtime, most int64) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() { // ends with the process, if nobody ends the input
		data, err := io.ReadAll(io.LimitReader(rt.Streams.In.File(), most+1))
		done <- read{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		switch {
		case r.err != nil:
			return nil, fault.Wrap(fault.Failed, "read standard input", r.err)
		case int64(len(r.data)) > most:
			return nil, cmdline.Usagef("", "standard input is larger than %d MiB, the limit", most>>20)
		}
		return r.data, nil
	}
}

// inputTypes are the types that a tool's input_schema names for its arguments.
func inputTypes(tools *toolset.Set, name string) map[string][]string {
	entry, ok := tools.Get(name)
	if found := tools.ByBareID(name); !ok && len(found) > 0 {
		entry = found[0]
	}
	return schemaTypes(entry.Tool.InputSchema)
}

// schemaTypes are the types that a schema names for an object's fields.
func schemaTypes(raw json.RawMessage) map[string][]string {
	var schema struct {
		Properties map[string]struct {
			Type json.RawMessage `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return nil // a schema that can't be read is found by the call
	}
	types := map[string][]string{}
	for arg, p := range schema.Properties {
		var one string
		var many []string
		if json.Unmarshal(p.Type, &one) == nil {
			many = []string{one}
		} else if json.Unmarshal(p.Type, &many) != nil {
			continue
		}
		types[arg] = many
	}
	return types
}

// namedArguments makes an object of NAME=VALUE. A value is a text where the
// tool takes one, and JSON where it takes something else and the value is some.
func namedArguments(named []string, types map[string][]string) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	for _, arg := range named {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, cmdline.Usagef("fettle tool call TOOL --arg path=a.txt", "--arg wants NAME=VALUE, not %s", cmdline.ShellWord(arg))
		}
		if _, twice := args[name]; twice {
			return nil, cmdline.Usagef("fettle tool call TOOL --arg 'names=[\"a\",\"b\"]'", "--arg gives %s twice", name)
		}
		if want := types[name]; len(want) > 0 && !slices.Contains(want, "string") && json.Valid([]byte(value)) {
			args[name] = json.RawMessage(value)
			continue
		}
		args[name], _ = json.Marshal(value) // a string can't fail
	}
	return json.Marshal(args)
}
