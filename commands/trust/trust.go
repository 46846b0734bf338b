package trust

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/config/trust"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// trustOptions are the flags and arguments of trust.
type trustOptions struct {
	dir     string
	key     string // a provider whose key comes from a command
	sum     string // the digest that the file must have
	command string // a command by its text
	list    bool
	revoke  bool
	output  string
}

const trustDescription = `A project's configuration, .fettle/config.yaml, holds data alone until you trust
it: what would run something or send something elsewhere is not read. fettle trust
shows these lines and asks. The trust is for the file as it is: when it changes
you are asked again, and shown what is new.

  fettle trust                       show what the project's file wants, and ask
  fettle trust --key NAME            the command that prints a provider's key
  fettle trust --sha256 SUM          without asking, if it is exactly that file
  fettle trust --command 'COMMAND'   without asking: a key's command`

// New makes the command trust.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "trust",
		Usage:       "let a project's configuration do more than hold data",
		ArgsUsage:   "[DIR]",
		Description: trustDescription,
		UsageText:   "fettle trust --list\nfettle trust --revoke",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "list", Usage: "list what is trusted"},
			&cli.BoolFlag{Name: "revoke", Usage: "trust it no more"},
			&cli.StringFlag{Name: "key", Usage: "be about the command for the key of the provider `NAME`"},
			&cli.StringFlag{Name: "sha256", Usage: "trust the file if it has the digest `SUM`, without asking"},
			&cli.StringFlag{Name: "command", Usage: "be about a key's `COMMAND` of exactly that text, without asking"},
			rt.InProfile(""), cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			o := trustOptions{
				dir: c.Args().First(), key: c.String("key"), sum: strings.ToLower(c.String("sha256")), command: c.String("command"),
				list: c.Bool("list"), revoke: c.Bool("revoke"), output: c.String("output"),
			}
			if err := o.check(c.NArg()); err != nil {
				return err
			}
			return runTrust(c.Context, rt, o)
		},
	}
}

// check finds flags that don't go together.
func (o trustOptions) check(args int) error {
	const path = "fettle trust"
	about := 0
	for _, given := range []bool{o.dir != "", o.key != "", o.command != "", o.list} {
		if given {
			about++
		}
	}
	switch {
	case args > 1:
		return cmdline.Usagef(path+" --help", "%s takes one folder", path)
	case about > 1, o.list && (o.revoke || o.sum != ""), o.sum != "" && (o.revoke || o.key != "" || o.command != ""):
		return cmdline.Usagef(path+" --help", "these flags don't go together: trust is about a folder, a key, a command, or the list")
	}
	return nil
}

func runTrust(ctx context.Context, rt *workbench.Runtime, o trustOptions) error {
	dirs, err := rt.Dirs()
	if err != nil {
		return err
	}
	t := &truster{rt: rt, o: o, store: rt.TrustStore(dirs), home: dirs.Home, own: dirs.ConfigFile}
	switch {
	case o.list:
		return t.listAll()
	case o.command != "":
		return t.command(ctx, strings.TrimSpace(strings.TrimPrefix(o.command, "!")))
	case o.key != "":
		return t.key(ctx)
	case o.revoke:
		return t.revoke(ctx)
	}
	return t.project(ctx)
}

// truster is one run of trust.
type truster struct {
	rt        *workbench.Runtime
	o         trustOptions
	store     *trust.Store
	home, own string
}

// file is the project's file that is meant.
func (t *truster) file() (string, error) {
	dir, err := filepath.Abs(t.o.dir)
	if err != nil {
		return "", fault.Wrap(fault.Failed, "find "+t.o.dir, err)
	}
	if _, err := os.Stat(dir); err != nil {
		return "", fault.New(fault.NotFound, "there is no folder "+dir)
	}
	file := config.FindProject(dir, t.home)
	if file == "" || trust.RealPath(file) == trust.RealPath(t.own) {
		return "", fault.New(fault.NotFound, "no project's configuration counts in "+dir, fault.Run("a project keeps it in .fettle/config.yaml"))
	}
	return file, nil
}

