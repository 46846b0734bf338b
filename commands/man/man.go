package man

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/help"
	"github.com/fettle-cli/fettle/commands/roff"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
)

// New makes the command man.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "print a command as a man page",
		ArgsUsage: "[COMMAND…]",
		Description: `Prints the page in the language of man. Without a command it is the page of
fettle itself. With --all the pages of all commands are written into a folder,
which is made where it isn't there.`,
		UsageText: "fettle man ask > fettle-ask.1\nfettle man --all man1",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "all", Usage: "write all pages into `DIR`"}},
		Action: func(c *cli.Context) error {
			if !c.IsSet("all") {
				return runMan(rt, c.App, c.Args().Slice())
			}
			if c.NArg() > 0 || c.String("all") == "" {
				return cmdline.Usagef("fettle man --all man1", "--all wants a folder and no command")
			}
			return runManAll(rt, c.App, c.String("all"))
		},
	}
}

func runMan(rt *workbench.Runtime, app *cli.App, words []string) error {
	pages := Pages(app, rt.Build().Version)
	name := strings.Join(append([]string{"fettle"}, words...), "-")
	for _, p := range pages {
		if p.Name == name {
			rt.Streams.Out.WriteString(p.Text())
			return nil
		}
	}
	cmds, path := app.Commands, "fettle"
	for i, w := range words {
		next := cmdline.FindCommand(cmds, w)
		if next == nil || next.Hidden {
			return noManPage(cmds, words[i:], path)
		}
		cmds, path = next.Subcommands, path+" "+next.Name
	}
	return noManPage(cmds, words[len(words):], path)
}

// noManPage is unknownCommand with the words of man.
func noManPage(cmds []*cli.Command, words []string, path string) error {
	err := cmdline.UnknownCommand(cmds, append(words, "")[:max(1, len(words))], path)
	f := fault.New(fault.Usage, err.Error())
	f.Remedies = []fault.Remedy{fault.Run("fettle help")}
	return f
}

func runManAll(rt *workbench.Runtime, app *cli.App, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Wrap(fault.Failed, "write the man pages", err)
	}
	pages := Pages(app, rt.Build().Version)
	for _, p := range pages {
		file := filepath.Join(dir, p.Name+".1")
		if err := os.WriteFile(file, []byte(p.Text()), 0o644); err != nil {
			return fault.Wrap(fault.Failed, "write the man pages", err)
		}
	}
	rt.Notice(fmt.Sprintf("wrote %d pages to %s", len(pages), dir))
	return nil
}

// Page is the page of one command; Command is nil for fettle itself.
type Page struct {
	Name    string // fettle-chats-list
	path    string // fettle chats list
	version string // of fettle
	app     *cli.App
	Command *cli.Command
	up      string // the page of the command above; "" for fettle itself
}

