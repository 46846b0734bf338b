package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// importedJSON is what `workspace import --output json` prints.
type importedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Chat          int64  `json:"chat"`
	NewChat       bool   `json:"new_chat"`
	Imported      int    `json:"imported"` // states
	Latest        string `json:"latest"`   // the id of the last of them
	Active        string `json:"active"`   // the id of the state that the chat is at
}

func newWorkspaceImport(rt *workbench.Runtime) *cli.Command {
	const path = "fettle workspace import"
	return &cli.Command{
		Name:      "import",
		Usage:     "bring in the history of files that workspace export wrote",
		ArgsUsage: "[CHAT] FILE",
		Description: `Makes a chat that has the states in FILE, and prints its number; with CHAT or -c
they come into that chat, such as one that chats import brought. FILE is read to
its end first: all states come in or none. - is standard input. No file of the
chat's folder changes, so there is nothing to undo: workspace restore brings a
state back, and that can be undone. In a chat that has states already the new ones
lie beside them, and workspace log --all lists both.`,
		UsageText: "fettle workspace import history.tar.gz\nfettle workspace import 1 history.tar.gz\nfettle workspace import -c history.tar.gz -o json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "continue", Aliases: []string{"c"}, Usage: "into the chat that was used last"},
			cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			chat, rest := ChatAndRest(c.Args().Slice())
			o := options{chat: chat, output: c.String("output"), fresh: chat.Last && !c.Bool("continue")}
			switch {
			case len(rest) != 1:
				return cmdline.Usagef(path+" history.tar.gz", "workspace import wants the file that workspace export has written")
			case !chat.Last && c.Bool("continue"):
				return cmdline.Usagef(path+" -c "+cmdline.ShellWord(rest[0]), "-c means the chat that was used last, and chat %d is named, too", chat.Number)
			}
			o.file = rest[0]
			return runWorkspaceImport(c.Context, rt, o)
		},
	}
}

func runWorkspaceImport(ctx context.Context, rt *workbench.Runtime, o options) error {
	file, name, size, err := openHistory(ctx, rt, o.file)
	if err != nil {
		return err
	}
	defer file.Close()
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	req := workspace.RestoreRequest{Chat: o.chat, OnWait: rt.Waiting}
	w := rt.Work("workspace import")
	w.Watch(&req)
	w.Stage("reading", size)
	done, err := eng.ImportStates(ctx, req, workspace.History{Name: name, Content: w.Reading(file), New: o.fresh})
	w.Stop()
	if err != nil {
		return err
	}
	last := done.States[len(done.States)-1]
	n := strconv.FormatInt(done.Chat.Number, 10)
	if o.output == "json" {
		return workbench.PrintJSON(rt, importedJSON{workbench.OutputVersion, done.Chat.Number, o.fresh, len(done.States), last.ID, done.Chat.ActiveManifest})
	}
	rt.Streams.Out.Printf("%s\n", n)
	what, list, state := "chat "+n, " --all", last.ID[max(0, len(last.ID)-idShown):]
	if o.fresh {
		what += ", a new one"
	}
	if done.Follows {
		if list, state = "", "@-1"; done.Chat.ActiveManifest == last.ID {
			state = "@"
		}
	}
	rt.Notice(fmt.Sprintf("imported %s into %s, %q; no file was changed", term.Count(len(done.States), "state", "states"), what, term.Clean(done.Chat.Title)))
	rt.Notice(fmt.Sprintf("fettle workspace log %s%s lists them, fettle workspace restore %s %s brings the latest back", n, list, n, state))
	return nil
}

// openHistory opens what is to be imported, and gives its name for messages and its
// size in bytes; 0 where that isn't known.
func openHistory(ctx context.Context, rt *workbench.Runtime, name string) (io.ReadCloser, string, int64, error) {
	if name == "-" {
		if rt.Streams.In.IsTerminal() {
			return nil, "", 0, cmdline.Usagef("fettle workspace import history.tar.gz", "there is no file to import, and standard input is the terminal")
		}
		in, err := input.Stream(ctx, rt.Streams.In.File())
		return in, input.Named(name), 0, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, "", 0, importFault(name, err)
	}
	if !info.Mode().IsRegular() { // to open a named pipe could wait for ever
		return nil, "", 0, cmdline.Usagef("fettle workspace import history.tar.gz", "%s is no file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", 0, importFault(name, err)
	}
	return f, name, info.Size(), nil
}

func importFault(name string, err error) error {
	var why *fs.PathError
	if errors.As(err, &why) {
		err = why.Err // the path is in the error once
	}
	return fault.Wrap(fault.Usage, "import "+name, err, fault.Run("fettle workspace export 1 "+cmdline.ShellWord(filepath.Base(name))+"   writes such a file"))
}
