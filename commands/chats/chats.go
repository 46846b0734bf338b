package chats

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/store"
)

type listOptions struct {
	output  string
	query   store.ListChats
	deleted bool
}

type showOptions struct {
	output string
	chat   string // as it was given; "" is the last one
	last   int    // how many messages; 0 is all
}

// New makes the command chats with those below it.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "chats",
		Usage: "see and keep in order what was kept",
		Description: `A chat is named by its number, its id, or its title or a part of it that no other
has. rm can be taken back for 30 days; purge can't.`,
		UsageText: "fettle chats list\nfettle chats show 1\nfettle chats search sky",
		Subcommands: []*cli.Command{
			newChatsList(rt), newChatsShow(rt), newChatsSearch(rt),
			newChatsBranches(rt), newChatsSwitch(rt), newChatsRename(rt), newChatsFork(rt), newChatsCompact(rt), newChatsExport(rt), newChatsImport(rt),
			newChatsRm(rt), newChatsRestore(rt), newChatsPurge(rt),
		},
	}
}

func newChatsList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list chats, the last used first",
		Description: `On a terminal it is a table that fits. In a pipe each chat is a line of number,
title, model, messages and time, with tabs between. --after goes on behind the
last chat of a page.`,
		UsageText: "fettle chats list\nfettle chats list -n 5 -o json\nfettle chats list -n 20 --after 1\n" +
			"fettle chats list --model qwen3 --since 7d\nfettle chats list -n 0 | cut -f 1,2",
		Flags: []cli.Flag{
			cmdline.OutputFlag(), &cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 20, Usage: "list at most `N`; 0 is all"},
			&cli.Int64Flag{Name: "after", Usage: "go on behind this `CHAT`, the last one of a page"},
			&cli.StringFlag{Name: "model", Usage: "only chats whose model has `TEXT` in its name"},
			&cli.StringFlag{Name: "since", Usage: "only chats used since `DAY`: 7d, 4w or a date"},
			&cli.StringFlag{Name: "before", Usage: "only chats last used before `DAY`"},
			&cli.BoolFlag{Name: "deleted", Usage: "list what chats restore can bring back"},
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (listOptions, error) {
			o, err := readListOptions(c, time.Now())
			if err != nil {
				return o, err
			}
			return o, nil
		}, runChatsList),
	}
}

func readListOptions(c *cli.Context, now time.Time) (o listOptions, err error) {
	const path = "fettle chats list"
	o = listOptions{output: c.String("output"), deleted: c.Bool("deleted"), query: store.ListChats{
		Limit: c.Int("limit"), AfterChat: c.Int64("after"), Model: c.String("model"),
	}}
	if err := cmdline.NoArguments(c); err != nil {
		return o, err
	}
	if o.query.Limit < 0 {
		return o, cmdline.Usagef(path+" -n 0", "--limit wants a number of at least 0, not %d", o.query.Limit)
	}
	if c.IsSet("after") && o.query.AfterChat <= 0 {
		return o, cmdline.Usagef(path, "--after wants the number of a chat, not %d", o.query.AfterChat)
	}
	for _, name := range []string{"after", "model", "since", "before"} {
		if o.deleted && c.IsSet(name) {
			return o, cmdline.Usagef(path+" --deleted", "--deleted lists all that was deleted; --%s doesn't go with it", name)
		}
	}
	for name, at := range map[string]*time.Time{"since": &o.query.Since, "before": &o.query.Before} {
		if !c.IsSet(name) {
			continue
		}
		if *at, err = cmdline.ParseSince(c.String(name), now); err != nil {
			return o, cmdline.Usagef(path+" --"+name+" 7d", "--%s wants %s, not %s", name, err, strconv.Quote(c.String(name)))
		}
	}
	return o, nil
}

func newChatsShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show a chat's messages",
		ArgsUsage: "[CHAT]",
		Description: `Shows the messages on the way to the chat's last one, by default of the chat
that was used last. What is longer than the terminal goes through PAGER.`,
		UsageText: "fettle chats show\nfettle chats show 1 -o json\nfettle chats show \"so that there is one\" --last 2",
		Flags: []cli.Flag{
			cmdline.OutputFlag(), &cli.IntFlag{Name: "last", Usage: "only the last `N` messages"},
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (showOptions, error) {
			const path = "fettle chats show"
			if err := atMostOneChat(c, path); err != nil {
				return showOptions{}, err
			}
			o := showOptions{c.String("output"), c.Args().First(), c.Int("last")}
			if o.last < 0 || c.IsSet("last") && o.last == 0 {
				return o, cmdline.Usagef(path+" --last 2", "--last wants a number of at least 1, not %d", o.last)
			}
			return o, nil
		}, runChatsShow),
	}
}

