package chats

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

type rmOptions struct {
	chats []string
	yes   bool
}

func newChatsRm(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats rm"
	return &cli.Command{
		Name:      "rm",
		Usage:     "delete chats; they can be brought back for 30 days",
		ArgsUsage: "CHAT…",
		Description: `Takes numbers, ranges of numbers (3-7) and ids, and deletes all of them or none.
A chat in which a turn is running is not deleted. A deleted chat is in no list
and can't be gone on with; fettle chats restore brings it back. 30 days later it
is removed for good with its own folder, after some command that has time for
it. A folder that -w bound it to is left as it is, and what it used stays in
fettle usage.`,
		UsageText: "fettle chats rm 1\nfettle chats rm 2 4-6 --yes\nfettle chats list --deleted",
		Flags:     []cli.Flag{cmdline.YesFlag()},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (rmOptions, error) {
			o := rmOptions{chats: c.Args().Slice(), yes: c.Bool("yes")}
			if len(o.chats) == 0 {
				return o, cmdline.Usagef(path+" 1", "chats rm wants the number of a chat")
			}
			return o, nil
		}, runChatsRm),
	}
}

func runChatsRm(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o rmOptions) error {
	chats, err := namedChats(ctx, eng, o.chats, "fettle chats rm")
	if err != nil {
		return err
	}
	if !o.yes {
		again := "fettle chats rm " + strings.Join(cmdline.ShellWords(o.chats), " ") + " --yes"
		if ok, err := rt.Sure(ctx, chatsQuestion("delete", chats, ""), again); !ok {
			return err
		}
	}
	if err := eng.DeleteChats(ctx, chats...); err != nil {
		return err
	}
	what := term.Count(len(chats), "chat", "chats")
	if len(chats) == 1 {
		what = chatWords(chats[0])
	}
	rt.Notice("deleted " + what)
	until := time.Now().Add(store.DeletedKept).Format(time.DateOnly)
	rt.Hint(fmt.Sprintf("fettle chats restore %s   brings %s back, until %s at least", numberList(chats), show.ItOrThem(len(chats)), until))
	return nil
}

// numberList writes numbers as arguments.
func numberList(chats []chat.Chat) string {
	out := make([]string, len(chats))
	for i, c := range chats {
		out[i] = strconv.FormatInt(c.Number, 10)
	}
	return strings.Join(out, " ")
}

func newChatsRestore(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats restore"
	return &cli.Command{
		Name:        "restore",
		Usage:       "bring back chats that were deleted",
		ArgsUsage:   "N…",
		Description: "fettle chats list --deleted lists those that can be brought back.",
		UsageText:   "fettle chats rm 1 --yes\nfettle chats restore 1",
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cmdline.Usagef("fettle chats list --deleted", "chats restore wants the number of a chat that was deleted")
			}
			var wanted []int64
			for _, arg := range c.Args().Slice() {
				n, ok := cmdline.ChatNumber(arg)
				if !ok {
					return cmdline.Usagef(path+" 1", "%s is no chat's number", cmdline.ShellWord(arg))
				}
				wanted = append(wanted, n)
			}
			return runChatsRestore(c.Context, rt, wanted)
		},
	}
}

// runChatsRestore looks for all before it restores one.
func runChatsRestore(ctx context.Context, rt *workbench.Runtime, wanted []int64) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	deleted, err := eng.DeletedChats(ctx)
	if err != nil {
		return err
	}
	for _, n := range wanted {
		if slices.ContainsFunc(deleted, func(c chat.Chat) bool { return c.Number == n }) {
			continue
		}
		if _, err := eng.FindChat(ctx, store.ChatRef{Number: n}); err != nil {
			return fault.New(fault.NotFound, fmt.Sprintf("there is no chat %d to restore", n), fault.Run("fettle chats list --deleted"))
		}
	}
	for _, n := range wanted {
		chat, was, err := eng.RestoreChat(ctx, n)
		if err != nil {
			return err
		}
		if was {
			rt.Notice(chatWords(chat) + " is back")
		} else {
			rt.Notice(chatWords(chat) + " was not deleted")
		}
	}
	return nil
}

func newChatsPurge(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "purge",
		Usage:     "remove deleted chats for good, now",
		ArgsUsage: "[N…]",
		Description: `Removes deleted chats without waiting for their 30 days, by default all of them:
their messages, tool calls, approvals and their own folders. It can't be undone.
What they used stays in fettle usage. A purge that was stopped goes on with the
next one.`,
		UsageText: "fettle chats rm 1 --yes\nfettle chats purge 1 --yes",
		Flags:     []cli.Flag{cmdline.YesFlag()},
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runChatsPurge(c.Context, rt, eng, rmOptions{chats: c.Args().Slice(), yes: c.Bool("yes")})
		}),
	}
}

func runChatsPurge(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o rmOptions) error {
	chats, err := deletedChats(ctx, eng, o.chats)
	if err != nil {
		return err
	}
	if len(chats) > 0 && !o.yes {
		again := strings.Join(append([]string{"fettle chats purge"}, append(cmdline.ShellWords(o.chats), "--yes")...), " ")
		if ok, err := rt.Sure(ctx, chatsQuestion("remove", chats, " for good"), again); !ok {
			return err
		}
	}
	what := store.Purge{OlderThan: store.DeletedKept} // what an earlier one began, in any case
	if len(chats) > 0 {
		what.Chats = []string{}
	}
	for _, c := range chats {
		what.Chats = append(what.Chats, c.ID)
	}
	rt.Streams.Status().Set("removing " + term.Count(len(chats), "chat", "chats"))
	done, err := eng.PurgeChats(ctx, what)
	rt.Streams.Status().Clear()
	if err != nil {
		return err
	}
	if done.Chats == 0 && done.Busy == 0 {
		rt.Notice("no deleted chats")
		return nil
	}
	rt.Notice(fmt.Sprintf("removed %s with %s for good", term.Count(done.Chats, "chat", "chats"), term.Count(done.Messages, "message", "messages")))
	if done.Busy > 0 {
		return fault.New(fault.Busy, term.Count(done.Busy, "chat is", "chats are")+" still needed by another process", fault.Run("fettle chats purge   when it has ended"))
	}
	return nil
}

// deletedChats finds deleted chats by their numbers; without any it is all.
func deletedChats(ctx context.Context, eng *engine.Engine, args []string) ([]chat.Chat, error) {
	all, err := eng.DeletedChats(ctx)
	if err != nil || len(args) == 0 {
		return all, err
	}
	var out []chat.Chat
	for _, arg := range args {
		n, ok := cmdline.ChatNumber(arg)
		if !ok {
			return nil, cmdline.Usagef("fettle chats purge 1", "%s is no chat's number", cmdline.ShellWord(arg))
		}
		i := slices.IndexFunc(all, func(c chat.Chat) bool { return c.Number == n })
		if i < 0 {
			next := fault.Try(fault.ListDeletedChats)
			if _, err := eng.FindChat(ctx, store.ChatRef{Number: n}); err == nil {
				next = fault.Run(fmt.Sprintf("fettle chats rm %d   first", n))
			}
			return nil, fault.New(fault.NotFound, fmt.Sprintf("chat %d is not among the deleted ones", n), next)
		}
		out = append(out, all[i])
	}
	return out, nil
}
