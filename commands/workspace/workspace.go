package workspace

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/store"
)

// options are the flags and arguments of the commands below
// workspace, and of undo and redo.
type options struct {
	chat      store.ChatRef
	states    []string // as a person names them
	paths     []string
	output    string
	file      string
	nameOnly  bool
	stat      bool
	overwrite bool
	plan      bool
	keep      []string
	steps     int
	call      string // of undo: the one step that is meant
	limit     int
	all       bool // log: also what isn't on the way to the active state
	fresh     bool // import: into a new chat
}

const workspaceDescription = `Every call of a tool leaves the state of the chat's files before and after it,
and each can be looked at, compared and brought back.

CHAT is a chat's number; without one it is the chat that was used last. STATE is
@ for the state that the chat is at, @-1 for the one before it and so on, or the
id of a state, a message or a tool call, of which the last letters are enough.

PATH is a path in the chat's folder: its raw bytes, or as the commands print it,
with a backslash as two and other bytes that can't be printed as \xNN. Where both
readings name a file, the printed one counts.`

// New makes the command workspace with those below it.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "workspace",
		Usage:       "see a chat's files, as they are and as they were",
		Description: workspaceDescription,
		UsageText:   "fettle workspace log\nfettle workspace diff @-1\nfettle undo",
		Subcommands: []*cli.Command{
			newWorkspaceFiles(rt), newWorkspaceCat(rt), newWorkspacePut(rt), newWorkspaceLog(rt), newWorkspaceShow(rt),
			newWorkspaceDiff(rt), newWorkspaceRestore(rt), newWorkspaceExport(rt), newWorkspaceImport(rt), newWorkspacePath(rt),
			newWorkspaceApply(rt), newWorkspaceDiscard(rt),
		},
	}
}

// ChatAndRest takes the chat's number off the arguments, where they begin with
// one.
func ChatAndRest(args []string) (store.ChatRef, []string) {
	const longest = 9 // a longer one is an id
	if len(args) > 0 && len(args[0]) <= longest {
		if n, err := strconv.ParseInt(args[0], 10, 64); err == nil && n > 0 {
			return store.ChatRef{Number: n}, args[1:]
		}
	}
	return store.ChatRef{Last: true}, args
}

// stateArgs reads [CHAT] [STATE…], with so many states at most, and the flag output.
func stateArgs(most int) func(*cli.Context) (options, error) {
	return func(c *cli.Context) (options, error) {
		chat, states := ChatAndRest(c.Args().Slice())
		o := options{chat: chat, states: states, output: cmp.Or(c.String("output"), "text")}
		if len(states) <= most {
			return o, nil
		}
		what := []string{"no state", "one state", "two states"}[most]
		return o, cmdline.Usagef(c.Command.HelpName+" --help", "%s is one argument too many: it takes a chat and %s at most", strconv.Quote(states[most]), what)
	}
}

func newWorkspaceFiles(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "files",
		Usage:       "list the files of a state",
		ArgsUsage:   "[CHAT] [STATE]",
		Description: "Without STATE it is the state that the chat is at.",
		UsageText:   "fettle workspace files\nfettle workspace files 1 @-1 -o json",
		Flags:       []cli.Flag{cmdline.OutputFlag()},
		Action:      workbench.RunOnStore(rt, stateArgs(1), runWorkspaceFiles),
	}
}

func newWorkspaceCat(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "cat",
		Usage:       "print a file of a state",
		ArgsUsage:   "[CHAT] PATH",
		Description: "The bytes go to standard output as they are.",
		UsageText:   "fettle workspace cat notes/todo.md\nfettle workspace cat 1 notes/todo.md --at @",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "at", Value: "@", Usage: "as it was in `STATE`"}},
		Action: func(c *cli.Context) error {
			chat, rest := ChatAndRest(c.Args().Slice())
			if len(rest) != 1 {
				return cmdline.Usagef("fettle workspace cat 1 notes/todo.md", "workspace cat wants one path")
			}
			return runWorkspaceCat(c.Context, rt, options{chat: chat, paths: rest, states: []string{c.String("at")}})
		},
	}
}

func newWorkspacePut(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "put",
		Usage:     "write a file into a chat's folder",
		ArgsUsage: "[CHAT] PATH [FILE]",
		Description: `What is written comes from FILE, or from standard input. fettle undo takes it
back.`,
		UsageText: "echo '- one' | fettle workspace put notes/todo.md\nfettle workspace put 1 report.md report.md",
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (options, error) {
			chat, rest := ChatAndRest(c.Args().Slice())
			if len(rest) != 1 && len(rest) != 2 {
				return options{}, cmdline.Usagef("fettle workspace put 1 notes/todo.md FILE", "workspace put wants a path in the chat's folder, and a file to put there")
			}
			o := options{chat: chat, paths: rest[:1]}
			if len(rest) == 2 && rest[1] != "-" {
				o.file = rest[1]
			}
			return o, nil
		}, runWorkspacePut),
	}
}

