package commands

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/markdown"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
)

type listOptions struct {
	output string
	limit  int
}

type showOptions struct {
	output string
	chat   engine.ChatRef
}

func newChats(rt *runtime) *cli.Command {
	output := func() cli.Flag {
		return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "print as `FORMAT`: text, json"}
	}
	return &cli.Command{
		Name:      "chats",
		Usage:     "see what was kept",
		UsageText: "fettle chats list\nfettle chats show 1",
		Subcommands: []*cli.Command{{
			Name:      "list",
			Usage:     "list chats, the last used first",
			UsageText: "fettle chats list\nfettle chats list --limit 5 -o json",
			Flags: []cli.Flag{
				output(), &cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 20, Usage: "list at most `N`; 0 is all"},
			},
			Action: func(c *cli.Context) error {
				o := listOptions{output: c.String("output"), limit: c.Int("limit")}
				if c.NArg() > 0 {
					return usagef("fettle chats list --help", "chats list takes no arguments")
				}
				return runChatsList(c.Context, rt, o)
			},
		}, {
			Name:      "show",
			Usage:     "show a chat's messages",
			ArgsUsage: "[N]",
			Description: `Shows the messages on the way to the chat's last one. Without a number it is the
chat that was used last.`,
			UsageText: "fettle chats show\nfettle chats show 1 -o json",
			Flags:     []cli.Flag{output()},
			Action: func(c *cli.Context) error {
				ref, err := chatArg(c)
				if err != nil {
					return err
				}
				return runChatsShow(c.Context, rt, showOptions{c.String("output"), ref})
			},
		}},
	}
}

func chatArg(c *cli.Context) (engine.ChatRef, error) {
	switch c.NArg() {
	case 0:
		return engine.ChatRef{Last: true}, nil
	case 1:
		n, err := strconv.ParseInt(c.Args().First(), 10, 64)
		if err != nil || n <= 0 {
			return engine.ChatRef{}, usagef("fettle chats list", "%s is no chat number", strconv.Quote(c.Args().First()))
		}
		return engine.ChatRef{Number: n}, nil
	}
	return engine.ChatRef{}, usagef("fettle chats show 1", "chats show takes one number")
}

func checkOutput(output string) error {
	if output != "text" && output != "json" {
		return usagef("-o json", "--output has no format %s: there are text and json", strconv.Quote(output))
	}
	return nil
}

// storeEngine is an engine for commands that ask no model.
func (rt *runtime) storeEngine(output string) (*engine.Engine, error) {
	if err := checkOutput(output); err != nil {
		return nil, err
	}
	rt.jsonErrors = output == "json"
	cfg, err := rt.config(nil)
	if err != nil {
		return nil, err
	}
	return rt.engineFor(cfg, nil)
}

// chatsJSON is what `chats list --output json` prints.
type chatsJSON struct {
	SchemaVersion int           `json:"schema_version"`
	Chats         []engine.Chat `json:"chats"`
}

func runChatsList(ctx context.Context, rt *runtime, o listOptions) error {
	eng, err := rt.storeEngine(o.output)
	if err != nil {
		return err
	}
	page, err := eng.Chats(ctx, engine.ListChats{Limit: max(0, o.limit)})
	if err != nil {
		return err
	}
	if o.output == "json" {
		if page.Chats == nil {
			page.Chats = []engine.Chat{}
		}
		return printJSON(rt, chatsJSON{outputVersion, page.Chats})
	}
	if len(page.Chats) == 0 {
		rt.notice(`no chats yet; fettle ask "…" begins one`)
		return nil
	}
	now := time.Now()
	style := rt.streams.Out.Style()
	table := term.NewTable(rt.streams.Out,
		term.Column{Title: "chat", Right: true},
		term.Column{Title: "title", Cut: true},
		term.Column{Title: "model", Cut: true, Style: style.Dim},
		term.Column{Title: "messages", Right: true},
		term.Column{Title: "last used", Style: style.Dim})
	for _, c := range page.Chats {
		table.Row(strconv.FormatInt(c.Number, 10), c.Title, c.Model, strconv.Itoa(c.Messages), term.Ago(now, c.UpdatedAt))
	}
	if err := table.Flush(); err != nil {
		return outputTrouble(err)
	}
	if page.Next != nil && rt.streams.Err.IsTerminal() {
		rt.streams.Err.Printf("  %s\n", rt.streams.Err.Style().Dim("there are more; --limit 0 lists all"))
	}
	return nil
}

