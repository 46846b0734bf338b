package commands

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/fault"
)

func newMan(rt *runtime) *cli.Command {
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
				return usagef("fettle man --all man1", "--all wants a folder and no command")
			}
			return runManAll(rt, c.App, c.String("all"))
		},
	}
}

func runMan(rt *runtime, app *cli.App, words []string) error {
	pages := manPages(app)
	name := strings.Join(append([]string{"fettle"}, words...), "-")
	for _, p := range pages {
		if p.name == name {
			rt.streams.Out.WriteString(p.text())
			return nil
		}
	}
	cmds, path := app.Commands, "fettle"
	for i, w := range words {
		next := findCommand(cmds, w)
		if next == nil || next.Hidden {
			return noManPage(cmds, words[i:], path)
		}
		cmds, path = next.Subcommands, path+" "+next.Name
	}
	return noManPage(cmds, words[len(words):], path)
}

// noManPage is unknownCommand with the words of man.
func noManPage(cmds []*cli.Command, words []string, path string) error {
	err := unknownCommand(cmds, append(words, "")[:max(1, len(words))], path)
	f := fault.New(fault.Usage, err.Error())
	f.Hints = []string{"fettle help"}
	return f
}

func runManAll(rt *runtime, app *cli.App, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.Wrap(fault.Failed, "write the man pages", err)
	}
	pages := manPages(app)
	for _, p := range pages {
		file := filepath.Join(dir, p.name+".1")
		if err := os.WriteFile(file, []byte(p.text()), 0o644); err != nil {
			return fault.Wrap(fault.Failed, "write the man pages", err)
		}
	}
	rt.notice(fmt.Sprintf("wrote %d pages to %s", len(pages), dir))
	return nil
}

// manPage is the page of one command; command is nil for fettle itself.
type manPage struct {
	name    string // fettle-chats-list
	path    string // fettle chats list
	app     *cli.App
	command *cli.Command
	up      string // the page of the command above; "" for fettle itself
}

// manPages are the pages of fettle and of all its commands, by name.
func manPages(app *cli.App) []manPage {
	out := []manPage{{name: "fettle", path: "fettle", app: app}}
	var walk func(cmds []*cli.Command, above manPage)
	walk = func(cmds []*cli.Command, above manPage) {
		for _, c := range cmds {
			if c.Hidden {
				continue
			}
			p := manPage{above.name + "-" + c.Name, above.path + " " + c.Name, app, c, above.name}
			out = append(out, p)
			walk(c.Subcommands, p)
		}
	}
	walk(app.Commands, out[0])
	slices.SortFunc(out, func(a, b manPage) int { return cmp.Compare(a.name, b.name) })
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

// text is the page.
func (p manPage) text() string {
	var r roff
	r.title(roffTitle{name: p.name, section: "1", date: dateOf(builtAt()), source: "fettle " + buildVersion().Version, manual: "fettle"})
	usage, flags, below := p.app.Usage, p.app.Flags, p.app.Commands
	if p.command != nil {
		usage, flags, below = p.command.Usage, p.command.Flags, p.command.Subcommands
	}
	r.section("NAME")
	r.text(p.name + " - " + usage)
	p.synopsis(&r, len(below) > 0)
	p.description(&r)
	p.commands(&r, below)
	p.options(&r, flags)
	if p.command != nil && p.command.UsageText != "" {
		r.section("EXAMPLES")
		r.examples(p.command.UsageText)
	}
	if p.command == nil {
		p.exitStatus(&r)
		p.environment(&r)
	} else {
		r.section("EXIT STATUS")
		r.text("0 where it did what it was asked for. fettle(1) tells what any other means.")
	}
	p.seeAlso(&r, below)
	return r.b.String()
}

func (p manPage) synopsis(r *roff, group bool) {
	r.section("SYNOPSIS")
	line := bold(p.path)
	switch {
	case group:
		line += " " + italic("COMMAND")
	case p.command != nil:
		if len(p.command.VisibleFlags()) > 0 {
			line += " [" + italic("flags") + "]"
		}
		if p.command.ArgsUsage != "" {
			line += " " + italic(p.command.ArgsUsage)
		}
	}
	r.b.WriteString(line + "\n")
}

func (p manPage) description(r *roff) {
	text := ""
	switch {
	case p.command == nil:
		text = strings.Split(overview, "\n\n")[0]
	case p.command.Description != "":
		text = p.command.Description
	default:
		return
	}
	r.section("DESCRIPTION")
	r.paragraphs(text)
}

func (p manPage) commands(r *roff, below []*cli.Command) {
	if len(below) == 0 {
		return
	}
	r.section("COMMANDS")
	for _, c := range below {
		if !c.Hidden {
			r.item(bold(c.Name), c.Usage)
		}
	}
}

func (p manPage) options(r *roff, flags []cli.Flag) {
	groups := flagGroups(flags)
	if len(groups) == 0 {
		return
	}
	r.section("OPTIONS")
	for _, g := range groups {
		if len(groups) > 1 {
			r.b.WriteString(".SS " + roffArg(g.Name) + "\n")
		}
		for _, f := range g.Flags {
			term, usage := manFlag(f)
			r.item(term, usage)
		}
	}
}

// manFlag is a flag's names with its value, and what it does.
func manFlag(f cli.Flag) (term, usage string) {
	names := slices.Clone(f.Names())
	slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) })
	for i, n := range names {
		names[i] = bold(dashed(n))
	}
	term = strings.Join(names, ", ")
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return term, ""
	}
	usage = d.GetUsage()
	before, rest, marked := strings.Cut(usage, "`")
	if value, after, ok := strings.Cut(rest, "`"); marked && ok && d.TakesValue() {
		term += " " + italic(value)
		usage = before + value + after
	}
	return term, usage
}

func (p manPage) exitStatus(r *roff) {
	r.section("EXIT STATUS")
	r.item("0", "answered, or done")
	meanings := map[int][]string{}
	var statuses []int
	for _, code := range fault.Codes() {
		if meanings[code.Exit()] == nil {
			statuses = append(statuses, code.Exit())
		}
		meanings[code.Exit()] = append(meanings[code.Exit()], code.Meaning())
	}
	for _, status := range statuses {
		r.item(fmt.Sprint(status), strings.Join(meanings[status], "; "))
	}
	r.item(fmt.Sprint(exitClosedPipe), "the reader of a pipe went away")
}

func (p manPage) environment(r *roff) {
	r.section("ENVIRONMENT")
	for _, v := range config.Variables() {
		r.item(bold(v.Name), v.Meaning)
	}
}

func (p manPage) seeAlso(r *roff, below []*cli.Command) {
	var pages []string
	if p.up != "" {
		pages = append(pages, p.up)
	}
	for _, c := range below {
		if !c.Hidden {
			pages = append(pages, p.name+"-"+c.Name)
		}
	}
	for i, name := range pages {
		pages[i] = bold(name) + "(1)"
	}
	r.section("SEE ALSO")
	if len(pages) > 0 {
		r.b.WriteString(strings.Join(pages, ",\n") + "\n.PP\n")
	}
	var names []string
	for _, t := range topics() {
		names = append(names, t.name)
	}
	r.text("fettle help TOPIC explains a topic: " + strings.Join(names, ", ") + ".")
}
