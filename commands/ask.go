package commands

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
)

// askOptions are the flags of ask, as values.
type askOptions struct {
	prompt    string
	model     string
	system    string
	hasSystem bool
	files     []string
	chat      engine.ChatRef
	workspace string
	toolsets  []string
	tools     []string
	noTools   bool
	allow     []string
	yes       bool
	schema    json.RawMessage
	output    string // text, json, events
	extract   bool
	quiet     bool
	verbose   bool
	noStream  bool
	noStdin   bool
	usage     bool
	maxTurns  int
	timeout   time.Duration
	ephemeral bool
	record    string
	color     string
}

const askDescription = `The answer goes to standard output and nothing else does. What is piped in is
put before the prompt. Flags may stand before or after the prompt; what stands
behind -- is prompt. fettle help exit-codes tells what the exit status says.`

const askExamples = `fettle ask "why is the sky blue?"
git diff | fettle ask "write a commit message" -m ollama/qwen3
fettle ask -f report.md -f chart.png "what does the chart add?"
fettle ask "name three birds" --schema '{"type":"array","items":{"type":"string"}}'
fettle ask "draft a haiku" | fettle ask -c "make it rhyme"
fettle ask -w . --allow 'write_file(path=notes/**)' "write notes/todo.md"`

func newAsk(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:        "ask",
		Usage:       "ask a model one thing",
		ArgsUsage:   "[prompt…]",
		Description: askDescription,
		UsageText:   askExamples,
		Flags:       askFlags(),
		Action: func(c *cli.Context) error {
			opts, err := readAsk(c)
			if err != nil {
				return err
			}
			return runAsk(c.Context, rt, opts)
		},
	}
}

func askFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "`PROVIDER/MODEL` to ask"},
		&cli.StringFlag{Name: "system", Aliases: []string{"s"}, Usage: "system prompt `TEXT`"},
		&cli.StringSliceFlag{Name: "file", Aliases: []string{"f"}, Usage: "text, image or folder `PATH` to show the model; - is standard input; may be repeated"},
		&cli.BoolFlag{Name: "continue", Aliases: []string{"c"}, Usage: "go on with the last chat"},
		&cli.Int64Flag{Name: "chat", Usage: "go on with chat `N`"},
		&cli.BoolFlag{Name: "fork", Usage: "with -c or --chat: go on in a new chat, and leave the old one as it is"},
		&cli.StringFlag{Name: "workspace", Aliases: []string{"w"}, Usage: "let tools work in folder `DIR` instead of one of the chat's own"},
		&cli.StringSliceFlag{Name: "toolset", Aliases: []string{"t"}, Usage: "offer only the tools of toolset `ID`; may be repeated"},
		&cli.StringSliceFlag{Name: "tool", Usage: "offer only tools that match `GLOB`; may be repeated"},
		&cli.BoolFlag{Name: "no-tools", Usage: "offer no tools"},
		&cli.StringSliceFlag{Name: "allow", Usage: "run calls that match the rule `GLOB` without asking; may be repeated"},
		&cli.BoolFlag{Name: "yes", Usage: "run every call without asking"},
		&cli.StringFlag{Name: "schema", Usage: "answer with JSON of this JSON Schema: a `FILE`, or JSON itself"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "print the answer as `FORMAT`: text, json (one object), events (a line of JSON each)"},
		&cli.BoolFlag{Name: "extract", Aliases: []string{"x"}, Usage: "print only the first code block of the answer"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but the answer and errors"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "show tools, reasoning and notes on standard error in a pipe too"},
		&cli.BoolFlag{Name: "no-stream", Usage: "print the answer when it is complete"},
		&cli.BoolFlag{Name: "no-stdin", Usage: "don't read standard input"},
		&cli.BoolFlag{Name: "usage", Aliases: []string{"u"}, Usage: "show the tokens used on standard error"},
		&cli.IntFlag{Name: "max-turns", Usage: "let the model answer at most `N` times (it answers again after each round of tools)"},
		&cli.DurationFlag{Name: "timeout", Usage: "stop after `TIME`, such as 90s or 5m"},
		&cli.BoolFlag{Name: "ephemeral", Usage: "keep nothing of this"},
		&cli.StringFlag{Name: "record", Usage: "append the model's responses to `FILE`, for replay as script/FILE"},
		&cli.StringFlag{Name: "color", Value: "auto", Usage: "`WHEN` to use colour: auto, always, never"},
	}
}

