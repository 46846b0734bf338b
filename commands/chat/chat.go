package chat

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/question"
	"github.com/fettle-cli/fettle/commands/workbench"
)

const chatDescription = `Talks with a model until you leave. What was said is printed once and stays in
the terminal's own scrollback; the line at the bottom is where you type, also
while the model answers: Enter queues it. /help lists what else can be done.

Ctrl-C stops the answer and keeps what came; a second one leaves. A chat that was
left, or that a crash or a lost connection ended, goes on with fettle chat -c.

In a pipe, on a dumb terminal and with --plain there is no line to edit and
nothing is drawn twice: each line that is read is a message.`

const chatExamples = `fettle chat
fettle chat -c
fettle chat 1
fettle chat -w . "what does this project do?"
fettle chat -w . --approvals changes
fettle chat --plain -m ollama/qwen3`

// chatOptions are the flags of chat, as values.
type chatOptions struct {
	ask   question.Options // of each of its turns
	plain bool
	first string // the first message
}

// Program runs a command line of the whole program, such as "fettle undo", on the streams
// and with the engine of rt.
type Program func(ctx context.Context, rt *workbench.Runtime, args []string) error

// New makes the command chat, whose slash commands run those of program.
func New(rt *workbench.Runtime, program Program) *cli.Command {
	const asked, chat, tools, look = "question", "chat", "tools", "look"
	return &cli.Command{
		Name: "chat", Usage: "talk with a model", ArgsUsage: "[CHAT | first message…]",
		Description: chatDescription, UsageText: chatExamples,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Category: asked, Usage: "ask the model `PROVIDER/NAME`"},
			&cli.StringFlag{Name: "system", Aliases: []string{"s"}, Category: asked, Usage: "tell the model `TEXT` first: the system prompt"},
			rt.InProfile(asked),

			&cli.BoolFlag{Name: "continue", Aliases: []string{"c"}, Category: chat, Usage: "go on with the last chat"},
			&cli.Int64Flag{Name: "chat", Category: chat, Usage: "go on with chat `N`"},
			&cli.BoolFlag{Name: "fork", Category: chat, Usage: "with -c or --chat: go on in a new chat, and leave the old one as it is"},
			&cli.StringFlag{Name: "agent", Category: chat, Usage: "enter by the agent `ID`; none leaves it out, and a chat keeps its own"},

			&cli.StringFlag{Name: "workspace", Aliases: []string{"w"}, Category: tools, Usage: "let tools work in folder `DIR` instead of one of the chat's own; changes ask first"},
			cmdline.ListFlag("toolset", "t", tools, "offer only the tools of toolset `ID`; may be repeated"),
			cmdline.ListFlag("tool", "", tools, "offer only tools that match `GLOB`; may be repeated"),
			&cli.BoolFlag{Name: "no-tools", Category: tools, Usage: "offer no tools"},
			cmdline.ListFlag("allow", "", tools, "run calls that match `RULE` without asking, such as write_file or 'write_file(path=notes/**)'; may be repeated"),
			question.ApprovalsFlag(tools), question.PlanFlag(tools),
			&cli.BoolFlag{Name: "require-sandbox", Category: tools, Usage: "run no tool of a toolset that can't be contained in full"},
			&cli.BoolFlag{Name: "yes", Category: tools, Usage: "run every call without asking"},

			&cli.BoolFlag{Name: "plain", Category: look, Usage: "read lines and print text, nothing else: for screen readers and logs"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: look, Usage: "show reasoning as it comes"},
			&cli.StringFlag{Name: "color", Value: "auto", Category: look, Usage: "use colour `WHEN`: auto, always or never"},
		}, question.ParamFlags(asked)...),
		Action: workbench.Run(rt, readTalk, func(ctx context.Context, rt *workbench.Runtime, o chatOptions) error {
			return runChat(ctx, rt, o, program)
		}),
	}
}

func readTalk(c *cli.Context) (chatOptions, error) {
	const help = "fettle chat --help"
	a, err := question.Read(c, "fettle chat")
	if err != nil {
		return chatOptions{}, err
	}
	a.View = follow.Options{Verbose: c.Bool("verbose"), Output: "text"}
	o := chatOptions{plain: c.Bool("plain"), first: strings.Join(c.Args().Slice(), " ")}
	if n, ok := cmdline.ChatNumber(c.Args().First()); ok && c.NArg() == 1 {
		if a.Chat.Last || c.IsSet("chat") {
			return o, cmdline.Usagef(help, "%s is a chat's number, and -c or --chat names another; give one", c.Args().First())
		}
		a.Chat.Number, o.first = n, ""
	}
	if err := a.Check(c, "fettle chat"); err != nil {
		return o, err
	}
	o.ask = a
	return o, nil
}

// runChat talks until the person leaves.
func runChat(ctx context.Context, rt *workbench.Runtime, o chatOptions, program Program) error {
	rt.Verbose = o.ask.View.Verbose
	cfg, err := rt.Config(o.ask.Flags())
	if err != nil {
		return err
	}
	if _, err := o.ask.Request(rt, cfg); err != nil { // wrong flags are said before anything is drawn
		return err
	}
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	t := newTalk(rt, cfg, eng, o)
	t.program = program
	if err := t.resume(ctx); err != nil {
		return err
	}
	if err := t.offerCut(ctx, rt); err != nil {
		return err
	}
	if o.plain || !t.canDraw() {
		return t.runPlain(ctx)
	}
	return t.runPage(ctx)
}
