package commands

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
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
	return &cli.Command{
		Name:        "chats",
		Usage:       "see what was kept",
		UsageText:   "fettle chats list\nfettle chats show 1\nfettle chats search sky",
		Subcommands: []*cli.Command{newChatsList(rt), newChatsShow(rt), newChatsSearch(rt)},
	}
}

func outputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "text", Usage: "print `FORMAT` text or json"}
}

func newChatsList(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list chats, the last used first",
		Description: `On a terminal it is a table that fits. In a pipe each chat is a line of number,
title, model, messages and time, with tabs between.`,
		UsageText: "fettle chats list\nfettle chats list -n 5 -o json\nfettle chats list -n 0 | cut -f 1,2",
		Flags: []cli.Flag{
			outputFlag(), &cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 20, Usage: "list at most `N`; 0 is all"},
		},
		Action: func(c *cli.Context) error {
			const path = "fettle chats list"
			o := listOptions{output: c.String("output"), limit: c.Int("limit")}
			if err := noArguments(c, path); err != nil {
				return err
			}
			if o.limit < 0 {
				return usagef(path+" -n 0", "--limit wants a number of at least 0, not %d", o.limit)
			}
			if err := checkOutput(o.output, path); err != nil {
				return err
			}
			return runChatsList(c.Context, rt, o)
		},
	}
}

func newChatsShow(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show a chat's messages",
		ArgsUsage: "[N]",
		Description: `Shows the messages on the way to the chat's last one, by default of the chat
that was used last. What is longer than the terminal goes through PAGER.`,
		UsageText: "fettle chats show\nfettle chats show 1 -o json",
		Flags:     []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			ref, err := chatArg(c)
			if err != nil {
				return err
			}
			o := showOptions{c.String("output"), ref}
			if err := checkOutput(o.output, "fettle chats show"); err != nil {
				return err
			}
			return runChatsShow(c.Context, rt, o)
		},
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

func checkOutput(output, path string) error {
	if output != "text" && output != "json" {
		return usagef(path+" -o json", "--output has no format %s: there are text and json", strconv.Quote(output))
	}
	return nil
}

// storeEngine is an engine for commands that ask no model.
func (rt *runtime) storeEngine() (*engine.Engine, error) {
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
	eng, err := rt.storeEngine()
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
		rt.notice(`no chats yet; fettle ask "why is the sky blue?" begins one`)
		return nil
	}
	listChats(rt.streams.Out, page.Chats)
	if page.Next != nil && rt.streams.Err.IsTerminal() {
		rt.streams.Err.Printf("  %s\n", rt.streams.Err.Style().Dim("there are more: -n 0 lists all"))
	}
	return nil
}

// roomForAll is the narrowest terminal that shows all columns of the list.
const roomForAll = 64

// listChats prints a table for a person, and every column for a program.
func listChats(out *term.Output, chats []engine.Chat) {
	now, style := time.Now(), out.Style()
	narrow := out.IsTerminal() && out.Width() < roomForAll
	columns := []term.Column{{Title: "chat", Right: true}, {Title: "title", Cut: true}}
	if !narrow {
		columns = append(columns, term.Column{Title: "model", Cut: true, Style: style.Dim},
			term.Column{Title: "messages", Right: true})
	}
	table := term.NewTable(out, append(columns, term.Column{Title: "last used", Style: style.Dim})...)
	for _, c := range chats {
		cells := []string{strconv.FormatInt(c.Number, 10), c.Title}
		if !narrow {
			cells = append(cells, c.Model, strconv.Itoa(c.Messages))
		}
		used := c.UpdatedAt.UTC().Format(time.RFC3339)
		if out.IsTerminal() {
			used = term.Ago(now, c.UpdatedAt)
		}
		table.Row(append(cells, used)...)
	}
	_ = table.Flush() // Main looks at what went wrong with writing
}

// chatJSON is what `chats show --output json` prints.
type chatJSON struct {
	SchemaVersion int `json:"schema_version"`
	engine.Conversation
}

func runChatsShow(ctx context.Context, rt *runtime, o showOptions) error {
	eng, err := rt.storeEngine()
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
	return rt.streams.Page(func() error {
		showChat(rt.streams.Out, conv)
		return rt.streams.Out.Err()
	})
}

func printJSON(rt *runtime, v any) error {
	enc := json.NewEncoder(rt.streams.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