func readAsk(c *cli.Context) (askOptions, error) {
	o := askOptions{
		prompt: strings.Join(c.Args().Slice(), " "),
		model:  c.String("model"), system: c.String("system"), hasSystem: c.IsSet("system"),
		files: c.StringSlice("file"), workspace: c.String("workspace"),
		toolsets: c.StringSlice("toolset"), tools: c.StringSlice("tool"), noTools: c.Bool("no-tools"),
		allow: c.StringSlice("allow"), yes: c.Bool("yes"), output: c.String("output"),
		extract: c.Bool("extract"), quiet: c.Bool("quiet"), verbose: c.Bool("verbose"),
		noStream: c.Bool("no-stream"), noStdin: c.Bool("no-stdin"), usage: c.Bool("usage"),
		maxTurns: c.Int("max-turns"), timeout: c.Duration("timeout"),
		ephemeral: c.Bool("ephemeral"), record: c.String("record"),
		chat: engine.ChatRef{Last: c.Bool("continue"), Number: c.Int64("chat"), Fork: c.Bool("fork")},
	}
	if c.IsSet("color") {
		o.color = c.String("color")
	}
	if err := o.check(c); err != nil {
		return o, err
	}
	var err error
	if o.workspace != "" {
		if o.workspace, err = filepath.Abs(o.workspace); err != nil {
			return o, fault.Wrap(fault.Usage, "-w", err)
		}
	}
	if c.IsSet("schema") {
		o.schema, err = readSchema(c.String("schema"))
	}
	return o, err
}

// check refuses flags that can't be meant together.
func (o askOptions) check(c *cli.Context) error {
	const help = "fettle ask --help"
	switch {
	case o.chat.Last && c.IsSet("chat"):
		return usagef(help, "-c and --chat both say which chat to go on with; give one")
	case c.IsSet("chat") && o.chat.Number <= 0:
		return usagef("fettle chats list", "--chat wants the number of a chat, such as 12")
	case o.chat.Fork && !o.chat.Last && o.chat.Number == 0:
		return usagef("fettle ask -c --fork …", "--fork needs -c or --chat")
	case o.noTools && (len(o.tools) > 0 || len(o.toolsets) > 0):
		return usagef(help, "--no-tools can't be given with --tool or --toolset")
	case c.IsSet("max-turns") && o.maxTurns <= 0:
		return usagef(help, "--max-turns wants a number above 0")
	case c.IsSet("timeout") && o.timeout <= 0:
		return usagef("fettle ask --timeout 90s …", "--timeout wants a time above 0")
	case o.output != "text" && o.output != "json" && o.output != "events":
		return usagef("fettle ask -o json …", "--output has no format %s: there are text, json and events", strconv.Quote(o.output))
	case o.extract && o.output == "events":
		return usagef(help, "-x takes a code block out of the answer, and --output events has none")
	case o.extract && c.IsSet("schema"):
		return usagef(help, "-x and --schema both change the answer; give one")
	}
	return nil
}

// maxSchema bounds a schema file; real ones have a few kilobytes.
const maxSchema = 1 << 20

func readSchema(arg string) (json.RawMessage, error) {
	if text := strings.TrimSpace(arg); strings.HasPrefix(text, "{") || text == "true" || text == "false" {
		return json.RawMessage(text), nil
	}
	info, err := os.Stat(arg)
	if err == nil && info.Size() > maxSchema {
		return nil, usagef("", "--schema %s has %d bytes; a schema may have %d", arg, info.Size(), maxSchema)
	}
	data, err := os.ReadFile(arg)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "read the schema", err, `fettle ask --schema '{"type":"object"}' …`)
	}
	return data, nil
}

