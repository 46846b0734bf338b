package chats

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
)

func newChatsRename(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats rename"
	return &cli.Command{
		Name:        "rename",
		Usage:       "give a chat another title",
		ArgsUsage:   "CHAT TITLE…",
		Description: "The title is made one line of at most 80 characters. It stays, whatever is asked later.",
		UsageText:   "fettle chats rename 1 Plans for the garden",
		Action: func(c *cli.Context) error {
			if c.NArg() < 2 {
				return cmdline.Usagef(path+" 1 Plans for the garden", "chats rename wants a chat and its new title")
			}
			return runChatsRename(c.Context, rt, c.Args().First(), strings.Join(c.Args().Tail(), " "))
		},
	}
}

func runChatsRename(ctx context.Context, rt *workbench.Runtime, name, title string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	if strings.TrimSpace(title) == "" {
		return cmdline.Usagef("fettle chats rename "+cmdline.ShellWord(name)+" Plans for the garden", "a title can't be empty")
	}
	if name == "" {
		return cmdline.Usagef("fettle chats list", "chats rename wants the number of a chat")
	}
	ref, err := Ref(ctx, eng, name)
	if err != nil {
		return err
	}
	chat, err := eng.RenameChat(ctx, ref, title)
	if err != nil {
		return err
	}
	rt.Notice(fmt.Sprintf("chat %d is now called %q", chat.Number, term.Clean(chat.Title)))
	return nil
}

type forkOptions struct {
	chat string
	at   string // a message's place or id; "" is the last one
}

func newChatsFork(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats fork"
	return &cli.Command{
		Name:      "fork",
		Usage:     "begin a chat with the messages of another",
		ArgsUsage: "[CHAT]",
		Description: `Prints the number of the new chat. It begins with the messages up to the last
one, or with --at up to another answer, and asks nothing; fettle ask --fork asks
at once. It works in the same folder where -w bound one; else it has a folder of
its own with the files as they were at that answer.`,
		UsageText: "fettle chats fork 1\nfettle chats fork 1 --at 2",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "end with this `MESSAGE`: its place in chats show, from 1, or its id"},
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (forkOptions, error) {
			if err := atMostOneChat(c, path); err != nil {
				return forkOptions{}, err
			}
			o := forkOptions{c.Args().First(), c.String("at")}
			if c.IsSet("at") && o.at == "" {
				return o, cmdline.Usagef(path+" 1 --at 2", "--at wants the place or the id of a message")
			}
			return o, nil
		}, runChatsFork),
	}
}

func runChatsFork(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o forkOptions) error {
	ref, err := Ref(ctx, eng, o.chat)
	if err != nil {
		return err
	}
	at := cmdline.Message{}
	if o.at != "" {
		if at, err = cmdline.ReadMessage(o.at, "fettle chats fork 1 --at 2"); err != nil {
			return err
		}
	}
	ref.Parent = at.Id
	chat, err := eng.ForkChat(ctx, ref, at.Place)
	if err != nil {
		return err
	}
	rt.Streams.Out.Printf("%d\n", chat.Number)
	from := chat.ForkedFrom
	rt.Notice(fmt.Sprintf("chat %d has the first %s of chat %d", chat.Number, term.Count(chat.Messages, "message", "messages"), from.Number))
	return nil
}
