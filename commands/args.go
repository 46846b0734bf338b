package commands

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// reorder moves flags before the arguments of the command that they are given
// to, so that `fettle ask "why?" -m x` means what it says. What stands behind
// `--` is left alone, and a `--` is put before the arguments, so that none is
// taken for a flag. An unknown flag is moved too, for cli/v2 to complain of.
func reorder(app *cli.App, args []string) ordered {
	if len(args) == 0 {
		return ordered{}
	}
	o := ordered{path: "fettle"}
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
		if arg == "--help" || arg == "-h" {
			o.help = true
			continue
		}
		if isFlag(arg) {
			taken := flagLength(flags, cmds, args[i:])
			if taken > len(args)-i {
				o.missing = arg
				taken = 1
			}
			moved = append(moved, args[i:i+taken]...)
			i += taken - 1
			continue
		}
		if next := findCommand(cmds, arg); next != nil && len(rest) == 0 {
			out = append(out, arg)
			flags, cmds = next.Flags, next.Subcommands
			o.command, o.path = next, o.path+" "+next.Name
			continue
		}
		rest = append(rest, arg)
	}
	out = append(out, moved...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	o.args = out
	return o
}

// ordered is a command line as cli/v2 can read it.
type ordered struct {
	args    []string
	command *cli.Command // nil for fettle itself
	path    string       // such as "fettle chats list"
	help    bool         // --help was among the flags
	missing string       // a flag at the end without the value it wants
}

// isFlag tells whether an argument looks like a flag; a lone dash is standard
// input.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// flagLength is how many arguments a flag takes with its value, which may be
// one more than there are. A flag in front of its command is looked up there.
func flagLength(flags []cli.Flag, cmds []*cli.Command, args []string) int {
	name, _, hasValue := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	if hasValue {
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
	length := 1
	for _, c := range cmds {
		length = max(length, flagLength(c.Flags, c.Subcommands, args))
	}
	return length
}

func findCommand(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
