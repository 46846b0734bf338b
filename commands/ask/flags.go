package ask

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/question"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/prompts"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/textenc"
)

// askOptions are the flags of ask, as values.
type askOptions struct {
	question.Options
	named     string // the prompt of -p
	vars      []string
	files     []string
	retry     bool
	agentMode string // on, off or empty
	noStdin   bool
	ephemeral bool
	record    string
	former    bool // --max-turns is given
	pageOptions
	serverOptions

	// What the named prompt says, once it was read.
	template    *prompts.Prompt
	fromServer  *serverPrompt
	filling     map[string]string
	promptTools []string
}

// formerSteps is the former name of --max-steps.
const formerSteps = "max-turns"

// askFlags are the flags of ask, in the groups in which its help shows them.
func askFlags(rt *workbench.Runtime) []cli.Flag {
	const asked, chat, tools, answer, limits = "question", "chat", "tools", "answer", "limits"
	return append([]cli.Flag{
		&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Category: asked, Usage: "ask the model `PROVIDER/NAME`"},
		&cli.StringFlag{Name: "system", Aliases: []string{"s"}, Category: asked, Usage: "tell the model `TEXT` first: the system prompt"},
		&cli.StringFlag{Name: "prompt", Aliases: []string{"p"}, Category: asked, Usage: "fill the prompt `NAME`, such as one that fettle prompts list has, or SERVER/NAME of an MCP server"},
		cmdline.ListFlag("var", "", asked, "set a variable of the prompt: `NAME=VALUE`; may be repeated"),
		cmdline.ListFlag("file", "f", asked, "show the model a text, an image or a folder; `PATH` - is standard input; may be repeated"),
		rt.InProfile(asked),
		&cli.BoolFlag{Name: "no-stdin", Category: asked, Usage: "don't read standard input"},

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
		question.ApprovalsFlag(tools), question.PlanFlag(tools),
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

		&cli.IntFlag{Name: "max-steps", Category: limits, Usage: "let the model respond at most `N` times; it does so again after each round of tools"},
		&cli.IntFlag{Name: formerSteps, Category: limits, Hidden: true, Usage: "the former name of --max-steps"},
		&cli.DurationFlag{Name: "timeout", Category: limits, Usage: "stop after `TIME`, such as 90s or 5m"},
	}, slices.Concat(question.ParamFlags(asked), pageFlags("page"), serverFlags("server"))...)
}

func readAsk(c *cli.Context) (askOptions, error) {
	o := askOptions{
		named: c.String("prompt"), vars: cmdline.ListOf(c, "var"), files: cmdline.ListOf(c, "file"),
		agentMode: c.String("agent-mode"), noStdin: c.Bool("no-stdin"), ephemeral: c.Bool("ephemeral"), record: c.String("record"),
	}
	var err error
	if o.Options, err = question.Read(c, "fettle ask"); err != nil {
		return o, err
	}
	o.Prompt, o.MaxSteps, o.Timeout = strings.Join(c.Args().Slice(), " "), c.Int("max-steps"), c.Duration("timeout")
	if o.former = c.IsSet(formerSteps); o.former && !c.IsSet("max-steps") {
		o.MaxSteps = c.Int(formerSteps)
	}
	o.View = follow.Options{
		Output: c.String("output"), Extract: c.Bool("extract"), Quiet: c.Bool("quiet"), Verbose: c.Bool("verbose"),
		NoStream: c.Bool("no-stream"), Usage: c.Bool("usage"),
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
	if c.IsSet("schema") {
		o.View.Schema, err = readSchema(c.String("schema"))
	}
	o.View.First = o.Chat == (store.ChatRef{}) && !o.ephemeral
	return o, err
}

// check refuses flags that can't be meant together.
func (o askOptions) check(c *cli.Context) error {
	const help = "fettle ask --help"
	switch err := o.Options.Check(c, "fettle ask"); {
	case err != nil:
		return err
	case len(o.vars) > 0 && o.named == "":
		return cmdline.Usagef("fettle ask -p NAME --var …", "--var sets a variable of a prompt, and -p names none")
	case c.IsSet("agent-mode") && o.agentMode != "on" && o.agentMode != "off":
		return cmdline.Usagef("fettle ask --agent-mode off …", "--agent-mode is on or off")
	case c.IsSet(formerSteps) && c.IsSet("max-steps"):
		return cmdline.Usagef(help, "--max-turns is called --max-steps now; give that alone")
	case (c.IsSet("max-steps") || c.IsSet(formerSteps)) && o.MaxSteps <= 0:
		return cmdline.Usagef(help, "--max-steps wants a number above 0")
	case c.IsSet("timeout") && o.Timeout <= 0:
		return cmdline.Usagef("fettle ask --timeout 90s …", "--timeout wants a time above 0")
	case o.View.Output != "text" && o.View.Output != "json" && o.View.Output != "events":
		return cmdline.Usagef("fettle ask -o json …", "--output has no format %s: there are text, json and events", strconv.Quote(o.View.Output))
	case o.View.Extract && o.View.Output == "events":
		return cmdline.Usagef(help, "-x takes a code block out of the answer, and --output events has none")
	case o.View.Extract && c.IsSet("schema"):
		return cmdline.Usagef(help, "-x and --schema both change the answer; give one")
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
