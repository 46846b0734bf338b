package acp

import (
	"cmp"
	"context"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/demo"
	"github.com/fettle-cli/fettle/commands/models"
	"github.com/fettle-cli/fettle/commands/serve"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/acp"
)

// acpOptions are the flags of `acp`.
type acpOptions struct {
	model, agent, logs string
	demo               bool
}

// New is the command acp, which an editor starts.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "acp",
		Usage: "be the agent of an editor, by the Agent Client Protocol",
		Description: `Editors start this: Zed, JetBrains' IDEs, Neovim and others that speak ACP. They
write messages to its standard input and read them from its standard output, and
the log is on standard error. It ends with the editor; a chat that it cuts off
can be gone on with.

The editor's folder is the workspace. Calls that can change something there ask
in the editor, what they changed is shown as a diff, and /undo in the editor or
fettle undo in a shell takes it back. The modes of a session are those of
approvals and plan mode; the agent is an option. The prompts of fettle prompts
are commands that begin with a slash. Deleted sessions come back by fettle chats restore.

Where the editor offers its files, the file tools read what is not saved yet
and write through the editor. Where it offers a terminal, the option Commands
of a session runs commands there instead of in fettle's sandbox: nothing
contains them then, so each one asks. It is off unless you choose it.

The configuration is that of the folder in which it is started. In Zed's settings:

  "agent_servers": {
    "fettle": {"type": "custom", "command": "fettle", "args": ["acp"]}
  }

fettle's README has the lines for JetBrains and Neovim.`,
		UsageText: "fettle acp\nfettle acp --model ollama/qwen3\nfettle acp --demo",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "begin sessions with the model `PROVIDER/NAME`"},
			&cli.StringFlag{Name: "agent", Usage: "begin sessions with the agent `ID`"},
			&cli.BoolFlag{Name: "demo", Usage: "answer with the recorded model of fettle demo, with nothing set up"},
			&cli.StringFlag{Name: "log", Value: "text", Usage: "write the log as `FORMAT`: text, json or off"},
			rt.InProfile(""),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := acpOptions{model: c.String("model"), agent: c.String("agent"), logs: c.String("log"), demo: c.Bool("demo")}
			if err := o.check(rt); err != nil {
				return err
			}
			rt.Answering, rt.CutAdvice = true, acp.CutAdvice
			return runACP(c.Context, rt, o)
		},
	}
}

func (o acpOptions) check(rt *workbench.Runtime) error {
	switch {
	case o.logs != "text" && o.logs != "json" && o.logs != "off":
		return cmdline.Usagef("fettle acp --log json", "--log wants text, json or off, not %s", cmdline.ShellWord(o.logs))
	case o.demo && o.model != "":
		return cmdline.Usagef("fettle acp --demo", "--demo answers with a recorded model, so --model has no use")
	case rt.Streams.In.IsTerminal():
		return cmdline.Usagef("fettle acp --help", "fettle acp is started by an editor, and nobody types what it reads; its help says how")
	}
	return nil
}

func runACP(ctx context.Context, rt *workbench.Runtime, o acpOptions) error {
	cfg, err := rt.Config(map[string]config.Flag{})
	if err != nil {
		return err
	}
	if o.demo {
		o.model = demo.Model
	}
	cfg.Model = cmp.Or(o.model, cfg.Model)
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	agent := cmp.Or(o.agent, cfg.EntryAgent())
	if o.agent != "" {
		all, err := eng.AllAgents(ctx)
		if err != nil {
			return err
		}
		if _, err := all.Find(o.agent); err != nil {
			return err
		}
	}
	index, err := models.Index(rt, cfg, rt.Client)
	if err != nil {
		return err
	}
	err = acp.Run(ctx, acp.Options{
		Engine: eng, Models: index, Prompts: slashPrompts{rt}, Prepare: serve.PrepareTurn(cfg, ""), Model: cfg.Model, Agent: agent,
		Version: rt.Build().Version, In: rt.Streams.In, Out: rt.Streams.Out, Log: serve.Logger(rt, o.logs),
	})
	if err != nil && !term.ClosedPipe(err) {
		return fault.Wrap(fault.Failed, "speak with the editor", err)
	}
	return nil
}
