package prompts

import (
	"cmp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/prompts"
)

// options are what the commands about one prompt take.
type options struct {
	name   string
	source prompts.Source // "" is the one that is used
	text   string         // of a new one
	output string
	yes    bool
}

const description = `A prompt is a Markdown file, NAME.md, in the folder prompts beside the
configuration, or in .fettle/prompts of a project, whose prompts come first.
{{lang}} in it is a variable, {{input}} what is piped in or written behind, and
\{{ the braces themselves. Without {{input}} that goes to the end. Lines of YAML
between --- and --- at the top may say more, and flags win over them:

  ---
  description: Reviews a change
  model: ollama/qwen3
  system: You are a careful reviewer.
  tools: [read_file, search_files]      or on, or off
  schema: review.json                   a JSON Schema beside the prompt
  variables:
    lang: {default: Go, description: the language of the code}
    focus: {required: false}
  ---
  Review this {{lang}} change. {{focus}}

  {{input}}`

// New is the command prompts.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "prompts",
		Usage:       "keep questions under a name, with variables",
		Description: description,
		UsageText:   "fettle prompts list\nfettle ask -p review --var focus=names < report.md",
		Subcommands: []*cli.Command{
			newList(rt), newShow(rt), newNew(rt), newEdit(rt), newRm(rt), newPath(rt),
		},
	}
}

func sourceFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "project", Usage: "the project's prompt"},
		&cli.BoolFlag{Name: "user", Usage: "your own prompt, also where the project's hides it"},
	}
}

// read reads the flags of a command about one prompt. need is how many
// arguments there have to be; more of them are text where text is allowed.
func read(c *cli.Context, path string, need int, text bool) (options, error) {
	o := options{name: c.Args().First(), output: c.String("output"), yes: c.Bool("yes")}
	if c.Bool("project") && c.Bool("user") {
		return o, cmdline.Usagef(path+" --help", "--project and --user name two places; give one")
	}
	if c.Bool("project") {
		o.source = prompts.Project
	}
	if c.Bool("user") {
		o.source = prompts.User
	}
	switch {
	case c.NArg() < need && text:
		return o, cmdline.Usagef(path+` review "Review this: {{input}}"`, "%s wants a name for the prompt", strings.TrimPrefix(path, "fettle "))
	case c.NArg() < need:
		return o, cmdline.Usagef("fettle prompts list", "%s wants the name of a prompt", strings.TrimPrefix(path, "fettle "))
	case c.NArg() > 1 && !text:
		return o, cmdline.Usagef(path+" --help", "%s takes one name", strings.TrimPrefix(path, "fettle "))
	case c.NArg() > 1:
		o.text = strings.Join(c.Args().Tail(), " ")
	}
	return o, nil
}

func newList(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list prompts by name",
		Description: `On a terminal it is a table that fits. In a pipe each prompt is a line of name,
description, variables, whose it is and the file, with tabs between.`,
		UsageText: "fettle prompts list\nfettle prompts list -o json",
		Flags:     []cli.Flag{cmdline.OutputFlag()},
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			return runList(rt, c.String("output"))
		},
	}
}

func newShow(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "show",
		Usage:       "show a prompt's file",
		ArgsUsage:   "NAME",
		Description: "Prints the file as it is; with -o json what was read of it, too.",
		UsageText:   "fettle prompts show review\nfettle prompts show review -o json",
		Flags:       append(sourceFlags(), cmdline.OutputFlag()),
		Action: func(c *cli.Context) error {
			const path = "fettle prompts show"
			o, err := read(c, path, 1, false)
			if err != nil {
				return err
			}
			return runShow(rt, o)
		},
	}
}

func newNew(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "make a prompt",
		ArgsUsage: "NAME [text…]",
		Description: `The text is what stands behind the name, or what is piped in. Without either an
example is written, and on a terminal opened in VISUAL or EDITOR.`,
		UsageText: "fettle prompts new haiku \"Write a haiku about {{topic}}.\"\nfettle prompts new changes --project < report.md",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "project", Usage: "make it in .fettle/prompts of the project, else of the current folder"},
		},
		Action: func(c *cli.Context) error {
			o, err := read(c, "fettle prompts new", 1, true)
			if err != nil {
				return err
			}
			o.source = cmp.Or(o.source, prompts.User)
			return runNew(c.Context, rt, o)
		},
	}
}

func newEdit(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "edit",
		Usage:       "open a prompt in VISUAL or EDITOR",
		ArgsUsage:   "NAME",
		Description: "When the editor is closed the file is read, and what is wrong with it is said.",
		UsageText:   "fettle prompts edit review",
		Flags:       sourceFlags(),
		Action: func(c *cli.Context) error {
			o, err := read(c, "fettle prompts edit", 1, false)
			if err != nil {
				return err
			}
			return runEdit(c.Context, rt, o)
		},
	}
}

func newRm(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "rm",
		Usage:     "remove a prompt's file",
		ArgsUsage: "NAME",
		UsageText: "fettle prompts rm draft --yes",
		Flags:     append(sourceFlags(), &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "don't ask"}),
		Action: func(c *cli.Context) error {
			o, err := read(c, "fettle prompts rm", 1, false)
			if err != nil {
				return err
			}
			return runRm(c.Context, rt, o)
		},
	}
}

func newPath(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "path",
		Usage:       "print where a prompt is, or where prompts are",
		ArgsUsage:   "[NAME]",
		Description: "Without a name it is the folder of your own prompts, which need not be there yet.",
		UsageText:   "fettle prompts path\nfettle prompts path review",
		Flags:       sourceFlags(),
		Action: func(c *cli.Context) error {
			o, err := read(c, "fettle prompts path", 0, false)
			if err != nil {
				return err
			}
			return runPath(rt, o)
		},
	}
}
