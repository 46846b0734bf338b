package settings

import (
	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/workbench"
)

// configOptions are the flags and arguments of config's commands.
type configOptions struct {
	key     string
	values  []string
	profile string
	add     bool
	remove  bool
	project bool
	file    string
	output  string
}

const configDescription = `Settings come from the defaults, the user's file, the project's file
(.fettle/config.yaml), a profile of these, the environment, and flags, the later
ones over the earlier. fettle config list tells where each value comes from, and
fettle help environment what there is to set.

A KEY has dots between its parts. Names may hold dots and colons themselves:

  models.ollama/Qwen2.5-Coder:7B.context_length

is read from what is known: a setting of that name, else the field at the end,
with the name before it. Where several names would do, the longest one that is in
the file already wins; double quotes settle it: models."a/b.tools".tools`

// New makes the command config with those below it.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "config",
		Usage:       "see and change the settings",
		Description: configDescription,
		UsageText:   "fettle config list\nfettle config set retries 5\nfettle config unset retries",
		Subcommands: []*cli.Command{
			newConfigList(rt), newConfigGet(rt), newConfigSet(rt), newConfigUnset(rt),
			newConfigPath(rt), newConfigEdit(rt), newConfigCheck(rt),
		},
	}
}

// profileFlag is --profile of commands that change what is in a profile.
func profileFlag(usage string) cli.Flag { return &cli.StringFlag{Name: "profile", Usage: usage} }

func newConfigList(rt *workbench.Runtime) *cli.Command {
	const path = "fettle config list"
	return &cli.Command{
		Name:      "list",
		Usage:     "list the settings, and where each comes from",
		ArgsUsage: "[PREFIX]",
		Description: `Lists what is in force here. With a PREFIX such as limits or models.ollama/qwen3
it lists the keys below it; the prefix profiles lists what the profiles hold.
Secrets are never shown.`,
		UsageText: "fettle config list\nfettle config list limits\nfettle config list -o json",
		Flags:     []cli.Flag{rt.InProfile(""), cmdline.OutputFlag()},
		Action: func(c *cli.Context) error {
			o := configOptions{key: c.Args().First(), output: c.String("output")}
			if c.NArg() > 1 {
				return cmdline.Usagef(path+" limits", "%s takes one prefix, and %s is another", path, cmdline.ShellWord(c.Args().Get(1)))
			}
			return runConfigList(rt, o)
		},
	}
}

func newConfigGet(rt *workbench.Runtime) *cli.Command {
	const path = "fettle config get"
	return &cli.Command{
		Name:      "get",
		Usage:     "print the value that is in force",
		ArgsUsage: "KEY",
		Description: `Prints the value and nothing else; of a list, an element a line. A key that isn't
set exits 1. Of a secret it prints [redacted].`,
		UsageText: "fettle config get model\nfettle config get limits.timeout -o json",
		Flags:     []cli.Flag{rt.InProfile(""), cmdline.OutputFlag()},
		Before:    cmdline.OneArgument(path+" model", "%s takes one key", path),
		Action: func(c *cli.Context) error {
			o := configOptions{key: c.Args().First(), output: c.String("output")}
			return runConfigGet(rt, o)
		},
	}
}

