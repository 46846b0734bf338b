package cmdline

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// Usagef is a fault of usage; hint may be empty.
func Usagef(hint, format string, args ...any) error {
	f := fault.New(fault.Usage, fmt.Sprintf(format, args...))
	if hint != "" {
		f.Remedies = []fault.Remedy{fault.Run(hint)}
	}
	return f
}

// UsageError turns cli/v2's words about a flag's value into ours.
func UsageError(c *cli.Context, err error, _ bool) error {
	help := "fettle --help"
	flags := c.App.Flags
	if c.Command != nil && c.Command.HelpName != "" {
		help = c.Command.HelpName + " --help"
		flags = append(flags[:len(flags):len(flags)], c.Command.Flags...)
	}
	// Both forms end in "-NAME: WHY", after the quoted value.
	said := err.Error()
	for _, marker := range []string{" for flag -", " for -"} {
		i := strings.LastIndex(said, marker)
		if i < 0 {
			continue
		}
		name, _, _ := strings.Cut(said[i+len(marker):], ":")
		if f := FindFlag(flags, nil, name); f != nil {
			value := strings.TrimPrefix(strings.TrimPrefix(said[:i], "invalid value "), "invalid boolean value ")
			return Usagef(help, "%s wants %s, not %s", Dashed(name), wanted(f), term.CutEnd(value, 60))
		}
	}
	return Usagef(help, "%s", said)
}

// wanted is what a flag's value has to be.
func wanted(f cli.Flag) string {
	switch f.(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		return "a whole number"
	case *cli.DurationFlag:
		return "a time such as 90s or 5m"
	case *cli.BoolFlag:
		return "true or false"
	}
	return "another value"
}

// Dashed is the name of a flag as it is typed.
func Dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// UnknownFlag names the flag that nothing knows, and the one that was meant.
func UnknownFlag(app *cli.App, o Ordered) error {
	flags := app.Flags
	if o.Command != nil {
		flags = o.Command.Flags
	}
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	f := fault.New(fault.Usage, "there is no flag "+o.Unknown)
	if near := didyoumean.Of(strings.TrimLeft(o.Unknown, "-"), names); near != "" {
		f.Msg += " (did you mean " + Dashed(near) + "?)"
	}
	f.Remedies = []fault.Remedy{fault.Run(o.Path + " --help")}
	if o.Command != nil && o.Command.Name == "ask" {
		f.Remedies = append(f.Remedies, fault.Run(o.Path+" -- "+ShellWord(o.Unknown)+"   to ask it as text"))
	}
	return f
}

// UnknownCommand says that the first of args is no command, and what to type
// instead.
func UnknownCommand(cmds []*cli.Command, args []string, path string) error {
	var names []string
	for _, c := range cmds {
		names = append(names, c.Names()...)
	}
	msg := "there is no command " + args[0]
	if path != "fettle" {
		msg = path + " has no command " + args[0]
	}
	f := fault.New(fault.Usage, msg)
	if near := didyoumean.Of(args[0], names); near != "" {
		f.Msg += " (did you mean " + near + "?)"
		f.Remedies = append(f.Remedies, fault.Run(strings.Join(append([]string{path, near}, ShellWords(args[1:])...), " ")))
	}
	if path == "fettle" {
		f.Remedies = append(f.Remedies, fault.Run("fettle ask "+ShellWord(strings.Join(args, " "))+"   asks a model"))
	}
	f.Remedies = append(f.Remedies, fault.Run(path+" --help"))
	return f
}

// OneArgument refuses another number of arguments than one, and an empty one, by what
// [Usagef] makes of the rest.
func OneArgument(hint, format string, args ...any) cli.BeforeFunc {
	return func(c *cli.Context) error {
		if c.NArg() == 1 && c.Args().First() != "" {
			return nil
		}
		return Usagef(hint, format, args...)
	}
}

// AtMostOne refuses more arguments than one, by what [Usagef] makes of the rest.
func AtMostOne(hint, format string, args ...any) cli.BeforeFunc {
	return func(c *cli.Context) error {
		if c.NArg() <= 1 {
			return nil
		}
		return Usagef(hint, format, args...)
	}
}

// NoArguments refuses arguments of a command that takes none.
func NoArguments(c *cli.Context) error {
	if c.NArg() == 0 {
		return nil
	}
	path := c.Command.HelpName
	return Usagef(path+" --help", "%s takes no arguments, and %s is one", path, ShellWord(c.Args().First()))
}

// ShellWords are arguments as [ShellWord] writes them.
func ShellWords(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = ShellWord(arg)
	}
	return out
}

// ShellWord writes an argument so that a shell reads it as one word.
func ShellWord(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%"
	switch {
	case arg != "" && strings.Trim(arg, plain) == "":
		return arg
	case !strings.ContainsAny(arg, "\"\\$`!"):
		return `"` + arg + `"`
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
