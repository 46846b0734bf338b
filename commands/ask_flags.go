package commands

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/prompts"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/textenc"
)

// askOptions are the flags of ask, as values.
type askOptions struct {
	prompt    string
	named     string // the prompt of -p
	vars      []string
	model     string
	params    provider.Params
	system    string
	hasSystem bool
	files     []string
	chat      store.ChatRef
	agent     string
	retry     bool
	workspace string
	toolsets  []string
	tools     []string
	noTools   bool
	agentMode string // on, off or empty
	allow     []string
	contained bool
	yes       bool
	modeOptions
	noStdin   bool
	maxTurns  int
	timeout   time.Duration
	ephemeral bool
	record    string
	color     string
	follow.Options
	pageOptions
	serverOptions

	// What the named prompt says, once it was read.
	template    *prompts.Prompt
	fromServer  *serverPrompt
	filling     map[string]string
	promptTools []string
}

// askFlags are the flags of ask, in the groups in which its help shows them.
func askFlags(rt *workbench.Runtime) []cli.Flag {
	const question, chat, tools, answer, limits = "question", "chat", "tools", "answer", "limits"
	return append([]cli.Flag{
		&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Category: question, Usage: "ask the model `PROVIDER/NAME`"},
		&cli.StringFlag{Name: "system", Aliases: []string{"s"}, Category: question, Usage: "tell the model `TEXT` first: the system prompt"},
		&cli.StringFlag{Name: "prompt", Aliases: []string{"p"}, Category: question, Usage: "fill the prompt `NAME`, such as one that fettle prompts list has, or SERVER/NAME of an MCP server"},
		cmdline.ListFlag("var", "", question, "set a variable of the prompt: `NAME=VALUE`; may be repeated"),
		cmdline.ListFlag("file", "f", question, "show the model a text, an image or a folder; `PATH` - is standard input; may be repeated"),
		rt.InProfile(question),
		&cli.BoolFlag{Name: "no-stdin", Category: question, Usage: "don't read standard input"},

		&cli.BoolFlag{Name: "continue", Aliases: []string{"c"}, Category: chat, Usage: "go on with the last chat"},
		&cli.Int64Flag{Name: "chat", Category: chat, Usage: "go on with chat `N`"},
		&cli.BoolFlag{Name: "fork", Category: chat, Usage: "with -c or --chat: go on in a new chat, and leave the old one as it is"},
		&cli.BoolFlag{Name: "retry", Category: chat, Usage: "ask the chat's last question again, or the one that --at names: another branch"},
		&cli.StringFlag{Name: "at", Category: chat, Usage: "ask instead of this `MESSAGE`: its place in chats show, from 1, or its id; another branch"},
		&cli.BoolFlag{Name: "ephemeral", Category: chat, Usage: "keep nothing of this"},

		&cli.StringFlag{Name: "agent", Category: chat, Usage: "enter by the agent `ID`; none leaves it out, and a chat keeps its own"},

		&cli.StringFlag{Name: "workspace", Aliases: []string{"w"}, Category: tools, Usage: "let tools work in folder `DIR` instead of one of the chat's own; changes ask first"},
		cmdline.ListFlag("toolset", "t", tools, "offer only the tools of toolset `ID`; may be repeated"),
		cmdline.ListFlag("tool", "", tools, "offer only tools that match `GLOB`; may be repeated"),
		&cli.BoolFlag{Name: "no-tools", Category: tools, Usage: "offer no tools"},
		&cli.StringFlag{Name: "agent-mode", Category: tools, Usage: "whether the model may call tools and go on with what they give, `MODE`: on or off; a chat keeps it"},
		cmdline.ListFlag("allow", "", tools, "run calls that match `RULE` without asking, such as write_file or 'write_file(path=notes/**)'; may be repeated"),
		approvalsFlag(tools), planFlag(tools),
		&cli.BoolFlag{Name: "require-sandbox", Category: tools, Usage: "run no tool of a toolset that can't be contained in full"},
		&cli.BoolFlag{Name: "yes", Category: tools, Usage: "run every call without asking"},

		&cli.StringFlag{Name: "schema", Category: answer, Usage: "want JSON that matches the JSON Schema in `FILE`, or given itself"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Category: answer, Usage: "print `FORMAT` text, json (one object) or events (a line of JSON each)"},
		&cli.BoolFlag{Name: "extract", Aliases: []string{"x"}, Category: answer, Usage: "print only the first code block"},
		&cli.BoolFlag{Name: "no-stream", Category: answer, Usage: "print the answer when it is complete"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: answer, Usage: "print nothing but the answer and errors, and ask nothing"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: answer, Usage: "show tools, reasoning and notes on standard error, also where that is no terminal"},
		&cli.BoolFlag{Name: "usage", Aliases: []string{"u"}, Category: answer, Usage: "show on standard error the tokens used, and what they cost"},
		&cli.StringFlag{Name: "color", Value: "auto", Category: answer, Usage: "use colour `WHEN`: auto, always or never"},
		&cli.StringFlag{Name: "record", Category: answer, Usage: "append the model's responses to `FILE`, for replay as script/FILE"},

		&cli.IntFlag{Name: "max-turns", Category: limits, Usage: "let the model respond at most `N` times; it does so again after each round of tools"},
		&cli.DurationFlag{Name: "timeout", Category: limits, Usage: "stop after `TIME`, such as 90s or 5m"},
	}, slices.Concat(paramFlags(question), pageFlags("page"), serverFlags("server"))...)
}

