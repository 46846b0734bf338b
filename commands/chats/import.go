package chats

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
)

type importOptions struct {
	files []string
	there engine.Existing
}

func newChatsImport(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats import"
	return &cli.Command{
		Name:      "import",
		Usage:     "bring in chats that chats export wrote as JSON",
		ArgsUsage: "[FILE…]",
		Description: `Reads files, or standard input (-), and prints the number of each new chat. Either
all come in or none. A chat that is here already is not taken again: --skip
leaves it out, --copy makes another one of it. A chat that worked in a folder of
its user works in a folder of its own here. What was used in it elsewhere is not
in fettle usage.`,
		UsageText: "fettle chats export 1 -o json | fettle chats import --copy\nfettle chats import --skip chats.jsonl",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "skip", Usage: "leave out what is here already"},
			&cli.BoolFlag{Name: "copy", Usage: "bring in what is here already as another chat"},
		},
		Action: func(c *cli.Context) error {
			o := importOptions{files: c.Args().Slice()}
			switch {
			case c.Bool("skip") && c.Bool("copy"):
				return cmdline.Usagef(path+" --skip FILE", "--skip and --copy don't go together")
			case c.Bool("skip"):
				o.there = engine.SkipExisting
			case c.Bool("copy"):
				o.there = engine.CopyExisting
			}
			if len(o.files) == 0 {
				o.files = []string{"-"}
			}
			return runChatsImport(c.Context, rt, o)
		},
	}
}

func runChatsImport(ctx context.Context, rt *workbench.Runtime, o importOptions) error {
	var docs []*engine.ChatDocument
	left := int64(engine.MaxDocument)
	for _, file := range o.files {
		data, err := readChats(ctx, rt, file, left)
		if err != nil {
			return err
		}
		left -= int64(len(data))
		read, notes, err := engine.DecodeChats(data)
		if err != nil {
			return fault.Wrap(fault.Usage, "import "+input.Named(file), err, "fettle chats export 1 -o json   writes such a file")
		}
		for _, note := range notes {
			rt.Notice(note)
		}
		docs = append(docs, read...)
	}
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	rt.Streams.Status().Set("importing " + term.Count(len(docs), "chat", "chats"))
	done, err := eng.ImportChats(ctx, docs, o.there)
	rt.Streams.Status().Clear()
	if err != nil {
		return err
	}
	skipped := 0
	for _, d := range done {
		if d.Skipped {
			skipped++
			continue
		}
		rt.Streams.Out.Printf("%d\n", d.Chat.Number)
	}
	if skipped > 0 {
		rt.Notice(term.Count(skipped, "chat was", "chats were") + " here already")
	}
	switch n := len(done) - skipped; {
	case n == 1 && len(done) == 1:
		rt.Notice("imported " + chatWords(done[0].Chat) + ", " + term.Count(done[0].Chat.Messages, "message", "messages"))
	case n > 0:
		rt.Notice("imported " + term.Count(n, "chat", "chats"))
	}
	return nil
}

// readChats reads a file of chats, up to what is left of the limit.
func readChats(ctx context.Context, rt *workbench.Runtime, file string, left int64) ([]byte, error) {
	if file == "-" {
		if rt.Streams.In.IsTerminal() {
			return nil, cmdline.Usagef("fettle chats import FILE", "there is no file to import, and standard input is the terminal")
		}
		return input.Stdin(ctx, input.Options{In: rt.Streams.In.File(), Notice: rt.Notice, StdinBytes: left})
	}
	f, err := os.Open(file)
	var why *fs.PathError
	if errors.As(err, &why) {
		err = why.Err // the path is said once
	}
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "import "+file, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, left+1))
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "import "+file, err)
	}
	if int64(len(data)) > left {
		return nil, cmdline.Usagef("", "%s: more than %d MB can't be imported at once", file, engine.MaxDocument>>20)
	}
	return data, nil
}
