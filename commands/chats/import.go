package chats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

type importOptions struct {
	files []string
	there store.Existing
}

func newChatsImport(rt *workbench.Runtime) *cli.Command {
	const path = "fettle chats import"
	return &cli.Command{
		Name:      "import",
		Usage:     "import chats of fettle, ChatGPT, Claude and llm",
		ArgsUsage: "[FILE…]",
		Description: `Reads what chats export -o json wrote, the conversations.json in the ZIP that
ChatGPT or Claude exports, and the output of llm logs list --json. Of other
programs' chats the text, the reasoning, the branches and attached texts are
imported; images, files and tool messages are left out with a notice.

Reads files, or standard input (-), and prints the number of each new chat. All
files are checked first: where one is bad, or has a chat that is here already,
nothing is imported. --skip leaves such a chat out, --copy makes another one of
it. The size of a file has no limit; one chat may have 512 MB. Chats come in
group by group: if the import is interrupted, the same command with --skip
imports the rest. A chat that worked in a folder of its user works in a folder of
its own here. Its usage elsewhere is not in fettle usage.`,
		UsageText: "fettle chats export 1 -o json | fettle chats import --copy\nfettle chats import --skip chats.jsonl\nfettle chats import --skip conversations.json\nllm logs list -n 0 --json | fettle chats import --skip",
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
				o.there = store.SkipExisting
			case c.Bool("copy"):
				o.there = store.CopyExisting
			}
			if len(o.files) == 0 {
				o.files = []string{"-"}
			}
			return runChatsImport(c.Context, rt, o)
		},
	}
}

func runChatsImport(ctx context.Context, rt *workbench.Runtime, o importOptions) error {
	files, remove, err := importFiles(ctx, rt, o.files)
	defer remove()
	if err != nil {
		return err
	}
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	in := &importer{rt: rt, files: files}
	status := rt.Streams.Status()
	err = eng.ImportChats(ctx, store.ImportRequest{Documents: in.documents(), There: o.there, Each: in.imported})
	status.Clear()
	if err != nil && in.kept > 0 {
		rt.Notice("imported " + term.Count(in.kept, "chat", "chats") + " before the error; with --skip the rest can be imported")
	}
	if err != nil {
		return err
	}
	if in.skipped > 0 {
		rt.Notice(term.Count(in.skipped, "chat was", "chats were") + " here already")
	}
	switch {
	case in.kept == 1 && in.skipped == 0:
		rt.Notice("imported " + chatWords(in.last) + ", " + term.Count(in.last.Messages, "message", "messages"))
	case in.kept > 0:
		rt.Notice("imported " + term.Count(in.kept, "chat", "chats"))
	}
	return nil
}

// importer is an import that reports to its user.
type importer struct {
	rt            *workbench.Runtime
	files         []importFile
	passes        int // over the files
	total         int // documents in them, once they were counted
	kept, skipped int
	last          chat.Chat
}

// documents yields all chats of the files. The first pass reports what is left
// out of them.
func (in *importer) documents() iter.Seq2[*chat.Document, error] {
	return func(yield func(*chat.Document, error) bool) {
		first, n := in.passes == 0, 0
		in.passes++
		for _, file := range in.files {
			for doc, err := range in.documentsIn(file, first) {
				if n++; first && err == nil {
					in.total = n
					in.rt.Streams.Status().Set(fmt.Sprintf("checking chat %d", n))
				}
				if !yield(doc, err) || err != nil {
					return
				}
			}
		}
	}
}

func (in *importer) documentsIn(file importFile, notice bool) iter.Seq2[*chat.Document, error] {
	return func(yield func(*chat.Document, error) bool) {
		f, err := file.open()
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close() // it was only read
		for r := chat.NewDocumentReader(f); ; {
			doc, notes, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = fault.Wrap(fault.Usage, "import "+input.Named(file.name), err, fault.Run("fettle chats export 1 -o json   writes such a file"))
			}
			for _, note := range notes {
				if notice {
					in.rt.Notice(note)
				}
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// imported prints the number of a chat that came in.
func (in *importer) imported(i store.Imported) error {
	if i.Skipped {
		in.skipped++
	} else {
		in.kept, in.last = in.kept+1, i.Chat
		in.rt.Streams.Out.Printf("%d\n", i.Chat.Number)
	}
	in.rt.Streams.Status().Set(fmt.Sprintf("importing chat %d of %d", in.kept+in.skipped, in.total))
	return nil // Main handles errors of writing
}

// importFile is a file that can be read twice.
type importFile struct {
	name string
	open func() (io.ReadCloser, error)
}

// importFiles opens what can be read once, and copies it into temporary files,
// which remove removes.
func importFiles(ctx context.Context, rt *workbench.Runtime, names []string) (files []importFile, remove func(), err error) {
	var copies []func() error
	remove = func() {
		for _, drop := range copies {
			_ = drop() // what stays is recorded, and removed by a later command
		}
	}
	for _, name := range names {
		path := name
		if info, err := os.Stat(name); name == "-" || err == nil && !info.Mode().IsRegular() {
			var drop func() error
			if path, drop, err = copyOnce(ctx, rt, name); drop != nil {
				copies = append(copies, drop)
			}
			if err != nil {
				return nil, remove, err
			}
		}
		files = append(files, importFile{name, func() (io.ReadCloser, error) { return openImport(name, path) }})
	}
	return files, remove, nil
}

func openImport(name, path string) (*os.File, error) {
	f, err := os.Open(path)
	var why *fs.PathError
	if errors.As(err, &why) {
		err = why.Err // the path is said once
	}
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "import "+input.Named(name), err)
	}
	return f, nil
}

// copyOnce copies standard input, or another pipe, into a temporary file. It returns
// the file's path and what removes it; with an error remove may be nil.
func copyOnce(ctx context.Context, rt *workbench.Runtime, name string) (path string, remove func() error, err error) {
	from := rt.Streams.In.File()
	if name != "-" {
		if from, err = openImport(name, name); err != nil {
			return "", nil, err
		}
		defer from.Close() // it was only read
	} else if rt.Streams.In.IsTerminal() {
		return "", nil, cmdline.Usagef("fettle chats import FILE", "there is no file to import, and standard input is the terminal")
	}
	to, remove, err := rt.Temporaries().TempFile(os.TempDir(), "fettle-import-", ".jsonl")
	if err != nil {
		return "", nil, fault.Wrap(fault.Failed, "import "+input.Named(name), err)
	}
	if from != nil {
		var in io.ReadCloser
		if in, err = input.Stream(ctx, from); err == nil {
			_, err = io.Copy(to, in)
			err = errors.Join(err, in.Close())
		}
	}
	if err != nil {
		err = fault.Wrap(fault.Failed, "import "+input.Named(name), err)
	}
	return to.Name(), remove, err
}
