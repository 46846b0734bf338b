package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// tidyJSON is what `store tidy --output json` prints.
type tidyJSON struct {
	SchemaVersion int            `json:"schema_version"`
	DryRun        bool           `json:"dry_run"`
	Bytes         int64          `json:"bytes"`
	Leftovers     []leftoverJSON `json:"leftovers"`
}

// leftoverJSON is a file or folder that a killed command has left.
type leftoverJSON struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"`
	Bytes int64  `json:"bytes"`
}

func newStoreTidy(rt *workbench.Runtime) *cli.Command {
	cmd := storeCommand("tidy", "remove what killed commands have left", `A command that is killed, or cut off by a power failure, leaves temporary files
and folders: next to the file of an export or a backup, in a folder that a tool was
writing to, in the data directory, and next to the configuration and the keys; a
server leaves serve.json and its socket. This
command removes those that no running process uses, wherever they are, and lists
them. It removes nothing else: a file outside of fettle's own folders is removed
only if fettle recorded that it made it. Other commands can run meanwhile.

Most leftovers are removed by the next command anyway, and copies of the data by
the next collection. --dry-run lists them and removes nothing.`,
		"fettle store tidy\nfettle store tidy --dry-run\nfettle store tidy -o json", nil)
	cmd.Flags = append(cmd.Flags, &cli.BoolFlag{Name: "dry-run", Usage: "list what would be removed, and remove nothing"})
	cmd.Action = func(c *cli.Context) error {
		if err := cmdline.NoArguments(c); err != nil {
			return err
		}
		return runStoreTidy(c.Context, rt, tidyOptions{dryRun: c.Bool("dry-run"), output: c.String("output")})
	}
	return cmd
}

type tidyOptions struct {
	dryRun bool
	output string
}

func runStoreTidy(ctx context.Context, rt *workbench.Runtime, o tidyOptions) error {
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	find := eng.RemoveLeftovers
	if o.dryRun {
		find = eng.Leftovers
	}
	// Secrets go first, whatever the rest takes.
	left, privateErr := privateLeftovers(ctx, rt, o)
	more, err := find(ctx)
	left = append(left, more...)
	if err == nil {
		err = privateErr
	}
	if perr := printTidy(rt, o, left); perr != nil {
		return perr
	}
	return err
}

// privateLeftovers removes, or lists, what is left next to the configuration, the
// keys and the record of what is trusted.
func privateLeftovers(ctx context.Context, rt *workbench.Runtime, o tidyOptions) ([]store.Leftover, error) {
	files, err := rt.PrivateLeftovers()
	if err != nil {
		return nil, err
	}
	left := make([]store.Leftover, 0, len(files))
	for _, f := range files {
		if info, err := os.Lstat(f); err == nil {
			left = append(left, store.Leftover{Path: f, Kind: store.LeftTemporary, Bytes: info.Size()})
		}
	}
	if o.dryRun || len(left) == 0 {
		return left, nil
	}
	removed, err := rt.RemovePrivateLeftovers(ctx)
	if err != nil {
		err = fault.Wrap(fault.Config, "remove what is left next to the configuration", err)
	}
	return slices.DeleteFunc(left, func(l store.Leftover) bool { return !slices.Contains(removed, l.Path) }), err
}

func printTidy(rt *workbench.Runtime, o tidyOptions, left []store.Leftover) error {
	var total int64
	for _, l := range left {
		total += l.Bytes
	}
	if o.output == "json" {
		out := tidyJSON{SchemaVersion: workbench.OutputVersion, DryRun: o.dryRun, Bytes: total, Leftovers: []leftoverJSON{}}
		for _, l := range left {
			out.Leftovers = append(out.Leftovers, leftoverJSON{l.Path, string(l.Kind), l.Bytes})
		}
		return workbench.PrintJSON(rt, out)
	}
	out := rt.Streams.Out
	if len(left) == 0 {
		out.Printf("nothing to remove\n")
		return nil
	}
	for _, l := range left {
		out.Printf("%s  %s  %s\n", show.OneLine(filepath.Clean(l.Path)), kindText(l.Kind), term.Size(l.Bytes))
	}
	done := "removed "
	if o.dryRun {
		done = "would remove "
	}
	out.Printf("%s%s: %s\n", done, term.Count(len(left), "leftover", "leftovers"), term.Size(total))
	return nil
}

func kindText(k store.LeftoverKind) string {
	switch k {
	case store.LeftJournal:
		return "turn that was never accepted"
	case store.LeftBackup:
		return "copy of an unfinished backup"
	case store.LeftRestore:
		return "copy of an unfinished or finished restore"
	case store.LeftLock:
		return "unused lock"
	}
	return "temporary file"
}