func newConfigSet(rt *workbench.Runtime) *cli.Command {
	const path = "fettle config set"
	return &cli.Command{
		Name:      "set",
		Usage:     "set a value in your configuration file",
		ArgsUsage: "KEY VALUE…",
		Description: `Changes one entry of the file and leaves everything else as it is written,
comments too. A value that couldn't be loaded is refused, and nothing is written.
A list takes its elements with commas between; --add and --remove change some of
them. With - in place of the value it is read from standard input, which is the
only way to set what may be secret: fettle keys set NAME is better still.`,
		UsageText: "fettle config set model ollama/qwen3\nfettle config set fallback ollama/qwen3,openai/gpt-5\n" +
			"fettle config set --add allow read_file\nfettle config set --remove allow read_file\n" +
			"fettle config set models.ollama/Qwen2.5-Coder:7B.context_length 32768\n" +
			"fettle config set --profile fast retries 0",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "add", Usage: "add the values to the list"},
			&cli.BoolFlag{Name: "remove", Usage: "take the values out of the list"},
			profileFlag("set it in the profile `NAME`"), cmdline.OutputFlag(),
		},
		Action: func(c *cli.Context) error {
			o := configOptions{
				key: c.Args().First(), values: c.Args().Tail(), profile: c.String("profile"), output: c.String("output"),
				add: c.Bool("add"), remove: c.Bool("remove"),
			}
			switch {
			case c.NArg() < 2:
				return cmdline.Usagef(path+" model ollama/qwen3", "%s takes a key and a value", path)
			case o.add && o.remove:
				return cmdline.Usagef(path+" --help", "--add and --remove don't go together")
			}
			return runConfigSet(c.Context, rt, o)
		},
	}
}

func newConfigUnset(rt *workbench.Runtime) *cli.Command {
	const path = "fettle config unset"
	return &cli.Command{
		Name:      "unset",
		Usage:     "take a value out of your configuration file",
		ArgsUsage: "KEY",
		Description: `Takes out one entry, or a section with all that is in it; the value of a weaker
source is in force again. A key that isn't known can be taken out too.`,
		UsageText: "fettle config set limits.timeout 5m\nfettle config unset limits.timeout",
		Flags:     []cli.Flag{profileFlag("take it out of the profile `NAME`"), cmdline.OutputFlag()},
		Before:    cmdline.OneArgument(path+" retries", "%s takes one key", path),
		Action: func(c *cli.Context) error {
			o := configOptions{key: c.Args().First(), profile: c.String("profile"), output: c.String("output")}
			return runConfigUnset(c.Context, rt, o)
		},
	}
}

func newConfigPath(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:      "path",
		Usage:     "print where the configuration file is",
		UsageText: "fettle config path\nfettle config path -o json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "project", Usage: "print the file of the project that this folder belongs to"}, cmdline.OutputFlag(),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := configOptions{project: c.Bool("project"), output: c.String("output")}
			return runConfigPath(rt, o)
		},
	}
}

func newConfigEdit(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "edit",
		Usage: "edit your configuration file, and check it before it counts",
		Description: `Opens a copy in $VISUAL or $EDITOR. What can be loaded takes the file's place; else
the problems are shown, and you can go on editing.`,
		UsageText: "EDITOR=true fettle config edit",
		Before:    cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			return runConfigEdit(c.Context, rt)
		},
	}
}

func newConfigCheck(rt *workbench.Runtime) *cli.Command {
	const path = "fettle config check"
	return &cli.Command{
		Name:      "check",
		Usage:     "tell all that is wrong with the configuration",
		ArgsUsage: "[FILE]",
		Description: `Checks what is in force here: files, environment and profile. With a FILE it checks
that one alone, as your own, or as a project's if it stands in a folder .fettle.
Exits 3 if anything is wrong.`,
		UsageText: "fettle config check",
		Flags:     []cli.Flag{rt.InProfile(""), cmdline.OutputFlag()},
		Before:    cmdline.AtMostOne(path, "%s takes one file", path),
		Action: func(c *cli.Context) error {
			o := configOptions{file: c.Args().First(), output: c.String("output")}
			return runConfigCheck(rt, o)
		},
	}
}

// Printed are the types that these commands print with --output json, and those
// within them, by name. The page "output" of the help tells their fields.
func Printed() map[string]any {
	return map[string]any{
		"config list": configListJSON{}, "setting": settingJSON{}, "config get": configGetJSON{}, "config set": configSetJSON{},
		"config path": configPathJSON{}, "config check": configCheckJSON{}, "problem": problemJSON{},
	}
}
