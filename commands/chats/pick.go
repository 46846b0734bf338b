package chats

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// atMostOneChat refuses more than one argument, which is a title that wasn't
// quoted.
func atMostOneChat(c *cli.Context, path string) error {
	if c.NArg() <= 1 {
		return nil
	}
	return cmdline.Usagef(path+" "+cmdline.ShellWord(strings.Join(c.Args().Slice(), " ")),
		"%s takes one chat; a title with blanks is quoted", strings.TrimPrefix(path, "fettle "))
}

// Ref finds the chat that a person names by number, id or title; an empty
// name is the chat that was used last.
func Ref(ctx context.Context, eng *engine.Engine, arg string) (store.ChatRef, error) {
	switch n, ok := cmdline.ChatNumber(arg); {
	case arg == "":
		return store.ChatRef{Last: true}, nil
	case ok:
		return store.ChatRef{Number: n}, nil
	case cmdline.IsULID(arg):
		return store.ChatRef{ID: arg}, nil
	}
	chat, err := eng.ChatByTitle(ctx, arg)
	return store.ChatRef{ID: chat.ID}, err
}

// namedChats finds the chats that arguments name by number, range of numbers
// (3-7) or id. In a range there may be gaps.
func namedChats(ctx context.Context, eng *engine.Engine, args []string, path string) ([]chat.Chat, error) {
	var out []chat.Chat
	seen := map[string]bool{}
	add := func(chats ...chat.Chat) {
		for _, c := range chats {
			if !seen[c.ID] {
				seen[c.ID], out = true, append(out, c)
			}
		}
	}
	for _, arg := range args {
		from, to, isRange := strings.Cut(arg, "-")
		first, ok1 := cmdline.ChatNumber(from)
		last, ok2 := cmdline.ChatNumber(to)
		switch {
		case isRange && ok1 && ok2 && first <= last:
			chats, err := eng.NumberedChats(ctx, first, last)
			if err != nil {
				return nil, err
			}
			if len(chats) == 0 {
				return nil, fault.New(fault.NotFound, "no chat has a number from "+from+" to "+to, fault.Run("fettle chats list"))
			}
			add(chats...)
		case ok1 && !isRange || cmdline.IsULID(arg):
			ref := store.ChatRef{Number: first}
			if !ok1 {
				ref.ID = arg
			}
			chat, err := eng.FindChat(ctx, ref)
			if err != nil {
				return nil, err
			}
			add(chat)
		default:
			return nil, cmdline.Usagef(path+" 3 5-7", "%s is no chat's number, range of numbers or id", cmdline.ShellWord(arg))
		}
	}
	if len(out) > store.MaxDelete {
		return nil, cmdline.Usagef("", "these are more than %d chats, the most that are taken at once", store.MaxDelete)
	}
	return out, nil
}

// chatWords names a chat in a sentence: chat 3, "why is the sky blue?".
func chatWords(c chat.Chat) string {
	return fmt.Sprintf("chat %d, %q", c.Number, term.Clean(c.Title))
}

// mostNamed is how many chats a question names one by one.
const mostNamed = 12

// chatsQuestion asks about chats, each with its title and how much is in it.
func chatsQuestion(verb string, chats []chat.Chat, after string) string {
	if len(chats) == 1 {
		return fmt.Sprintf("%s %s, %s%s?", verb, chatWords(chats[0]), term.Count(chats[0].Messages, "message", "messages"), after)
	}
	var b strings.Builder
	for _, c := range chats[:min(len(chats), mostNamed)] {
		fmt.Fprintf(&b, "  %d  %s, %s\n", c.Number, term.Clean(c.Title), term.Count(c.Messages, "message", "messages"))
	}
	if more := len(chats) - mostNamed; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return fmt.Sprintf("%s%s these %d chats%s?", b.String(), verb, len(chats), after)
}
