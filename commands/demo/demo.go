package demo

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/internal/paths"
)

type options struct {
	scene string // "" is the conversation of agents
	model string
	color string
	keep  bool
}

// scenes are what `fettle demo` can show beside the conversation.
func scenes() []string { return []string{"files"} }

// New is the command demo.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "demo",
		Usage:     "see whole turns with nothing to set up",
		ArgsUsage: "[files]",
		Description: `Three agents find out which login a team has settled on, by two tools, and a
second question is answered from the chat's memory. fettle demo files shows a
model that reads and writes files, and undo. The models' words are a recording;
the agents, the tools, the folder and the store are the real ones. With --model a
real model is asked the same. Nothing is left behind, unless --keep asks for it.`,
		UsageText: "fettle demo\nfettle demo files\nfettle demo --keep\nfettle demo --model ollama/qwen3",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "ask the model `PROVIDER/NAME` instead of the recording"},
			&cli.BoolFlag{Name: "keep", Usage: "keep the chat, and the toolset that it uses"},
			rt.InProfile(""),
			&cli.StringFlag{Name: "color", Value: "auto", Usage: "use colour `WHEN`: auto, always or never"},
		},
		Action: func(c *cli.Context) error {
			o := options{model: c.String("model"), scene: c.Args().First(), keep: c.Bool("keep")}
			if c.IsSet("color") {
				o.color = c.String("color")
			}
			if err := checkScene(c.Args().Slice()); err != nil {
				return err
			}
			return run(c.Context, rt, o)
		},
	}
}

func checkScene(args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(args) == 1 && args[0] == scenes()[0]:
		return nil
	case len(args) == 1 && didyoumean.Of(args[0], scenes()) != "":
		return cmdline.Usagef("fettle demo "+didyoumean.Of(args[0], scenes()), "demo has no scene %s", cmdline.ShellWord(args[0]))
	}
	return cmdline.Usagef("fettle ask "+cmdline.ShellWord(strings.Join(args, " ")), "demo asks its own questions and takes none")
}

// demo is one run of the demonstration.
type demo struct {
	rt       *workbench.Runtime
	o        options
	cfg      *config.Config
	eng      *engine.Engine
	recorded bool
	scratch  string // a folder that goes away at the end
}

func run(ctx context.Context, rt *workbench.Runtime, o options) error {
	flags := map[string]config.Flag{}
	if o.color != "" {
		flags["color"] = config.Flag{Name: "--color", Values: []string{o.color}}
	}
	cfg, err := rt.Config(flags)
	if err != nil {
		return err
	}
	d := &demo{rt: rt, o: o, cfg: cfg, recorded: o.model == ""}
	if err := d.open(); err != nil {
		return err
	}
	if o.scene == "files" {
		return d.filesScene(ctx)
	}
	return d.agentsScene(ctx)
}

// open makes the engine, on a data directory that goes away with the program
// unless what it keeps was asked for.
func (d *demo) open() error {
	scratch, remove, err := d.rt.Temporaries().TempDir("", "fettle-demo-")
	if err != nil {
		return fault.Wrap(fault.Failed, "make a folder for the demo", err)
	}
	d.scratch, d.rt.RemoveScratch = scratch, remove
	if !d.o.keep {
		usual := d.rt.Dirs
		d.rt.Dirs = func() (paths.Dirs, error) {
			dirs, err := usual()
			dirs.Data, dirs.Runtime, dirs.Cache = d.inScratch("data"), d.inScratch("run"), d.inScratch("cache")
			return dirs, err
		}
	}
	d.eng, err = d.rt.EngineFor(d.cfg, nil)
	return err
}

// Open makes an engine that answers by the recording, with the toolset of the
// demonstration installed. What it keeps goes away with the program. It makes the
// recording the configuration's model.
func Open(ctx context.Context, rt *workbench.Runtime, cfg *config.Config) (*engine.Engine, error) {
	cfg.Model = Model
	d := &demo{rt: rt, cfg: cfg, recorded: true}
	if err := d.open(); err != nil {
		return nil, err
	}
	return d.eng, d.install(ctx)
}

// ask asks one question of the demo and shows the turn.
func (d *demo) ask(ctx context.Context, req engine.TurnRequest, recording string) (chat.Chat, error) {
	d.rt.NameModels(d.o.model)
	if req.Model = d.o.model; d.recorded {
		req.Model = recording
	}
	// A demo that left a chat for each try at a dead address would be a nuisance.
	req.DiscardUnanswered = true
	req.MaxSteps, req.Timeout = d.cfg.Limits.MaxSteps, d.cfg.Limits.Timeout
	id, err := d.eng.Start(ctx, req)
	if err != nil {
		return chat.Chat{}, err
	}
	chat, _ := d.eng.TurnChat(id)
	v := follow.NewText(d.rt, follow.Options{Verbose: true}, nil)
	v.Results, v.Bare = true, true
	return chat, follow.Turn(ctx, d.rt, d.eng, id, v)
}

// lost tells that nobody reads the answers any more; Main says so.
func (d *demo) lost() bool { return d.rt.Streams.Out.Err() != nil }

func question(text string) []provider.Part {
	return []provider.Part{{Kind: provider.TextPart, Text: text}}
}

// says prints what the demo itself has to say, on lines that fit.
func (d *demo) says(text string) {
	out := d.rt.Streams.Err
	for _, line := range term.Wrap(text, out.Width()) {
		out.Printf("%s\n", line)
	}
}

// asks prints the question that comes next.
func (d *demo) asks(text string) {
	out := d.rt.Streams.Err
	out.Printf("\n")
	for i, line := range term.Wrap(text, out.Width()-2) {
		mark := "> "
		if i > 0 {
			mark = "  "
		}
		out.Printf("%s\n", out.Style().Bold(mark+line))
	}
	out.Printf("\n")
}

// who says who answers.
func (d *demo) who(real string) string {
	if d.recorded {
		return "The model is a recording; " + real + " are real."
	}
	return "The model is " + term.Clean(d.o.model) + "."
}

// step is a command that is worth a try, and what it does.
type step struct{ command, does string }

// next says what to try, the commands in a column where the screen is wide
// enough.
func (d *demo) next(steps []step) {
	out := d.rt.Streams.Err
	wide := 0
	for _, s := range steps {
		wide = max(wide, term.Cells(s.command))
	}
	const indent, gap, least = 2, 3, 20 // what a description needs beside a command
	room := out.Width() - indent - wide - gap
	out.Printf("\n%s\n", out.Style().Bold("Try next"))
	for _, s := range steps {
		if out.Width() > 0 && room < least {
			out.Printf("  %s\n", s.command)
			for _, line := range term.Wrap(s.does, out.Width()-2*indent) {
				out.Printf("    %s\n", out.Style().Dim(line))
			}
			continue
		}
		for i, line := range term.Wrap(s.does, room) {
			command := s.command
			if i > 0 {
				command = ""
			}
			out.Printf("  %s%s%s\n", command, strings.Repeat(" ", wide-term.Cells(command)+gap), out.Style().Dim(line))
		}
	}
}

// realModel are the steps to a real model.
func realModel(again string) []step {
	return []step{
		{"fettle models pull qwen3", "gets a model, once ollama serve runs"},
		{again + " --model ollama/qwen3", "asks it the same"},
		{`fettle ask "why is the sky blue?"`, "asks it what you like"},
	}
}