func readAsk(c *cli.Context) (askOptions, error) {
	o := askOptions{
		prompt: strings.Join(c.Args().Slice(), " "), named: c.String("prompt"), vars: cmdline.ListOf(c, "var"),
		model: c.String("model"), system: c.String("system"), hasSystem: c.IsSet("system"),
		files: cmdline.ListOf(c, "file"), workspace: c.String("workspace"),
		toolsets: cmdline.ListOf(c, "toolset"), tools: cmdline.ListOf(c, "tool"), noTools: c.Bool("no-tools"), agentMode: c.String("agent-mode"),
		allow: cmdline.ListOf(c, "allow"), contained: c.Bool("require-sandbox"), yes: c.Bool("yes"), noStdin: c.Bool("no-stdin"),
		Options: follow.Options{
			Output: c.String("output"), Extract: c.Bool("extract"), Quiet: c.Bool("quiet"), Verbose: c.Bool("verbose"),
			NoStream: c.Bool("no-stream"), Usage: c.Bool("usage"),
		},
		maxTurns: c.Int("max-turns"), timeout: c.Duration("timeout"),
		ephemeral: c.Bool("ephemeral"), record: c.String("record"), agent: c.String("agent"),
		chat: store.ChatRef{Last: c.Bool("continue"), Number: c.Int64("chat"), Fork: c.Bool("fork")},
	}
	if c.IsSet("color") {
		o.color = c.String("color")
	}
	var err error
	if o.params, err = readParams(c, "fettle ask"); err != nil {
		return o, err
	}
	if o.modeOptions, err = readMode(c, "fettle ask"); err != nil {
		return o, err
	}
	if err := o.readBeside(c); err != nil {
		return o, err
	}
	if err := o.readPage(c); err != nil {
		return o, err
	}
	if err := o.readServer(c); err != nil {
		return o, err
	}
	if err := o.check(c); err != nil {
		return o, err
	}
	if o.workspace != "" {
		if o.workspace, err = filepath.Abs(o.workspace); err != nil {
			return o, fault.Wrap(fault.Usage, "-w", err)
		}
	}
	if c.IsSet("schema") {
		o.Schema, err = readSchema(c.String("schema"))
	}
	o.First = o.chat == (store.ChatRef{}) && !o.ephemeral
	return o, err
}

// check refuses flags that can't be meant together.
func (o askOptions) check(c *cli.Context) error {
	const help = "fettle ask --help"
	if err := checkEmpty(c, help); err != nil {
		return err
	}
	switch {
	case len(o.vars) > 0 && o.named == "":
		return cmdline.Usagef("fettle ask -p NAME --var …", "--var sets a variable of a prompt, and -p names none")
	case o.chat.Last && c.IsSet("chat"):
		return cmdline.Usagef(help, "-c and --chat both say which chat to go on with; give one")
	case c.IsSet("chat") && o.chat.Number <= 0:
		return cmdline.Usagef("fettle chats list", "--chat wants the number of a chat, such as 12")
	case o.chat.Fork && !o.chat.Last && o.chat.Number == 0:
		return cmdline.Usagef("fettle ask -c --fork …", "--fork needs -c or --chat")
	case o.noTools && (len(o.tools) > 0 || len(o.toolsets) > 0):
		return cmdline.Usagef(help, "--no-tools can't be given with --tool or --toolset")
	case c.IsSet("agent-mode") && o.agentMode != "on" && o.agentMode != "off":
		return cmdline.Usagef("fettle ask --agent-mode off …", "--agent-mode is on or off")
	case c.IsSet("max-turns") && o.maxTurns <= 0:
		return cmdline.Usagef(help, "--max-turns wants a number above 0")
	case c.IsSet("timeout") && o.timeout <= 0:
		return cmdline.Usagef("fettle ask --timeout 90s …", "--timeout wants a time above 0")
	case o.Output != "text" && o.Output != "json" && o.Output != "events":
		return cmdline.Usagef("fettle ask -o json …", "--output has no format %s: there are text, json and events", strconv.Quote(o.Output))
	case o.Extract && o.Output == "events":
		return cmdline.Usagef(help, "-x takes a code block out of the answer, and --output events has none")
	case o.Extract && c.IsSet("schema"):
		return cmdline.Usagef(help, "-x and --schema both change the answer; give one")
	}
	return nil
}

// checkEmpty refuses flags that were given nothing, as an unset variable of a
// script does: taken for flags that were not given, they would ask another
// model or work in another folder than was meant.
func checkEmpty(c *cli.Context, help string) error {
	for _, name := range []string{"model", "prompt", "agent", "workspace", "schema", "record", "color"} {
		if c.IsSet(name) && c.String(name) == "" {
			return cmdline.Usagef(help, "--%s is empty", name)
		}
	}
	for _, name := range []string{"toolset", "tool", "allow"} {
		for _, v := range cmdline.ListOf(c, name) {
			if v == "" {
				return cmdline.Usagef(help, "--%s is empty", name)
			}
		}
	}
	return nil
}

// maxSchema bounds a schema; real ones have a few kilobytes.
const maxSchema = 1 << 20

// readSchema takes JSON itself, or the file of that name.
func readSchema(arg string) (json.RawMessage, error) {
	text := strings.TrimSpace(arg)
	if strings.HasPrefix(text, "{") || json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	f, err := os.Open(arg)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, fault.Wrap(fault.Usage, "--schema: read "+arg, err, fault.Run(`fettle ask --schema '{"type":"object"}' …`))
	}
	defer f.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxSchema+1))
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Usage, "--schema", err)
	case len(data) > maxSchema:
		return nil, cmdline.Usagef("", "--schema: %s is larger than 1 MiB, the limit", arg)
	}
	return textenc.ToUTF8(data), nil
}
