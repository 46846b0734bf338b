package commands

import (
	"context"
	"embed"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// demoFiles hold the recorded model and the file that it is asked about.
//
//go:embed demodata/demo.yaml demodata/orders.csv
var demoFiles embed.FS

const (
	demoDir    = "demodata"
	demoModel  = "script/:demo"
	demoFile   = "orders.csv"
	demoPrompt = "Which customer spent the most, and is anything odd in orders.csv?"
)

type demoOptions struct {
	model string
	color string
}

func newDemo(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "see a whole turn with nothing to set up",
		Description: `A recorded model is asked about a small CSV file. Its words are a recording; the
tools that it calls, the folder they work in and the store are the real ones.
With --model a real model is asked the same.`,
		UsageText: "fettle demo\nfettle demo --model ollama/qwen3",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "ask the model `PROVIDER/NAME` instead of the recording"},
			rt.inProfile(""),
			&cli.StringFlag{Name: "color", Value: "auto", Usage: "use colour `WHEN`: auto, always or never"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				question := shellWord(strings.Join(c.Args().Slice(), " "))
				return usagef("fettle ask "+question, "demo asks its own question and takes none")
			}
			o := demoOptions{model: c.String("model")}
			if c.IsSet("color") {
				o.color = c.String("color")
			}
			return runDemo(c.Context, rt, o)
		},
	}
}

func runDemo(ctx context.Context, rt *runtime, o demoOptions) error {
	flags := map[string]config.Flag{}
	if o.color != "" {
		flags["color"] = config.Flag{Name: "--color", Values: []string{o.color}}
	}
	cfg, err := rt.config(flags)
	if err != nil {
		return err
	}
	eng, err := rt.engineFor(cfg, nil)
	if err != nil {
		return err
	}
	csv, err := demoFiles.ReadFile(path.Join(demoDir, demoFile))
	if err != nil {
		return fault.Wrap(fault.Failed, "read the demo's file", err)
	}
	recorded := o.model == ""
	if recorded {
		o.model = demoModel
	}
	rt.demoIntro(o.model, recorded)
	id, err := eng.Start(ctx, engine.TurnRequest{
		Parts:   []provider.Part{{Kind: provider.TextPart, Text: demoPrompt}},
		Model:   o.model,
		Uploads: []engine.Upload{{Name: demoFile, Data: csv}},
		// A demo that left a chat for each try at a dead address would be a nuisance.
		DiscardUnanswered: true,
	})
	if err != nil {
		return err
	}
	v := newTextView(rt, askOptions{verbose: true}, nil)
	if err := follow(ctx, rt, eng, id, v); err != nil {
		return err
	}
	return rt.demoOutro(ctx, eng, v.number(), recorded)
}

func (rt *runtime) demoIntro(model string, recorded bool) {
	style := rt.streams.Err.Style()
	who := "The model is " + model + "."
	if recorded {
		who = "The model is a recording; the tools, the folder and the store are real."
	}
	rt.streams.Err.Printf("%s\n%s\n\n", who, style.Dim("> "+demoPrompt))
}

// demoOutro says where things are now, and what to do with a real model.
func (rt *runtime) demoOutro(ctx context.Context, eng *engine.Engine, number int64, recorded bool) error {
	conv, err := eng.Chat(ctx, engine.ChatRef{Number: number})
	if err != nil {
		return err
	}
	dir := eng.WorkspacePath(conv.Chat)
	next := ""
	if recorded {
		next = `
To ask a real model:
  ollama serve, then: fettle models pull qwen3
  fettle demo --model ollama/qwen3
  fettle ask "why is the sky blue?"
`
	}
	rt.streams.Err.Printf("\n%s\n%s%s",
		fmt.Sprintf("It worked in %s", term.Clean(filepath.Clean(dir))),
		fmt.Sprintf("fettle chats show %d   shows the chat that was kept\n", number), next)
	return nil
}
