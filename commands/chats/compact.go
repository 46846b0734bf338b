package chats

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

type compactOptions struct {
	chat   string
	keep   int
	model  string
	forget bool
	output string
}

// compactJSON is what `chats compact --output json` prints.
type compactJSON struct {
	SchemaVersion int   `json:"schema_version"`
	Chat          int64 `json:"chat"`
	// Forgotten is how many summaries were taken away, with --forget.
	Forgotten *int `json:"forgotten,omitempty"`
	*store.Compacted
}

func newChatsCompact(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats compact"
	return &cli.Command{
		Name:      "compact",
		Usage:     "sum up a chat's older messages for the model",
		ArgsUsage: "[CHAT]",
		Description: `From the next question on the model is told a summary in place of the older
messages, which costs less and leaves room. The chat keeps all messages, and
chats show tells where the summary stands. A conversation that outgrows the
model's context is summed up by itself: the setting compact.auto. --forget takes
summaries away, so that the model is told everything again that fits.`,
		UsageText: "fettle chats compact 1 --keep 0\nfettle chats compact 1 --forget",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "keep", Value: 1, Usage: "leave the last `N` questions and answers as they are"},
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "let this `MODEL` sum up, instead of compact.model or the chat's"},
			&cli.BoolFlag{Name: "forget", Usage: "take the chat's summaries away"},
			cmdline.OutputFlag(),
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (compactOptions, error) {
			if err := atMostOneChat(c, path); err != nil {
				return compactOptions{}, err
			}
			o := compactOptions{c.Args().First(), c.Int("keep"), c.String("model"), c.Bool("forget"), c.String("output")}
			switch {
			case o.keep < 0:
				return o, cmdline.Usagef(path+" --keep 1", "--keep wants a number of at least 0, not %d", o.keep)
			case c.IsSet("model") && o.model == "":
				return o, cmdline.Usagef(path+" -m ollama/qwen3", "--model wants the name of a model")
			case o.forget && (c.IsSet("keep") || c.IsSet("model")):
				return o, cmdline.Usagef(path+" --forget", "--forget sums nothing up; --keep and --model don't go with it")
			}
			return o, nil
		}, runChatsCompact),
	}
}

func runChatsCompact(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o compactOptions) error {
	ref, err := Ref(ctx, eng, o.chat)
	if err != nil {
		return err
	}
	onWait := func(what string) { rt.Notice("waiting: " + what) }
	if o.forget {
		return forgetSummaries(ctx, rt, eng, ref, o.output)
	}
	status := func(text string) {
		if rt.Streams.Err.IsTerminal() {
			rt.Notice(text)
		}
	}
	rt.NameModels(o.model)
	done, err := eng.CompactChat(ctx, engine.CompactRequest{Chat: ref, Keep: o.keep, Model: o.model, OnWait: onWait, Status: status})
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, compactJSON{workbench.OutputVersion, done.Chat.Number, nil, done})
	}
	rt.Notice(fmt.Sprintf("chat %d: %s now told to the model as a summary by %s; fettle chats compact %d --forget takes it away",
		done.Chat.Number, term.Count(done.Summary.Messages, "message is", "messages are"), term.Clean(done.Summary.Model), done.Chat.Number))
	return nil
}

func forgetSummaries(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, ref store.ChatRef, output string) error {
	chat, n, err := eng.ForgetSummaries(ctx, ref, func(what string) { rt.Notice("waiting: " + what) })
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, compactJSON{workbench.OutputVersion, chat.Number, &n, nil})
	}
	if n == 0 {
		return fault.New(fault.NotFound, fmt.Sprintf("chat %d has no summary", chat.Number), fault.Run(fmt.Sprintf("fettle chats compact %d", chat.Number)))
	}
	rt.Notice(fmt.Sprintf("chat %d: %s taken away; the model is told all messages again that fit", chat.Number,
		term.Count(n, "summary was", "summaries were")))
	return nil
}
