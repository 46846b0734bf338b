package toolset

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/newfile"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// exportedJSON is what `toolset export --output json` prints.
type exportedJSON struct {
	SchemaVersion int      `json:"schema_version"`
	ID            string   `json:"id"`
	Version       string   `json:"version"`
	File          string   `json:"file"`
	Files         int      `json:"files"`
	Bytes         int64    `json:"bytes"` // of the files, unpacked
	Hidden        []string `json:"hidden"`
	Notes         []string `json:"notes"`
}

// toolsetExport is one run of toolset export.
type toolsetExport struct {
	rt     *workbench.Runtime
	eng    *engine.Engine
	id     string
	file   string // - is standard output
	force  bool
	output string
}

func newToolsetExport(rt *workbench.Runtime) *cli.Command {
	const path = "fettle toolset export"
	return &cli.Command{
		Name:      "export",
		Usage:     "write an installed toolset as a ZIP",
		ArgsUsage: "TOOLSET [FILE]",
		Description: `FILE is TOOLSET-VERSION.zip where none is named; - is standard output. The same
toolset gives the same bytes, and importing them changes nothing. What is or may
be a secret stands as ${NAME}. What you set yourself (switches, renderers) is not
part of it.`,
		UsageText: "fettle toolset export csv-tools\nfettle toolset export csv-tools - | sha256sum",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "force", Usage: "replace a file that is there"}, cmdline.OutputFlag()},
		Action: func(c *cli.Context) error {
			x := &toolsetExport{
				rt: rt, id: c.Args().Get(0), file: c.Args().Get(1), force: c.Bool("force"), output: c.String("output"),
			}
			switch {
			case c.NArg() < 1 || c.NArg() > 2 || x.id == "":
				return cmdline.Usagef("fettle toolset list", "toolset export wants the id of one toolset, and the file to write at most")
			case x.file == "-" && x.output == "json":
				return cmdline.Usagef(path+" "+cmdline.ShellWord(x.id)+" FILE -o json", "the ZIP and the JSON can't both go to standard output")
			}
			eng, err := rt.StoreEngine()
			if err != nil {
				return err
			}
			x.eng = eng
			return x.run(c.Context)
		},
	}
}

func (x *toolsetExport) run(ctx context.Context) error {
	info, err := x.eng.InstalledToolset(ctx, x.id)
	if err != nil {
		return err
	}
	if x.file == "" {
		x.file = fmt.Sprintf("%s-%s.zip", x.id, info.Toolset.Version)
	}
	if x.file == "-" && x.rt.Streams.Out.IsTerminal() {
		return cmdline.Usagef("fettle toolset export "+cmdline.ShellWord(x.id)+" FILE", "a ZIP isn't written to a terminal")
	}
	if x.file != "-" && !x.force {
		if err := newfile.MustBeNew(x.file, "fettle toolset export "+cmdline.ShellWord(x.id)+" "+cmdline.ShellWord(x.file)+" --force"); err != nil {
			return err
		}
	}
	bar := x.rt.Streams.Progress("packing " + x.id)
	defer bar.Clear()
	var done *registry.Exported
	write := func(w io.Writer) (err error) {
		done, err = x.eng.ExportToolset(ctx, x.id, w, registry.ExportOptions{Progress: bar.Bytes})
		return err
	}
	if x.file == "-" {
		err = write(x.rt.Streams.Out)
	} else {
		err = newfile.WriteWhole(x.rt.Temporaries(), x.file, write)
	}
	if err != nil {
		return err
	}
	if x.output == "json" {
		return workbench.PrintJSON(x.rt, exportedJSON{
			workbench.OutputVersion, x.id, info.Toolset.Version, x.file, done.Files, done.Bytes, workbench.OrEmpty(done.Hidden), workbench.OrEmpty(done.Notes),
		})
	}
	bar.Clear()
	if x.file != "-" {
		x.rt.Notice(fmt.Sprintf("wrote %s: %s, %s unpacked", x.file, term.Count(done.Files, "file", "files"), term.Size(done.Bytes)))
	}
	if len(done.Hidden) > 0 {
		x.rt.Notice("values that may be secrets were left out; who imports it sets " + strings.Join(done.Hidden, ", "))
	}
	for _, n := range done.Notes {
		x.rt.Notice(n)
	}
	return nil
}