// chatsJSON is what `chats list --output json` prints.
type chatsJSON struct {
	SchemaVersion int         `json:"schema_version"`
	Chats         []chat.Chat `json:"chats"`
	// Next is what --after goes on with, where there are more.
	Next int64 `json:"next,omitempty"`
}

func runChatsList(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o listOptions) error {
	if o.deleted {
		return listDeleted(ctx, rt, eng, o)
	}
	page, err := eng.Chats(ctx, o.query)
	if err != nil {
		return err
	}
	next := int64(0)
	if page.Next != nil {
		next = page.Chats[len(page.Chats)-1].Number
	}
	if o.output == "json" {
		return printChats(rt, page.Chats, next)
	}
	if len(page.Chats) == 0 {
		rt.Notice(noChats(o.query))
		return nil
	}
	listChats(rt.Streams.Out, page.Chats)
	if next > 0 && rt.Streams.Err.IsTerminal() {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim(fmt.Sprintf("there are more: --after %d goes on, -n 0 lists all", next)))
	}
	return nil
}

func printChats(rt *workbench.Runtime, chats []chat.Chat, next int64) error {
	if chats == nil {
		chats = []chat.Chat{}
	}
	return workbench.PrintJSON(rt, chatsJSON{workbench.OutputVersion, chats, next})
}

func noChats(q store.ListChats) string {
	switch {
	case q.Model != "" || !q.Since.IsZero() || !q.Before.IsZero():
		return "no chat is like that; fettle chats list   lists the last used"
	case q.AfterChat > 0:
		return fmt.Sprintf("no chats come after %d", q.AfterChat)
	}
	return `no chats yet; fettle ask "why is the sky blue?" begins one`
}

// listDeleted lists what can be restored, the last deleted first.
func listDeleted(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o listOptions) error {
	chats, err := eng.DeletedChats(ctx)
	if err != nil {
		return err
	}
	if o.output == "json" {
		return printChats(rt, chats, 0)
	}
	if len(chats) == 0 {
		rt.Notice("no deleted chats")
		return nil
	}
	if limit := o.query.Limit; limit > 0 {
		chats = chats[:min(len(chats), limit)]
	}
	out, now := rt.Streams.Out, time.Now()
	table := term.NewTable(out, term.Column{Title: "chat", Right: true}, term.Column{Title: "title", Cut: true},
		term.Column{Title: "messages", Right: true}, term.Column{Title: "deleted", Style: out.Style().Dim},
		term.Column{Title: "kept until", Style: out.Style().Dim})
	for _, c := range chats {
		deleted, until := c.DeletedAt.UTC().Format(time.RFC3339), c.DeletedAt.Add(store.DeletedKept)
		if out.IsTerminal() {
			deleted = term.Ago(now, *c.DeletedAt)
		}
		table.Row(strconv.FormatInt(c.Number, 10), c.Title, strconv.Itoa(c.Messages), deleted, until.Local().Format(time.DateOnly))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if rt.Streams.Err.IsTerminal() {
		rt.Streams.Err.Printf("  %s\n", rt.Streams.Err.Style().Dim("fettle chats restore N brings one back"))
	}
	return nil
}

// listChats prints a table for a person, and every column for a program.
func listChats(out *term.Output, chats []chat.Chat) {
	now, style := time.Now(), out.Style()
	narrow := out.IsTerminal() && out.Width() < show.RoomForAll
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
	store.Conversation
}

func runChatsShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o showOptions) error {
	ref, err := Ref(ctx, eng, o.chat)
	if err != nil {
		return err
	}
	var conv store.Conversation
	if o.last > 0 {
		conv, err = eng.ChatEnd(ctx, ref, o.last)
	} else {
		conv, err = eng.Chat(ctx, ref)
	}
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, chatJSON{workbench.OutputVersion, conv})
	}
	return rt.Streams.Page(func() error {
		show.ShowChat(rt.Streams.Out, conv)
		return rt.Streams.Out.Err()
	})
}
