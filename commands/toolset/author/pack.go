package author

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/newfile"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/validate"
)

type toolsetPackOptions struct {
	ref    string
	file   string
	force  bool
	strict bool
	output string
}

const toolsetPackDescription = `The folder is judged first, as fettle toolset validate does; one with an error
is not packed, since nobody could import it. The same files give the same bytes,
on every machine. Hidden files, and what has no place in a toolset, are left out.

The file is ID-VERSION.zip in the current folder, or what -O names; with -O -
the ZIP goes to standard output.`

func newToolsetPack(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "pack",
		Usage:       "make a ZIP of a toolset's folder",
		ArgsUsage:   "DIR",
		Description: toolsetPackDescription,
		UsageText:   "fettle toolset pack my-tools\nfettle toolset pack my-tools -O tools.zip --force\nfettle toolset pack my-tools -O - | fettle toolset validate -",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "file", Aliases: []string{"O"}, Usage: "write `FILE` instead of ID-VERSION.zip"},
			&cli.BoolFlag{Name: "force", Usage: "replace a file that is there and holds something else"},
			&cli.BoolFlag{Name: "strict", Usage: "don't pack a toolset with warnings either"},
			cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			const path = "fettle toolset pack"
			o := toolsetPackOptions{
				ref: c.Args().First(), file: c.String("file"), force: c.Bool("force"), strict: c.Bool("strict"), output: c.String("output"),
			}
			switch {
			case c.NArg() != 1 || o.ref == "":
				return cmdline.Usagef(path+" .", "toolset pack wants one folder")
			case o.file == "-" && o.output == "json":
				return cmdline.Usagef(path+" -O tools.zip -o json "+cmdline.ShellWord(o.ref), "standard output can't take both the ZIP and JSON")
			}
			return runToolsetPack(c.Context, rt, o)
		},
	}
}

// packedJSON is what `toolset pack --output json` prints.
type packedJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Path          string `json:"path"`
	ID            string `json:"id"`
	Version       string `json:"version"`
	SHA256        string `json:"sha256"`       // of the ZIP
	ContentHash   string `json:"content_hash"` // of the files, however they are packed
	Size          int64  `json:"size"`         // of the ZIP, in bytes
	Files         int    `json:"files"`
	Warnings      int    `json:"warnings"`
	Unchanged     bool   `json:"unchanged,omitempty"` // the same file was there already
}

