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
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	workspacecmd "github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// branchesJSON is what `chats branches --output json` prints.
type branchesJSON struct {
	SchemaVersion int            `json:"schema_version"`
	Chat          int64          `json:"chat"`
	Branches      []store.Branch `json:"branches"`
}

// switchedJSON is what `chats switch --output json` prints.
type switchedJSON struct {
	SchemaVersion int                       `json:"schema_version"`
	Chat          int64                     `json:"chat"`
	Leaf          string                    `json:"leaf_message_id"`
	Before        string                    `json:"before,omitempty"` // manifest ids
	After         string                    `json:"after,omitempty"`
	Changes       []workspacecmd.ChangeJSON `json:"changes"`
	Left          []workspacecmd.LeftJSON   `json:"left"`
}

func newChatsBranches(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats branches"
	return &cli.Command{
		Name:      "branches",
		Usage:     "list the branches of a chat",
		ArgsUsage: "[CHAT]",
		Description: `A chat has another branch for each question that was asked again or in the place
of another: fettle ask --retry and --at. A * marks the one that it goes on in.
The files column says what switching to a branch would add, change and remove.
In a pipe each branch is a line with tabs between.`,
		UsageText: "fettle chats branches\nfettle chats branches 1 -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Action: func(c *cli.Context) error {
			if err := atMostOneChat(c, path); err != nil {
				return err
			}
			return runBranches(c.Context, rt, c.Args().First(), c.String("output"))
		},
	}
}

func runBranches(ctx context.Context, rt *workbench.Runtime, arg, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	ref, err := Ref(ctx, eng, arg)
	if err != nil {
		return err
	}
	chat, branches, err := eng.Branches(ctx, ref)
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, branchesJSON{workbench.OutputVersion, chat.Number, branches})
	}
	return listBranches(rt, chat, branches)
}

func listBranches(rt *workbench.Runtime, chat chat.Chat, branches []store.Branch) error {
	out := rt.Streams.Out
	now, dim := time.Now(), out.Style().Dim
	table := term.NewTable(out, term.Column{Title: "branch", Right: true}, term.Column{Title: "at", Right: true},
		term.Column{Title: "question", Cut: true}, term.Column{Title: "messages", Right: true},
		term.Column{Title: "files", Style: dim}, term.Column{Title: "answered", Style: dim})
	for _, b := range branches {
		number, when := strconv.Itoa(b.Number), b.UpdatedAt.UTC().Format(time.RFC3339)
		if b.Active {
			number = "* " + number
		}
		if out.IsTerminal() {
			when = term.Ago(now, b.UpdatedAt)
		}
		table.Row(number, strconv.Itoa(b.Place), b.Title, strconv.Itoa(b.Messages), FilesOf(b), when)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if rt.Streams.Err.IsTerminal() && len(branches) > 1 {
		rt.Streams.Err.Printf("  %s\n", dim(fmt.Sprintf("fettle chats switch %d N goes on in another", chat.Number)))
	}
	return nil
}

// FilesOf says in short what switching to a branch does to files.
func FilesOf(b store.Branch) string {
	var parts []string
	for _, p := range []struct {
		mark string
		n    int
	}{{"+", b.Added}, {"~", b.Modified}, {"-", b.Removed}} {
		if p.n > 0 {
			parts = append(parts, p.mark+strconv.Itoa(p.n))
		}
	}
	return strings.Join(parts, " ")
}

func newChatsSwitch(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "switch",
		Usage:     "go on in another branch of a chat",
		ArgsUsage: "[CHAT] BRANCH",
		Description: `BRANCH is a number of fettle chats branches, or the id of a message of it. The
chat's files become those that the branch was left with; those that are there
now come back with the branch that is left. In a folder of yours nothing is done
where somebody else has changed one of them since, and they are listed.`,
		UsageText: "fettle chats switch 1 2",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "overwrite", Usage: "change also files that somebody else has changed since; they are kept as a state"},
			cmdline.OutputFlag(),
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (switchOptions, error) {
			o := switchOptions{overwrite: c.Bool("overwrite"), output: c.String("output")}
			var rest []string
			if o.chat, rest = workspacecmd.ChatAndRest(c.Args().Slice()); c.NArg() == 1 {
				o.chat, rest = store.ChatRef{Last: true}, c.Args().Slice()
			}
			if len(rest) != 1 {
				return o, cmdline.Usagef("fettle chats branches", "chats switch wants one branch, and before it the chat unless that is the last one")
			}
			o.branch = rest[0]
			return o, nil
		}, runSwitch),
	}
}

type switchOptions struct {
	chat      store.ChatRef
	branch    string
	overwrite bool
	output    string
}

func runSwitch(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o switchOptions) error {
	chat, branches, err := eng.Branches(ctx, o.chat)
	if err != nil {
		return err
	}
	message, err := o.message(chat, branches)
	if err != nil {
		return err
	}
	done, err := eng.Switch(ctx, workspace.SwitchRequest{
		Chat: store.ChatRef{ID: chat.ID}, Message: message, Overwrite: o.overwrite, OnWait: rt.Waiting,
	})
	if err != nil {
		return workspacecmd.WithOverwrite(err, fmt.Sprintf("fettle chats switch %d %s --overwrite", chat.Number, o.branch))
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, switchedOf(done))
	}
	at := slices.IndexFunc(branches, func(b store.Branch) bool { return b.Leaf == done.Chat.ActiveLeaf })
	name := "branch"
	if at >= 0 {
		name = fmt.Sprintf("branch %d, %q", branches[at].Number, term.Clean(branches[at].Title))
	}
	rt.Streams.Out.Printf("chat %d goes on in %s: %s\n", chat.Number, name, done.Summary().Counts())
	workspacecmd.TellLeft(rt, done)
	return nil
}

// message is the message that the branch argument means.
func (o switchOptions) message(chat chat.Chat, branches []store.Branch) (string, error) {
	if cmdline.IsULID(o.branch) {
		return o.branch, nil
	}
	n, ok := cmdline.ChatNumber(o.branch)
	if !ok || n > int64(len(branches)) {
		return "", fault.New(fault.NotFound, fmt.Sprintf("chat %d has no branch %s: it has %s", chat.Number, cmdline.ShellWord(o.branch),
			term.Count(len(branches), "branch", "branches")), fault.Run(fmt.Sprintf("fettle chats branches %d", chat.Number)))
	}
	return branches[n-1].Leaf, nil
}

func switchedOf(done *workspace.Restored) switchedJSON {
	out := switchedJSON{
		SchemaVersion: workbench.OutputVersion, Chat: done.Chat.Number, Leaf: done.Chat.ActiveLeaf,
		Changes: workspacecmd.ChangesOf(done.Changes), Left: workspacecmd.LeftOf(done.Left),
	}
	if done.Before != nil {
		out.Before, out.After = done.Before.ID, done.After.ID
	}
	return out
}