// flags are the options that have a place in the configuration.
func (o askOptions) flags() map[string]config.Flag {
	out := map[string]config.Flag{}
	one := func(key, name, value string) {
		if value != "" {
			out[key] = config.Flag{Name: name, Values: []string{value}}
		}
	}
	one("model", "--model", o.model)
	one("color", "--color", o.color)
	if o.maxTurns > 0 {
		one("limits.max_turns", "--max-turns", strconv.Itoa(o.maxTurns))
	}
	if o.timeout > 0 {
		one("limits.timeout", "--timeout", o.timeout.String())
	}
	if o.noTools {
		one("tools", "--no-tools", "off")
	}
	if len(o.allow) > 0 {
		out["allow"] = config.Flag{Name: "--allow", Values: o.allow}
	}
	return out
}

// request makes the turn's request of options and configuration; the parts
// are the message.
func (o askOptions) request(rt *runtime, cfg *config.Config) (engine.TurnRequest, error) {
	globs, err := o.toolGlobs(cfg)
	if err != nil {
		return engine.TurnRequest{}, err
	}
	if o.workspace != "" {
		dirs, err := rt.dirs()
		if err != nil {
			return engine.TurnRequest{}, err
		}
		if err := toolset.CheckBound(o.workspace, toolset.Places{Home: dirs.Home, DataDir: dirs.Data}); err != nil {
			return engine.TurnRequest{}, fault.Wrap(fault.Usage, "-w", err, "fettle ask -w DIR …, with a folder of a project")
		}
	}
	req := engine.TurnRequest{
		Chat: o.chat, Fallback: cfg.Fallback, Tools: globs, Workspace: o.workspace, Schema: o.schema,
		Policy: engine.Policy{AllowAll: o.yes}, MaxSteps: cfg.Limits.MaxTurns, Timeout: cfg.Limits.Timeout,
		Ephemeral: o.ephemeral, DiscardUnanswered: true,
		CanConfirm: !o.yes && !o.quiet && rt.streams.CanAsk(),
		OnWait:     func(what string) { rt.notice("waiting: " + what) },
	}
	// A chat keeps its model and its system prompt; a new one begins with the
	// configured ones.
	if o.model != "" || o.chat == (engine.ChatRef{}) {
		req.Model = cfg.Model
	}
	switch {
	case o.hasSystem:
		req.System = o.system
	case o.chat == (engine.ChatRef{}):
		req.System = cfg.System
	}
	return req, nil
}

// toolGlobs are the tools that the model is offered: nil is all.
func (o askOptions) toolGlobs(cfg *config.Config) ([]string, error) {
	if o.noTools || !cfg.Tools.Enabled && len(o.tools)+len(o.toolsets) == 0 {
		return []string{}, nil
	}
	globs := o.tools
	for _, id := range o.toolsets {
		switch {
		case id == "builtin":
			globs = append(globs, "?*") // ids without a toolset
		case strings.ContainsAny(id, "*?[{!:"):
			return nil, usagef("fettle ask -t builtin …", "--toolset wants the id of one toolset; globs go to --tool")
		default:
			globs = append(globs, id+":*")
		}
	}
	if len(globs) == 0 {
		globs = cfg.Tools.Globs
	}
	if len(globs) == 0 {
		return nil, nil
	}
	return globs, nil
}

// runAsk asks and prints the answer.
func runAsk(ctx context.Context, rt *runtime, o askOptions) error {
	rt.jsonErrors, rt.quiet, rt.verbose = o.output != "text", o.quiet, o.verbose
	cfg, err := rt.config(o.flags())
	if err != nil {
		return err
	}
	req, err := o.request(rt, cfg)
	if err != nil {
		return err
	}
	if req.Parts, err = readParts(ctx, rt, cfg, o); err != nil {
		return err
	}
	rec, err := openRecord(o.record)
	if err != nil {
		return err
	}
	eng, err := rt.engineFor(cfg, rec.wrap)
	if err != nil {
		return err
	}
	view, err := newView(rt, o)
	if err != nil {
		return err
	}
	view.status("asking " + modelName(req.Model, cfg.Model))
	id, err := eng.Start(ctx, req)
	if err != nil {
		view.clear()
		return rec.close(err)
	}
	return rec.close(follow(ctx, rt, eng, id, view))
}

func modelName(refs ...string) string {
	for _, ref := range refs {
		if ref != "" {
			return ref
		}
	}
	return "a model"
}