func newWorkspaceLog(rt *workbench.Runtime) *cli.Command {
	const path = "fettle workspace log"
	return &cli.Command{
		Name:      "log",
		Usage:     "list the states of a chat's files, the latest first",
		ArgsUsage: "[CHAT]",
		Description: `These are the states on the way to the one that the chat is at. Those of other
branches, and imported ones that lie beside, are with --all; their name is -, and
they go by their ids. On a terminal it is a table that fits. In a pipe each state
is a line of name, id, what made it, how many paths differ from the one before,
and time, with tabs between.`,
		UsageText: "fettle workspace log\nfettle workspace log --all\nfettle workspace log 1 -n 5 -o json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "also those that aren't on the way"},
			cmdline.OutputFlag(), &cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 20, Usage: "list at most `N`; 0 is all"},
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (options, error) {
			o, err := stateArgs(0)(c)
			if err != nil {
				return o, err
			}
			o.limit, o.all = c.Int("limit"), c.Bool("all")
			if o.limit < 0 {
				return o, cmdline.Usagef(path+" -n 0", "--limit wants a number of at least 0, not %d", o.limit)
			}
			return o, nil
		}, runWorkspaceLog),
	}
}

func newWorkspaceShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "show what made a state, and what it changed",
		ArgsUsage: "[CHAT] [STATE]",
		UsageText: "fettle workspace show\nfettle workspace show 1 @-1 -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Action:    workbench.RunOnStore(rt, stateArgs(1), runWorkspaceShow),
	}
}

func newWorkspaceDiff(rt *workbench.Runtime) *cli.Command {
	const path = "fettle workspace diff"
	return &cli.Command{
		Name:      "diff",
		Usage:     "show what differs between two states",
		ArgsUsage: "[CHAT] [STATE [STATE]]",
		Description: `With one state it is compared with the folder as it is now, with none the
folder is compared with the state before the last change. The text is a patch
that git apply takes.`,
		UsageText: "fettle workspace diff\nfettle workspace diff 1 @-1\nfettle workspace diff @-1 @ --stat",
		Flags: []cli.Flag{
			cmdline.OutputFlag(),
			&cli.BoolFlag{Name: "stat", Usage: "print a line for each file, and sums"},
			&cli.BoolFlag{Name: "name-only", Usage: "print the paths alone"},
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (options, error) {
			o, err := stateArgs(2)(c)
			if err != nil {
				return o, err
			}
			o.stat, o.nameOnly = c.Bool("stat"), c.Bool("name-only")
			if o.stat && o.nameOnly || o.output == "json" && (o.stat || o.nameOnly) {
				return o, cmdline.Usagef(path+" --stat", "--stat, --name-only and --output json each say how to print; give one")
			}
			return o, nil
		}, runWorkspaceDiff),
	}
}

// restoreFlags are those of all commands that restore files.
func restoreFlags() []cli.Flag {
	return []cli.Flag{
		cmdline.ListFlag("keep", "", "", "leave `PATH` and what is below it as it is; may be repeated"),
		&cli.BoolFlag{Name: "overwrite", Usage: "also replace what somebody else has changed since; undo and redo restore it"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done, and do nothing"},
		cmdline.OutputFlag(),
	}
}

func readRestore(c *cli.Context, o *options) error {
	o.overwrite, o.plan, o.output = c.Bool("overwrite"), c.Bool("dry-run"), c.String("output")
	o.keep = cmdline.ListOf(c, "keep")
	return errors.Join(noneEmpty(o.keep, "--keep"), noneEmpty(o.paths, "PATH"))
}

func newWorkspaceRestore(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "restore a state, or some files of it",
		ArgsUsage: "[CHAT] STATE [PATH…]",
		Description: `What is there is stored as a state first, so fettle undo reverts the restore,
with or without --overwrite. Where somebody else has changed a file since,
nothing is done and the files are listed.`,
		UsageText: "fettle workspace restore @-1\nfettle workspace restore 1 @-1 notes/todo.md",
		Flags:     restoreFlags(),
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (options, error) {
			chat, rest := ChatAndRest(c.Args().Slice())
			if len(rest) == 0 {
				return options{}, cmdline.Usagef("fettle workspace log", "workspace restore wants the state to bring back")
			}
			o := options{chat: chat, states: rest[:1], paths: rest[1:]}
			if err := readRestore(c, &o); err != nil {
				return o, err
			}
			return o, nil
		}, runRestore),
	}
}

func newWorkspaceExport(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write the history of a chat's files as one file",
		ArgsUsage: "[CHAT] FILE",
		Description: `FILE is a compressed tar archive of all states with their contents. - is
standard output. fettle workspace import reads it back, here or elsewhere.`,
		UsageText: "fettle workspace export history.tar.gz\nfettle workspace export 1 - | wc -c",
		Action: func(c *cli.Context) error {
			chat, rest := ChatAndRest(c.Args().Slice())
			if len(rest) != 1 {
				return cmdline.Usagef("fettle workspace export 1 history.tar.gz", "workspace export wants the file to write")
			}
			if rest[0] == "-" && rt.Streams.Out.IsTerminal() {
				return cmdline.Usagef("fettle workspace export history.tar.gz", "an archive isn't written to a terminal")
			}
			return runWorkspaceExport(c.Context, rt, options{chat: chat, file: rest[0]})
		},
	}
}

func newWorkspacePath(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "path",
		Usage:       "print where a chat's folder is",
		ArgsUsage:   "[CHAT]",
		Description: "The folder of a chat's own is made when its first tool runs.",
		UsageText:   "fettle workspace path\nls \"$(fettle workspace path 1)\"",
		Action:      workbench.RunOnStore(rt, stateArgs(0), runWorkspacePath),
	}
}