// trustJSON is what `trust --output json` prints: what a file wants, or has.
type trustJSON struct {
	SchemaVersion int         `json:"schema_version"`
	File          string      `json:"file"`
	Sum           string      `json:"sha256"`
	Trusted       bool        `json:"trusted"`
	Grants        []grantJSON `json:"grants"`
}

type grantJSON struct {
	Key    string   `json:"key"`
	Does   string   `json:"does"`
	Line   int      `json:"line"`
	Column int      `json:"column"`
	Lines  []string `json:"lines"`
}

// project shows what a project's file wants, and asks.
func (t *truster) project(ctx context.Context) error {
	file, err := t.file()
	if err != nil {
		return err
	}
	p, problems := config.ReadProject(file, t.store.Project)
	if i := slices.IndexFunc(problems, func(p config.Problem) bool { return !p.Warning }); i >= 0 {
		return (&config.Error{Problems: slices.DeleteFunc(problems, func(p config.Problem) bool { return p.Warning })}).Fault()
	}
	if p == nil {
		return fault.New(fault.Config, problems[0].String())
	}
	if t.o.sum != "" && t.o.sum != p.Sum {
		return cmdline.Usagef("fettle trust "+cmdline.ShellWord(filepath.Dir(filepath.Dir(file)))+"   shows what it wants", "%s has another digest: %s", file, p.Sum)
	}
	if t.o.sum != "" && !p.Trusted {
		if err := t.remember(ctx, p); err != nil {
			return err
		}
		p.Trusted = true
	}
	if t.o.output == "json" {
		return workbench.PrintJSON(t.rt, describeProject(p))
	}
	switch {
	case t.o.sum != "":
		t.rt.Notice("trusted " + file)
		return nil
	case len(p.Grants) == 0:
		t.rt.Notice(file + " holds data alone, which needs no trust")
		return nil
	}
	t.show(p)
	if p.Trusted {
		t.rt.Notice("this file is trusted already; fettle trust --revoke takes that back")
		return nil
	}
	return t.askProject(ctx, p)
}

func describeProject(p *config.Project) trustJSON {
	out := trustJSON{SchemaVersion: workbench.OutputVersion, File: p.File, Sum: p.Sum, Trusted: p.Trusted, Grants: []grantJSON{}}
	for _, g := range p.Grants {
		out.Grants = append(out.Grants, grantJSON{g.Key, g.Does, g.Line, g.Column, g.Lines})
	}
	return out
}

// show prints the lines that a file wants, the most dangerous first, and marks
// what is new since it was trusted last.
func (t *truster) show(p *config.Project) {
	out := t.rt.Streams.Out
	style := out.Style()
	known, changed := t.store.Known(p.File)
	changed = changed && !p.Trusted
	head := p.File + " wants more than to hold data"
	if changed {
		head = p.File + " has changed since you trusted it"
	}
	out.Printf("%s\n  %s\n", style.Bold(consent.Line(head)), style.Dim("sha256 "+p.Sum))
	var now []string
	for _, g := range p.Grants {
		now = append(now, g.Text)
		mark := " "
		if changed && !slices.Contains(known.Lines, g.Text) {
			mark = "+"
		}
		out.Printf("%s %s: %s\n", mark, style.Yellow(g.Does), consent.Line(g.Key))
		for i, line := range g.Lines {
			out.Printf("  %4d | %s\n", g.Line+i, consent.Text(line))
		}
	}
	if !changed {
		return
	}
	for _, text := range known.Lines {
		if !slices.Contains(now, text) {
			out.Printf("- no longer: %s\n", consent.Line(text))
		}
	}
}

