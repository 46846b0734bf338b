package docs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// listJSON is what `docs list --output json` prints.
type listJSON struct {
	SchemaVersion int              `json:"schema_version"`
	Documents     []store.Document `json:"documents"`
}

// addedJSON is what `docs add --output json` prints.
type addedJSON struct {
	SchemaVersion int                   `json:"schema_version"`
	Documents     []store.AddedDocument `json:"documents"`
}

// docJSON is what `docs show --output json` prints.
type docJSON struct {
	SchemaVersion int `json:"schema_version"`
	store.Document
	Text string `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"` // of an image
}

// New is the command docs.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "docs",
		Usage: "keep documents that questions name as doc:ID",
		Description: `A question that says doc:ID is sent with what that names: a file of the chat's
workspace, a file that the chat was given before, or a document that is stored
here, by its name or id. doc:"to do.md" names one with spaces, and \doc:x is just
words. What is piped in is not looked at. A chat keeps what the document held
when it was named.`,
		UsageText: `fettle docs add report.md
fettle ask "what does doc:report.md leave open?"`,
		Subcommands: []*cli.Command{newList(rt), newAdd(rt), newSearch(rt), newShow(rt), newRm(rt), newRestore(rt)},
	}
}

func newList(rt *workbench.Runtime) *cli.Command {
	const path = "fettle docs list"
	return &cli.Command{
		Name:        "list",
		Usage:       "list documents",
		Description: "In a pipe each document is a line of name, kind, bytes, when it was added and id,\nwith tabs between.",
		UsageText:   "fettle docs list\nfettle docs list -n 20\nfettle docs list -o json\nfettle docs list --deleted",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "deleted", Usage: "list those that were removed and can be brought back"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "list at most `N`; 0 is all"}, cmdline.OutputFlag(),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			if c.Int("limit") < 0 {
				return cmdline.Usagef(path+" -n 20", "-n is how many documents are listed; %d is none", c.Int("limit"))
			}
			return runList(c.Context, rt, store.DocumentFilter{Removed: c.Bool("deleted"), Limit: c.Int("limit")}, c.String("output"))
		},
	}
}

func runList(ctx context.Context, rt *workbench.Runtime, f store.DocumentFilter, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	docs, err := eng.ListDocuments(ctx, f)
	if err != nil {
		return err
	}
	if output == "json" {
		if docs == nil {
			docs = []store.Document{}
		}
		return workbench.PrintJSON(rt, listJSON{workbench.OutputVersion, docs})
	}
	switch {
	case len(docs) == 0 && f.Removed:
		rt.Notice("no documents that can be brought back")
		return nil
	case len(docs) == 0:
		rt.Notice("no documents yet; fettle docs add FILE stores one")
		return nil
	}
	out := rt.Streams.Out
	columns := []term.Column{
		{Title: "document", Cut: true}, {Title: "kind"}, {Title: "size", Right: true}, {Title: "added", Style: out.Style().Dim},
	}
	if !out.IsTerminal() {
		columns = append(columns, term.Column{})
	}
	table := term.NewTable(out, columns...)
	for _, d := range docs {
		row := []string{d.Name, d.MIME, show.SizeCell(out, d.Size), d.CreatedAt.UTC().Format(time.RFC3339)}
		if out.IsTerminal() {
			row[3] = term.Ago(time.Now(), d.CreatedAt)
		} else {
			row = append(row, d.ID)
		}
		table.Row(row...)
	}
	return table.Flush()
}

type addOptions struct {
	files  []string
	name   string
	output string
}

func newAdd(rt *workbench.Runtime) *cli.Command {
	const path = "fettle docs add"
	return &cli.Command{
		Name:      "add",
		Usage:     "store files as documents",
		ArgsUsage: "FILE…",
		Description: `Stores text files and images, all of them or none; a folder is the text files in
it, and - is standard input. A document is called by its file's name, with -
where that has spaces. The file itself may go or change afterwards. A name is
taken once: a document is replaced by removing it first.`,
		UsageText: "fettle docs add report.md\nfettle docs add --name guide report.md",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "name", Usage: "call the document `NAME`"}, cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			o := addOptions{files: c.Args().Slice(), name: c.String("name"), output: c.String("output")}
			switch {
			case len(o.files) == 0:
				return cmdline.Usagef(path+" report.md", "docs add wants a file")
			case c.IsSet("name") && len(o.files) > 1:
				return cmdline.Usagef(path+" --name guide FILE", "--name is for one file, and these are %d", len(o.files))
			}
			if c.IsSet("name") {
				if err := chat.CheckDocumentName(o.name); err != nil {
					return cmdline.Usagef(path+" --name guide FILE", "--name: %v", err)
				}
			}
			return runAdd(c.Context, rt, o)
		},
	}
}

