package chats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/newfile"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/transcript"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

type exportOptions struct {
	chats  []string
	all    bool
	format string // markdown, json or html
	file   string
	dir    string
	force  bool
}

func newChatsExport(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write chats as Markdown, JSON or a page",
		ArgsUsage: "[CHAT…]",
		Description: `Writes the chat that was used last, or those that are named, to standard output
or into a file. markdown and html are for reading and show the way to the last
message; the page is one file that needs no network and runs no script. json is
the whole chat with all branches and images, and what chats import reads: one
object, or where there are several one on each line. Keys, approvals and the
files of its folder are in none of them.`,
		UsageText: "fettle chats export 1 > chat.md\nfettle chats export 1 --file chat.html\n" +
			"fettle chats export --all --dir chats\nfettle chats export --all -o json > chats.jsonl",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write `FORMAT` markdown, json or html; by default what the file's name ends in, else markdown"},
			&cli.StringFlag{Name: "file", Usage: "write into `FILE`"},
			&cli.StringFlag{Name: "dir", Usage: "write a file for each chat into `DIR`"},
			&cli.BoolFlag{Name: "all", Usage: "all chats, the last used first"},
			&cli.BoolFlag{Name: "force", Usage: "replace files that are there"},
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (exportOptions, error) {
			o := exportOptions{
				chats: c.Args().Slice(), all: c.Bool("all"), format: c.String("output"),
				file: c.String("file"), dir: c.String("dir"), force: c.Bool("force"),
			}
			if err := o.check(); err != nil {
				return o, err
			}
			return o, nil
		}, runChatsExport),
	}
}

// check finds what can't be meant, and settles the format.
func (o *exportOptions) check() error {
	const path = "fettle chats export"
	if o.format == "" {
		o.format = map[string]string{".html": "html", ".htm": "html", ".json": "json", ".jsonl": "json"}[strings.ToLower(filepath.Ext(o.file))]
	}
	switch o.format {
	case "", "md":
		o.format = "markdown"
	case "markdown", "json", "html":
	default:
		return cmdline.Usagef(path+" -o markdown", "--output has no format %s: there are markdown, json and html", strconv.Quote(o.format))
	}
	several := o.all || len(o.chats) > 1
	switch {
	case o.all && len(o.chats) > 0:
		return cmdline.Usagef(path+" --all", "--all means all chats; none is named beside it")
	case o.file != "" && o.dir != "":
		return cmdline.Usagef(path+" --dir chats", "--file and --dir don't go together")
	case several && o.dir == "" && o.format != "json":
		return cmdline.Usagef(path+" --all --dir chats", "several chats are written as %s into a folder, a file for each", o.format)
	}
	return nil
}

func runChatsExport(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o exportOptions) error {
	refs, err := o.refs(ctx, eng)
	if err != nil {
		return err
	}
	x := &exporter{rt: rt, eng: eng, o: o, lines: o.all || len(refs) > 1}
	if o.dir != "" {
		return x.toFolder(ctx, refs)
	}
	if o.file == "" {
		return x.to(ctx, rt.Streams.Out, refs)
	}
	if !o.force {
		if err := newfile.MustBeNew(o.file, o.again()); err != nil {
			return err
		}
	}
	return newfile.WriteWhole(rt.Temporaries(), o.file, func(w io.Writer) error { return x.to(ctx, w, refs) })
}

// again is the command that replaces what is there.
func (o *exportOptions) again() string {
	words := append([]string{"fettle chats export"}, cmdline.ShellWords(o.chats)...)
	if o.all {
		words = append(words, "--all")
	}
	words = append(words, "-o "+o.format)
	if o.dir != "" {
		words = append(words, "--dir", cmdline.ShellWord(o.dir))
	} else {
		words = append(words, "--file", cmdline.ShellWord(o.file))
	}
	return strings.Join(append(words, "--force"), " ")
}

// refs are the chats that are meant. All of them are found before anything is
// written.
func (o *exportOptions) refs(ctx context.Context, eng *engine.Engine) ([]store.ChatRef, error) {
	if o.all {
		page, err := eng.Chats(ctx, store.ListChats{})
		if err != nil {
			return nil, err
		}
		var refs []store.ChatRef
		for _, c := range page.Chats {
			refs = append(refs, store.ChatRef{ID: c.ID})
		}
		return refs, nil
	}
	names := o.chats
	if len(names) == 0 {
		names = []string{""}
	}
	var refs []store.ChatRef
	for _, name := range names {
		ref, err := Ref(ctx, eng, name)
		if err != nil {
			return nil, err
		}
		chat, err := eng.FindChat(ctx, ref)
		if err != nil {
			return nil, err
		}
		refs = append(refs, store.ChatRef{ID: chat.ID})
	}
	return refs, nil
}

