package commands

import (
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// ordered is a command line as cli/v2 can read it.
type ordered struct {
	args    []string
	command *cli.Command // nil for fettle itself
	path    string       // such as "fettle chats list"
	help    bool         // --help was among the flags
	missing string       // a flag at the end without the value it wants
	unknown string       // a flag that the command doesn't know, as it was typed
	flags   []givenFlag
}

// givenFlag is a flag by its long name, and as it was typed.
type givenFlag struct{ name, typed string }

// reorder moves flags before the arguments of the command that they are given
// to, so that `fettle ask "why?" -m x` means what it says. What stands behind
// `--` is left alone, and a `--` is put before the arguments, so that none is
// taken for a flag. Flags get their long names and letters that were typed
// together are taken apart, which cli/v2 doesn't do.
func reorder(app *cli.App, args []string) ordered {
	if len(args) == 0 {
		return ordered{}
	}
	o := ordered{path: "fettle"}
	out := []string{args[0]}
	flags, cmds := app.Flags, app.Commands
	var moved, rest []string
	for i := 1; i < len(args); i++ {
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
			given, taken := o.flag(flags, cmds, args[i:])
			moved = append(moved, given...)
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
	o.misplaced(flags)
	return o
}

// misplaced finds a flag in front of a command that another command has.
func (o *ordered) misplaced(flags []cli.Flag) {
	for _, f := range o.flags {
		if o.unknown == "" && findFlag(flags, nil, f.name) == nil {
			o.unknown = f.typed
		}
	}
}

// flag gives the flag, or the flags, that args begin with, as cli/v2 reads
// them, and how many of args they take. A flag in front of its command is
// looked up there.
func (o *ordered) flag(flags []cli.Flag, cmds []*cli.Command, args []string) (given []string, taken int) {
	arg, rest := args[0], args[1:]
	name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	dashes := arg[:len(arg)-len(strings.TrimLeft(arg, "-"))]
	if f := findFlag(flags, cmds, name); f != nil {
		given = []string{o.long(f, dashes+name)}
		switch {
		case hasValue:
			given[0] += "=" + value
		case takesValue(f) && len(rest) > 0:
			return append(given, rest[0]), 2
		case takesValue(f):
			o.missing = arg
		}
		return given, 1
	}
	if given, taken = o.letters(flags, cmds, args); taken == 0 {
		if o.unknown == "" {
			o.unknown = dashes + name // not the value, which may be a secret
		}
		return nil, 1
	}
	return given, taken
}

// long notes a flag and gives its long name.
func (o *ordered) long(f cli.Flag, typed string) string {
	name := f.Names()[0]
	o.flags = append(o.flags, givenFlag{name, typed})
	return "--" + name
}

// letters takes apart what was typed behind one dash: -qx is -q -x, and -mNAME
// is -m NAME. Where a letter is no flag, nothing is taken.
func (o *ordered) letters(flags []cli.Flag, cmds []*cli.Command, args []string) (given []string, taken int) {
	together := args[0][1:]
	if together[0] == '-' {
		return nil, 0
	}
	for i, r := range together {
		f := findFlag(flags, cmds, string(r))
		if f == nil {
			return nil, 0
		}
		given = append(given, o.long(f, "-"+string(r)))
		if !takesValue(f) {
			continue
		}
		switch value := together[i+utf8.RuneLen(r):]; {
		case value != "":
			return append(given, strings.TrimPrefix(value, "=")), 1
		case len(args) > 1:
			return append(given, args[1]), 2
		}
		o.missing = "-" + string(r)
	}
	return given, 1
}

// wantsJSON tells whether failures are to be JSON, also those of the flags.
func (o ordered) wantsJSON() bool {
	for i, arg := range o.args {
		format, ok := strings.CutPrefix(arg, "--output=")
		switch {
		case arg == "--":
			return false
		case arg == "--output" && i+1 < len(o.args):
			format, ok = o.args[i+1], true
		}
		if ok && (format == "json" || format == "events") {
			return true
		}
	}
	return false
}

// isFlag tells whether an argument looks like a flag; a lone dash is standard
// input.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}

func findFlag(flags []cli.Flag, cmds []*cli.Command, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	for _, c := range cmds {
		if f := findFlag(c.Flags, c.Subcommands, name); f != nil {
			return f
		}
	}
	return nil
}

func findCommand(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// values are those of a flag that may be repeated, each as it was given:
// cli/v2's own kind would split them at commas.
type values []string

// wholeList begins a list that cli/v2 hands from one name of a flag to another.
// Each value ends in a NUL, which no argument can hold.
const wholeList = "\x00list:"

// Set takes one more value.
func (v *values) Set(s string) error {
	if list, ok := strings.CutPrefix(s, wholeList); ok {
		all := strings.Split(list, "\x00")
		*v = all[:len(all)-1]
		return nil
	}
	*v = append(*v, s)
	return nil
}

// String is what cli/v2 would show as the default.
func (v *values) String() string { return strings.Join(*v, ", ") }

// Serialize is how cli/v2 copies the list.
func (v *values) Serialize() string {
	s := wholeList
	for _, one := range *v {
		s += one + "\x00"
	}
	return s
}

func listOf(c *cli.Context, name string) []string {
	if v, ok := c.Generic(name).(*values); ok {
		return *v
	}
	return nil
}
