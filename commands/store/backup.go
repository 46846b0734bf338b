package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/newfile"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/backup"
	"github.com/fettle-cli/fettle/engine/fault"
)

// backupJSON is what `store backup` and `store restore` print with --output
// json.
type backupJSON struct {
	SchemaVersion int       `json:"schema_version"`
	File          string    `json:"file"`
	Size          int64     `json:"size,omitempty"` // of the file that was written, in bytes
	MadeAt        time.Time `json:"made_at"`
	Chats         int       `json:"chats"`
	Folders       int       `json:"folders"` // of chats' own
	Bytes         int64     `json:"bytes"`   // of all that is in it
	DryRun        bool      `json:"dry_run"`
	Verified      bool      `json:"verified"` // restored once and compared
	Damaged       int       `json:"damaged"`  // objects of the store that were damaged or missing
}

func backupAsJSON(r *backup.Report, file string) backupJSON {
	return backupJSON{
		SchemaVersion: workbench.OutputVersion, File: file, MadeAt: r.MadeAt, Chats: r.Chats, Folders: r.Folders, Bytes: r.Bytes,
		Verified: r.Verified, Damaged: len(r.Problems),
	}
}

// backupOptions are the flags of both.
type backupOptions struct {
	file    string
	output  string
	replace bool
	check   bool
	damaged bool
	verify  bool
}

func newStoreBackup(rt *workbench.Runtime) *cli.Command {
	const path = "fettle store backup"
	return &cli.Command{
		Name: "backup", Usage: "write all that is kept to one file", ArgsUsage: "FILE|DIR",
		Description: `The backup holds chats, files and their states, approvals and trust: everything
except the configuration, keys and caches. Other commands can run while it is
written; the backup is of the moment at which it began. A folder that a chat is
bound to is not in it, but all its states are. If FILE is a folder, the backup gets
a name with the time; - is standard output.

The copy that is backed up is opened and checked first. --verify also restores the
backup into a folder of its own while it is written, compares every record and file
with the original, and removes that folder. This takes about twice as long and as
much room in the data directory as the data itself. It checks the bytes as they are
written, to standard output too; store restore --dry-run reads a file again later.

The exit status is 10 if there is no backup, or if the store was damaged: then the
backup is complete, and store restore --damaged restores what is not damaged.`,
		UsageText: "fettle store backup backup.tar.zst\nfettle store backup --verify . -o json\nfettle store backup --verify - > copy.tar.zst",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "verify", Usage: "restore the backup once and compare it with the data"},
			cmdline.OutputFlag(),
		},
		Action: workbench.RunOnStore(rt, func(c *cli.Context) (backupOptions, error) {
			o := backupOptions{file: c.Args().First(), output: c.String("output"), verify: c.Bool("verify")}
			if c.NArg() != 1 || o.file == "" {
				return o, cmdline.Usagef(path+" backup.tar.zst", "store backup wants the file to write, or a folder for it")
			}
			if o.file == "-" && (o.output == "json" || rt.Streams.Out.IsTerminal()) {
				return o, cmdline.Usagef(path+" backup.tar.zst", "the backup would go to standard output, which is meant for something else here")
			}
			return o, nil
		}, runStoreBackup),
	}
}

func newStoreRestore(rt *workbench.Runtime) *cli.Command {
	const path = "fettle store restore"
	return &cli.Command{
		Name: "restore", Usage: "put back what store backup has written", ArgsUsage: "FILE",
		Description: `The backup is unpacked beside what is there and read through before anything is
replaced; if it is damaged nothing is changed. It waits until no chat is in use.
Put back only what you have made yourself: what a backup says you trust and allow
holds afterwards. - is standard input.`,
		UsageText: "fettle store restore --dry-run backup.tar.zst\nfettle store restore --replace backup.tar.zst",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "replace", Usage: "also where there are chats already, which are removed"},
			&cli.BoolFlag{Name: "dry-run", Usage: "read the backup through, and change nothing"},
			&cli.BoolFlag{Name: "damaged", Usage: "also of a store that wasn't whole when the backup was made"},
			cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			o := backupOptions{
				file: c.Args().First(), output: c.String("output"),
				replace: c.Bool("replace"), check: c.Bool("dry-run"), damaged: c.Bool("damaged"),
			}
			if c.NArg() != 1 || o.file == "" {
				return cmdline.Usagef(path+" backup.tar.zst", "store restore wants the file that store backup has written")
			}
			return runStoreRestore(c.Context, rt, o)
		},
	}
}

// backupWork begins to show how far a backup is.
func backupWork(rt *workbench.Runtime, what string) (*workbench.Work, backup.Options, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, backup.Options{}, err
	}
	w := rt.Work(what)
	o := backup.Options{OnWait: rt.Waiting, Stage: w.Stage, Moved: w.Moved}
	if rel, err := filepath.Rel(dirs.Data, dirs.State); err != nil || !filepath.IsLocal(rel) {
		o.State = dirs.State
	}
	return w, o, nil
}

