package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// Overview is what `fettle` alone prints: one screen.
const Overview = overviewHead + `Every command has --help with examples. fettle help lists the commands, and
topics such as pipelines.
`

const overviewHead = `fettle gives any model a workbench: ask it from the shell, hand it tools, keep
what came of it.

  ask      git diff | fettle ask "write a commit message"
  chat     fettle chat                talk with a model, and stay
  demo     fettle demo                a recorded model, nothing to set up
  models   fettle models list         what there is to ask
  chats    fettle chats list          what was asked, the last first
  undo     fettle undo                revert what the last tool call did
  doctor   fettle doctor              what works here, and what doesn't

`

// commandHelp and groupHelp are cli/v2 templates in fettle's words.
const commandHelp = `{{.HelpName}}{{if .VisibleFlags}} [flags]{{end}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}
  {{.Usage}}
{{if .Description}}
{{prose .Description}}
{{end}}{{with .UsageText}}
examples
{{range lines .}}  {{.}}
{{end}}{{end}}{{range groups .VisibleFlags}}
{{.Name}}
{{range .Flags}}  {{flag .}}
{{end}}{{end}}`

const groupHelp = `{{.HelpName}} COMMAND
  {{.Usage}}
{{if .Description}}
{{prose .Description}}
{{end}}
commands
{{range .VisibleCommands}}  {{printf "%-10s" .Name}} {{.Usage}}
{{end}}{{with .UsageText}}
examples
{{range lines .}}  {{.}}
{{end}}{{end}}`

// New makes the command help.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "explain a command or a topic",
		ArgsUsage: "[command or topic]",
		UsageText: "fettle help ask\nfettle help pipelines",
		Action: func(c *cli.Context) error {
			return runHelp(c, rt)
		},
	}
}

func runHelp(c *cli.Context, rt *workbench.Runtime) error {
	name := strings.Join(c.Args().Slice(), " ")
	if name == "" {
		rt.Streams.Out.Printf("%sEvery command has --help with examples.\n%s%s", overviewHead, commandList(c.App.Commands), topicList())
		return nil
	}
	if t, ok := findTopic(name); ok {
		rt.Streams.Out.Printf("%s", t.text())
		return nil
	}
	cmds := c.App.Commands
	var found *cli.Command
	for _, word := range c.Args().Slice() {
		if found = cmdline.FindCommand(cmds, word); found == nil {
			return unknownTopic(c, word)
		}
		cmds = found.Subcommands
	}
	Print(rt, found, "fettle "+name)
	return nil
}

// commandList names the commands, each with what it is for.
func commandList(cmds []*cli.Command) string {
	var b strings.Builder
	b.WriteString("\ncommands\n")
	for _, c := range cmds {
		if !c.Hidden {
			fmt.Fprintf(&b, "  %-12s %s\n", c.Name, c.Usage)
		}
	}
	return b.String()
}

// unknownTopic says that there is no help on a word, and on what there is.
func unknownTopic(c *cli.Context, word string) error {
	var names []string
	for _, cmd := range c.App.Commands {
		names = append(names, cmd.Name)
	}
	for _, t := range Topics() {
		names = append(names, t.Name)
	}
	f := fault.New(fault.Usage, "there is no command or topic "+word)
	if near := didyoumean.Of(word, names); near != "" {
		f.Msg += " (did you mean " + near + "?)"
		f.Remedies = append(f.Remedies, fault.Run("fettle help "+near))
	}
	f.Remedies = append(f.Remedies, fault.Run("fettle help   lists them"))
	return f
}

// Print renders the help of a command, which people call name, on standard
// output as cli/v2 would. A write that fails is remembered by the output.
func Print(rt *workbench.Runtime, c *cli.Command, name string) {
	shown := *c
	shown.HelpName = name
	page := commandHelp
	if len(c.Subcommands) > 0 {
		page = groupHelp
	}
	cli.HelpPrinterCustom(rt.Streams.Out, page, &shown, helpFuncs())
}

func helpFuncs() map[string]any {
	return map[string]any{
		"lines":  func(s any) []string { return strings.Split(strings.TrimSpace(fmt.Sprint(s)), "\n") },
		"prose":  prose,
		"flag":   flagLine,
		"groups": FlagGroups,
	}
}

// prose breaks the paragraphs that are too wide for a terminal anew. What is
// indented, such as a table, stays as it is.
func prose(text string) string {
	var out, paragraph []string
	end := func() {
		for _, line := range paragraph {
			if term.Cells(line) > pageWidth {
				paragraph = term.Wrap(strings.Join(paragraph, " "), pageWidth)
				break
			}
		}
		out, paragraph = append(out, paragraph...), nil
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line == "" || line[0] == ' ' {
			end()
			out = append(out, line)
			continue
		}
		paragraph = append(paragraph, line)
	}
	end()
	return strings.Join(out, "\n")
}

// FlagGroup is a heading of the help and the flags below it.
type FlagGroup struct {
	Name  string
	Flags []cli.Flag
}

// FlagGroups sorts flags by their category, in the order in which they come.
func FlagGroups(flags []cli.Flag) []FlagGroup {
	var groups []FlagGroup
	for _, f := range flags {
		name := "flags"
		if c, ok := f.(cli.CategorizableFlag); ok && c.GetCategory() != "" {
			name = c.GetCategory()
		}
		i := slices.IndexFunc(groups, func(g FlagGroup) bool { return g.Name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, FlagGroup{Name: name})
		}
		groups[i].Flags = append(groups[i].Flags, f)
	}
	return groups
}

// flagLine is one flag in the help: its names and value, then what it does.
func flagLine(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return strings.Join(f.Names(), ", ")
	}
	usage := d.GetUsage()
	value := ""
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		if inner, after, ok := strings.Cut(rest, "`"); ok && d.TakesValue() {
			value, usage = inner, before+inner+after
		}
	}
	var names []string
	for _, n := range f.Names() {
		names = append(names, cmdline.Dashed(n))
	}
	if len(names) == 2 && len(names[0]) > len(names[1]) {
		names[0], names[1] = names[1], names[0]
	}
	head := strings.Join(names, ", ")
	if len(names) == 1 && strings.HasPrefix(head, "--") {
		head = "    " + head
	}
	if value != "" {
		head += " " + value
	}
	const column = 28
	return fmt.Sprintf("%-*s%s", column, head, wrapAt(head, usage, column))
}

// pageWidth is the terminal that help is written for; helpWidth is what it
// leaves beside the indent of a list.
const (
	pageWidth = 80
	helpWidth = pageWidth - 2
)

// wrapAt sets a text beside its head, from a column on, and below it where the
// head is longer than that.
func wrapAt(head, text string, column int) string {
	pad := "\n" + strings.Repeat(" ", column+2)
	out := strings.Join(term.Wrap(text, helpWidth-column), pad)
	if len(head) >= column {
		return pad + out
	}
	return out
}