type exporter struct {
	rt    *workbench.Runtime
	eng   *engine.Engine
	o     exportOptions
	lines bool // each chat is JSON on one line
}

// each reads the chats one after the other.
func (x *exporter) each(ctx context.Context, refs []store.ChatRef, use func(*chat.Document, transcript.Options) error) error {
	status := x.rt.Streams.Status()
	defer status.Clear()
	var left error // what became of the last chat that was left out
	for i, ref := range refs {
		if len(refs) > 1 {
			status.Set(fmt.Sprintf("exporting chat %d of %d", i+1, len(refs)))
		}
		doc, live, err := x.eng.ExportChat(ctx, ref)
		if err != nil {
			return err
		}
		if live {
			x.rt.Notice(fmt.Sprintf("a turn of chat %d is running; it is not in the export", doc.Chat.Number))
		}
		err = use(doc, transcript.Options{Live: live, Argument: show.ArgLine, Version: x.rt.Build().Version})
		var large *tooLargeError
		if errors.As(err, &large) && len(refs) > 1 {
			x.rt.Notice(large.Error() + "; it is left out")
			left = err
			continue
		}
		if err != nil {
			return err
		}
	}
	return left
}

func (x *exporter) to(ctx context.Context, w io.Writer, refs []store.ChatRef) error {
	return x.each(ctx, refs, func(doc *chat.Document, o transcript.Options) error { return x.write(w, doc, o) })
}

func (x *exporter) write(w io.Writer, doc *chat.Document, o transcript.Options) error {
	switch x.o.format {
	case "html":
		return transcript.HTML(w, doc, o)
	case "markdown":
		return transcript.Markdown(w, doc, o)
	}
	var b bytes.Buffer // one write, and none where it fails
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if !x.lines {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(doc); err != nil {
		return err
	}
	if b.Len() > chat.MaxDocument {
		return &tooLargeError{chat: doc.Chat.Number, size: b.Len()}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// tooLargeError is a chat whose JSON chats import would refuse. Nothing of it
// is written.
type tooLargeError struct {
	chat int64
	size int
}

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("chat %d has %d MB as JSON; chats import reads up to %d MB of a chat", e.chat, e.size>>20, chat.MaxDocument>>20)
}

// Unwrap makes it a fault with a next step.
func (e *tooLargeError) Unwrap() error {
	return fault.New(fault.Failed, e.Error(), fault.Run(fmt.Sprintf("fettle chats export %d -o markdown   writes it for reading", e.chat)))
}

// toFolder writes a file for each chat. Which ones are there already is looked
// for first, so that nothing is written where one must not be replaced.
func (x *exporter) toFolder(ctx context.Context, refs []store.ChatRef) error {
	x.lines = false
	if !x.o.force {
		for _, ref := range refs {
			chat, err := x.eng.FindChat(ctx, ref)
			if err != nil {
				return err
			}
			if err := newfile.MustBeNew(filepath.Join(x.o.dir, exportName(chat, x.o.format)), x.o.again()); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(x.o.dir, 0o755); err != nil {
		return fault.Wrap(fault.Failed, "make the folder "+x.o.dir, err)
	}
	n := 0
	err := x.each(ctx, refs, func(doc *chat.Document, o transcript.Options) error {
		n++
		path := filepath.Join(x.o.dir, exportName(doc.Chat, x.o.format))
		return newfile.WriteWhole(x.rt.Temporaries(), path, func(w io.Writer) error { return x.write(w, doc, o) })
	})
	if n > 0 || err == nil {
		x.rt.Notice(fmt.Sprintf("wrote %s into %s", term.Count(n, "chat", "chats"), x.o.dir))
	}
	return err
}

// nameLength is how much of a title is in a file's name.
const nameLength = 50

// exportName is a chat's file: its number, and what its title has of letters
// and digits.
func exportName(c chat.Chat, format string) string {
	words := strings.FieldsFunc(strings.ToLower(c.Title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	name := []rune(strings.Join(slices.Insert(words, 0, strconv.FormatInt(c.Number, 10)), "-"))
	ext := map[string]string{"markdown": ".md", "json": ".json", "html": ".html"}[format]
	return strings.TrimRight(string(name[:min(len(name), nameLength)]), "-") + ext
}