func runStoreBackup(ctx context.Context, rt *workbench.Runtime, eng *engine.Engine, o backupOptions) error {
	file, err := backupFile(o.file, time.Now())
	if err != nil {
		return err
	}
	w, how, err := backupWork(rt, "backup")
	if err != nil {
		return err
	}
	defer w.Stop()
	how.Verify = o.verify
	var report *backup.Report
	var failed error
	write := func(out io.Writer) error {
		report, failed = backup.Make(ctx, eng.Store, out, how)
		return failed
	}
	if file == "-" {
		err = write(rt.Streams.Out.Until(ctx))
	} else {
		err = newfile.WriteWhole(rt.Temporaries(), file, write)
	}
	w.Stop()
	if failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	if err := tellBackup(rt, report, o, file); err != nil {
		return err
	}
	return damagedBackup(ctx, eng, report)
}

// backupFile is the file to write, which must not be there.
func backupFile(name string, now time.Time) (string, error) {
	if name == "-" {
		return name, nil
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "fettle-"+now.UTC().Format("20060102T150405Z")+".tar.zst")
	}
	return name, newfile.MustBeNew(name, "rm "+cmdline.ShellWord(name))
}

// tellBackup prints what a backup contains.
func tellBackup(rt *workbench.Runtime, r *backup.Report, o backupOptions, file string) error {
	size := int64(0)
	if info, err := os.Stat(file); err == nil {
		size = info.Size()
	}
	if o.output == "json" {
		j := backupAsJSON(r, file)
		j.Size = size
		return workbench.PrintJSON(rt, j)
	}
	what := term.Count(r.Chats, "chat", "chats") + ", " + term.Size(r.Bytes)
	if file == "-" {
		if r.Verified {
			rt.Notice("verified the backup: " + what)
		}
		return nil
	}
	done := "wrote "
	if r.Verified {
		done = "wrote and verified "
	}
	rt.Notice(done + file + ": " + what + " in " + term.Size(size))
	return nil
}

// damagedBackup returns an error if the store was damaged when it was backed up.
func damagedBackup(ctx context.Context, eng *engine.Engine, r *backup.Report) error {
	if len(r.Problems) == 0 {
		return nil
	}
	all := &cas.VerifyReport{Problems: r.Problems}
	chats, err := eng.ChatsByID(ctx, chatsOfProblems(all))
	if err != nil {
		return err
	}
	f := damageFault(all, chats)
	f.Msg = "the backup is complete, but the store is damaged: " + f.Msg
	f.Remedies = append(f.Remedies, fault.Run("fettle store restore --damaged FILE   restores what is not damaged"))
	return f
}

func runStoreRestore(ctx context.Context, rt *workbench.Runtime, o backupOptions) error {
	if !o.check {
		if err := notBesideServe(ctx, rt); err != nil {
			return err
		}
	}
	eng, err := rt.StoreEngine()
	if err != nil {
		return err
	}
	in := io.Reader(nil)
	switch info, err := os.Stat(o.file); {
	case o.file == "-" && rt.Streams.In.IsTerminal():
		return cmdline.Usagef("fettle store restore backup.tar.zst", "there is nothing on standard input")
	case o.file == "-":
		piped, err := input.Stream(ctx, rt.Streams.In.File())
		if err != nil {
			return err
		}
		defer piped.Close()
		in = piped
	case err != nil:
		return fault.Wrap(fault.Usage, "read the backup", err)
	case !info.Mode().IsRegular():
		return cmdline.Usagef("fettle store restore backup.tar.zst", "%s is no file", o.file)
	default:
		f, err := os.Open(o.file)
		if err != nil {
			return fault.Wrap(fault.Usage, "read the backup", err)
		}
		defer f.Close()
		in = f
	}
	w, how, err := backupWork(rt, "restore")
	if err != nil {
		return err
	}
	defer w.Stop()
	how.Replace, how.Check, how.Damaged = o.replace, o.check, o.damaged
	report, err := backup.Restore(ctx, eng.Store, in, how)
	w.Stop()
	if err != nil {
		return err
	}
	if o.output == "json" {
		j := backupAsJSON(report, o.file)
		j.DryRun = o.check
		return workbench.PrintJSON(rt, j)
	}
	what := term.Count(report.Chats, "chat", "chats") + " of " + input.Named(o.file) + ", made " + report.MadeAt.Local().Format("2006-01-02 15:04") + ", " + term.Size(report.Bytes)
	if o.check {
		rt.Notice("all is whole: " + what)
	} else {
		rt.Notice("put back " + what)
	}
	return nil
}

// notBesideServe refuses what would take the data away from under a running server.
func notBesideServe(ctx context.Context, rt *workbench.Runtime) error {
	local, err := rt.RunningServer(ctx)
	if local == nil || err != nil {
		return err
	}
	defer local.Close()
	return fault.New(fault.Busy, fmt.Sprintf("fettle serve, pid %d, works with these data", local.Info.PID),
		fault.Run(fmt.Sprintf("kill %d   and do it again", local.Info.PID)))
}