// Pages are the pages of fettle and of all its commands, by name.
func Pages(app *cli.App, version string) []Page {
	out := []Page{{Name: "fettle", path: "fettle", version: version, app: app}}
	var walk func(cmds []*cli.Command, above Page)
	walk = func(cmds []*cli.Command, above Page) {
		for _, c := range cmds {
			if c.Hidden {
				continue
			}
			p := Page{above.Name + "-" + c.Name, above.path + " " + c.Name, version, app, c, above.Name}
			out = append(out, p)
			walk(c.Subcommands, p)
		}
	}
	walk(app.Commands, out[0])
	slices.SortFunc(out, func(a, b Page) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// dateOf is a page's date, of the commit that fettle was made from; empty where
// that isn't known.
func dateOf(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

// Text is the page in the language of man.
func (p Page) Text() string {
	var r roff.Page
	r.Title(roff.Title{Name: p.Name, Section: "1", Date: dateOf(workbench.BuiltAt()), Source: "fettle " + p.version, Manual: "fettle"})
	usage, flags, below := p.app.Usage, p.app.Flags, p.app.Commands
	if p.Command != nil {
		usage, flags, below = p.Command.Usage, p.Command.Flags, p.Command.Subcommands
	}
	r.Section("NAME")
	r.Text(p.Name + " - " + usage)
	p.synopsis(&r, len(below) > 0)
	p.description(&r)
	p.commands(&r, below)
	p.options(&r, flags)
	if p.Command != nil && p.Command.UsageText != "" {
		r.Section("EXAMPLES")
		r.Examples(p.Command.UsageText)
	}
	if p.Command == nil {
		p.exitStatus(&r)
		p.environment(&r)
	} else {
		r.Section("EXIT STATUS")
		r.Text("0 where it did what it was asked for. fettle(1) tells what any other means.")
	}
	p.seeAlso(&r, below)
	return r.String()
}

func (p Page) synopsis(r *roff.Page, group bool) {
	r.Section("SYNOPSIS")
	line := roff.Bold(p.path)
	switch {
	case group:
		line += " " + roff.Italic("COMMAND")
	case p.Command != nil:
		if len(p.Command.VisibleFlags()) > 0 {
			line += " [" + roff.Italic("flags") + "]"
		}
		if p.Command.ArgsUsage != "" {
			line += " " + roff.Italic(p.Command.ArgsUsage)
		}
	}
	r.Line(line)
}

func (p Page) description(r *roff.Page) {
	text := ""
	switch {
	case p.Command == nil:
		text = strings.Split(help.Overview, "\n\n")[0]
	case p.Command.Description != "":
		text = p.Command.Description
	default:
		return
	}
	r.Section("DESCRIPTION")
	r.Paragraphs(text)
}

func (p Page) commands(r *roff.Page, below []*cli.Command) {
	if len(below) == 0 {
		return
	}
	r.Section("COMMANDS")
	for _, c := range below {
		if !c.Hidden {
			r.Item(roff.Bold(c.Name), c.Usage)
		}
	}
}

func (p Page) options(r *roff.Page, flags []cli.Flag) {
	groups := help.FlagGroups(flags)
	if len(groups) == 0 {
		return
	}
	r.Section("OPTIONS")
	for _, g := range groups {
		if len(groups) > 1 {
			r.Subsection(g.Name)
		}
		for _, f := range g.Flags {
			term, usage := flagItem(f)
			r.Item(term, usage)
		}
	}
}

// flagItem is a flag's names with its value, and what it does.
func flagItem(f cli.Flag) (term roff.Inline, usage string) {
	names := slices.Clone(f.Names())
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) })
	for i, n := range names {
		if i > 0 {
			term += ", "
		}
		term += roff.Bold(cmdline.Dashed(n))
	}
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return term, ""
	}
	usage = d.GetUsage()
	before, rest, marked := strings.Cut(usage, "`")
	if value, after, ok := strings.Cut(rest, "`"); marked && ok && d.TakesValue() {
		term += " " + roff.Italic(value)
		usage = before + value + after
	}
	return term, usage
}

func (p Page) exitStatus(r *roff.Page) {
	r.Section("EXIT STATUS")
	r.Item("0", "answered, or done")
	meanings := map[int][]string{}
	var statuses []int
	for _, code := range fault.Codes() {
		if meanings[code.Exit()] == nil {
			statuses = append(statuses, code.Exit())
		}
		meanings[code.Exit()] = append(meanings[code.Exit()], code.Meaning())
	}
	for _, status := range statuses {
		r.Item(roff.Inline(strconv.Itoa(status)), strings.Join(meanings[status], "; "))
	}
	r.Item(roff.Inline(strconv.Itoa(workbench.ExitClosedPipe)), "the reader of a pipe went away")
}

func (p Page) environment(r *roff.Page) {
	r.Section("ENVIRONMENT")
	for _, v := range config.Variables() {
		r.Item(roff.Bold(v.Name), v.Meaning)
	}
}

func (p Page) seeAlso(r *roff.Page, below []*cli.Command) {
	var pages []string
	if p.up != "" {
		pages = append(pages, p.up)
	}
	for _, c := range below {
		if !c.Hidden {
			pages = append(pages, p.Name+"-"+c.Name)
		}
	}
	r.Section("SEE ALSO")
	for i, name := range pages {
		end := roff.Inline("(1),")
		if i == len(pages)-1 {
			end = "(1)"
		}
		r.Line(roff.Bold(name) + end)
	}
	if len(pages) > 0 {
		r.Break()
	}
	var names []string
	for _, t := range help.Topics() {
		names = append(names, t.Name)
	}
	r.Text("fettle help TOPIC explains a topic: " + strings.Join(names, ", ") + ".")
}
