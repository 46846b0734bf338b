package commands

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// reorder moves flags before the arguments of the command that they are given
// to, so that `fettle ask "why?" -m x` means what it says. What stands behind
// `--` is left alone, and a `--` is put before the arguments, so that none is
// taken for a flag. An unknown flag is moved too, for cli/v2 to complain of.
func reorder(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	out := []string{args[0]}
	flags, cmds := app.Flags, app.Commands
	var moved, rest []string
	i := 1
	for ; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if isFlag(arg) {
			taken := flagLength(flags, args[i:])
			moved = append(moved, args[i:i+taken]...)
			i += taken - 1
			continue
		}
		if next := findCommand(cmds, arg); next != nil && len(rest) == 0 {
			out = append(append(out, moved...), arg)
			moved = nil
			flags, cmds = next.Flags, next.Subcommands
			continue
		}
		rest = append(rest, arg)
	}
	out = append(out, moved...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out, nil
}

// isFlag tells whether an argument looks like a flag; a lone dash is standard
// input.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// flagLength is how many arguments a flag takes with its value.
func flagLength(flags []cli.Flag, args []string) int {
	name, _, hasValue := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	if hasValue || len(args) == 1 {
		return 1
	}
	for _, f := range flags {
		for _, n := range f.Names() {
			if n != name {
				continue
			}
			if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
				return 2
			}
			return 1
		}
	}
	return 1
}

func findCommand(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