func runAdd(ctx context.Context, rt *workbench.Runtime, o addOptions) error {
	cfg, err := rt.Config(nil)
	if err != nil {
		return err
	}
	parts, err := input.Files(ctx, o.files, input.Options{
		In: rt.Streams.In.File(), Notice: rt.Notice, StdinBytes: cfg.Limits.StdinBytes, FileBytes: cfg.Limits.FileBytes,
	})
	if err != nil {
		return err
	}
	if o.name != "" && len(parts) > 1 {
		return cmdline.Usagef("fettle docs add "+cmdline.ShellWord(o.files[0]), "--name is for one file, and %s has %d", cmdline.ShellWord(o.files[0]), len(parts))
	}
	all := make([]store.NewDocument, len(parts))
	for i, p := range parts {
		all[i] = newDocument(p, o.name)
	}
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return err
	}
	rt.Streams.Status().Set("storing " + term.Count(len(all), "document", "documents"))
	added, err := eng.AddDocuments(ctx, all...)
	rt.Streams.Status().Clear()
	if err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(rt, addedJSON{workbench.OutputVersion, added})
	}
	for _, d := range added {
		word := "stored"
		if d.Same {
			word = "was there already:"
		}
		rt.Notice(fmt.Sprintf("%s doc:%s  %s, %s", word, d.Name, d.MIME, term.Size(d.Size)))
	}
	return nil
}

// newDocument makes a document of what was read of a file.
func newDocument(p provider.Part, name string) store.NewDocument {
	if name == "" {
		name = chat.DocumentName(p.Name)
	}
	if p.Kind == provider.ImagePart {
		return store.NewDocument{Name: name, MIME: p.MIME, Data: p.Data}
	}
	return store.NewDocument{Name: name, MIME: "text/plain", Data: []byte(p.Text)}
}

func newShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "show",
		Usage:       "print what a document holds",
		ArgsUsage:   "DOC",
		Description: "Prints the text of a document. An image is written as it is where standard\noutput is no terminal.",
		UsageText:   "fettle docs add report.md\nfettle docs show report.md\nfettle docs show report.md -o json",
		Flags:       []cli.Flag{cmdline.OutputFlag()},
		Before:      cmdline.OneArgument("fettle docs list", "docs show wants the name or the id of one document"),
		Action: rt.WithStore(func(c *cli.Context, eng *engine.Engine) error {
			return runShow(c.Context, rt, eng, refArg(c.Args().First()), c.String("output"))
		}),
	}
}

// refArg is a document as a person names it, also as in a question.
func refArg(arg string) string { return strings.TrimPrefix(arg, "doc:") }

func refs(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = refArg(arg)
	}
	return out
}

func runShow(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, ref, output string) error {
	d, err := eng.FindDocument(ctx, ref)
	if err != nil {
		return err
	}
	data, err := eng.DocumentContent(ctx, d)
	if err != nil {
		return err
	}
	image := strings.HasPrefix(d.MIME, "image/")
	out := rt.Streams.Out
	switch {
	case output == "json" && image:
		return workbench.PrintJSON(rt, docJSON{SchemaVersion: workbench.OutputVersion, Document: d, Data: data})
	case output == "json":
		return workbench.PrintJSON(rt, docJSON{SchemaVersion: workbench.OutputVersion, Document: d, Text: string(data)})
	case image && out.IsTerminal():
		rt.Notice(fmt.Sprintf("%s is an image, %s, %s", d.Name, d.MIME, term.Size(d.Size)))
		rt.Hint("fettle docs show " + cmdline.ShellWord(d.Name) + " > FILE   writes it")
	case out.IsTerminal():
		show.ShowText(out, string(data), provider.User)
	default:
		_, _ = out.Write(data) // Main looks at what went wrong with writing
	}
	return nil
}

func newRm(rt *workbench.Runtime) *cli.Command {
	const path = "fettle docs rm"
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove documents; they can be brought back for 30 days",
		ArgsUsage: "DOC…",
		Description: `Takes names and ids, and removes all of them or none. Chats that named one keep
what it held. fettle docs restore brings it back; 30 days later it is removed for
good, after some command that has time for it.`,
		UsageText: "fettle docs add report.md\nfettle docs rm report.md",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cmdline.Usagef(path+" report.md", "docs rm wants the name of a document")
			}
			return runRm(c.Context, rt, c.Args().Slice(), c.String("output"))
		},
	}
}

func runRm(ctx context.Context, rt *workbench.Runtime, args []string, output string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	gone, err := eng.DeleteDocuments(ctx, refs(args)...)
	if err != nil {
		return err
	}
	if output == "json" {
		return workbench.PrintJSON(rt, listJSON{workbench.OutputVersion, gone})
	}
	names := make([]string, len(gone))
	for i, d := range gone {
		names[i] = d.Name
	}
	rt.Notice("removed " + strings.Join(names, ", "))
	until := time.Now().Add(store.DocumentKept).Format(time.DateOnly)
	rt.Hint(fmt.Sprintf("fettle docs restore %s   brings %s back, until %s at least", strings.Join(cmdline.ShellWords(names), " "), show.ItOrThem(len(names)), until))
	return nil
}

func newRestore(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "restore",
		Usage:       "bring back documents that were removed",
		ArgsUsage:   "DOC…",
		Description: "fettle docs list --deleted lists those that can be brought back.",
		UsageText:   "fettle docs add report.md\nfettle docs rm report.md\nfettle docs restore report.md",
		Action: func(c *cli.Context) error {
			if c.NArg() == 0 {
				return cmdline.Usagef("fettle docs list --deleted", "docs restore wants the name of a document that was removed")
			}
			return runRestore(c.Context, rt, c.Args().Slice())
		},
	}
}

func runRestore(ctx context.Context, rt *workbench.Runtime, args []string) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	back, err := eng.RestoreDocuments(ctx, refs(args)...)
	if err != nil {
		return err
	}
	for _, d := range back {
		rt.Notice(d.Name + " is back")
	}
	return nil
}