func (t *truster) askProject(ctx context.Context, p *config.Project) error {
	dir := filepath.Dir(filepath.Dir(p.File))
	if !t.rt.Streams.CanAsk() {
		return fault.New(fault.Approval, "nobody can be asked here whether to trust "+p.File,
			fault.Run("fettle trust --sha256 "+p.Sum+" "+cmdline.ShellWord(dir)+"   trusts exactly this file"))
	}
	key, err := t.rt.Streams.Ask(ctx, term.Question{
		Text:    "Trust this file as it is?",
		Choices: []term.Choice{{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"}},
		Default: 'n',
	})
	if err != nil && !errors.Is(err, term.ErrNoAnswer) {
		return err
	}
	if key != 'y' {
		t.rt.Notice("not trusted: the file holds data alone, as before")
		return nil
	}
	if err := t.remember(ctx, p); err != nil {
		return err
	}
	t.rt.Notice("trusted " + p.File)
	return nil
}

// remember keeps what a file was trusted with, and the commands in it.
func (t *truster) remember(ctx context.Context, p *config.Project) error {
	now := time.Now().UTC().Truncate(time.Second)
	kept := trust.Project{File: p.File, Sum: p.Sum, Time: now, Lines: []string{}}
	var commands []trust.Command
	for _, g := range p.Grants {
		kept.Lines = append(kept.Lines, g.Text)
		if g.Command != "" {
			commands = append(commands, workbench.KeyCommand(g.Command, now))
		}
	}
	return workbench.TrustFailed(t.store.TrustProject(ctx, kept, commands))
}

// key shows a provider's command, and asks.
func (t *truster) key(ctx context.Context) error {
	cfg, err := t.rt.Config(nil)
	if err != nil {
		return err
	}
	p, ok := cfg.Providers[t.o.key]
	if !ok {
		f := fault.New(fault.Usage, "there is no provider "+config.Redact(t.o.key), fault.Run("fettle config list providers"))
		if near := didyoumean.Of(t.o.key, slices.Sorted(maps.Keys(cfg.Providers))); near != "" {
			f.Msg += " (did you mean " + near + "?)"
		}
		return f
	}
	if p.KeyCommand == "" {
		return fault.New(fault.NotFound, "the key of "+p.Name+" comes from no command", fault.Run("fettle keys list   tells where from"))
	}
	if t.o.revoke {
		return t.command(ctx, p.KeyCommand)
	}
	if t.store.Command(p.KeyCommand) {
		t.rt.Notice("the command for the key of " + p.Name + " is trusted already")
		return nil
	}
	if err := t.rt.AllowKeyCommand(t.store)(ctx, keystore.Command{Provider: p.Name, Text: p.KeyCommand}); err != nil {
		return err
	}
	t.rt.Notice("trusted the command for the key of " + p.Name)
	return nil
}

// command trusts a command by its text, or trusts it no more.
func (t *truster) command(ctx context.Context, text string) error {
	if t.o.revoke {
		found, err := t.store.RevokeCommand(ctx, text)
		return t.revoked(found, "this command", err)
	}
	if err := workbench.TrustFailed(t.store.TrustCommand(ctx, workbench.KeyCommand(text, time.Now().UTC().Truncate(time.Second)))); err != nil {
		return err
	}
	t.rt.Notice("trusted this command for keys")
	return nil
}

func (t *truster) revoke(ctx context.Context) error {
	dir, err := filepath.Abs(t.o.dir)
	if err != nil {
		return fault.Wrap(fault.Failed, "find "+t.o.dir, err)
	}
	// A file that is gone is found by where it was.
	file := config.FindProject(dir, t.home)
	if file == "" {
		file = filepath.Join(dir, ".fettle", "config.yaml")
	}
	found, err := t.store.RevokeProject(ctx, file)
	return t.revoked(found, file, err)
}

func (t *truster) revoked(found bool, what string, err error) error {
	switch {
	case err != nil:
		return workbench.TrustFailed(err)
	case found:
		t.rt.Notice(what + " is trusted no more")
	default:
		t.rt.Notice(what + " was not trusted")
	}
	return nil
}
