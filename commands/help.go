package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/fault"
)

// overview is what `fettle` alone prints: one screen.
const overview = `fettle gives any model a workbench: ask it from the shell, hand it tools, keep
what came of it.

  ask      git diff | fettle ask "write a commit message"
  demo     fettle demo                a recorded model, nothing to set up
  chats    fettle chats list          what was asked, the last first
  help     fettle help exit-codes     what the exit status says
  version  fettle version

Every command has --help with examples. fettle help lists the topics.
`

// commandHelp and groupHelp are cli/v2 templates in fettle's words.
const commandHelp = `{{.HelpName}}{{if .VisibleFlags}} [flags]{{end}}{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}
  {{.Usage}}
{{if .Description}}
{{.Description}}
{{end}}{{with .UsageText}}
examples
{{range lines .}}  {{.}}
{{end}}{{end}}{{if .VisibleFlags}}
flags
{{range .VisibleFlags}}  {{flag .}}
{{end}}{{end}}`

const groupHelp = `{{.HelpName}} COMMAND
  {{.Usage}}
{{if .Description}}
{{.Description}}
{{end}}
commands
{{range .VisibleCommands}}  {{printf "%-10s" .Name}} {{.Usage}}
{{end}}{{with .UsageText}}
examples
{{range lines .}}  {{.}}
{{end}}{{end}}`

func newHelp(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "explain a command or a topic",
		ArgsUsage: "[command or topic]",
		UsageText: "fettle help ask\nfettle help exit-codes",
		Action: func(c *cli.Context) error {
			return runHelp(c, rt)
		},
	}
}

func runHelp(c *cli.Context, rt *runtime) error {
	name := strings.Join(c.Args().Slice(), " ")
	if name == "" {
		rt.streams.Out.Printf("%s\n%s", strings.TrimSuffix(overview, "\n"), topicList())
		return nil
	}
	if t, ok := findTopic(name); ok {
		rt.streams.Out.Printf("%s", t.text())
		return nil
	}
	cmds := c.App.Commands
	var found *cli.Command
	for _, word := range c.Args().Slice() {
		if found = findCommand(cmds, word); found == nil {
			return unknownTopic(c, name)
		}
		cmds = found.Subcommands
	}
	printHelp(rt, found, "fettle "+name)
	return nil
}

// printHelp renders a command's help as cli/v2 would.
func printHelp(rt *runtime, c *cli.Command, name string) {
	shown := *c
	shown.HelpName = name
	page := commandHelp
	if len(c.Subcommands) > 0 {
		page = groupHelp
	}
	cli.HelpPrinterCustom(rt.streams.Out, page, &shown, helpFuncs())
}

func helpFuncs() map[string]any {
	return map[string]any{
		"lines": func(s any) []string { return strings.Split(strings.TrimSpace(fmt.Sprint(s)), "\n") },
		"flag":  flagLine,
	}
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
		names = append(names, dashed(n))
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

// helpWidth is where help texts are broken: a terminal of 80 columns less the
// indent.
const helpWidth = 78

func wrapAt(head, text string, column int) string {
	pad := "\n" + strings.Repeat(" ", column+2)
	var b strings.Builder
	at := column
	if len(head) >= column {
		b.WriteString(pad)
	}
	for i, word := range strings.Fields(text) {
		if i > 0 && at+1+len(word) > helpWidth {
			b.WriteString(pad)
			at = column
		} else if i > 0 {
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

// topic is a help page that belongs to no command.
type topic struct {
	name, about string
	text        func() string
}

func topics() []topic {
	return []topic{
		{"exit-codes", "what the exit status says", exitCodes},
		{"environment", "the variables and settings that are read", environment},
	}
}

func findTopic(name string) (topic, bool) {
	for _, t := range topics() {
		if t.name == name {
			return t, true
		}
	}
	return topic{}, false
}

func topicList() string {
	var b strings.Builder
	b.WriteString("\ntopics\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, "  fettle help %-12s %s\n", t.name, t.about)
	}
	return b.String()
}

func unknownTopic(c *cli.Context, name string) error {
	cmds := append([]*cli.Command(nil), c.App.Commands...)
	for _, t := range topics() {
		cmds = append(cmds, &cli.Command{Name: t.name})
	}
	err := unknownCommand(cmds, name, "fettle help")
	return err
}

// exitCodes is the page that tells what each exit status means.
func exitCodes() string {
	var b strings.Builder
	b.WriteString("The exit status of every fettle command:\n\n    0  answered, or done\n")
	last := -1
	for _, code := range fault.Codes() {
		status := fmt.Sprint(code.Exit())
		if code.Exit() == last {
			status = ""
		}
		last = code.Exit()
		fmt.Fprintf(&b, "  %3s  %s\n", status, code.Meaning())
	}
	fmt.Fprintf(&b, "  %3d  the reader of a pipe went away\n", exitClosedPipe)
	b.WriteString("\nA failure never exits 0. With --output json it is an object on standard error\nwhose error.code names the kind.\n")
	return b.String()
}

// environment is the page that lists variables and settings.
func environment() string {
	var b strings.Builder
	b.WriteString("Variables:\n\n")
	for _, v := range config.Variables() {
		fmt.Fprintf(&b, "  %-24s%s\n", v.Name, wrapAt(v.Name, v.Meaning, 24))
	}
	b.WriteString("\nSettings of the configuration file:\n\n")
	for _, s := range config.Settings() {
		text := s.Meaning
		if s.Default != "" {
			text += " (default " + s.Default + ")"
		}
		fmt.Fprintf(&b, "  %-24s%s\n", s.Key, wrapAt(s.Key, text, 24))
	}
	return b.String()
}