// chatJSON is what `chats show --output json` prints.
type chatJSON struct {
	SchemaVersion int `json:"schema_version"`
	engine.Conversation
}

func runChatsShow(ctx context.Context, rt *runtime, o showOptions) error {
	eng, err := rt.storeEngine(o.output)
	if err != nil {
		return err
	}
	conv, err := eng.Chat(ctx, o.chat)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return printJSON(rt, chatJSON{outputVersion, conv})
	}
	return showChat(rt, conv)
}

func printJSON(rt *runtime, v any) error {
	enc := json.NewEncoder(rt.streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return outputTrouble(err)
	}
	return nil
}

// showChat prints a chat for reading: who said what, and which tools ran.
func showChat(rt *runtime, conv engine.Conversation) error {
	out, style := rt.streams.Out, rt.streams.Out.Style()
	c := conv.Chat
	out.Printf("%s  %s\n", style.Bold(term.Clean(c.Title)),
		style.Dim(term.Clean("chat "+strconv.FormatInt(c.Number, 10)+" · "+c.Model+" · "+term.Ago(time.Now(), c.UpdatedAt))))
	for _, m := range conv.Messages {
		if m.Role == provider.User {
			out.Printf("\n%s\n", style.Cyan("you"))
		} else {
			out.Printf("\n%s\n", style.Green(term.Clean(m.Model)))
		}
		for _, p := range m.Parts {
			showPart(rt, p)
		}
		showEnd(rt, m)
	}
	if err := out.Err(); err != nil {
		return outputTrouble(err)
	}
	return nil
}

func showPart(rt *runtime, p provider.Part) {
	out, style := rt.streams.Out, rt.streams.Out.Style()
	switch p.Kind {
	case provider.TextPart:
		showText(rt, p.Text)
	case provider.FilePart:
		out.Printf("%s\n", style.Dim("file "+term.Clean(p.Name)+", "+term.Size(int64(len(p.Text)))))
	case provider.ImagePart:
		out.Printf("%s\n", style.Dim("image "+term.Clean(p.Name)+", "+term.Size(int64(len(p.Data)))))
	case provider.ToolCallPart:
		out.Printf("%s %s  %s\n", style.Cyan("→"), term.Clean(p.Call.Name), style.Dim(argLine(p.Call.Args)))
	case provider.ToolResultPart:
		mark := style.Green("✓")
		if p.Result.Error {
			mark = style.Red("✗")
		}
		out.Printf("%s %s\n", mark, style.Dim(term.CutEnd(term.Clean(firstOf(p.Result.Text)), 100)))
	}
}

func showText(rt *runtime, text string) {
	out := rt.streams.Out
	// Writes that fail are remembered by the output; showChat looks at the end.
	if out.IsTerminal() {
		w := markdown.New(out, markdown.Options{Width: out.Width(), Style: out.Style()})
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return
	}
	w := newPipeWriter(out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	if !strings.HasSuffix(text, "\n") {
		out.WriteString("\n")
	}
}

// showEnd says why an answer is not whole.
func showEnd(rt *runtime, m engine.Message) {
	out, style := rt.streams.Out, rt.streams.Out.Style()
	switch m.Status {
	case engine.Failed:
		out.Printf("%s\n", style.Red("stopped by an error: "+term.Clean(m.Error.Message)))
	case engine.Stopped:
		out.Printf("%s\n", style.Yellow("cancelled"))
	case engine.CutShort:
		out.Printf("%s\n", style.Yellow("interrupted"))
	}
}
