package commands

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/nearest"
)

// usagef is a fault of usage; hint may be empty.
func usagef(hint, format string, args ...any) error {
	f := fault.New(fault.Usage, fmt.Sprintf(format, args...))
	if hint != "" {
		f.Hints = []string{hint}
	}
	return f
}

// usageError turns cli/v2's words about a flag's value into ours.
func usageError(c *cli.Context, err error, _ bool) error {
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
		if f := findFlag(flags, nil, name); f != nil {
			value := strings.TrimPrefix(strings.TrimPrefix(said[:i], "invalid value "), "invalid boolean value ")
			return usagef(help, "%s wants %s, not %s", dashed(name), wanted(f), term.CutEnd(value, 60))
		}
	}
	return usagef(help, "%s", said)
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

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// unknownFlag names the flag that nothing knows, and the one that was meant.
func unknownFlag(app *cli.App, o ordered) error {
	flags := app.Flags
	if o.command != nil {
		flags = o.command.Flags
	}
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	f := fault.New(fault.Usage, "there is no flag "+o.unknown)
	if near := nearest.Of(strings.TrimLeft(o.unknown, "-"), names); near != "" {
		f.Msg += " (did you mean " + dashed(near) + "?)"
	}
	f.Hints = []string{o.path + " --help"}
	if o.command != nil && o.command.Name == "ask" {
		f.Hints = append(f.Hints, o.path+" -- "+shellWord(o.unknown)+"   to ask it as text")
	}
	return f
}

// unknownCommand says that the first of args is no command, and what to type
// instead.
func unknownCommand(cmds []*cli.Command, args []string, path string) error {
	var names []string
	for _, c := range cmds {
		names = append(names, c.Names()...)
	}
	msg := "there is no command " + args[0]
	if path != "fettle" {
		msg = path + " has no command " + args[0]
	}
	f := fault.New(fault.Usage, msg)
	if near := nearest.Of(args[0], names); near != "" {
		f.Msg += " (did you mean " + near + "?)"
		f.Hints = append(f.Hints, strings.Join(append([]string{path, near}, shellWords(args[1:])...), " "))
	}
	if path == "fettle" {
		f.Hints = append(f.Hints, "fettle ask "+shellWord(strings.Join(args, " "))+"   asks a model")
	}
	f.Hints = append(f.Hints, path+" --help")
	return f
}

// noArguments refuses arguments of a command that takes none.
func noArguments(c *cli.Context, path string) error {
	if c.NArg() == 0 {
		return nil
	}
	return usagef(path+" --help", "%s takes no arguments, and %s is one", path, shellWord(c.Args().First()))
}

func shellWords(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = shellWord(arg)
	}
	return out
}

// shellWord writes an argument so that a shell reads it as one word.
func shellWord(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%"
	switch {
	case arg != "" && strings.Trim(arg, plain) == "":
		return arg
	case !strings.ContainsAny(arg, "\"\\$`!"):
		return `"` + arg + `"`
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