func runToolsetPack(ctx context.Context, rt *workbench.Runtime, o toolsetPackOptions) (err error) {
	a := &author{rt: rt}
	if err := mustBeFolder(o.ref); err != nil {
		return err
	}
	b, err := a.open(ctx, o.ref)
	if err != nil {
		return refusedFault(o.ref, err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r, err := validate.Bundle(ctx, b, validate.Options{Builtins: builtinIDs()})
	if err != nil {
		return fault.Wrap(fault.Failed, "look through "+o.ref, err)
	}
	if b.Kind != bundle.Toolset {
		return cmdline.Usagef("", "%s has no toolset.yaml; fettle packs toolsets", term.Clean(o.ref))
	}
	if r.Counts(o.strict) > 0 {
		return a.unpackable(o, r)
	}
	return a.pack(ctx, b, r, o)
}

// mustBeFolder wants a folder, or the manifest in one.
func mustBeFolder(ref string) error {
	if ref == stdinRef {
		return cmdline.Usagef("fettle toolset pack .", "toolset pack wants a folder, and standard input is none")
	}
	if err := mustBeThere(ref); err != nil {
		return err
	}
	if !placeOf(ref).folder {
		return cmdline.Usagef("fettle toolset validate "+cmdline.ShellWord(ref), "%s is no folder; what is packed already can be validated", term.Clean(ref))
	}
	return nil
}

// unpackable shows what keeps a toolset from being packed, on standard error:
// it isn't the result.
func (a *author) unpackable(o toolsetPackOptions, r *validate.Report) error {
	kept := *r
	kept.Findings = nil
	for _, f := range r.Findings {
		if f.Level == validate.Error || f.Level == validate.Warning {
			kept.Findings = append(kept.Findings, f)
		}
	}
	what := term.Count(r.Errors, "error", "errors")
	if r.Errors == 0 {
		what = term.Count(r.Warnings, "warning", "warnings")
	}
	if !a.rt.JSONErrors {
		a.printFindings(a.rt.Streams.Err, []judged{{placeOf(o.ref), &kept}})
	}
	return fault.New(fault.Failed, fmt.Sprintf("%s has %s; nothing was packed", term.Clean(o.ref), what), fault.Run("fettle toolset validate "+cmdline.ShellWord(o.ref)))
}

// pack writes the ZIP, reads it back, and says what it is.
func (a *author) pack(ctx context.Context, b *bundle.Bundle, r *validate.Report, o toolsetPackOptions) error {
	bar := a.rt.Streams.Progress(r.ID)
	defer bar.Clear()
	bar.Stage("packing " + term.Count(r.Files, "file", "files"))
	var zip bytes.Buffer // at most 64 MiB, and a little more where nothing could be deflated
	if err := b.WriteZIP(ctx, &zip, nil); err != nil {
		return fault.Wrap(fault.Failed, "pack "+o.ref, err)
	}
	packed, err := bundle.OpenZIP(ctx, bytes.NewReader(zip.Bytes()), int64(zip.Len()), bundle.Options{Progress: bar.Bytes})
	if err != nil {
		return fault.Wrap(fault.Failed, "read back what was packed of "+o.ref, err)
	}
	if err := packed.Close(); err != nil || packed.Hash != b.Hash {
		return fault.Wrap(fault.Failed, "pack "+o.ref, errors.Join(err, errors.New("its files have changed meanwhile")))
	}
	bar.Clear()
	sum := sha256.Sum256(zip.Bytes())
	out := packedJSON{
		SchemaVersion: workbench.OutputVersion, Path: o.file, ID: r.ID, Version: r.Version, SHA256: hex.EncodeToString(sum[:]),
		ContentHash: b.Hash, Size: int64(zip.Len()), Files: r.Files, Warnings: r.Warnings,
	}
	if r.Warnings > 0 {
		a.rt.Notice(fmt.Sprintf("%s has %s: fettle toolset validate %s shows them", o.ref, term.Count(r.Warnings, "warning", "warnings"), cmdline.ShellWord(o.ref)))
	}
	if o.file == "-" {
		return a.packOut(zip.Bytes())
	}
	if out.Path == "" {
		out.Path = r.ID + "-" + r.Version + ".zip"
	}
	if out.Unchanged, err = writePacked(a.rt.Temporaries(), out.Path, zip.Bytes(), o); err != nil {
		return err
	}
	if o.output == "json" {
		return workbench.PrintJSON(a.rt, out)
	}
	kept := ""
	if out.Unchanged {
		kept = ", unchanged"
	}
	a.rt.Streams.Out.Printf("%s  sha256 %s  %s, %s%s\n", term.Clean(out.Path), out.SHA256, term.Size(out.Size), term.Count(out.Files, "file", "files"), kept)
	return nil
}

// packOut writes the ZIP to standard output.
func (a *author) packOut(zip []byte) error {
	if a.rt.Streams.Out.IsTerminal() {
		return cmdline.Usagef("", "standard output is a terminal, which a ZIP would make a mess of")
	}
	_, err := a.rt.Streams.Out.Write(zip)
	return err
}

// writePacked writes the file, unless one is there that holds something else. A
// file that holds the same stays as it is.
func writePacked(l *atomicfile.Ledger, path string, zip []byte, o toolsetPackOptions) (unchanged bool, err error) {
	if same, err := holds(path, zip); err != nil || same {
		return same, err
	}
	if !o.force {
		again := "fettle toolset pack " + cmdline.ShellWord(o.ref) + " --force"
		if o.file != "" {
			again = "fettle toolset pack " + cmdline.ShellWord(o.ref) + " -O " + cmdline.ShellWord(o.file) + " --force"
		}
		if err := newfile.MustBeNew(path, again); err != nil {
			return false, err
		}
	}
	if err := newfile.WriteWhole(l, path, func(w io.Writer) error { _, err := w.Write(zip); return err }); err != nil {
		return false, err
	}
	if err := os.Chmod(path, 0o644); err != nil { // it is made to be handed on
		return false, fault.Wrap(fault.Failed, "write "+path, err)
	}
	return false, nil
}

// holds tells whether a file is there and holds just that.
func holds(path string, want []byte) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(want)) {
		if err == nil && info.IsDir() {
			return false, cmdline.Usagef("", "%s is a folder; -O names a file", term.Clean(path))
		}
		return false, nil // what is wrong with it, writing says
	}
	got, err := os.ReadFile(path)
	if err != nil {
		return false, nil
	}
	return bytes.Equal(got, want), nil
}

const toolsetSchemaDescription = `It is the JSON Schema (draft 2020-12) of a toolset.yaml, by which editors
complete fields and show what is wrong. For editors with the YAML language
server, such as VS Code with its YAML extension, keep it in a file, and make
this the first line of toolset.yaml:

  # yaml-language-server: $schema=toolset.schema.json`

func newToolsetSchema(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "print the JSON Schema of toolset.yaml, for editors",
		Description: toolsetSchemaDescription,
		UsageText:   "fettle toolset schema > toolset.schema.json",
		Before:      cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			_, err := rt.Streams.Out.Write(manifest.Schema())
			return err
		},
	}
}

// baseOf is the last name of a folder, also where it is written as a dot.
func baseOf(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return filepath.Base(abs)
	}
	return filepath.Base(dir)
}
